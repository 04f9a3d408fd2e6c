"""Checks of a contract's lifecycle: states and transitions make it begin, continue and end."""

from collections.abc import Iterator, Mapping

from signet.core.contracts.contract import AMENDED, Contract, EditWindow, State, Transition
from signet.core.contracts.expression_scope import reads_actor
from signet.core.contracts.field_checks import check_distinct
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point

# These verbs are permissions of their own, beside those of transitions and actions: `invoice:edit`.
RESERVED_VERBS = frozenset({"create", "read", "edit", "update", "delete", "amend", "erase"})

_Edges = Mapping[str, frozenset[str]]


def check_lifecycle(contract: Contract) -> Iterator[Finding]:
    yield from _check_initial(contract)
    for name, state in contract.states.items():
        yield from _check_state(name, state)
    for name, transition in contract.transitions.items():
        yield from _check_transition(contract, name, transition)
        yield from _check_sources(contract, name, transition)
        yield from _check_acting_person(contract, name, transition)
    yield from _check_automatic_exits(contract)
    yield from _check_reachable(contract)
    yield from _check_endings(contract)
    yield from _check_returns(contract)


def check_state_known(contract: Contract, state: str, place: str) -> Iterator[Finding]:
    if state not in contract.states:
        yield make_finding("STATE_UNKNOWN", place, state=state, allowed=", ".join(contract.states))


def _check_initial(contract: Contract) -> Iterator[Finding]:
    initial = [name for name, state in contract.states.items() if state.initial]
    if not initial:
        yield make_finding("INITIAL_MISSING", "/states")
    for name in initial[1:]:
        yield make_finding(
            "INITIAL_SEVERAL", point(("states", name, "initial")), state=name, first=initial[0]
        )


def _check_state(name: str, state: State) -> Iterator[Finding]:
    if name == AMENDED:
        yield make_finding("STATE_RESERVED", point(("states", name)), state=name)
    if state.final and state.initial:
        yield make_finding("INITIAL_FINAL", point(("states", name, "final")), state=name)
    if state.final and state.settled:
        yield make_finding("SETTLED_AND_FINAL", point(("states", name, "settled")), state=name)
    if state.final and state.edit is not EditWindow.LOCKED:
        yield make_finding(
            "FINAL_NOT_LOCKED", point(("states", name, "edit")), state=name, window=state.edit.value
        )


def _check_transition(contract: Contract, name: str, transition: Transition) -> Iterator[Finding]:
    path = ("transitions", name)
    if name in RESERVED_VERBS:
        yield make_finding("NAME_RESERVED", point(path), name=name, what="transition")
    yield from check_state_known(contract, transition.to, point((*path, "to")))
    if transition.rejected_to is not None:
        place = point((*path, "rejected_to"))
        yield from check_state_known(contract, transition.rejected_to, place)
        if transition.kind == "interrupting":
            yield make_finding("INTERRUPT_REJECTED", place, transition=name)
        elif transition.rejected_to == transition.to:
            yield make_finding("REJECTED_TO_TARGET", place, transition=name, state=transition.to)
    if transition.kind == "automatic" and transition.reason_required:
        yield make_finding("AUTOMATIC_WITH_REASON", point((*path, "reason_required")), transition=name)


def _check_acting_person(contract: Contract, name: str, transition: Transition) -> Iterator[Finding]:
    """Check that an automatic transition asks nothing of `actor` where only the system acts.

    The condition of its permission is asked of those who vote. Without a slot before it, nobody does.
    """
    if transition.kind != "automatic":
        return
    permission = transition.permission or f"{contract.contract}:{name}"
    where = f"at the automatic transition '{name}'"
    if transition.condition is not None and reads_actor(transition.condition):
        place = point(("transitions", name, "condition"))
        way = f"Ask it of those who vote: put it into 'conditions' under '{permission}'."
        yield make_finding("ACTOR_IS_SYSTEM", place, text=transition.condition, where=where, way=way)
    before = [s for s in contract.slots.values() if s.transition == name and s.position == "before"]
    asking = {slot.from_state or transition.from_states[0] for slot in before}
    text = contract.conditions.get(permission)
    if text is not None and reads_actor(text) and set(transition.from_states) - asking:
        place = point(("conditions", permission))
        where, way = f"{where}, which has no slot before it,", "Declare a slot before it from each source."
        yield make_finding("ACTOR_IS_SYSTEM", place, text=text, where=where, way=way)


def _check_sources(contract: Contract, name: str, transition: Transition) -> Iterator[Finding]:
    path = ("transitions", name, "from")
    yield from check_distinct(transition.from_states, path)
    for index, source in enumerate(transition.from_states):
        place = point((*path, index))
        yield from check_state_known(contract, source, place)
        state = contract.states.get(source)
        if state is not None and state.final:
            yield make_finding("FINAL_HAS_EXIT", place, state=source, transition=name)
        if state is not None and state.settled and transition.kind == "automatic":
            yield make_finding("SETTLED_HAS_AUTOMATIC_EXIT", place, state=source, transition=name)
        # Only a person can mean "again": a renewal is requested from the state that it leads to.
        if source == transition.to and transition.kind != "requested":
            yield make_finding(
                "TRANSITION_TO_ITSELF", place, state=source, transition=name, kind=transition.kind
            )


def _check_automatic_exits(contract: Contract) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for name, transition in contract.transitions.items():
        if transition.kind != "automatic":
            continue
        for index, source in enumerate(transition.from_states):
            if first.setdefault(source, name) != name:
                place = point(("transitions", name, "from", index))
                yield make_finding(
                    "AUTOMATIC_SEVERAL", place, state=source, transition=name, first=first[source]
                )


def _check_reachable(contract: Contract) -> Iterator[Finding]:
    initial = [name for name, state in contract.states.items() if state.initial]
    if not initial:
        return
    reached = _reach(_find_transition_edges(contract), initial)
    for name in contract.states:
        if name not in reached:
            yield make_finding("STATE_UNREACHABLE", point(("states", name)), state=name)


def _check_endings(contract: Contract) -> Iterator[Finding]:
    edges = _find_transition_edges(contract)
    ends = [name for name, state in contract.states.items() if state.final or state.settled]
    leads_to_end = _reach(_reverse(edges), ends)
    for name in contract.states:
        if name in leads_to_end:
            continue
        code = "STATE_NEVER_ENDS" if edges[name] - {name} else "STATE_WITHOUT_EXIT"
        yield make_finding(code, point(("states", name)), state=name)


def _check_returns(contract: Contract) -> Iterator[Finding]:
    """Check that no cycle of automatic transitions runs for ever, because no request would stop it."""
    edges: dict[str, frozenset[str]] = dict.fromkeys(contract.states, frozenset())
    for transition in contract.transitions.values():
        if transition.kind != "automatic":
            continue
        for source in contract.states.keys() & set(transition.from_states):
            # A transition to the same state is a finding of its own; a rejection to it is not.
            own = frozenset({source}) if transition.rejected_to != source else frozenset()
            edges[source] |= _list_targets(contract, transition) - own
    reported = set[str]()
    for state in contract.states:
        if state in reported:
            continue
        cycle = _find_cycle(edges, state)
        if cycle:
            reported.update(cycle)
            yield make_finding(
                "RETURN_NEVER_WAITS", point(("states", state)), path=" → ".join((*cycle, state))
            )


def _find_cycle(edges: _Edges, begin: str) -> tuple[str, ...]:
    """Return the shortest path from a state back to itself, without its end; empty if there is none."""
    waiting: list[tuple[str, ...]] = [(begin,)]
    seen = set[str]()
    for path in waiting:
        for state in sorted(edges[path[-1]]):
            if state == begin:
                return path
            if state not in seen:
                seen.add(state)
                waiting.append((*path, state))
    return ()


def _find_transition_edges(contract: Contract) -> _Edges:
    """Return the states that each state may lead to next; unknown names lead nowhere."""
    edges: dict[str, frozenset[str]] = dict.fromkeys(contract.states, frozenset())
    for transition in contract.transitions.values():
        for source in contract.states.keys() & set(transition.from_states):
            edges[source] |= _list_targets(contract, transition)
    return edges


def _list_targets(contract: Contract, transition: Transition) -> frozenset[str]:
    return frozenset({transition.to, transition.rejected_to or transition.to}) & contract.states.keys()


def _reverse(edges: _Edges) -> _Edges:
    return {name: frozenset(source for source, targets in edges.items() if name in targets) for name in edges}


def _reach(edges: _Edges, begin: list[str]) -> set[str]:
    reached, waiting = set(begin), list(begin)
    while waiting:
        targets = edges[waiting.pop()] - reached
        reached |= targets
        waiting.extend(targets)
    return reached
