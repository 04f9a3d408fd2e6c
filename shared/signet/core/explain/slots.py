"""What a tenant added, slot by slot and step by step, in the order in which a document comes by."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from signet.core.compiler.node_types import NODE_TYPES
from signet.core.compiler.slot_graph import slot_in
from signet.core.explain.node_sentences import say_kind, say_step
from signet.core.explain.outline import WINDOWS, Book, Chapter, Entry, Said
from signet.core.explain.vocabulary import plain, say_list, say_name


def write_slots(book: Book) -> list[Chapter]:
    return [_write_slot(book, slot) for slot in book.workflow.slots]


def _write_slot(book: Book, slot: str) -> Chapter:
    steps = [
        node_id
        for node_id in book.workflow.order
        if book.workflow.slot_of(node_id) == slot
        and NODE_TYPES[book.workflow.type_of(node_id)].group is not None
    ]
    entries = [
        Entry(partial(_say_slot, book, slot), slot_in(slot)),
        *(Entry(partial(_say_step, book, step), step) for step in steps),
    ]
    is_automation = book.workflow.content["kind"] == "automation"
    title = "The steps" if is_automation else f"Added by the organisation: {_name_slot(book, slot)}"
    return Chapter(title, entries, slot)


def _name_slot(book: Book, slot: str) -> str:
    declared = book.contract.slots.get(slot) if book.contract is not None else None
    label = plain(declared.label) if declared is not None and declared.label else say_name(slot)
    return f'"{label}" [{plain(slot)}]'


def _say_slot(book: Book, slot: str) -> Said:
    workflow = book.workflow
    entries = say_list((_say_entry(book, node_id) for node_id in workflow.entries_of(slot)), "or")
    text = f"These steps begin {entries} and lead to {book.lead_to(workflow.exit_of(slot))}."
    parts = []
    if workflow.content["kind"] != "automation":
        parts.append(f"While they run: {WINDOWS[workflow.window_of(slot_in(slot))]}")
    if slot_in(slot) in workflow.content["stable_region_nodes"]:
        parts.append(
            "The content that they are about stays fixed: should it change all the same, the workflow pauses."
        )
    return Said(text, (*parts, *_say_ways(book, slot_in(slot))))


def _say_entry(book: Book, node_id: str) -> str:
    match book.workflow.type_of(node_id):
        case "state":
            return f"in the state {book.refer(node_id)}"
        case "lifecycle_gate":
            return f"behind the gate {book.refer(node_id)}"
        case _:
            return "at the start"


def _say_step(book: Book, node_id: str) -> Said:
    workflow = book.workflow
    node_type, config = workflow.type_of(node_id), workflow.config_of(node_id)
    head = f"{say_kind(node_type).capitalize()} {book.name(node_id)} [{plain(node_id)}]"
    sentences = " ".join([*say_step(node_type, config, book.words), *_say_block(book, node_id)])
    return Said(f"{head}. {sentences}", (*_say_ways(book, node_id), *_say_failure(book, node_id)))


def _say_block(book: Book, node_id: str) -> Iterator[str]:
    """Where a step stands among parallel branches, and how they meet."""
    content = book.workflow.content
    inside = content["blocks"].get(node_id)
    if inside:
        split, branch = inside[-1]
        yield f"It is part of branch {branch + 1} of {book.refer(split)}."
    if book.workflow.type_of(node_id) == "parallel_split":
        join = next(join for join, block in content["joins"].items() if block["split"] == node_id)
        yield f"They meet at {book.refer(join)}."
    elif node_id in content["joins"]:
        block = content["joins"][node_id]
        arriving = [edge["source"] for edge in book.workflow.edges_to(node_id) if edge["role"] == "forward"]
        names = list(dict.fromkeys(book.refer(source) for source in arriving))
        word = _say_how_many(block["mode"], block["required_token_count"])
        yield f"{word} branches of {book.refer(block['split'])} must finish here: {say_list(names)}."


def _say_how_many(mode: str, count: int) -> str:
    if mode == "any":
        return f"One of the {count}"
    return "Both" if count == 2 else f"All {count}"


def _say_ways(book: Book, node_id: str) -> Iterator[str]:
    edges = book.workflow.edges_from(node_id)
    if book.workflow.type_of(node_id) == "parallel_split":
        yield from (f"Branch {index + 1}: {_say_branch(book, edge)}." for index, edge in enumerate(edges))
    else:
        outcomes = NODE_TYPES[book.workflow.type_of(node_id)].outcomes
        # By outcome first; within one they stay in the order in which they are tried.
        yield from (book.say_way(edge) for edge in sorted(edges, key=lambda edge: outcomes.index(edge["on"])))


def _say_branch(book: Book, edge: Mapping[str, Any]) -> str:
    label = f' ("{plain(edge["label"])}")' if edge.get("label") else ""
    return f"{book.lead_to(edge['target'])}{label}"


def _say_failure(book: Book, node_id: str) -> Iterator[str]:
    can_fail = "error" in NODE_TYPES[book.workflow.type_of(node_id)].outcomes
    if can_fail and not book.workflow.edges_from(node_id, "error"):
        yield "If it fails, so does the workflow."
