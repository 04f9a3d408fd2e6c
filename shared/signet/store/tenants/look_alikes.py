"""Skeletons of members' ids, by which ids that look alike are found."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from psycopg.rows import scalar_row

from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
# Members from before skeletons were kept; a save gives them theirs.
MAX_FILLED = 1_000


def list_without_skeleton(connection: Connection, tenant_id: UUID) -> list[str]:
    """List members whose skeleton is not written, the oldest first."""
    with connection.cursor(row_factory=scalar_row) as cursor:
        values = {"tenant_id": tenant_id, "limit": MAX_FILLED}
        return cursor.execute(_SQL.list_without_skeleton, values).fetchall()


def write_skeletons(connection: Connection, tenant_id: UUID, skeletons: Mapping[str, str]) -> None:
    """Write the skeletons of members, where no other member has the same."""
    connection.execute(_SQL.write_skeletons, _pair(tenant_id, list(skeletons.items())))


def find_look_alike(
    connection: Connection, tenant_id: UUID, readings: Mapping[str, Sequence[str]]
) -> tuple[str, str] | None:
    """Find one of these ids that is new and may be read as a member's; return both."""
    pairs = [(user_id, skeleton) for user_id, read in readings.items() for skeleton in read]
    row = connection.execute(_SQL.find_look_alike, _pair(tenant_id, pairs)).fetchone()
    return (str(row[0]), str(row[1])) if row else None


def list_new(connection: Connection, tenant_id: UUID, user_ids: list[str]) -> list[str]:
    """List those of the ids that no member has."""
    with connection.cursor(row_factory=scalar_row) as cursor:
        return cursor.execute(_SQL.list_new, {"tenant_id": tenant_id, "user_ids": user_ids}).fetchall()


def list_user_ids(connection: Connection, tenant_id: UUID, after: str, limit: int) -> list[str]:
    with connection.cursor(row_factory=scalar_row) as cursor:
        values = {"tenant_id": tenant_id, "after": after, "limit": limit}
        return cursor.execute(_SQL.list_user_ids, values).fetchall()


def _pair(tenant_id: UUID, pairs: Sequence[tuple[str, str]]) -> dict[str, object]:
    return {
        "tenant_id": tenant_id,
        "user_ids": [user_id for user_id, _ in pairs],
        "skeletons": [skeleton for _, skeleton in pairs],
    }
