"""Quotas of a tenant: token buckets in the database, so that all processes count together."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.quotas import QUOTAS, Quota
from signet.store.database import Connection, Database
from signet.store.tenants.quotas import Level, TenantQuota, grant_quota, list_quota_meters, take_quota

MAX_HELD = 10_000
# A process takes this many at once for the requests to come: one round trip serves them all. Those that are
# not used in time are lost.
MAX_LEASED = 20
LEASE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Left:
    """The rest of a quota, for the headers of an answer."""

    quota: Quota
    count: int
    full_seconds: float


@dataclass(slots=True)
class _Lease:
    count: int
    # Until this moment the count may be used. With `is_refused`, the database need not be asked before it.
    until: float
    level: Level
    is_refused: bool = False


def require_quota(connection: Connection, tenant_id: UUID, name: str) -> None:
    """Take from a quota within the transaction that it is for, so that a rollback gives it back."""
    level = take_quota(connection, tenant_id, QUOTAS[name], 1)
    if not level.is_taken:
        raise _exceeded(name, level, level.wait_seconds(1))


class RequestQuotas:
    """The quotas of requests, of which a process takes a few ahead for all its threads."""

    def __init__(self, database: Database, read_seconds: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        # The age of a lease is no fact of the domain, so the clock of the process serves.
        self._read_seconds = read_seconds
        self._leases: OrderedDict[tuple[UUID, str], _Lease] = OrderedDict()

    def take(self, tenant_id: UUID, name: str) -> Left:
        quota, key, now = QUOTAS[name], (tenant_id, name), self._read_seconds()
        lease = self._leases.get(key)
        if lease is None or lease.until <= now or (lease.count == 0 and not lease.is_refused):
            lease = self._lease(tenant_id, quota, now)
            self._keep(key, lease)
        if lease.is_refused:
            raise _exceeded(name, lease.level, lease.until - now)
        # Two threads may both take the last one: a quota is a measure, and not a lock.
        lease.count = max(lease.count - 1, 0)
        level = lease.level
        granted = Quota(name, level.capacity, round(level.refill_seconds))
        return Left(granted, level.left + lease.count, max(level.full_seconds, 0.0))

    def _lease(self, tenant_id: UUID, quota: Quota, now: float) -> _Lease:
        wanted = max(1, min(MAX_LEASED, quota.capacity // 50))
        with self._database.transaction(tenant_id) as connection:
            level = take_quota(connection, tenant_id, quota, wanted)
            if not level.is_taken and wanted > 1:
                wanted = 1
                level = take_quota(connection, tenant_id, quota, wanted)
        if level.is_taken:
            return _Lease(wanted, now + LEASE_SECONDS, level)
        return _Lease(0, now + level.wait_seconds(1), level, is_refused=True)

    def _keep(self, key: tuple[UUID, str], lease: _Lease) -> None:
        self._leases[key] = lease
        self._leases.move_to_end(key)
        while len(self._leases) > MAX_HELD:
            self._leases.popitem(last=False)


@dataclass(frozen=True, slots=True)
class QuotaLevel:
    """A quota of a tenant, and the rest of it."""

    name: str
    # At most this many at once; an empty bucket is full again after this time.
    capacity: int
    refill_seconds: int
    left: int
    # True where an operator granted it; otherwise it is the default.
    is_granted: bool


def list_quota_levels(connection: Connection, tenant_id: UUID) -> list[QuotaLevel]:
    return [
        QuotaLevel(held.name, held.capacity, held.refill_seconds, _count_left(held), held.is_granted)
        for held in list_quota_meters(connection, tenant_id, list(QUOTAS.values()))
    ]


def _count_left(held: TenantQuota) -> int:
    # Where a quota was lowered below the count in use, nothing is left.
    return max(int(held.capacity * (1 - held.full_seconds / held.refill_seconds)), 0)


def require_quota_name(name: str) -> None:
    if name not in QUOTAS:
        known = ", ".join(QUOTAS)
        raise Rejected("QUOTA_UNKNOWN", f"there is no quota '{name}'", remedy=f"One of: {known}.")


def set_quota(database: Database, tenant_id: UUID, quota: Quota) -> None:
    """Grant a quota as an operator on the server itself.

    Through the API it is `TenantOperator.grant_quota`.
    """
    require_quota_name(quota.name)
    with database.transaction(tenant_id) as connection:
        grant_quota(connection, tenant_id, quota)


def _exceeded(name: str, level: Level, wait_seconds: float) -> Rejected:
    seconds = max(1, math.ceil(wait_seconds))
    return Rejected(
        "QUOTA_EXCEEDED",
        f"the tenant has used up '{name}': {level.capacity} in {round(level.refill_seconds)} seconds",
        remedy=f"Try again in {seconds} seconds, or ask the operator for more.",
        details={
            "retry_after_seconds": seconds,
            "quota": name,
            "capacity": level.capacity,
            "refill_seconds": round(level.refill_seconds),
        },
    )
