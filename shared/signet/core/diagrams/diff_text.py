"""A diff as lines to be read from top to bottom; each line begins with its mark."""

from collections.abc import Iterator

from signet.core.compiler.graph import ENVELOPE
from signet.core.compiler.node_types import NODE_TYPES
from signet.core.compiler.slot_graph import DEFAULT_PRIORITY
from signet.core.diagrams.diff import ABSENT, Diff, DiffChange, Difference, Mark, SlotDiff, WindowChange
from signet.core.explain.artifact_reader import Content
from signet.core.explain.node_sentences import describe_kind, describe_step
from signet.core.explain.vocabulary import Vocabulary, describe_json, escape, short_id

MARKS = {Mark.ADDED: "+", Mark.REMOVED: "-", Mark.MODIFIED: "~"}
_WINDOWS = {
    "editable": "an edit changes the document",
    "amend_only": "an edit makes an amendment",
    "locked": "nobody can edit",
}
_ROLES = {
    "return": " (back to a state)",
    "interrupt": " (interrupts)",
    "exit": " (leaves early)",
    "error": " (error)",
}
# Nodes that only mark the ends of a slot; the heading of the slot says the same.
_ENDS = ("slot_in", "slot_out")


def write_diff(diff: Diff, words: Vocabulary | None = None) -> list[str]:
    return list(_write(diff, words or Vocabulary()))


def _write(diff: Diff, words: Vocabulary) -> Iterator[str]:
    yield f"before: {escape(diff.before.name)} ({diff.before.kind}) {diff.before.hash}"
    yield f"after:  {escape(diff.after.name)} ({diff.after.kind}) {diff.after.hash}"
    if diff.is_empty:
        yield ""
        yield "The two are the same."
        return
    for change in diff.changes:
        yield f"~ {_describe_change(change)}"
    slots = {slot.slot: slot for slot in diff.slots}
    yield ""
    if ENVELOPE in slots:
        yield "envelope: CHANGED"
        yield from _write_slot(slots[ENVELOPE], words)
    elif diff.after.kind != "automation":
        yield "envelope: nothing changed"
    for slot in diff.slots:
        if slot.slot != ENVELOPE:
            yield ""
            yield f"slot {escape(slot.slot)}: {_describe_slot(slot)}"
            yield from _write_slot(slot, words)
    yield ""
    yield ", ".join(f"{count} {mark}" for mark, count in diff.count().items())


def _describe_slot(slot: SlotDiff) -> str:
    if slot.is_filled:
        return "filled"
    return "emptied" if slot.is_emptied else "changed"


def _write_slot(slot: SlotDiff, words: Vocabulary) -> Iterator[str]:
    if slot.window is not None:
        yield f"  ~ {_describe_window(slot.window)}"
    by_source: dict[str, list[Difference]] = {}
    for edge in slot.edges:
        by_source.setdefault(str(_side(edge)["source"]), []).append(edge)
    own = {node.id for node in slot.nodes}
    for source in [source for source in by_source if source not in own]:
        for edge in by_source[source]:
            yield from _write_edge(edge, slot.slot)
    for node in slot.nodes:
        if _side(node)["type"] not in _ENDS:
            yield from _write_node(node, words)
        for edge in by_source.get(node.id, ()):
            yield from _write_edge(edge, slot.slot)


def _side(difference: Difference) -> Content:
    return difference.after or difference.before or {}


def _describe_window(window: WindowChange) -> str:
    grade = "stricter" if window.is_stricter else "looser"
    return f"edit window {grade}: {window.before} → {window.after} ({_WINDOWS[window.after]})"


def _write_node(node: Difference, words: Vocabulary) -> Iterator[str]:
    side = _side(node)
    label = f' "{escape(side["label"])}"' if side.get("label") else ""
    yield f"  {MARKS[node.mark]} {describe_kind(side['type'])} '{short_id(node.id)}'{label}"
    if node.mark is Mark.MODIFIED:
        for change in node.changes:
            yield f"      ~ {_describe_change(change)}"
    elif node.mark is Mark.ADDED and NODE_TYPES[side["type"]].group is not None:
        for sentence in describe_step(side["type"], side["config"], words):
            yield f"        {sentence}"


def _write_edge(edge: Difference, slot: str) -> Iterator[str]:
    side = _side(edge)
    direction = f"{short_id(side['source'])} → {short_id(side['target'])}{_describe_when(side)}"
    is_replaced = edge.mark is Mark.REMOVED and side["provenance"] != slot
    is_direct_again = edge.mark is Mark.ADDED and side["provenance"] != slot
    note = ": now through this slot" if is_replaced else ": directly again" if is_direct_again else ""
    yield f"    {MARKS[edge.mark]} {direction}{note}"
    if edge.mark is Mark.MODIFIED:
        for change in edge.changes:
            yield f"      ~ {_describe_change(change)}"


def _describe_when(edge: Content) -> str:
    condition, role = edge.get("condition"), _ROLES.get(edge["role"], "")
    outcome = "" if edge["on"] == "done" else f", {edge['on']}"
    if condition is not None:
        return f"{outcome}, if {escape(condition)}{role}"
    return f"{outcome}, otherwise{role}" if edge["priority"] == DEFAULT_PRIORITY else f"{outcome}{role}"


def _describe_change(change: DiffChange) -> str:
    return f"{escape(change.pointer)}: {_describe_value(change.before)} → {_describe_value(change.after)}"


def _describe_value(value: object) -> str:
    return "(not there)" if value is ABSENT else describe_json(value)
