"""Checks of a trigger: it names what there is, and says when it starts."""

from collections.abc import Iterator

from signet.core.automations.trigger import BY_CHANGE, AutomationTrigger
from signet.core.contracts.contract import Contract
from signet.core.contracts.expression_scope import ACTOR
from signet.core.expressions import Scope, Type
from signet.core.schedules.findings import check_cron, check_zone
from signet.core.validation.finding import Finding, make_finding

# Acts that have a name beside the actions of a contract.
NAMED_ACTS = ("update", "correct", "delete")
_PLACES = {"action": "mutation", "fields": "mutation", "from_state": "transition", "to": "transition"}


def check_trigger(
    trigger: AutomationTrigger, entity_type: str | None, contract: Contract | None
) -> Iterator[Finding]:
    if trigger.cron is not None:
        yield from check_cron(trigger.cron, "/trigger/cron")
    elif trigger.on == "cron":
        yield make_finding("CRON_ABSENT", "/trigger")
    yield from check_zone(trigger.zone, "/trigger/zone")
    if trigger.on in BY_CHANGE and entity_type is None:
        yield make_finding("TRIGGER_WITHOUT_TYPE", "/trigger", on=trigger.on)
    for name, on in _PLACES.items():
        if getattr(trigger, name) is not None and trigger.on != on:
            yield make_finding("TRIGGER_TAKES_NO", "/trigger", name=name.partition("_")[0], on=trigger.on)
    if contract is not None:
        yield from _check_names(trigger, contract)


def _check_names(trigger: AutomationTrigger, contract: Contract) -> Iterator[Finding]:
    for name in (trigger.from_state, trigger.to):
        if name is not None and name not in contract.states:
            yield make_finding("TRIGGER_NAMES_NOTHING", "/trigger", what="status", name=name)
    for name in trigger.fields or ():
        if name not in contract.fields:
            yield make_finding("TRIGGER_NAMES_NOTHING", "/trigger/fields", what="field", name=name)
    if trigger.action is not None and trigger.action not in (*contract.actions, *NAMED_ACTS):
        yield make_finding("TRIGGER_NAMES_NOTHING", "/trigger/action", what="action", name=trigger.action)


def make_trigger_scope(entity: Type, org: Type, payload: Type) -> Scope:
    """Make the scope of a trigger's condition: `before` is null of a document that is new."""
    names = {"entity": entity, "before": entity, "after": entity}
    return Scope({**names, "actor": ACTOR, "org": org, "payload": payload})
