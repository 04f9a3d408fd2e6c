"""The palette of a designer: the types of nodes, and the actions that contracts declare."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from signet.authoring.actions import REGISTRY
from signet.core.compiler.node_types import NODE_TYPES, NodeType
from signet.core.contracts.contract import DeclaredAction
from signet.core.contracts.json_schema import Schema, schema_of_fields
from signet.core.errors import Defect
from signet.core.explain.node_sentences import describe_kind
from signet.core.tenants.principal import Principal
from signet.core.validation.strict_model import parse_strictly
from signet.engine.access.read import reading
from signet.engine.definitions.definitions import READ
from signet.store.database import Database
from signet.store.definitions.designer import ActionRow, list_actions

_MADE: Schema = {
    "type": "object",
    "properties": {"document_id": {"type": "string", "format": "uuid"}, "version": {"type": "integer"}},
    "required": ["document_id", "version"],
}


@dataclass(frozen=True, slots=True)
class NodeTypeRecord:
    """A type of node; `group` is null for types that only the compiler places."""

    name: str
    label: str
    summary: str
    group: Literal["work", "people", "flow", "wait", "outside"] | None
    # Outcomes that need no edge of their own are named again.
    outcomes: Sequence[str]
    optional_outcomes: Sequence[str]
    waits: bool
    # JSON Schema (2020-12).
    configuration: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ActionRecord:
    """A declared action; `input` and `output` are JSON Schemas (2020-12).

    `is_loaded` is false for a Python action without its function.
    """

    entity_type: str
    name: str
    kind: Literal["update", "create", "python"]
    label: str
    group: Literal["work"]
    permission: str
    is_loaded: bool
    input: Mapping[str, Any]
    output: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Palette:
    database: Database

    def list_node_types(self, principal: Principal) -> Sequence[NodeTypeRecord]:
        with reading(self.database, principal) as read:
            read.require(READ)
        return _list_node_types()

    def list_actions(
        self, principal: Principal, *, entity_type: str | None, after: tuple[str, str] | None, limit: int
    ) -> Sequence[ActionRecord]:
        """List the actions in the newest published contract of each type."""
        with reading(self.database, principal) as read:
            read.require(READ)
            rows = list_actions(
                read.connection, principal.tenant_id, entity_type=entity_type, after=after, limit=limit
            )
        return [_show_action(row) for row in rows]


@cache
def _list_node_types() -> Sequence[NodeTypeRecord]:
    return tuple(_show_node_type(node_type) for node_type in NODE_TYPES.values())


def _show_node_type(node_type: NodeType) -> NodeTypeRecord:
    label = describe_kind(node_type.name)
    group: Any = node_type.group
    return NodeTypeRecord(
        name=node_type.name,
        label=label[:1].upper() + label[1:],
        summary=node_type.summary,
        group=group,
        outcomes=node_type.outcomes,
        optional_outcomes=sorted(node_type.optional_outcomes),
        waits=node_type.waits,
        configuration=node_type.configuration.model_json_schema(by_alias=True),
    )


def _show_action(row: ActionRow) -> ActionRecord:
    action, findings = parse_strictly(DeclaredAction, row.body)
    if action is None:
        raise Defect("CONTRACT_UNREADABLE", f"a stored action cannot be read: {findings[0].sentence}")
    return ActionRecord(
        entity_type=row.entity_type,
        name=row.name,
        kind=action.kind,
        label=action.label,
        group="work",
        permission=action.permission or f"{row.entity_type}:{row.name}",
        is_loaded=action.kind != "python" or REGISTRY.find(row.entity_type, row.name) is not None,
        input=schema_of_fields(action.payload),
        output=_MADE if action.kind == "create" else schema_of_fields(action.output),
    )
