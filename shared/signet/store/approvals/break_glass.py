"""Proposals of break-glass, and the seats that come of them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from signet.ids import make_id
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
MAX_SHOWN = 100


@dataclass(frozen=True, slots=True)
class BreakGlassProposal:
    """A proposal of one operator to seat a member; a second has consented where `position` is set."""

    id: UUID
    request_id: UUID
    stage: int
    user_id: str
    reason: str
    proposed_by: str
    proposed_persons: list[str]
    proposed_at: datetime
    expires_at: datetime
    consented_by: str | None
    consented_at: datetime | None
    position: int | None


@dataclass(frozen=True, slots=True)
class AskedRequest:
    document_id: UUID
    stage: int
    status: str


def count_waiting(connection: Connection, tenant_id: UUID, now: datetime) -> int:
    with connection.cursor(row_factory=scalar_row) as cursor:
        values = {"tenant_id": tenant_id, "now": now}
        count: int = cursor.execute(_SQL.count_waiting, values).fetchone() or 0
    return count


def list_waiting(connection: Connection, tenant_id: UUID, now: datetime) -> list[BreakGlassProposal]:
    return _list(connection, _SQL.list_waiting, {"tenant_id": tenant_id, "now": now})


def list_seated(connection: Connection, tenant_id: UUID, request_id: UUID) -> list[BreakGlassProposal]:
    return _list(connection, _SQL.list_seated, {"tenant_id": tenant_id, "request_id": request_id})


def insert_proposal(connection: Connection, tenant_id: UUID, new: BreakGlassProposal) -> None:
    values = {
        "tenant_id": tenant_id,
        "id": new.id,
        "request_id": new.request_id,
        "stage": new.stage,
        "user_id": new.user_id,
        "reason": new.reason,
        "proposed_by": new.proposed_by,
        "proposed_persons": new.proposed_persons,
        "now": new.proposed_at,
        "expires_at": new.expires_at,
    }
    connection.execute(_SQL.insert_proposal, values)


def find_proposal(connection: Connection, tenant_id: UUID, proposal_id: UUID) -> BreakGlassProposal | None:
    with connection.cursor(row_factory=class_row(BreakGlassProposal)) as cursor:
        return cursor.execute(_SQL.find_proposal, {"tenant_id": tenant_id, "id": proposal_id}).fetchone()


def find_request(connection: Connection, tenant_id: UUID, request_id: UUID) -> AskedRequest | None:
    with connection.cursor(row_factory=class_row(AskedRequest)) as cursor:
        values = {"tenant_id": tenant_id, "request_id": request_id}
        return cursor.execute(_SQL.find_request, values).fetchone()


def lock_request(connection: Connection, tenant_id: UUID, request_id: UUID) -> None:
    """Lock a request; the caller holds its document."""
    connection.execute(_SQL.lock_request, {"tenant_id": tenant_id, "request_id": request_id})


def seat(
    connection: Connection,
    tenant_id: UUID,
    proposal: BreakGlassProposal,
    *,
    consented_by: str,
    consented_persons: Collection[str],
    data: Mapping[str, Any],
    now: datetime,
) -> int | None:
    """Seat the person, note it, tell the deciders; return the position, or None if the proposal is over."""
    persons = sorted(consented_persons)
    values = {"id": proposal.id, "consented_by": consented_by, "consented_persons": persons}
    with connection.cursor(row_factory=scalar_row) as cursor:
        position: int | None = cursor.execute(_SQL.seat, values).fetchone()
    if position is None:
        return None
    noted = {
        "tenant_id": tenant_id,
        "change_id": make_id(),
        "persons": sorted({*proposal.proposed_persons, *persons}),
        "actor_id": consented_by,
        "user_id": proposal.user_id,
        "request_id": proposal.request_id,
        "data": Jsonb(dict(data)),
        "now": now,
    }
    connection.execute(_SQL.note_seat, noted)
    connection.execute(_SQL.notify_deciders, noted)
    return position


def _list(connection: Connection, statement: str, values: Mapping[str, Any]) -> list[BreakGlassProposal]:
    with connection.cursor(row_factory=class_row(BreakGlassProposal)) as cursor:
        return cursor.execute(statement, {**values, "limit": MAX_SHOWN}).fetchall()
