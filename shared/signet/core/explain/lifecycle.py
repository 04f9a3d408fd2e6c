"""The fixed part of a workflow in words: its states, and every way in which the status can change."""

from collections.abc import Iterator
from functools import partial

from signet.core.compiler.envelope import state_node
from signet.core.contracts.contract import AMENDED, Transition
from signet.core.explain.outline import WINDOWS, Book, Chapter, Entry, Said
from signet.core.explain.vocabulary import plain, say_list, say_name


def write_states(book: Book) -> Chapter:
    entries = [Entry(partial(_say_state, book, state), state) for state in book.workflow.in_order("state")]
    return Chapter("The states of a document, and what an edit does in each", entries)


def write_gates(book: Book) -> Chapter:
    gates = book.workflow.in_order("lifecycle_gate")
    entries = [Entry(partial(_say_gate, book, gate), gate) for gate in gates]
    return Chapter("Every way in which the status can change", entries)


def _say_state(book: Book, node_id: str) -> Said:
    state = book.workflow.config_of(node_id)["state"]
    is_amendment = node_id == state_node(AMENDED)
    parts = [WINDOWS[book.workflow.window_of(node_id)]]
    if is_amendment:
        parts.insert(0, f'An amendment begins here, as a new document with the status "{say_name(state)}".')
        parts += _say_who_amends(book)
    elif state == book.workflow.content["initial_state"]:
        parts.insert(0, "Every document begins here.")
    parts += _say_ways_out(book, node_id)
    if book.contract is not None and state in book.contract.deletable_in and not is_amendment:
        parts.append("A document in this state may be deleted.")
    return Said(f"The state {book.name(node_id)} [{plain(node_id)}].", tuple(parts))


def _say_who_amends(book: Book) -> Iterator[str]:
    amendment = book.contract.amendment if book.contract is not None else None
    if amendment is None or not amendment.from_states:
        return
    states = say_list((book.refer(state_node(state)) for state in amendment.from_states), "or")
    who = f" with the permission {amendment.permission}" if amendment.permission is not None else ""
    yield f"A person{who} may ask for one also in the state {states}."


def _say_ways_out(book: Book, node_id: str) -> Iterator[str]:
    ways = {
        on: book.workflow.edges_from(node_id, on) for on in ("requested", "automatic", "interrupted", "ended")
    }
    gates = {
        on: [book.refer(_gate_behind(book, edge["target"])) for edge in edges] for on, edges in ways.items()
    }
    if gates["requested"]:
        yield f"It waits for a person to ask for {say_list(gates['requested'], 'or')}."
    if gates["automatic"]:
        yield f"It goes on by itself to {say_list(gates['automatic'])}."
    if gates["interrupted"]:
        yield f"It can be interrupted by {say_list(gates['interrupted'], 'or')}."
    if ways["ended"]:
        is_final = not any(gates[on] for on in ("requested", "automatic", "interrupted"))
        yield (
            "The workflow ends here, and nothing happens to the document any more."
            if is_final
            else "The workflow ends here; the document stays in force and can still be taken up again."
        )


def _gate_behind(book: Book, node_id: str) -> str:
    """What a state's edge leads to in the end: the gate, also when a slot's steps stand before it."""
    if book.workflow.type_of(node_id) == "slot_in":
        return book.workflow.exit_of(book.workflow.slot_of(node_id))
    return node_id


def _say_gate(book: Book, gate: str) -> Said:
    config = book.workflow.config_of(gate)
    sources = say_list((book.refer(source) for source in _sources_of(book, gate)), "or")
    target = book.refer(state_node(config["to"]))
    text = f"The gate {book.name(gate)} [{plain(gate)}]: from {sources} to {target}."
    parts = [
        *_say_who_asks(book, gate),
        *_say_before(book, gate),
        _say_check(book, gate),
        *_say_after(book, gate),
    ]
    return Said(text, tuple(parts))


def _sources_of(book: Book, gate: str) -> list[str]:
    """The states that it is reached from, directly or through a slot."""
    sources: list[str] = []
    for edge in book.workflow.edges_to(gate):
        source = edge["source"]
        is_slot = book.workflow.type_of(source) == "slot_out"
        sources += book.workflow.entries_of(book.workflow.slot_of(source)) if is_slot else [source]
    return list(dict.fromkeys(sources))


def _transition_of(book: Book, gate: str) -> Transition | None:
    name = book.workflow.config_of(gate)["transition"]
    return book.contract.transitions[name] if book.contract is not None else None


def _say_who_asks(book: Book, gate: str) -> Iterator[str]:
    config, transition = book.workflow.config_of(gate), _transition_of(book, gate)
    permission = plain(config["permission"])
    match config["kind"]:
        case "automatic":
            yield "Nobody asks for it: it comes by itself when what stands before it is done."
            return
        case "interrupting":
            yield (
                f"A person with the permission {permission} may ask for it at any time;"
                " what is under way is withdrawn."
            )
        case _:
            yield f"A person with the permission {permission} asks for it."
    if config["permission_condition"] is not None:
        yield f"The permission holds only if {book.words.say_condition(config['permission_condition'])}."
    if transition is not None and transition.reason_required:
        yield "A reason must be given."


def _say_before(book: Book, gate: str) -> Iterator[str]:
    slots = [
        book.workflow.slot_of(edge["source"])
        for edge in book.workflow.edges_to(gate)
        if book.workflow.type_of(edge["source"]) == "slot_out"
    ]
    if slots:
        steps = say_list(f'"{say_name(slot)}" (section {book.numbers[slot]})' for slot in slots)
        yield f"Before it, the organisation's own steps take place: {steps}."
    else:
        yield "No steps of the organisation stand before it."


def _say_check(book: Book, gate: str) -> str:
    condition = book.workflow.config_of(gate)["condition"]
    if condition is None:
        return "The gate itself sets no further condition."
    return f"It passes only if {book.words.say_condition(condition)}."


def _say_after(book: Book, gate: str) -> Iterator[str]:
    for edge in book.workflow.edges_from(gate, "passed"):
        if book.workflow.type_of(edge["target"]) == "slot_in":
            slot = book.workflow.slot_of(edge["target"])
            steps = f'"{say_name(slot)}" (section {book.numbers[slot]})'
            yield f"After it, the organisation's own steps take place: {steps}."
    for edge in book.workflow.edges_from(gate, "rejected"):
        yield f"A rejection sends the document to {book.lead_to(edge['target'])}."
    for edge in book.workflow.edges_from(gate, "refused"):
        state = book.lead_to(edge["target"])
        yield f"If it cannot pass, the request is refused with the reason, and the document stays in {state}."
    if book.workflow.config_of(gate)["kind"] == "automatic":
        yield "If it cannot pass for another reason than a rejection, the workflow pauses and says why."
