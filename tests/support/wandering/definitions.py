"""The contracts and the workflows of the documents that wander."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.repair.contract import (
    BLOCK,
    CONTRACT,
    LOOK,
    LOOK_OF_BENCH,
    PAUSE,
    RUN,
    TELL,
    chain_of,
    changed,
    slot,
)
from tests.support.workflow_stage import CALL

LINES: Mapping[str, Any] = {
    "type": "list",
    "max_items": 5,
    "of": {"type": "object", "fields": {"code": {"type": "string", "required": True}}},
}
PIECE: Mapping[str, Any] = {
    **CONTRACT,
    "fields": {"code": {"type": "string"}, "of": {"type": "string"}},
    "actions": {},
    "slots": {},
}
PATIENT: Mapping[str, Any] = {
    **CALL,
    "config": {**CALL["config"], "retry": {"attempts": 3, "every": "PT5M", "until": "P1D"}},
}
HASTY: Mapping[str, Any] = {
    **CALL,
    "config": {**CALL["config"], "retry": {"attempts": 20, "every": "PT1M"}, "timeout": "PT2H"},
}
# The answer of this call is read later, so that a person who skips the call gives one.
QUOTE: Mapping[str, Any] = {**CALL, "id": "quote", "config": {**CALL["config"], "save_as": "said"}}


def make_each(**more: Any) -> dict[str, Any]:
    """Return a node that makes a piece for each line."""
    config = {"action": "make_piece", "run_as": "system", "for_each": "entity.lines"}
    return {
        "id": "each",
        "type": "action",
        "config": {**config, "payload": {"code": "{item.code}"}, **more},
    }


ACTIONS: Mapping[str, Any] = {
    "make_piece": {
        "kind": "python",
        "payload": {"code": {"type": "string", "required": True}},
        "output": {"made": {"type": "string"}},
    }
}
WAYS: Mapping[str, Any] = {
    "reopen": {"from": ["active"], "to": "draft", "kind": "requested"},
    # An amendment whose original is gone is withdrawn, wherever it stands.
    "void": {"from": ["draft", "review", "approved", "active"], "to": "voided", "kind": "interrupting"},
}


def _contract(states: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    made = changed(fields={"lines": LINES}, actions=ACTIONS, transitions=WAYS, states=states or {})
    return {**made, "amendment": {"from": ["active"]}, **more}


def _stable() -> dict[str, Any]:
    made = _contract()
    approval = {"transition": "approve", "edit": "locked", "stable": True}
    return {**made, "slots": {**made["slots"], "approval": approval}}


AMENDABLE = _contract()
SUSPENDED = _contract(amendment={"from": ["active"], "while_open": "suspended"})
# An edit while people decide makes an amendment of what is not settled yet.
AMENDED_BY_EDIT = _contract({"review": {"edit": "amend_only"}})
STABLE = _stable()

# Each contract with the slots that are filled.
DEFINITIONS: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]] = (
    (AMENDABLE, {"checks": slot(RUN), "approval": slot(LOOK), "booking": slot(PATIENT)}),
    (AMENDABLE, {"approval": BLOCK, "booking": slot(make_each()), "filing": slot(HASTY)}),
    (SUSPENDED, {"checks": slot(HASTY), "approval": slot(chain_of("brief")), "archive": slot(RUN)}),
    (
        AMENDABLE,
        {"approval": slot(LOOK_OF_BENCH), "filing": slot(TELL), "archive": slot(PATIENT)},
    ),
    (
        AMENDED_BY_EDIT,
        {"approval": slot(LOOK_OF_BENCH), "booking": slot(QUOTE), "filing": slot(make_each(each="keep"))},
    ),
    (STABLE, {"checks": slot(PAUSE), "approval": slot(CALL, LOOK), "filing": slot(RUN)}),
)
NOTE = {"id": "note", "type": "script", "config": {"set": {"noted": "1"}}}


def renew(slots: Mapping[str, Any]) -> dict[str, Any]:
    """Return the slots of the next definition: people are asked as before, another slot holds a step only."""
    other = next(name for name in slots if name != "approval")
    return {**slots, other: slot(NOTE)}
