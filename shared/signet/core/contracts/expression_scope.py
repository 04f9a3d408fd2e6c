"""Which names an expression may use, and of what type, at each node of a workflow."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from signet.core.compiler.graph import Graph
from signet.core.contracts.contract import Contract
from signet.core.contracts.fields import (
    AnyField,
    BoolField,
    DateField,
    DecimalField,
    EnumField,
    IntField,
    ListField,
    ObjectField,
    RefField,
    StringField,
    TimestampField,
)
from signet.core.expressions import (
    ANY,
    BOOL,
    DATE,
    INT,
    STRING,
    TIMESTAMP,
    Scope,
    Type,
    enum_of,
    list_of,
    object_of,
    ref_to,
)
from signet.core.tenants.tenant_file import TenantSettings

_SCALARS: Mapping[type[AnyField], Type] = {
    StringField: STRING,
    IntField: INT,
    DecimalField: INT,
    BoolField: BOOL,
    DateField: DATE,
    TimestampField: TIMESTAMP,
}
_SETTINGS = {
    "string": STRING,
    "int": INT,
    "bool": BOOL,
    "date": DATE,
    "timestamp": TIMESTAMP,
    "list of string": list_of(STRING),
    "list of int": list_of(INT),
}
ACTOR = object_of({"user_id": STRING, "roles": list_of(STRING)})


def type_of_field(declared: AnyField) -> Type:
    match declared:
        case EnumField():
            return enum_of(*declared.values)
        case RefField():
            return ref_to(declared.entity_type, type_of_fields(declared.reads).fields)
        case ListField():
            return list_of(type_of_field(declared.of))
        case ObjectField():
            return type_of_fields(declared.fields)
        case _:
            return _SCALARS[type(declared)]


def type_of_fields(fields: Mapping[str, Any]) -> Type:
    return object_of({name: type_of_field(declared) for name, declared in fields.items()})


def type_of_entity(contract: Contract | None) -> Type:
    """The document's fields, and what every document has."""
    if contract is None:
        return ANY
    return object_of(
        {
            **type_of_fields(contract.fields).fields,
            "id": STRING,
            "status": enum_of(*contract.states, "amended")
            if contract.amendment
            else enum_of(*contract.states),
            "version": INT,
            "creator": STRING,
            "created_at": TIMESTAMP,
            "updated_at": TIMESTAMP,
        }
    )


def type_of_settings(settings: TenantSettings) -> Type:
    """`org.*`: what every tenant has, and its own settings by their declared types."""
    fixed = {"id": STRING, "name": STRING, "currency": STRING, "time_zone": STRING, "language": STRING}
    own = {name: _SETTINGS[setting.type] for name, setting in settings.custom.items()}
    return object_of({**own, **fixed})


@dataclass
class Variables:
    """The workflow's variables along the graph: who has written which before a node is reached.

    Sets of names are bit masks, so that a graph of thousands of nodes costs one integer a node.
    """

    declared: Mapping[str, Type]
    _bits: dict[str, int] = field(default_factory=dict)
    _types: dict[str, Type] = field(default_factory=dict)
    _written: dict[str, int] = field(default_factory=dict)
    _before: dict[str, int] = field(default_factory=dict)

    def enter(self, graph: Graph, node_id: str) -> Type:
        """The type of `context` at this node; nodes are entered in topological order."""
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
            self._types[name] = ANY  # two nodes save different things under one name
        self._written[node_id] |= bit

    def after(self, node_id: str) -> Type:
        """What conditions on the node's edges see: also what the node itself wrote."""
        return self._type_of(self._written[node_id])

    def _type_of(self, mask: int) -> Type:
        seen = {name: self._types[name] for name, bit in self._bits.items() if mask & bit}
        return object_of({**seen, **self.declared})


def make_scope(
    entity: Type, org: Type, context: Type, payload: Type | None = None, item: Type | None = None
) -> Scope:
    names = {"entity": entity, "actor": ACTOR, "org": org, "context": context}
    if payload is not None:
        names["payload"] = payload
    if item is not None:
        names["item"] = item
    return Scope(names)


@dataclass(frozen=True)
class Names:
    """What expressions of one workflow may read, apart from its variables."""

    contract: Contract | None
    entity: Type
    org: Type
    payload: Type | None
    variables: Mapping[str, Type]


@dataclass(frozen=True)
class Scopes:
    """Which names expressions may read, node by node.

    In a graph that has no order nobody knows which variables are set: there, only what is declared.
    """

    names: Names
    node_ids: frozenset[str]
    before: Mapping[str, Type]
    after: Mapping[str, Type]

    def at(self, node_id: str, *, is_after: bool = False) -> Scope:
        """In the node's configuration, or in conditions on its edges."""
        known = self.after if is_after else self.before
        context = known.get(node_id, object_of(self.names.variables))
        return make_scope(self.names.entity, self.names.org, context, self.names.payload)
