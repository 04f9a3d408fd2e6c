"""Overviews for a tenant's operators: dead letters, usage, partitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.core.errors import Defect
from signet.core.runtime.projection import CONTROL
from signet.ids import created_at_of
from signet.store.database import Connection
from signet.store.instances.write import DeadTrigger
from signet.store.outbox.measures import COUNTED_AT_MOST
from signet.store.statements import Statements
from signet.store.wake_ups import QueueName

_SQL = Statements(__file__)
# The acts after which a document is no longer where it was.
_LEAVING = [f"{CONTROL}{act}" for act in ("sent_to", "gone_to", "cancelled", "failed", "amended", "deleted")]
NEWEST = UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A row after its last attempt, without its content, which may be personal."""

    queue: QueueName
    id: UUID
    instance_id: UUID
    # The kind of trigger or effect.
    kind: str
    endpoint: str | None
    attempts: int
    created_at: datetime
    error: str | None
    trace_id: str | None


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts, each at most COUNTED_AT_MOST; `steps` are those of the last hour."""

    running_instances: int
    paused_instances: int
    steps: int


@dataclass(frozen=True, slots=True)
class PartitionedTable:
    """A table of all tenants, with its months from now on and about how many rows are in no month."""

    name: str
    months: list[str]
    default_rows: int


@dataclass(frozen=True, slots=True)
class PythonAction:
    """A Python action that a published contract declares."""

    entity_type: str
    name: str


def list_python_actions(connection: Connection, tenant_id: UUID, *, limit: int) -> list[PythonAction]:
    """List the Python actions of published contracts, each once."""
    values = {"tenant_id": tenant_id, "limit": limit}
    with connection.cursor(row_factory=class_row(PythonAction)) as cursor:
        return cursor.execute(_SQL.list_python_actions, values).fetchall()


def list_dead_letters(
    connection: Connection, tenant_id: UUID, *, queue: str | None, before: UUID | None, limit: int
) -> list[DeadLetter]:
    values = {"tenant_id": tenant_id, "queue": queue or "", "before": before or NEWEST, "limit": limit}
    with connection.cursor(row_factory=class_row(DeadLetter)) as cursor:
        return cursor.execute(_SQL.list_dead_letters, values).fetchall()


def find_dead_effects(connection: Connection, tenant_id: UUID, ids: Sequence[UUID]) -> list[DeadTrigger]:
    values = {
        "tenant_id": tenant_id,
        "created_ats": [created_at_of(effect_id) for effect_id in ids],
        "ids": list(ids),
    }
    with connection.cursor(row_factory=class_row(DeadTrigger)) as cursor:
        return cursor.execute(_SQL.find_dead_effects, values).fetchall()


@dataclass(frozen=True, slots=True)
class StepOfEffect:
    instance_id: UUID
    node_id: str
    # It has ended by an edge for errors.
    has_gone_on: bool


def list_steps_of_effects(connection: Connection, tenant_id: UUID, ids: Sequence[UUID]) -> list[StepOfEffect]:
    """List the steps of effects, by instance."""
    values = {
        "tenant_id": tenant_id,
        "created_ats": [created_at_of(effect_id) for effect_id in ids],
        "ids": list(ids),
    }
    with connection.cursor(row_factory=class_row(StepOfEffect)) as cursor:
        return cursor.execute(_SQL.list_steps_of_effects, values).fetchall()


def find_left_behind(connection: Connection, tenant_id: UUID, ids: Sequence[UUID]) -> list[UUID]:
    """Find the effects whose document has left the way that they belong to."""
    values = {
        "tenant_id": tenant_id,
        "created_ats": [created_at_of(effect_id) for effect_id in ids],
        "ids": list(ids),
        "leaving": _LEAVING,
    }
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.find_left_behind, values).fetchall()


def read_usage(connection: Connection, tenant_id: UUID, *, since_seconds: float) -> Usage:
    values = {"tenant_id": tenant_id, "limit": COUNTED_AT_MOST, "since_seconds": since_seconds}
    with connection.cursor(row_factory=class_row(Usage)) as cursor:
        usage = cursor.execute(_SQL.read_usage, values).fetchone()
    if usage is None:
        raise Defect("USAGE_UNCOUNTED", "an aggregate answered no row")
    return usage


def list_partitioned(connection: Connection) -> list[PartitionedTable]:
    with connection.cursor(row_factory=class_row(PartitionedTable)) as cursor:
        return cursor.execute(_SQL.list_partitioned, {}).fetchall()
