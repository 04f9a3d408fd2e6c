"""A tenant's actions and live instances, as the designer shows them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class ActionRow:
    entity_type: str
    name: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class NodeCount:
    """Tokens at one node under one definition; without a node, only the number of live instances."""

    live_count: int
    definition_id: UUID | None
    definition_version: int | None
    node: str | None
    state: str | None
    token_count: int | None
    examples: Sequence[UUID] | None


def list_actions(
    connection: Connection,
    tenant_id: UUID,
    *,
    entity_type: str | None,
    after: tuple[str, str] | None,
    limit: int,
) -> list[ActionRow]:
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "after_type": after[0] if after else None,
        "after_name": after[1] if after else None,
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(ActionRow)) as cursor:
        return cursor.execute(_SQL.list_actions, values).fetchall()


def count_at_nodes(
    connection: Connection,
    tenant_id: UUID,
    *,
    entity_type: str,
    automation: str | None,
    at_most: int,
    examples: int,
    limit: int,
) -> list[NodeCount]:
    """Count the tokens at each node, for documents of a type or for one automation by name."""
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "name": automation,
        "at_most": at_most,
        "examples": examples,
        "limit": limit,
    }
    statement = _SQL.count_automations_at_nodes if automation is not None else _SQL.count_documents_at_nodes
    with connection.cursor(row_factory=class_row(NodeCount)) as cursor:
        return cursor.execute(statement, values).fetchall()


def take_heavy_turn(connection: Connection, tenant_id: UUID) -> bool:
    row = connection.execute(_SQL.take_heavy_turn, {"tenant_id": tenant_id}).fetchone()
    return row is not None and bool(row[0])
