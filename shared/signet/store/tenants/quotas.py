"""Quotas of tenants, kept as the moment at which each is full again."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import class_row

from signet.core.errors import Rejected
from signet.core.tenants.quotas import Bucket, Quota
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class Level:
    """A quota's level after something was taken, or was refused."""

    capacity: int
    refill_seconds: float
    is_taken: bool
    full_seconds: float

    @property
    def left(self) -> int:
        used = max(self.full_seconds, 0.0) / self.refill_seconds * self.capacity
        return max(int(self.capacity - used), 0)

    def wait_seconds(self, cost: int) -> float:
        """Return the seconds until so much is available again."""
        needed = cost / self.capacity * self.refill_seconds
        return max(self.full_seconds + needed - self.refill_seconds, 0.0)


def take_quota(connection: Connection, tenant_id: UUID, bucket: Bucket, cost: int) -> Level:
    """Take the cost as a whole or not at all; the row stays locked until the transaction's end."""
    values = {
        "tenant_id": tenant_id,
        "name": bucket.quota.name,
        "capacity": bucket.quota.capacity,
        "refill_seconds": bucket.quota.refill_seconds,
        "meter": bucket.meter,
        "percent": bucket.percent,
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
class TenantQuota:
    """A tenant's quota, and when it is full again."""

    name: str
    capacity: int
    refill_seconds: int
    # An operator granted it; otherwise it is the common default.
    is_granted: bool
    full_seconds: float


def withdraw_quota(connection: Connection, tenant_id: UUID, name: str) -> bool:
    """Withdraw a granted quota; return False if none was granted."""
    return connection.execute(_SQL.withdraw_quota, {"tenant_id": tenant_id, "name": name}).rowcount == 1


def list_quota_meters(
    connection: Connection, tenant_id: UUID, defaults: Sequence[Quota]
) -> list[TenantQuota]:
    """List each quota, as granted or else by these defaults, with its meter."""
    values = {
        "tenant_id": tenant_id,
        "names": [quota.name for quota in defaults],
        "capacities": [quota.capacity for quota in defaults],
        "refills": [quota.refill_seconds for quota in defaults],
    }
    with connection.cursor(row_factory=class_row(TenantQuota)) as cursor:
        return cursor.execute(_SQL.list_quota_meters, values).fetchall()
