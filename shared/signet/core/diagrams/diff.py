"""The differences of two compiled workflows, slot by slot, from the contents of their artifacts.

Differences of the envelope are under `envelope`. An edge of the envelope that a slot's steps replace is
under that slot, because nothing in the envelope has changed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any

from signet.core.canonical_json import content_hash
from signet.core.compiler.graph import ENVELOPE
from signet.core.compiler.slot_graph import slot_in
from signet.core.contracts.contract import EditWindow
from signet.core.explain.artifact_reader import Content, WorkflowReading
from signet.core.validation.strict_model import point

# The head of an artifact; everything else in it follows from these and the graph.
_HEAD = (
    "kind",
    "name",
    "version",
    "entity_type",
    "contract",
    "envelope",
    "initial_state",
    "trigger",
    "actions",
    "requires",
    "shut_gates",
    "accepted",
    "compiler_version",
)
_REPLACED = "/in"  # the compiler's ending for an edge that replaces an envelope's edge


class _Absent(Enum):
    ABSENT = "absent"


ABSENT = _Absent.ABSENT


class Mark(StrEnum):
    ADDED = "added"
    REMOVED = "removed"
    MODIFIED = "modified"


@dataclass(frozen=True)
class DiffChange:
    """One changed value by its JSON pointer; a missing side is ABSENT."""

    pointer: str
    before: Any
    after: Any

    def to_json(self) -> dict[str, Any]:
        sides = {"before": self.before, "after": self.after}
        return {"pointer": self.pointer, **{k: v for k, v in sides.items() if v is not ABSENT}}


@dataclass(frozen=True)
class Difference:
    """A changed node or edge, as each side describes it."""

    mark: Mark
    id: str
    before: Content | None
    after: Content | None
    changes: tuple[DiffChange, ...]

    def to_json(self) -> dict[str, Any]:
        sides = {"before": self.before, "after": self.after}
        shown: dict[str, Any] = {"id": self.id, "mark": self.mark.value}
        shown |= {side: dict(value) for side, value in sides.items() if value is not None}
        if self.mark is Mark.MODIFIED:
            shown["changes"] = [change.to_json() for change in self.changes]
        return shown


@dataclass(frozen=True)
class WindowChange:
    """A change of the edit window in a slot. An empty slot has the window of its state."""

    before: str
    after: str

    @property
    def is_stricter(self) -> bool:
        return EditWindow(self.after).strictness > EditWindow(self.before).strictness

    def to_json(self) -> dict[str, Any]:
        return {"before": self.before, "after": self.after, "stricter": self.is_stricter}


@dataclass(frozen=True)
class SlotDiff:
    """The differences of one slot; `slot` is its name, or `envelope`."""

    slot: str
    nodes: tuple[Difference, ...]
    edges: tuple[Difference, ...]
    window: WindowChange | None = None

    @property
    def is_filled(self) -> bool:
        return any(node.id == slot_in(self.slot) and node.mark is Mark.ADDED for node in self.nodes)

    @property
    def is_emptied(self) -> bool:
        return any(node.id == slot_in(self.slot) and node.mark is Mark.REMOVED for node in self.nodes)

    def to_json(self) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "slot": self.slot,
            "nodes": [node.to_json() for node in self.nodes],
            "edges": [edge.to_json() for edge in self.edges],
        }
        if self.window is not None:
            shown["edit_window"] = self.window.to_json()
        return shown


@dataclass(frozen=True)
class DiffSide:
    name: str
    kind: str
    hash: str

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.kind, "hash": self.hash}


@dataclass(frozen=True)
class Diff:
    before: DiffSide
    after: DiffSide
    changes: tuple[DiffChange, ...]
    slots: tuple[SlotDiff, ...]

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.slots

    def count(self) -> dict[str, int]:
        marks = [difference.mark for slot in self.slots for difference in (*slot.nodes, *slot.edges)]
        return {mark.value: marks.count(mark) for mark in Mark}

    def to_json(self) -> dict[str, Any]:
        return {
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "counts": self.count(),
            "changes": [change.to_json() for change in self.changes],
            "slots": [slot.to_json() for slot in self.slots],
        }


def describe_differences(before: Content, after: Content) -> dict[str, Any]:
    """Return the differences as JSON."""
    return diff_artifacts(before, after).to_json()


def diff_artifacts(before: Content, after: Content) -> Diff:
    old, new = WorkflowReading(before), WorkflowReading(after)
    nodes = _Groups()
    for difference in _compare_elements(_describe_nodes(old), _describe_nodes(new), _by_position(old, new)):
        nodes.add(_slot_of_node(difference.id, old, new), difference)
    edges = _Groups()
    for difference in _compare_elements(
        before["edges"], after["edges"], _by_source(old, new), _describe_edge
    ):
        edges.add(_slot_of_edge(difference, before, after), difference)
    windows = {slot: window for slot in _list_slots(old, new) if (window := _compare_windows(slot, old, new))}
    return Diff(
        before=DiffSide(before["name"], before["kind"], content_hash(before)),
        after=DiffSide(after["name"], after["kind"], content_hash(after)),
        changes=tuple(_compare(_describe_head(before), _describe_head(after), ())),
        slots=tuple(
            SlotDiff(slot, nodes.take(slot), edges.take(slot), windows.get(slot))
            for slot in (ENVELOPE, *_list_slots(old, new))
            if slot in nodes.differences or slot in edges.differences or slot in windows
        ),
    )


class _Groups:
    """Differences by slot."""

    def __init__(self) -> None:
        self.differences: dict[str, list[Difference]] = {}

    def add(self, slot: str, difference: Difference) -> None:
        self.differences.setdefault(slot, []).append(difference)

    def take(self, slot: str) -> tuple[Difference, ...]:
        return tuple(self.differences.get(slot, ()))


def _list_slots(old: WorkflowReading, new: WorkflowReading) -> list[str]:
    return list(dict.fromkeys([*new.slots, *old.slots]))


def _by_position(old: WorkflowReading, new: WorkflowReading) -> Callable[[str], tuple[Any, ...]]:
    """Return the sort key of nodes in the order of a document; a removed node keeps its old position."""
    positions = {node_id: (index, 1, node_id) for index, node_id in enumerate(old.order)}
    positions |= {node_id: (index, 0, node_id) for index, node_id in enumerate(new.order)}
    return lambda node_id: positions[node_id]


def _by_source(old: WorkflowReading, new: WorkflowReading) -> Callable[[str], tuple[Any, ...]]:
    position = _by_position(old, new)

    def key(edge_id: str) -> tuple[Any, ...]:
        edge = new.content["edges"].get(edge_id) or old.content["edges"][edge_id]
        return position(edge["source"]), edge["priority"], edge_id

    return key


def _compare_elements(
    before: Mapping[str, Content],
    after: Mapping[str, Content],
    key: Callable[[str], tuple[Any, ...]],
    describe: Callable[[Content], Content] = dict,
) -> Iterator[Difference]:
    for element_id in sorted({*before, *after}, key=key):
        old = describe(before[element_id]) if element_id in before else None
        new = describe(after[element_id]) if element_id in after else None
        if old is None or new is None:
            mark = Mark.ADDED if old is None else Mark.REMOVED
            yield Difference(mark, element_id, old, new, ())
        elif changes := tuple(_compare(old, new, ())):
            yield Difference(Mark.MODIFIED, element_id, old, new, changes)


def _describe_nodes(workflow: WorkflowReading) -> dict[str, Content]:
    """Return nodes without their parsed trees, which follow from the configuration.

    The window of a slot is compared for the slot, not for its nodes.
    """
    described: dict[str, Content] = {}
    for node_id, node in workflow.nodes.items():
        shown = {key: value for key, value in node.items() if key != "logic"}
        if workflow.slot_of(node_id) == ENVELOPE:
            shown["edit_window"] = workflow.window_of(node_id)
        described[node_id] = shown
    return described


def _describe_edge(edge: Content) -> Content:
    condition = edge.get("condition")
    return {**edge, "condition": condition["text"]} if condition is not None else edge


def _describe_head(content: Content) -> Content:
    return {key: content[key] for key in _HEAD if key in content}


def _slot_of_node(node_id: str, old: WorkflowReading, new: WorkflowReading) -> str:
    return new.slot_of(node_id) if node_id in new.nodes else old.slot_of(node_id)


def _slot_of_edge(difference: Difference, before: Content, after: Content) -> str:
    other = after if difference.mark is Mark.REMOVED else before
    taker = other["edges"].get(f"{difference.id}{_REPLACED}")
    edge = taker or difference.after or difference.before or {}
    slot: str = edge["provenance"]
    return slot


def _compare_windows(slot: str, old: WorkflowReading, new: WorkflowReading) -> WindowChange | None:
    filled = new if slot_in(slot) in new.nodes else old
    before, after = _window_in(slot, old, filled), _window_in(slot, new, filled)
    if before is None or after is None or before == after:
        return None
    return WindowChange(before, after)


def _window_in(slot: str, workflow: WorkflowReading, filled: WorkflowReading) -> str | None:
    """Return the window in the slot; an empty slot has the window of the state that it belongs to."""
    if slot_in(slot) in workflow.nodes:
        return workflow.window_of(slot_in(slot))
    around = [*filled.entries_of(slot), filled.exit_of(slot)]
    states = [node_id for node_id in around if filled.type_of(node_id) == "state"]
    return next((workflow.window_of(state) for state in states if state in workflow.nodes), None)


def _compare(before: Any, after: Any, path: tuple[str | int, ...]) -> Iterator[DiffChange]:
    """Yield the smallest changed values, in the order of their pointers."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            yield from _compare(before.get(key, ABSENT), after.get(key, ABSENT), (*path, key))
    elif isinstance(before, list) and isinstance(after, list):
        for index in range(max(len(before), len(after))):
            yield from _compare(_at(before, index), _at(after, index), (*path, index))
    elif before != after or isinstance(before, bool) != isinstance(after, bool):
        yield DiffChange(point(path), before, after)


def _at(values: list[Any], index: int) -> Any:
    return values[index] if index < len(values) else ABSENT
