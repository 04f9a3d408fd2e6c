"""Findings about a version of a contract that holds people to less than another does.

A change of a condition is always named: no comparison of two texts tells which is stricter.
"""

from collections.abc import Iterator

from signet.core.contracts.contract import (
    Contract,
    DeclaredAction,
    EditWindow,
    RequiredApprovals,
    Slot,
    Transition,
)
from signet.core.contracts.weaker_fields import find_weaker_fields
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point


def find_weakened(before: Contract, after: Contract) -> Iterator[Finding]:
    """Yield a finding for each thing that people are held to less by `after`."""
    yield from find_weaker_fields(before.fields, after.fields, ("fields",))
    yield from _find_in_slots(before, after)
    yield from _find_in_duties(before, after)
    for permission, condition in before.conditions.items():
        place = point(("conditions", permission))
        yield from _compare_conditions(place, f"'{permission}'", condition, after.conditions.get(permission))
    for name, transition in after.transitions.items():
        yield from _find_in_transition(name, before, transition)
    for name, action in after.actions.items():
        yield from _find_in_action(name, before, after, action)
    for name, state in after.states.items():
        old = before.states.get(name)
        if old is not None:
            yield from _compare_windows(
                point(("states", name, "edit")), f"state '{name}'", old.edit, state.edit
            )
    for name in sorted(set(after.deletable_in) - set(before.deletable_in)):
        yield make_finding("DELETE_WIDER", "/deletable_in", state=name)


def _find_in_slots(before: Contract, after: Contract) -> Iterator[Finding]:
    for name, slot in before.slots.items():
        new = after.slots.get(name)
        required = new.requires if new is not None else None
        if slot.requires is not None and not _requires_as_much(slot.requires, required):
            yield make_finding(
                "REQUIRES_LESS",
                point(("slots", name, "requires")),
                slot=name,
                before=_describe_required(slot.requires),
                after=_describe_required(required),
            )
        elif new is None and slot.transition in after.transitions:
            yield make_finding("SLOT_GONE", "/slots", slot=name)
        if new is not None:
            windows = _find_window(before, slot), _find_window(after, new)
            yield from _compare_windows(point(("slots", name, "edit")), f"slot '{name}'", *windows)


def _find_window(contract: Contract, slot: Slot) -> EditWindow:
    """Find the window of a slot; one that says none has that of the state before or behind it."""
    transition = contract.transitions[slot.transition]
    states = [transition.to] if slot.position == "after" else list(transition.from_states)
    around = (contract.states[state].edit for state in states if state in contract.states)
    return slot.edit or min(around, key=lambda edit: edit.strictness)


def _requires_as_much(old: RequiredApprovals, new: RequiredApprovals | None) -> bool:
    return (
        new is not None
        and new.approvals >= old.approvals
        and new.distinct >= old.distinct
        and old.role in (None, new.role)
    )


def _describe_required(required: RequiredApprovals | None) -> str:
    if required is None:
        return "nothing"
    distinct = " of different people" if required.distinct else ""
    role = f" by the role '{required.role}'" if required.role is not None else ""
    return f"{required.approvals} approval(s){distinct}{role}"


def _find_in_duties(before: Contract, after: Contract) -> Iterator[Finding]:
    old, new = before.separation_of_duties, after.separation_of_duties
    wider = sorted(set(new.may_decide) - set(old.may_decide))
    if wider:
        yield make_finding("MAY_DECIDE_WIDER", "/separation_of_duties/may_decide", parts=" and ".join(wider))
    for name in sorted((set(old.deciding) - set(new.deciding)) & after.transitions.keys()):
        yield make_finding("DECIDING_DROPPED", "/separation_of_duties/deciding", transition=name)


def _find_in_transition(name: str, before: Contract, transition: Transition) -> Iterator[Finding]:
    old = before.transitions.get(name)
    known = old.from_states if old is not None and old.to == transition.to else ()
    for state in sorted(set(transition.from_states) - set(known)):
        place = point(("transitions", name, "from"))
        yield make_finding("WAY_ADDED", place, transition=name, state=state, to=transition.to)
    if old is None:
        return
    if transition.rejected_to != old.rejected_to:
        place, was = point(("transitions", name, "rejected_to")), old.rejected_to or "nowhere"
        leads = transition.rejected_to or "nowhere"
        yield make_finding("REJECTION_WAY_CHANGED", place, transition=name, to=leads, before=was)
    subject = f"transition '{name}'"
    place = point(("transitions", name, "condition"))
    yield from _compare_conditions(place, f"the {subject}", old.condition, transition.condition)
    default = f"{before.contract}:{name}"
    yield from _compare_permissions(
        point(("transitions", name, "permission")),
        subject,
        old.permission or default,
        transition.permission or default,
    )
    if old.reason_required and not transition.reason_required:
        yield make_finding("REASON_DROPPED", point(("transitions", name, "reason_required")), transition=name)


def _find_in_action(
    name: str, before: Contract, after: Contract, action: DeclaredAction
) -> Iterator[Finding]:
    old, place = before.actions.get(name), point(("actions", name))
    if old is None:
        yield make_finding("ACTION_ADDED", place, action=name)
        return
    default = f"{after.contract}:{name}"
    yield from _compare_permissions(
        point(("actions", name, "permission")),
        f"action '{name}'",
        old.permission or default,
        action.permission or default,
    )
    if (old.kind, dict(old.set), old.entity_type) != (action.kind, dict(action.set), action.entity_type):
        yield make_finding("ACTION_CHANGED", place, action=name)
    yield from find_weaker_fields(old.payload, action.payload, ("actions", name, "payload"))
    if action.repeats is not None and old.repeats is None:
        yield make_finding("REPEATS_ALLOWED", point(("actions", name, "repeats")), action=name)


def _compare_conditions(place: str, subject: str, old: str | None, new: str | None) -> Iterator[Finding]:
    if old is None or old == new:
        return
    if new is None:
        yield make_finding("CONDITION_DROPPED", place, subject=subject, condition=old)
    else:
        yield make_finding("CONDITION_CHANGED", place, subject=subject, condition=old, now=new)


def _compare_permissions(place: str, subject: str, old: str, new: str) -> Iterator[Finding]:
    if old != new:
        yield make_finding("PERMISSION_CHANGED", place, subject=subject, permission=old, now=new)


def _compare_windows(place: str, subject: str, old: EditWindow, new: EditWindow) -> Iterator[Finding]:
    if new.strictness < old.strictness:
        yield make_finding("EDIT_WIDER", place, subject=subject, before=old.value, after=new.value)
