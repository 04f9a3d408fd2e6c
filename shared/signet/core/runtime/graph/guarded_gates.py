"""The gates that no way leads to without an approval.

A gate believes votes on record, and not the place of its token. So a token that was put before such a gate by
other means passes nothing. What stands behind approvals was approved before.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from signet.core.compiler.authority_checks import FAILING_WITHIN, is_left_to_people
from signet.core.contracts.contract import Contract
from signet.core.contracts.field_checks import RESERVED_FIELDS
from signet.core.runtime.graph.deciding_slots import list_expressions, list_names

_BEGINNINGS = ("start", "state", "lifecycle_gate")
# A way that asks nobody ends at an approval. What is a beginning has begun already.
_ENDS_OF_FREE_WAYS = ("approval", *_BEGINNINGS)
_Edge = Mapping[str, Any]
_START = "sys:start"
_GATE = "lifecycle_gate"
_ENDS_OF_A_WAY = ("state", _GATE, "end")
_NO = ("rejected", "refused", "expired")


def list_guarded_gates(content: Mapping[str, Any]) -> frozenset[str]:
    """Return the gates of an artifact where each way from the state before them asks for an approval."""
    gates = {name for name, node in content["nodes"].items() if node["type"] == "lifecycle_gate"}
    return frozenset(gates - _list_free_nodes(content))


class WayAhead(NamedTuple):
    """The ways from a node to where its document settles."""

    # People are asked on one of them, or decide by their request.
    may_ask: bool
    # One of them asks nobody.
    may_settle_unasked: bool

    @property
    def asks_in_any_case(self) -> bool:
        return self.may_ask and not self.may_settle_unasked


def look_ahead(
    content: Mapping[str, Any], node_id: str, guarded: Collection[str], contract: Contract
) -> WayAhead:
    """Follow the ways behind a node until people are asked, or the document settles; `guarded` ask too."""
    nodes, deciding = content["nodes"], contract.separation_of_duties.deciding
    settled = {name for name, state in contract.states.items() if state.settled}
    gates = {name: node["config"] for name, node in nodes.items() if node["type"] == "lifecycle_gate"}
    asking = _list_approvals(content).union(guarded)
    asking |= {name for name, config in gates.items() if config["transition"] in deciding}
    ends = {name for name, config in gates.items() if config["to"] in settled}
    ends |= {name for name, node in nodes.items() if node["config"].get("state") in settled}
    edges = (content["edges"][edge_id] for edge_id in content["adjacency"][node_id])
    begin = [edge["target"] for edge in edges if not _is_no(edge)]
    reached = _walk(
        content, begin, lambda edge: not (_is_no(edge) or edge["source"] in asking or edge["source"] in ends)
    )
    return WayAhead(bool(reached & asking), bool(reached & ends - asking))


def may_be_decided(content: Mapping[str, Any], contract: Contract | None = None) -> bool:
    """Return whether people may decide by this definition; with the contract, also by their requests."""
    types = {node["type"] for node in content["nodes"].values()}
    return is_left_to_people(types, {action["kind"] for action in content["actions"].values()}, contract)


def list_error_edges_within(content: Mapping[str, Any]) -> list[str]:
    """List the nodes with an edge for errors where nothing outside fails; none where all are held anyway."""
    if may_be_decided(content):
        return []
    edges, adjacency = content["edges"], content["adjacency"]
    return [
        name
        for name, node in content["nodes"].items()
        if node["type"] in FAILING_WITHIN and any(edges[edge]["on"] == "error" for edge in adjacency[name])
    ]


def _list_free_nodes(content: Mapping[str, Any]) -> set[str]:
    """Return the nodes that a way without an approval leads to, from where ways begin.

    A join of all branches is reached when such a way has come by each of them.
    """
    nodes, edges, missing = content["nodes"], content["edges"], _list_branches(content)
    free = set[str]()
    left = [name for name, node in nodes.items() if node["type"] in _BEGINNINGS]
    while left:
        for edge_id in content["adjacency"][left.pop()]:
            target = edges[edge_id]["target"]
            if target in missing:
                missing[target].discard(_branch_of(content, edge_id, target))
            if target in free or missing.get(target):
                continue
            free.add(target)
            if nodes[target]["type"] not in _ENDS_OF_FREE_WAYS:
                left.append(target)
    return free


def _list_branches(content: Mapping[str, Any]) -> dict[str, set[Any]]:
    """Return the branches of each join that waits for all of them."""
    return {
        name: {_branch_of(content, edge_id, name) for edge_id in content["reverse_adjacency"][name]}
        for name, join in content["joins"].items()
        if join["mode"] == "all"
    }


def _branch_of(content: Mapping[str, Any], edge_id: str, join: str) -> Any:
    """Return the branch by which an edge comes to a join; an edge right from the split is one of its own."""
    split = content["joins"][join]["split"]
    stack = content["blocks"].get(content["edges"][edge_id]["source"], ())
    return next((branch for block, branch in stack if block == split), edge_id)


def list_windows_behind(content: Mapping[str, Any]) -> frozenset[str]:
    """List the edit windows of the nodes behind approvals, until a document is back at its beginning."""
    nodes = content["nodes"]
    beginning = {edge["target"] for edge in content["edges"].values() if edge["source"] == _START}
    behind = _walk(
        content, _find_ends(content), lambda edge: not (_is_no(edge) or edge["target"] in beginning)
    )
    places = (name for name in behind if nodes[name]["type"] != "lifecycle_gate")
    return frozenset(content["edit_windows"][name] for name in places)


def list_nodes_behind(content: Mapping[str, Any]) -> frozenset[str]:
    """List the nodes that some documents come to by an approval, until they are back at their beginning."""
    beginning = {edge["target"] for edge in content["edges"].values() if edge["source"] == _START}
    return _walk(
        content, _list_approvals(content), lambda edge: not (_is_no(edge) or edge["target"] in beginning)
    )


def list_states_behind(
    content: Mapping[str, Any], *, but_amended: bool = False, deciding: Collection[str] = ()
) -> frozenset[str]:
    """List the states that a document comes to by approvals alone. An edit there asks nobody again.

    A gate counts where an approval stands before it in any branch: what passes it was asked about, or was let
    through by the definition. The gates of `deciding` transitions count too. With `but_amended` the ways of
    amendments, which begin elsewhere, do not count.
    """
    nodes, left_out = content["nodes"], "amended" if but_amended else None
    gates = {name: node["config"] for name, node in nodes.items() if node["type"] == "lifecycle_gate"}
    shut = _list_approvals(content) | (_find_ends(content) & gates.keys())
    shut |= {name for name, config in gates.items() if config.get("transition") in deciding}
    reached = _walk(content, {_START}, lambda edge: edge["on"] != left_out)
    free = _walk(
        content,
        {_START},
        lambda edge: edge["on"] != left_out and (edge["source"] not in shut or _is_no(edge)),
    )
    return frozenset(
        nodes[name]["config"]["state"] for name in reached - free if nodes[name]["type"] == "state"
    )


def list_states_let_past(content: Mapping[str, Any], deciding: Collection[str]) -> Mapping[str, str]:
    """List the states that a document may come to past an approval, with the transition that lets it past.

    The condition of such a gate reads the document, and another way from the same state asks people.
    """
    nodes = content["nodes"]
    gates = {name: node["config"]["transition"] for name, node in nodes.items() if node["type"] == _GATE}
    asking = _list_approvals(content) | {name for name, transition in gates.items() if transition in deciding}
    shut = asking | (_find_ends(content) & gates.keys())
    choosing = {name for name in gates.keys() - shut if _reads_document(nodes[name])}
    found = dict[str, str]()
    for state in (name for name, node in nodes.items() if node["type"] == "state" and choosing):
        for gate in sorted(choosing & _list_near(content, state)):
            if asking & _list_beside(content, state, gate):
                past = _list_past(content, state, gate, shut)
                found |= dict.fromkeys(past, gates[gate])
    return found


def _list_past(content: Mapping[str, Any], state: str, gate: str, shut: Collection[str]) -> Iterator[str]:
    """List the states behind a gate, until people are asked or the document is back at this state."""
    nodes = content["nodes"]

    def leads_on(edge: _Edge) -> bool:
        if edge["source"] == gate:
            return not _is_no(edge)
        return edge["source"] != state and (edge["source"] not in shut or _is_no(edge))

    for name in _walk(content, {gate}, leads_on) - {state}:
        if nodes[name]["type"] == "state":
            yield nodes[name]["config"]["state"]


def _list_near(content: Mapping[str, Any], state: str) -> frozenset[str]:
    """List what a document comes to from a state, up to the next gates."""
    nodes = content["nodes"]
    return _walk(
        content,
        {state},
        lambda edge: edge["source"] == state or nodes[edge["source"]]["type"] not in _ENDS_OF_A_WAY,
    )


def _list_beside(content: Mapping[str, Any], state: str, gate: str) -> frozenset[str]:
    """List what the other ways from a state lead to, and the way by this gate does not."""
    behind = _walk(content, {gate}, lambda edge: edge["source"] != state)
    return _walk(content, {state}, lambda edge: edge["target"] != gate and not _is_no(edge)) - behind


def _reads_document(node: Mapping[str, Any]) -> bool:
    """Return whether the conditions of a gate read what a document says, or variables made of it."""
    read = (name for expression in list_expressions(node) for name in list_names(expression))
    return any(root == "context" or name not in RESERVED_FIELDS for root, name in read)


def _find_ends(content: Mapping[str, Any]) -> frozenset[str]:
    """Find the gates and states that approvals lead to."""
    nodes = content["nodes"]
    ways = _walk(
        content,
        _list_approvals(content),
        lambda edge: not _is_no(edge) and nodes[edge["source"]]["type"] not in _ENDS_OF_A_WAY,
    )
    return frozenset(name for name in ways if nodes[name]["type"] in _ENDS_OF_A_WAY)


def _list_approvals(content: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(name for name, node in content["nodes"].items() if node["type"] == "approval")


def _is_no(edge: _Edge) -> bool:
    return edge["on"] in _NO


def _walk(content: Mapping[str, Any], begin: Iterable[str], takes: Callable[[_Edge], bool]) -> frozenset[str]:
    """Return these nodes and all that such edges lead to."""
    seen = set(begin)
    left = list(seen)
    while left:
        edges = (content["edges"][edge_id] for edge_id in content["adjacency"][left.pop()])
        new = {edge["target"] for edge in edges if takes(edge)} - seen
        seen |= new
        left.extend(new)
    return frozenset(seen)
