"""Places in which requests wait for their outcome, counted for all processes together."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import scalar_row

from signet.core.tenants.request_limits import WaitLimits
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class WaitPlace:
    """A place that a request keeps until it gives it back, or until it expires."""

    tenant_id: UUID
    id: UUID
    expires_at: datetime


def begin_wait(
    connection: Connection,
    tenant_id: UUID,
    wait_id: UUID,
    waiter: str,
    seconds: float,
    limits: WaitLimits,
) -> WaitPlace | None:
    """Take a place for so many seconds; return None where none is left."""
    connection.execute(_SQL.lock_waits)
    values = {
        "tenant_id": tenant_id,
        "id": wait_id,
        "waiter": waiter,
        "seconds": seconds,
        "person": limits.person,
        "tenant": limits.tenant,
        "in_all": limits.in_all,
    }
    with connection.cursor(row_factory=scalar_row) as cursor:
        expires_at = cursor.execute(_SQL.begin_wait, values).fetchone()
    return WaitPlace(tenant_id, wait_id, expires_at) if expires_at is not None else None


def end_wait(connection: Connection, place: WaitPlace) -> None:
    values = {"tenant_id": place.tenant_id, "id": place.id, "expires_at": place.expires_at}
    connection.execute(_SQL.end_wait, values)
