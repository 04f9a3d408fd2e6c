"""The variables that are read behind a node as they are there, and what they were worked out from.

An approval pins those behind it. A variable that is certainly set again before it is read is not among them:
its old value is used nowhere.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from signet.core.compiler.rejection_edges import REJECTING
from signet.core.compiler.slot_graph import slot_in
from signet.core.contracts.contract import OPAQUE
from signet.core.expressions import (
    Expression,
    expression_from_json,
    list_variables,
)
from signet.core.runtime.graph.deciding_slots import EVERY, list_expressions, list_names, list_sources

# The outcomes with which a node has set what it saves.
SAVED = ("done", "delivered", "received")
_Names = frozenset[str]


def list_live_variables(content: Mapping[str, Any]) -> Mapping[str, _Names]:
    """Return for each approval of an artifact the variables that are read behind it before they are set."""
    live = _LiveVariables(content)
    live.spread()
    approvals = (name for name, node in content["nodes"].items() if node["type"] == "approval")
    return {name: live.list_behind(name, "approved") for name in approvals}


def list_unasked_variables(content: Mapping[str, Any]) -> Mapping[str, _Names]:
    """Return for each gate the variables that are read behind it before they are set, or people are asked."""
    live = _LiveVariables(content, until_asked=True)
    live.spread()
    gates = (name for name, node in content["nodes"].items() if node["type"] == "lifecycle_gate")
    return {name: live.list_behind(name, "passed") for name in gates}


def list_variables_read(content: Mapping[str, Any]) -> Mapping[str, _Names]:
    """Return for each node the variables that it and its edges read, without what it has set by then.

    What is read behind a yes, people have approved. EVERY stands for each variable.
    """
    return {name: frozenset(_list_variables_read(content, name)) for name in content["nodes"]}


def _list_variables_read(content: Mapping[str, Any], name: str) -> Iterator[str]:
    node = content["nodes"][name]
    action = content["actions"].get(node["config"]["action"]) if node["type"] == "action" else None
    if action is not None and action["kind"] in OPAQUE:
        yield EVERY
    for expression in list_expressions(node):
        yield from (variable for root, variable in list_names(expression) if root == "context")
    for edge in (content["edges"][edge_id] for edge_id in content["adjacency"][name]):
        known = list_written(node) if edge["on"] in SAVED else frozenset()
        condition = edge.get("condition")
        if condition and edge["on"] != "approved":
            named = list_names(expression_from_json(condition["tree"]))
            yield from (variable for root, variable in named if root == "context" and variable not in known)


def list_fields_of_variables(content: Mapping[str, Any]) -> Mapping[str, _Names]:
    """Return for each variable the fields that its slot reads, and the gates beside that: it holds for them.

    Its value may depend on the way through the slot as much as on its expression. EVERY stands for each.
    """
    places = {name: content["slot_map"].get(name) or name for name in content["nodes"]}
    read: dict[str, set[tuple[str, str]]] = {}
    for name, node in content["nodes"].items():
        for place in _list_places(content, name, places):
            read.setdefault(place, set()).update(list_sources(content, name))
            if node["type"] == "approval":
                # The people that it asks may depend on each field of the document.
                read[place].add(("entity", EVERY))
    set_in: dict[str, set[str]] = {}
    for name, node in content["nodes"].items():
        for variable in list_written(node):
            set_in.setdefault(variable, set()).add(places[name])
    # Most variables are set in the same few slots.
    set_alike = {frozenset(slots) for slots in set_in.values()}
    behind = {slots: _follow(slots, set_in, read) for slots in set_alike}
    return {variable: behind[frozenset(slots)] for variable, slots in set_in.items()}


def list_entries_of_variables(content: Mapping[str, Any]) -> Mapping[str, _Names]:
    """Return for each variable the entries of the slots that may set it, or may leave it unset."""
    entries: dict[str, set[str]] = {}
    for name, node in content["nodes"].items():
        slot = content["slot_map"].get(name)
        for variable in list_written(node) if slot is not None else ():
            entries.setdefault(variable, set()).add(slot_in(slot))
    return {variable: frozenset(nodes) for variable, nodes in entries.items()}


def _list_places(content: Mapping[str, Any], name: str, places: Mapping[str, str]) -> Iterator[str]:
    """Yield the slot of a node; of a gate also the slots that lead to it, and that it leads to."""
    yield places[name]
    if content["nodes"][name]["type"] == "lifecycle_gate":
        edges = content["edges"]
        yield from (places[edges[edge_id]["source"]] for edge_id in content["reverse_adjacency"][name])
        yield from (places[edges[edge_id]["target"]] for edge_id in content["adjacency"][name])


def _follow(
    places: Iterable[str], set_in: Mapping[str, set[str]], read: Mapping[str, set[tuple[str, str]]]
) -> _Names:
    """Return the fields that these slots read, also by variables that they read; each slot is read once."""
    waiting, seen, known, fields = list(places), set(places), set[str](), set[str]()
    while waiting:
        sources = read[waiting.pop()]
        fields |= {name for root, name in sources if root == "entity"}
        names = {name for root, name in sources if root == "context"}
        further = (set(set_in) if EVERY in names else names & set_in.keys()) - known
        known |= further
        new = set[str]().union(*(set_in[variable] for variable in further)) - seen
        seen |= new
        waiting += new
    return frozenset({EVERY} if EVERY in fields else fields)


@dataclass(slots=True)
class _LiveVariables:
    """The variables that are read at and behind each node, found from the last nodes back to the first."""

    content: Mapping[str, Any]
    # People who are asked see a variable as it is: what is read behind them concerns them alone.
    until_asked: bool = False
    written: Mapping[str, _Names] = field(init=False)
    every: _Names = field(init=False)
    _live: dict[str, _Names] = field(init=False)

    def __post_init__(self) -> None:
        nodes = self.content["nodes"]
        self.written = {name: list_written(node) for name, node in nodes.items()}
        self.every = frozenset().union(*self.written.values())
        self._live = {name: self._list_read(node) for name, node in nodes.items()}

    def list_behind(self, name: str, outcome: str) -> _Names:
        edges = (self.content["edges"][edge_id] for edge_id in self.content["adjacency"][name])
        taken = (edge for edge in edges if edge["on"] == outcome)
        return self.every.intersection(frozenset().union(*(self._list_behind(name, e) for e in taken)))

    def spread(self) -> None:
        """Look at each node, and again where more is read behind it, until nothing is added."""
        waiting = dict.fromkeys(self.content["nodes"])
        while waiting:
            name, _ = waiting.popitem()
            edges = (self.content["edges"][edge_id] for edge_id in self.content["adjacency"][name])
            found = self._live[name].union(*(self._list_behind(name, edge) for edge in edges))
            if found != self._live[name]:
                self._live[name] = found
                incoming = self.content["reverse_adjacency"][name]
                waiting.update((self.content["edges"][edge_id]["source"], None) for edge_id in incoming)

    def _list_behind(self, name: str, edge: Mapping[str, Any]) -> _Names:
        """List what is read on the edge and behind it, without what the node has set by then.

        On a way back people are asked again. What leaves its slot rejected passes no gate.
        """
        is_lost = edge["on"] in REJECTING and self.content["nodes"][edge["target"]]["type"] == "slot_out"
        is_asked = self.until_asked and self.content["nodes"][name]["type"] == "approval"
        if edge["role"] == "return" or is_lost or is_asked:
            return frozenset()
        condition = edge.get("condition")
        read = self._name(expression_from_json(condition["tree"])) if condition else frozenset()
        saved = self.written[name] if edge["on"] in SAVED else frozenset()
        return (read | self._live[edge["target"]]) - saved

    def _list_read(self, node: Mapping[str, Any]) -> _Names:
        if node["type"] == "action":
            action = self.content["actions"].get(node["config"]["action"])
            if action is None or action["kind"] in OPAQUE:
                return self.every
        return frozenset().union(*map(self._name, list_expressions(node)))

    def _name(self, expression: Expression) -> _Names:
        """Name the variables that it reads: every one, where it reads all of them as a whole."""
        paths = [name.path for name in list_variables(expression) if name.path[0] == "context"]
        if any(len(path) == 1 for path in paths):
            return self.every
        return frozenset(path[1] for path in paths)


def list_written(node: Mapping[str, Any]) -> _Names:
    saved = node["config"].get("save_as")
    return frozenset(node["config"].get("set", ())) | (frozenset() if saved is None else {saved})
