"""A tenant's own steps, slot by slot, in the order in which a document comes to them."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from signet.core.compiler.node_types import NODE_TYPES
from signet.core.compiler.slot_graph import slot_in
from signet.core.compiler.slot_requirements import describe_requirement
from signet.core.explain.node_sentences import describe_kind, describe_step
from signet.core.explain.outline import WINDOWS, Chapter, Entry, NumberedLine, Outline
from signet.core.explain.vocabulary import describe_list, describe_name, escape
from signet.core.runtime.graph.guarded_gates import may_be_decided


def write_slots(outline: Outline) -> list[Chapter]:
    return [_write_slot(outline, slot) for slot in outline.workflow.slots]


def _write_slot(outline: Outline, slot: str) -> Chapter:
    steps = [
        node_id
        for node_id in outline.workflow.order
        if outline.workflow.slot_of(node_id) == slot
        and NODE_TYPES[outline.workflow.type_of(node_id)].group is not None
    ]
    entries = [
        Entry(partial(_describe_slot, outline, slot), slot_in(slot)),
        *(Entry(partial(_describe_step, outline, step), step) for step in steps),
    ]
    is_automation = outline.workflow.content["kind"] == "automation"
    title = "The steps" if is_automation else f"Added by the organisation: {_name_slot(outline, slot)}"
    return Chapter(title, entries, slot)


def _name_slot(outline: Outline, slot: str) -> str:
    declared = outline.contract.slots.get(slot) if outline.contract is not None else None
    label = escape(declared.label) if declared is not None and declared.label else describe_name(slot)
    return f'"{label}" [{escape(slot)}]'


def _describe_slot(outline: Outline, slot: str) -> NumberedLine:
    workflow = outline.workflow
    entries = describe_list(
        (_describe_entry(outline, node_id) for node_id in workflow.entries_of(slot)), "or"
    )
    text = f"These steps begin {entries} and lead to {outline.lead_to(workflow.exit_of(slot))}."
    parts = []
    requirement = workflow.requirement_of(slot)
    if requirement is not None:
        parts.append(
            f"The contract requires {describe_requirement(requirement)} on every way through these steps."
        )
    if workflow.content["kind"] != "automation":
        parts.append(f"While they run: {WINDOWS[workflow.window_of(slot_in(slot))]}")
    if slot_in(slot) in workflow.content["stable_region_nodes"]:
        parts.append(
            "The content that they are about must not change: if it does all the same, the workflow pauses."
        )
    return NumberedLine(text, (*parts, *_describe_edges(outline, slot_in(slot))))


def _describe_entry(outline: Outline, node_id: str) -> str:
    match outline.workflow.type_of(node_id):
        case "state":
            return f"in the state {outline.refer(node_id)}"
        case "lifecycle_gate":
            return f"behind the gate {outline.refer(node_id)}"
        case _:
            return "at the start"


def _describe_step(outline: Outline, node_id: str) -> NumberedLine:
    workflow = outline.workflow
    node_type, config = workflow.type_of(node_id), workflow.config_of(node_id)
    head = f"{describe_kind(node_type).capitalize()} {outline.name(node_id)} [{escape(node_id)}]"
    sentences = " ".join(
        [*describe_step(node_type, config, outline.words), *_describe_block(outline, node_id)]
    )
    return NumberedLine(
        f"{head}. {sentences}",
        (*_describe_edges(outline, node_id), *_describe_unhandled_error(outline, node_id)),
    )


def _describe_block(outline: Outline, node_id: str) -> Iterator[str]:
    """Describe the step's place among parallel branches, and how they meet."""
    content = outline.workflow.content
    inside = content["blocks"].get(node_id)
    if inside:
        split, branch = inside[-1]
        yield f"It is part of branch {branch + 1} of {outline.refer(split)}."
    if outline.workflow.type_of(node_id) == "parallel_split":
        join = next(join for join, block in content["joins"].items() if block["split"] == node_id)
        yield f"They meet at {outline.refer(join)}."
    elif node_id in content["joins"]:
        block = content["joins"][node_id]
        arriving = [
            edge["source"] for edge in outline.workflow.edges_to(node_id) if edge["role"] == "forward"
        ]
        names = list(dict.fromkeys(outline.refer(source) for source in arriving))
        word = _describe_how_many(block["mode"], block["required_token_count"])
        yield f"{word} branches of {outline.refer(block['split'])} must finish here: {describe_list(names)}."
        yield from _describe_approvals_met(outline, node_id, block)


def _describe_approvals_met(outline: Outline, join: str, block: Mapping[str, Any]) -> Iterator[str]:
    """Describe what becomes of the approvals in a block that one of its branches can end."""
    content = outline.workflow.content
    has_asked = any(
        split == block["split"]
        for approval in outline.workflow.in_order("approval")
        for split, _ in content["blocks"].get(approval, ())
    )
    if has_asked and block["mode"] == "any":
        yield "One approval is enough here, although another branch was rejected."
    lost = content.get("accepted", {}).get(join)
    if lost is not None:
        approvals = describe_list((outline.refer(approval) for approval in lost), "and")
        yield f"The organisation ACCEPTS that nobody may decide in {approvals}, because it can be cancelled."


def _describe_how_many(mode: str, count: int) -> str:
    if mode == "any":
        return f"One of the {count}"
    return "Both" if count == 2 else f"All {count}"


def _describe_edges(outline: Outline, node_id: str) -> Iterator[str]:
    edges = outline.workflow.edges_from(node_id)
    if outline.workflow.type_of(node_id) == "parallel_split":
        yield from (
            f"Branch {index + 1}: {_describe_branch(outline, edge)}." for index, edge in enumerate(edges)
        )
    else:
        outcomes = NODE_TYPES[outline.workflow.type_of(node_id)].outcomes
        # Edges of one outcome stay in the order in which they are tried.
        yield from (
            outline.describe_edge(edge) for edge in sorted(edges, key=lambda edge: outcomes.index(edge["on"]))
        )


def _describe_branch(outline: Outline, edge: Mapping[str, Any]) -> str:
    label = f' ("{escape(edge["label"])}")' if edge.get("label") else ""
    return f"{outline.lead_to(edge['target'])}{label}"


def _describe_unhandled_error(outline: Outline, node_id: str) -> Iterator[str]:
    """Yield a sentence if the node can fail and an edge does not take each error."""
    if "error" not in NODE_TYPES[outline.workflow.type_of(node_id)].outcomes:
        return
    if not outline.workflow.edges_from(node_id, "error"):
        yield "If it fails, it is held there until a person brings it on."
    elif outline.is_read or may_be_decided(outline.workflow.content, outline.contract):
        yield "Only what fails outside goes that way. Else it is held there until a person brings it on."
