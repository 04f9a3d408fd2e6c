"""Checks of a contract's slots: each has a position of its own and a window no looser than the state's."""

from collections.abc import Iterator

from signet.core.contracts.contract import AMENDED, Contract, EditWindow, Slot, Transition
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point


def check_slots(contract: Contract) -> Iterator[Finding]:
    for name, slot in contract.slots.items():
        transition = contract.transitions.get(slot.transition)
        if transition is None:
            allowed = ", ".join(contract.transitions) or "(none)"
            place = point(("slots", name, "transition"))
            yield make_finding("TRANSITION_UNKNOWN", place, transition=slot.transition, allowed=allowed)
            continue
        yield from _check_position(contract, name, slot, transition)
        yield from _check_window(contract, name, slot, transition)
        yield from _check_requirement(contract, name, slot, transition)
    yield from _check_shared_positions(contract)


def list_sources(contract: Contract, transition: Transition) -> tuple[str, ...]:
    """Return the states where a transition begins, with the pseudo state if an amendment may begin there."""
    begins = any(contract.states[s].initial for s in transition.from_states if s in contract.states)
    is_amended = contract.amendment is not None and transition.kind == "requested" and begins
    return (*transition.from_states, AMENDED) if is_amended else transition.from_states


def _check_position(contract: Contract, name: str, slot: Slot, transition: Transition) -> Iterator[Finding]:
    place = point(("slots", name, "from"))
    if transition.kind == "interrupting":
        if slot.position == "before":
            yield make_finding("SLOT_BEFORE_INTERRUPT", point(("slots", name, "position")), slot=name)
        elif slot.from_state is not None:
            yield make_finding("SLOT_FROM_AT_INTERRUPT", place, slot=name, transition=slot.transition)
        return
    allowed = ", ".join(list_sources(contract, transition))
    if slot.from_state is None:
        if slot.position == "before" and len(transition.from_states) > 1:
            place = point(("slots", name))
            yield make_finding(
                "SLOT_FROM_MISSING", place, slot=name, transition=slot.transition, allowed=allowed
            )
    elif slot.from_state not in list_sources(contract, transition):
        yield make_finding("SLOT_FROM_UNKNOWN", place, slot=name, state=slot.from_state, allowed=allowed)


def _check_window(contract: Contract, name: str, slot: Slot, transition: Transition) -> Iterator[Finding]:
    default = _find_default_window(contract, slot, transition)
    if default is None:
        return
    window = slot.edit or default
    if window.strictness < default.strictness:
        words = {"slot": name, "default": default.value, "window": window.value}
        yield make_finding("SLOT_WINDOW_LOOSER", point(("slots", name, "edit")), **words)
    if slot.stable and window is EditWindow.EDITABLE:
        yield make_finding("SLOT_STABLE_EDITABLE", point(("slots", name, "stable")), slot=name)


def _find_default_window(contract: Contract, slot: Slot, transition: Transition) -> EditWindow | None:
    if slot.position == "after":
        state = contract.states.get(transition.to)
    elif slot.from_state == AMENDED:
        return EditWindow.EDITABLE
    else:
        state = contract.states.get(slot.from_state or transition.from_states[0])
    return state.edit if state else None


def _check_requirement(
    contract: Contract, name: str, slot: Slot, transition: Transition
) -> Iterator[Finding]:
    """Check that a gate uses the approvals, and that the transition's other sources want some too."""
    if slot.requires is None:
        return
    place = point(("slots", name, "requires"))
    if slot.position == "after":
        yield make_finding("REQUIRED_AFTER_GATE", place, slot=name)
        return
    guarded = {
        source
        for other in contract.slots.values()
        if other.transition == slot.transition and other.position == "before" and other.requires is not None
        for source in _list_slot_sources(contract, other)
    }
    free = [source for source in list_sources(contract, transition) if source not in guarded]
    if free:
        sources = ", ".join(free)
        yield make_finding("REQUIRED_ELSEWHERE_FREE", place, transition=slot.transition, sources=sources)


def _check_shared_positions(contract: Contract) -> Iterator[Finding]:
    taken: dict[tuple[str, str, str], str] = {}
    for name, slot in contract.slots.items():
        for source in _list_slot_sources(contract, slot):
            first = taken.setdefault((slot.transition, slot.position, source), name)
            if first != name:
                yield make_finding("SLOT_PLACE_TAKEN", point(("slots", name)), slot=name, first=first)
                break


def _list_slot_sources(contract: Contract, slot: Slot) -> tuple[str, ...]:
    """Return the sources of the slot's transition that it serves; after the gates it may be all of them."""
    transition = contract.transitions.get(slot.transition)
    if transition is None:
        return ()
    if slot.from_state is not None:
        return (slot.from_state,)
    return list_sources(contract, transition) if slot.position == "after" else transition.from_states[:1]
