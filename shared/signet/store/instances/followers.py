"""Open waits that follow a calendar or the settings: who they are, and what they were computed from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row

from signet.core.errors import Defect
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class FollowingWait:
    """An open wait; its arrival and its term stand in `given`."""

    id: UUID
    instance_id: UUID
    node_id: str
    resume_at: datetime
    given: Mapping[str, Any]


def find_given(
    connection: Connection, tenant_id: UUID, instance_id: UUID, step_id: UUID | None
) -> Mapping[str, Any]:
    """Find what the present moment of an open wait was computed from."""
    values = {"tenant_id": tenant_id, "instance_id": instance_id, "step_id": step_id}
    row: Any = connection.execute(_SQL.find_given, values).fetchone()
    if row is None:
        raise Defect("STEP_LOST", f"the open step {step_id} has no row")
    given: Mapping[str, Any] = row[0]
    return given


def list_followers(connection: Connection, tenant_id: UUID, keys: Sequence[str], limit: int) -> list[UUID]:
    """List the instances that follow one of these, each once."""
    values = {"tenant_id": tenant_id, "keys": list(keys), "limit": limit}
    return [UUID(str(row[0])) for row in connection.execute(_SQL.list_followers, values).fetchall()]


def list_following(
    connection: Connection, tenant_id: UUID, keys: Sequence[str], limit: int
) -> list[FollowingWait]:
    """List the open waits that follow one of these."""
    values = {"tenant_id": tenant_id, "keys": list(keys), "limit": limit}
    with connection.cursor(row_factory=class_row(FollowingWait)) as cursor:
        return cursor.execute(_SQL.list_following, values).fetchall()
