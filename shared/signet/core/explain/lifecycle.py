"""The fixed part of a workflow in words: its states, and every way in which the status can change."""

from collections.abc import Iterator
from functools import partial

from signet.core.compiler.envelope import state_node
from signet.core.compiler.slot_requirements import describe_requirement
from signet.core.contracts.contract import AMENDED, Transition
from signet.core.explain.outline import WINDOWS, Chapter, Entry, NumberedLine, Outline
from signet.core.explain.vocabulary import describe_list, describe_name, escape


def write_states(outline: Outline) -> Chapter:
    entries = [
        Entry(partial(_describe_state, outline, state), state) for state in outline.workflow.in_order("state")
    ]
    return Chapter("The states of a document, and what an edit does in each", entries)


def write_gates(outline: Outline) -> Chapter:
    gates = outline.workflow.in_order("lifecycle_gate")
    entries = [Entry(partial(_describe_gate, outline, gate), gate) for gate in gates]
    return Chapter("Every way in which the status can change", entries)


def _describe_state(outline: Outline, node_id: str) -> NumberedLine:
    state = outline.workflow.config_of(node_id)["state"]
    is_amendment = node_id == state_node(AMENDED)
    parts = [WINDOWS[outline.workflow.window_of(node_id)]]
    if not is_amendment and outline.is_editable_behind(node_id):
        parts.append("IT CHANGES WHAT PEOPLE HAVE APPROVED, and nobody is asked again.")
    if is_amendment:
        parts.insert(
            0, f'An amendment begins here, as a new document with the status "{describe_name(state)}".'
        )
        parts += _describe_who_amends(outline)
    elif state == outline.workflow.content["initial_state"]:
        parts.insert(0, "Every document begins here.")
    parts += _describe_exits(outline, node_id)
    if outline.contract is not None and state in outline.contract.deletable_in and not is_amendment:
        parts.append("A document in this state may be deleted.")
    return NumberedLine(f"The state {outline.name(node_id)} [{escape(node_id)}].", tuple(parts))


def _describe_who_amends(outline: Outline) -> Iterator[str]:
    amendment = outline.contract.amendment if outline.contract is not None else None
    if amendment is None or not amendment.from_states:
        return
    states = describe_list((outline.refer(state_node(state)) for state in amendment.from_states), "or")
    who = f" with the permission {amendment.permission}" if amendment.permission is not None else ""
    yield f"A person{who} may also ask for one in the state {states}."
    is_suspended = amendment.while_open == "suspended"
    yield f"Until it settles, the original is {'suspended' if is_suspended else 'in force'}."


def _describe_exits(outline: Outline, node_id: str) -> Iterator[str]:
    edges_by_outcome = {
        on: outline.workflow.edges_from(node_id, on)
        for on in ("requested", "automatic", "interrupted", "ended")
    }
    gates = {
        on: [outline.refer(_exit_gate_of(outline, edge["target"])) for edge in edges]
        for on, edges in edges_by_outcome.items()
    }
    if gates["requested"]:
        yield f"It waits for a person to ask for {describe_list(gates['requested'], 'or')}."
    if gates["automatic"]:
        yield f"It goes on by itself to {describe_list(gates['automatic'])}."
    if gates["interrupted"]:
        yield f"It can be interrupted by {describe_list(gates['interrupted'], 'or')}."
    if edges_by_outcome["ended"]:
        is_final = not any(gates[on] for on in ("requested", "automatic", "interrupted"))
        yield (
            "The workflow ends here, and nothing happens to the document any more."
            if is_final
            else "The workflow ends here; the document stays in force and can still be taken up again."
        )


def _exit_gate_of(outline: Outline, node_id: str) -> str:
    """Return the gate that a state's edge leads to, also when a slot's steps come before it."""
    if outline.workflow.type_of(node_id) == "slot_in":
        return outline.workflow.exit_of(outline.workflow.slot_of(node_id))
    return node_id


def _describe_gate(outline: Outline, gate: str) -> NumberedLine:
    config = outline.workflow.config_of(gate)
    sources = describe_list((outline.refer(source) for source in _sources_of(outline, gate)), "or")
    target = outline.refer(state_node(config["to"]))
    text = f"The gate {outline.name(gate)} [{escape(gate)}]: from {sources} to {target}."
    parts = [
        *_describe_who_asks(outline, gate),
        *_describe_before(outline, gate),
        _describe_check(outline, gate),
        *_describe_after(outline, gate),
    ]
    return NumberedLine(text, tuple(parts))


def _sources_of(outline: Outline, gate: str) -> list[str]:
    """Return the states that a gate is reached from, directly or through a slot."""
    sources: list[str] = []
    for edge in outline.workflow.edges_to(gate):
        source = edge["source"]
        is_slot = outline.workflow.type_of(source) == "slot_out"
        sources += outline.workflow.entries_of(outline.workflow.slot_of(source)) if is_slot else [source]
    return list(dict.fromkeys(sources))


def _transition_of(outline: Outline, gate: str) -> Transition | None:
    name = outline.workflow.config_of(gate)["transition"]
    return outline.contract.transitions[name] if outline.contract is not None else None


def _describe_who_asks(outline: Outline, gate: str) -> Iterator[str]:
    config, transition = outline.workflow.config_of(gate), _transition_of(outline, gate)
    permission = escape(config["permission"])
    match config["kind"]:
        case "automatic":
            yield "Nobody asks for it: it follows by itself when everything before it is done."
            yield from _describe_voters(outline, gate)
            return
        case "interrupting":
            yield (
                f"A person with the permission {permission} may ask for it at any time;"
                " the steps under way are withdrawn."
            )
        case _:
            yield f"A person with the permission {permission} asks for it."
    if config["permission_condition"] is not None:
        condition = outline.words.describe_condition(config["permission_condition"])
        yield f"The permission holds only if {condition}."
    if transition is not None and transition.reason_required:
        yield "A reason must be given."


def _describe_voters(outline: Outline, gate: str) -> Iterator[str]:
    """Describe the permission of an automatic transition, which belongs to each person who votes."""
    config, workflow = outline.workflow.config_of(gate), outline.workflow
    permission, condition = escape(config["permission"]), config["permission_condition"]
    slots = _list_slots_before(outline, gate)
    if not any(workflow.approvals_in(slot) for slot in slots):
        also = "" if condition is None else " Its condition is asked of nobody:"
        text = "" if condition is None else f" {outline.words.describe_condition(condition)}."
        yield f"Nobody votes on the way to it, so nobody needs the permission {permission}.{also}{text}"
        return
    yield (
        f"Each person who votes on the way to it needs the permission {permission}, when they vote and again"
        " at the gate."
    )
    if condition is not None:
        described = outline.words.describe_condition(condition)
        yield f"The permission holds only if {described}; the acting person is the one who votes."


def _list_slots_before(outline: Outline, gate: str) -> list[str]:
    return [
        outline.workflow.slot_of(edge["source"])
        for edge in outline.workflow.edges_to(gate)
        if outline.workflow.type_of(edge["source"]) == "slot_out"
    ]


def _describe_before(outline: Outline, gate: str) -> Iterator[str]:
    slots = _list_slots_before(outline, gate)
    shut = outline.workflow.content.get("shut_gates", {}).get(gate)
    requirement = outline.workflow.requirement_of(shut) if shut is not None else None
    if requirement is not None:
        yield (
            f"NOTHING PASSES IT: the contract requires {describe_requirement(requirement)} in"
            f' "{describe_name(shut)}", and nothing fills that.'
        )
    elif slots:
        steps = describe_list(f'"{describe_name(slot)}" (section {outline.numbers[slot]})' for slot in slots)
        yield f"Before it, the organisation's own steps take place: {steps}."
    else:
        yield "No steps of the organisation stand before it."


def _describe_check(outline: Outline, gate: str) -> str:
    condition = outline.workflow.config_of(gate)["condition"]
    if condition is None:
        return "The gate itself sets no further condition."
    return f"It passes only if {outline.words.describe_condition(condition)}."


def _describe_after(outline: Outline, gate: str) -> Iterator[str]:
    for edge in outline.workflow.edges_from(gate, "passed"):
        if outline.workflow.type_of(edge["target"]) == "slot_in":
            slot = outline.workflow.slot_of(edge["target"])
            steps = f'"{describe_name(slot)}" (section {outline.numbers[slot]})'
            yield f"After it, the organisation's own steps take place: {steps}."
    for edge in outline.workflow.edges_from(gate, "rejected"):
        yield f"A rejection sends the document to {outline.lead_to(edge['target'])}."
    for edge in outline.workflow.edges_from(gate, "refused"):
        state = outline.lead_to(edge["target"])
        yield f"If it cannot pass, the request is refused with the reason, and the document stays in {state}."
    if outline.workflow.config_of(gate)["kind"] == "automatic":
        yield "If it cannot pass for another reason than a rejection, the workflow pauses and says why."
