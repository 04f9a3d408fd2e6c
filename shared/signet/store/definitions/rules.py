"""Rules of a tenant."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from signet.core.documents.rules import Condition, Operation, Rule, RuleAction
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons
from signet.store.database import Connection
from signet.store.responsible_sets import keep_responsible
from signet.store.statements import Statements

_SQL = Statements(__file__)
MAX_RULES_OF_TYPE = 200


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """A rule as it was saved, with `condition` and `actions` as JSON."""

    entity_type: str
    name: str
    version: int
    phase: Literal["before", "after"]
    operations: Sequence[Operation]
    priority: int
    condition: Condition
    actions: Sequence[RuleAction]
    created_at: datetime
    updated_at: datetime


def list_rules(connection: Connection, tenant_id: UUID, entity_type: str) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        values = {"tenant_id": tenant_id, "entity_type": entity_type, "limit": MAX_RULES_OF_TYPE}
        return cursor.execute(_SQL.list_rules, values).fetchall()


def read_persons(connection: Connection, tenant_id: UUID, entity_type: str, name: str) -> ResponsiblePersons:
    """Read everyone who has saved the rule."""
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "name": name}
    row: Any = connection.execute(_SQL.read_persons, values).fetchone()
    return frozenset(row[0]) if row is not None else NOBODY


def save_rule(connection: Connection, tenant_id: UUID, rule: Rule, responsible: ResponsiblePersons) -> int:
    """Save a rule, and return its new version."""
    body = rule.model_dump(mode="json", by_alias=True)
    values = {
        "tenant_id": tenant_id,
        "entity_type": rule.entity_type,
        "name": rule.name,
        "phase": rule.phase,
        "operations": list(rule.operations),
        "priority": rule.priority,
        "condition": Jsonb(body["condition"]),
        "actions": Jsonb(body["actions"]),
        "responsible": bytes.fromhex(keep_responsible(connection, tenant_id, responsible)[2:]),
    }
    row = connection.execute(_SQL.save_rule, values).fetchone()
    return int(str(row[0])) if row else 0


def disable_rule(connection: Connection, tenant_id: UUID, entity_type: str, name: str) -> bool:
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "name": name}
    return connection.execute(_SQL.disable_rule, values).rowcount == 1


def list_saved_rules(
    connection: Connection, tenant_id: UUID, entity_type: str | None, after: tuple[str, str], limit: int
) -> list[RuleRecord]:
    """List the rules that are in force, from after that type and name on."""
    values = {
        "tenant_id": tenant_id,
        "entity_type": entity_type,
        "after_type": after[0],
        "after_name": after[1],
        "limit": limit,
    }
    with connection.cursor(row_factory=class_row(RuleRecord)) as cursor:
        return cursor.execute(_SQL.list_saved_rules, values).fetchall()


def find_rule(connection: Connection, tenant_id: UUID, entity_type: str, name: str) -> RuleRecord | None:
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "name": name}
    with connection.cursor(row_factory=class_row(RuleRecord)) as cursor:
        return cursor.execute(_SQL.find_rule, values).fetchone()
