"""Names that an expression may read at each node of a workflow, with the variables set before it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from signet.core.compiler.graph import Graph
from signet.core.contracts.contract import Contract
from signet.core.contracts.expression_scope import make_scope
from signet.core.expressions import (
    ANY,
    Scope,
    Type,
    object_of,
)


@dataclass
class Variables:
    """The workflow's variables along the graph: those that nodes have written before a node is reached.

    Sets of names are bit masks, so that a graph of thousands of nodes costs one integer a node.
    """

    declared: Mapping[str, Type]
    _bits: dict[str, int] = field(default_factory=dict)
    _types: dict[str, Type] = field(default_factory=dict)
    _written: dict[str, int] = field(default_factory=dict)
    _before: dict[str, int] = field(default_factory=dict)

    def enter(self, graph: Graph, node_id: str) -> Type:
        """Return the type of `context` at this node. Nodes must be entered in topological order."""
        mask = 0
        for edge in graph.incoming[node_id]:
            if edge.role != "return":
                mask |= self._written.get(edge.source, 0)
        self._before[node_id] = self._written[node_id] = mask
        return self._type_of(mask)

    def write(self, node_id: str, name: str, written: Type) -> None:
        bit = self._bits.setdefault(name, 1 << len(self._bits))
        known = self._types.setdefault(name, written)
        if known != written:
            self._types[name] = ANY  # two nodes save values of different types under one name
        self._written[node_id] |= bit

    def after(self, node_id: str) -> Type:
        """Return the type of `context` on the node's edges, with the variables that the node itself wrote."""
        return self._type_of(self._written[node_id])

    def _type_of(self, mask: int) -> Type:
        seen = {name: self._types[name] for name, bit in self._bits.items() if mask & bit}
        return object_of({**seen, **self.declared})


@dataclass(frozen=True)
class Names:
    """The names that expressions of one workflow may read, apart from its variables."""

    contract: Contract | None
    entity: Type
    org: Type
    payload: Type | None
    variables: Mapping[str, Type]


@dataclass(frozen=True)
class Scopes:
    """The names that expressions may read, node by node.

    A graph without an order cannot tell which variables are set, so only declared ones are known there.
    """

    names: Names
    node_ids: frozenset[str]
    before: Mapping[str, Type]
    after: Mapping[str, Type]

    def at(self, node_id: str, *, is_after: bool = False) -> Scope:
        """Return the scope of the node's configuration, or of conditions on its edges."""
        known = self.after if is_after else self.before
        context = known.get(node_id, object_of(self.names.variables))
        return make_scope(self.names.entity, self.names.org, context, self.names.payload)
