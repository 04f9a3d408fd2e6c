"""What of a tenant's quotas is left, kept as the moment at which each is whole again."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from signet.core.errors import Rejected
from signet.core.tenants.quotas import Quota
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class Level:
    """Of one quota, after something was taken from it or was refused."""

    capacity: int
    refill_seconds: float
    is_taken: bool
    full_seconds: float

    @property
    def left(self) -> int:
        used = max(self.full_seconds, 0.0) / self.refill_seconds * self.capacity
        return max(int(self.capacity - used), 0)

    def wait_seconds(self, cost: int) -> float:
        """Until there is so much in it again."""
        needed = cost / self.capacity * self.refill_seconds
        return max(self.full_seconds + needed - self.refill_seconds, 0.0)


def take_quota(connection: Connection, tenant_id: UUID, quota: Quota, cost: int) -> Level:
    """All of it or nothing. Its row stays locked until the transaction's end."""
    values = {
        "tenant_id": tenant_id,
        "name": quota.name,
        "capacity": quota.capacity,
        "refill_seconds": quota.refill_seconds,
        "cost": cost,
    }
    with connection.cursor(row_factory=class_row(Level)) as cursor:
        level = cursor.execute(_SQL.take_quota, values).fetchone()
    if level is None:
        raise Rejected("TENANT_INACTIVE", "this tenant does not exist or is suspended")
    return level


def grant_quota(connection: Connection, tenant_id: UUID, quota: Quota) -> None:
    values = {"capacity": quota.capacity, "refill_seconds": quota.refill_seconds}
    connection.execute(_SQL.grant_quota, {"tenant_id": tenant_id, "name": quota.name, **values})


@dataclass(frozen=True, slots=True)
class Held:
    """A quota as it holds for a tenant, and when it is full again."""

    name: str
    capacity: int
    refill_seconds: int
    # By an operator; else the default of everybody.
    is_granted: bool
    full_seconds: float


def withdraw_quota(connection: Connection, tenant_id: UUID, name: str) -> bool:
    """False where none was granted."""
    return connection.execute(_SQL.withdraw_quota, {"tenant_id": tenant_id, "name": name}).rowcount == 1


def list_levels(connection: Connection, tenant_id: UUID, quotas: Sequence[Quota]) -> list[Held]:
    values = {
        "tenant_id": tenant_id,
        "names": [quota.name for quota in quotas],
        "capacities": [quota.capacity for quota in quotas],
        "refills": [quota.refill_seconds for quota in quotas],
    }
    with connection.cursor(row_factory=class_row(Held)) as cursor:
        return cursor.execute(_SQL.list_levels, values).fetchall()
