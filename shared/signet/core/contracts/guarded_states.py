"""Checks of what stands behind approvals: nobody edits it unasked, and no rejection leads there.

A contract demands approvals by `requires`. A transition that names where a rejection leads may have some.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from signet.core.contracts.contract import Contract, EditWindow
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point


class _Lead(NamedTuple):
    transition: str
    source: str
    to: str
    is_rejection: bool = False


class RejectionWay(NamedTuple):
    """The states that a rejection leads on to, and those of them that the transition leads to as well."""

    states: frozenset[str] = frozenset()
    guarded: frozenset[str] = frozenset()


def check_guarded_states(contract: Contract) -> Iterator[Finding]:
    required = _list_required(contract)
    if required:
        yield from _check_windows(contract, required)
    for name in sorted({name for name, _ in required}):
        yield from _check_rejection(contract, name)
    for name, state in contract.states.items():
        if state.after_approval is not None and state.edit is not EditWindow.EDITABLE:
            place = point(("states", name, "after_approval"))
            yield make_finding("AFTER_APPROVAL_UNUSED", place, state=name, window=state.edit.value)


def _check_windows(contract: Contract, required: Collection[tuple[str, str]]) -> Iterator[Finding]:
    """Check that an edit behind required approvals asks people again, or is accepted by name.

    A way by a request that decides is not free either.
    """
    ways = _list_undecided(contract)
    unasked = [way for way in ways if way.is_rejection or (way.transition, way.source) not in required]
    free = _walk(unasked, _list_initial(contract))
    behind = _walk(_list_ways(contract), {contract.transitions[name].to for name, _ in required})
    for name, state in contract.states.items():
        is_editable = state.edit is EditWindow.EDITABLE and state.after_approval is None
        if is_editable and name in behind - free:
            yield make_finding("EDITABLE_BEHIND_REQUIRED", point(("states", name, "edit")), state=name)


def _check_rejection(contract: Contract, name: str) -> Iterator[Finding]:
    """Check that a rejection leads back, or to an end; one that has expired goes the same way."""
    place, led = point(("transitions", name, "rejected_to")), follow_rejection(contract, name)
    if led.guarded:
        reached = ", ".join(sorted(led.guarded))
        yield make_finding("REJECTION_PASSES_REQUIRED", place, transition=name, reached=reached)
    elif led.states:
        reached = ", ".join(sorted(led.states))
        yield make_finding("REJECTION_LEADS_ON", place, transition=name, reached=reached)


def list_editable_behind(contract: Contract, slot_name: str) -> list[str]:
    """List the states behind the transition of a slot where an edit changes what people have decided.

    Each way to such a state is this transition, or a request that decides.
    """
    slot = contract.slots.get(slot_name)
    if slot is None:
        return []
    ways = _list_undecided(contract)
    unasked = [way for way in ways if way.is_rejection or way.transition != slot.transition]
    behind = _walk(_list_ways(contract), [contract.transitions[slot.transition].to])
    behind -= _walk(unasked, _list_initial(contract))
    return sorted(name for name in behind if contract.states[name].edit is EditWindow.EDITABLE)


def follow_rejection(contract: Contract, name: str) -> RejectionWay:
    """Follow where a rejection of the transition leads on, beyond what a document comes to without it."""
    transition, ways = contract.transitions[name], list(_list_ways(contract))
    others = [way for way in ways if way.transition != name]
    free, begin = _walk(others, _list_initial(contract)), transition.rejected_to
    if begin is None or begin in free:
        return RejectionWay()
    ahead = _walk([way for way in others if way.source not in free], [begin]) - free
    return RejectionWay(frozenset(ahead - {begin}), frozenset(ahead & (_walk(ways, [transition.to]) - free)))


def _list_required(contract: Contract) -> set[tuple[str, str]]:
    """List the transitions that want approvals, each with the state where they are wanted."""
    required = set()
    for slot in contract.slots.values():
        transition = contract.transitions.get(slot.transition)
        if transition is not None and slot.requires is not None and slot.position == "before":
            required.add((slot.transition, slot.from_state or transition.from_states[0]))
    return required


def _list_ways(contract: Contract) -> Iterator[_Lead]:
    for name, transition in contract.transitions.items():
        for source in transition.from_states:
            yield _Lead(name, source, transition.to)
            if transition.rejected_to is not None:
                yield _Lead(name, source, transition.rejected_to, is_rejection=True)


def _list_undecided(contract: Contract) -> Iterator[_Lead]:
    """List the ways but for those of requests that decide."""
    deciding = contract.separation_of_duties.deciding
    return (way for way in _list_ways(contract) if way.is_rejection or way.transition not in deciding)


def _list_initial(contract: Contract) -> list[str]:
    return [name for name, state in contract.states.items() if state.initial]


def _walk(ways: Iterable[_Lead], begin: Iterable[str]) -> set[str]:
    """Return these states and all that the ways lead to from them."""
    known, seen = list(ways), set[str]()
    ahead = list(begin)
    while ahead:
        state = ahead.pop()
        if state not in seen:
            seen.add(state)
            ahead += [way.to for way in known if way.source == state]
    return seen
