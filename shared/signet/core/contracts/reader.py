"""The parser of contracts: first the shape, then everything that one part says about another, all at once."""

from collections.abc import Iterator
from typing import Any

from signet.core.contracts.contract import Contract, DeclaredAction, EditWindow
from signet.core.contracts.expression_scope import type_of_field
from signet.core.contracts.field_checks import check_distinct, check_fields, check_payload_fields
from signet.core.contracts.fields import Field, RefField
from signet.core.contracts.guarded_states import check_guarded_states
from signet.core.contracts.lifecycle_checks import RESERVED_VERBS, check_lifecycle, check_state_known
from signet.core.contracts.slot_checks import check_slots
from signet.core.contracts.summary_checks import check_summary
from signet.core.tenants.permissions import OWN_RESOURCES
from signet.core.validation.finding import Finding, has_errors, make_finding, sort_findings
from signet.core.validation.model_errors import MAX_MISTAKES
from signet.core.validation.strict_model import parse_strictly, point
from signet.core.validation.text_checks import check_texts
from signet.core.validation.unclear_text import check_unclear

# Actions of Signet's own begin with such a name (`store.set`), and so do its own permissions
# (`contract:edit`). A role for documents of such a type would permit more than to edit documents.
RESERVED_CONTRACTS = OWN_RESOURCES | {"store", "links"}
# The permissions that are asked with their condition, beside those of transitions and actions.
_ASKED_VERBS = ("create", "edit", "delete", "amend")


def parse_contract(document: Any) -> tuple[Contract | None, tuple[Finding, ...]]:
    """Return the contract unless a finding is an error; warnings alone do not prevent it."""
    contract, findings = parse_strictly(Contract, document)
    if contract is None:
        return None, findings
    found = (*check_texts(document), *check_contract(contract), *check_unclear(document))
    all_findings = sort_findings(found)[:MAX_MISTAKES]
    return (None if has_errors(all_findings) else contract), all_findings


def check_contract(contract: Contract) -> Iterator[Finding]:
    if contract.contract in RESERVED_CONTRACTS:
        yield make_finding("NAME_RESERVED", "/contract", name=contract.contract, what="contract")
    yield from check_fields(contract)
    yield from check_lifecycle(contract)
    yield from check_slots(contract)
    yield from check_guarded_states(contract)
    yield from _check_amendment(contract)
    for name, action in contract.actions.items():
        yield from _check_action(contract, name, action)
    yield from check_distinct(contract.deletable_in, ("deletable_in",))
    for index, state in enumerate(contract.deletable_in):
        yield from check_state_known(contract, state, point(("deletable_in", index)))
    yield from _check_conditions(contract)
    yield from _check_duties(contract)
    yield from check_summary(contract)


def _check_amendment(contract: Contract) -> Iterator[Finding]:
    amendment = contract.amendment
    if amendment is None:
        states = [("states", name) for name, s in contract.states.items() if s.edit is EditWindow.AMEND_ONLY]
        slots = [("slots", name) for name, s in contract.slots.items() if s.edit is EditWindow.AMEND_ONLY]
        for path in (*states, *slots):
            yield make_finding("AMENDMENT_MISSING", point((*path, "edit")), name=path[1])
        return
    yield from check_distinct(amendment.from_states, ("amendment", "from"))
    for index, name in enumerate(amendment.from_states):
        place = point(("amendment", "from", index))
        yield from check_state_known(contract, name, place)
        if name in contract.states and not contract.states[name].settled:
            yield make_finding("AMENDMENT_FROM_NOT_SETTLED", place, state=name)
    initial = {name for name, state in contract.states.items() if state.initial}
    requested = [t.from_states for t in contract.transitions.values() if t.kind == "requested"]
    if initial and not any(initial.intersection(sources) for sources in requested):
        yield make_finding("AMENDMENT_WITHOUT_REQUEST", "/amendment", state=min(initial))


def _check_action(contract: Contract, name: str, action: DeclaredAction) -> Iterator[Finding]:
    path = ("actions", name)
    if name in RESERVED_VERBS:
        yield make_finding("NAME_RESERVED", point(path), name=name, what="action")
    if name in contract.transitions:
        yield make_finding("ACTION_NAMED_LIKE_TRANSITION", point(path), action=name)
    yield from check_payload_fields(action.payload, (*path, "payload"))
    yield from check_payload_fields(action.output, (*path, "output"))
    if action.kind == "python" and action.set:
        yield make_finding("ACTION_SET_UNUSED", point((*path, "set")), action=name)
    if action.kind != "python" and not action.set:
        yield make_finding("ACTION_SET_MISSING", point(path), action=name, kind=action.kind)
    if action.kind == "create" and action.entity_type is None:
        yield make_finding("ACTION_ENTITY_TYPE_MISSING", point(path), action=name)
    if action.kind != "create" and action.entity_type is not None:
        yield make_finding(
            "ACTION_ENTITY_TYPE_UNUSED", point((*path, "entity_type")), action=name, kind=action.kind
        )
    if action.kind == "update" and action.repeats is not None:
        yield make_finding("ACTION_REPEATS_UNUSED", point((*path, "repeats")), action=name)
    yield from _check_set(contract, name, action)
    yield from _check_output(contract, name, action)


def _check_set(contract: Contract, name: str, action: DeclaredAction) -> Iterator[Finding]:
    """Check the fields that an action sets.

    Fields of another contract are known only where both are installed.
    """
    if action.kind == "update" or (action.kind == "create" and action.entity_type == contract.contract):
        allowed = ", ".join(contract.fields) or "(none)"
        for field in action.set:
            if field not in contract.fields:
                place = point(("actions", name, "set", field))
                yield make_finding("ACTION_FIELD_UNKNOWN", place, action=name, field=field, allowed=allowed)
    if action.kind == "create" and action.entity_type == contract.contract:
        for field, declared in contract.fields.items():
            if declared.required and declared.default is None and field not in action.set:
                yield make_finding(
                    "ACTION_FIELD_MISSING", point(("actions", name, "set")), action=name, field=field
                )


def _check_output(contract: Contract, name: str, action: DeclaredAction) -> Iterator[Finding]:
    """Check the output of an update, which is read from the document.

    A function's output is checked when it is given.
    """
    path = ("actions", name, "output")
    if action.kind == "create" and action.output:
        yield make_finding("ACTION_OUTPUT_UNUSED", point(path), action=name)
    if action.kind != "update":
        return
    for field, declared in action.output.items():
        known = contract.fields.get(field)
        # Output is kept with the workflow, where nothing can be erased.
        if known is None or known.personal or not _are_alike(known, declared):
            yield make_finding("ACTION_OUTPUT_UNKNOWN", point((*path, field)), action=name, field=field)


def _are_alike(field: Field, other: Field) -> bool:
    if isinstance(field, RefField) and isinstance(other, RefField):
        return field.entity_type == other.entity_type  # `reads` matters only where a document is read
    return type_of_field(field) == type_of_field(other)


def _check_conditions(contract: Contract) -> Iterator[Finding]:
    prefix = f"{contract.contract}:"
    demanded = {f"{prefix}{verb}" for verb in (*_ASKED_VERBS, *contract.transitions, *contract.actions)}
    demanded |= {t.permission for t in contract.transitions.values() if t.permission}
    demanded |= {a.permission for a in contract.actions.values() if a.permission}
    if contract.amendment is not None and contract.amendment.permission:
        demanded.add(contract.amendment.permission)
    for permission in contract.conditions:
        place = point(("conditions", permission))
        if permission in (f"{prefix}read", f"{prefix}*"):
            yield make_finding("CONDITION_WITHOUT_USE", place, permission=permission)
        elif permission not in demanded:
            yield make_finding(
                "CONDITION_NEVER_ASKED", place, permission=permission, contract=contract.contract
            )


def _check_duties(contract: Contract) -> Iterator[Finding]:
    duties, path = contract.separation_of_duties, ("separation_of_duties", "deciding")
    yield from check_distinct(duties.may_decide, ("separation_of_duties", "may_decide"))
    yield from check_distinct(duties.deciding, path)
    requested = [name for name, transition in contract.transitions.items() if transition.kind != "automatic"]
    for index, name in enumerate(duties.deciding):
        if name not in requested:
            code = "DECIDING_AUTOMATIC" if name in contract.transitions else "TRANSITION_UNKNOWN"
            allowed = ", ".join(requested) or "(none)"
            yield make_finding(code, point((*path, index)), transition=name, allowed=allowed)
