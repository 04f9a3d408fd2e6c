"""Quotas of a tenant: token buckets in the database, so that all processes count together."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.quotas import (
    QUOTAS,
    Bucket,
    Quota,
    bucket_of_person,
    bucket_of_tenant,
)
from signet.core.tenants.request_limits import DEFAULT_LIMITS, RequestLimits
from signet.store.database import Connection, Database
from signet.store.tenants.quotas import Level, TenantQuota, grant_quota, list_quota_meters, take_quota

MAX_HELD = 10_000
# A process takes up to so many at once for the requests to come: one round trip serves them all. Those that
# are not used in time are lost. So it begins with one, and takes twice as many whenever all were used.
MAX_LEASED = 20
LEASE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Left:
    """The rest of a bucket, for the headers of an answer."""

    quota: Quota
    count: int
    full_seconds: float


@dataclass(slots=True)
class _Lease:
    taken: int
    count: int
    # Until this moment the count may be used. With `is_refused`, the database need not be asked before it.
    until: float
    level: Level
    is_refused: bool = False

    def lasts(self, now: float) -> bool:
        return self.until > now and (self.count > 0 or self.is_refused)


def require_quota(connection: Connection, tenant_id: UUID, name: str) -> None:
    """Take from a quota within the transaction that it is for, so that a rollback gives it back."""
    _require(connection, tenant_id, bucket_of_tenant(QUOTAS[name]))


def require_share(connection: Connection, tenant_id: UUID, share: Bucket) -> None:
    """Take from a share of a quota, and then from the quota."""
    _require(connection, tenant_id, share)
    _require(connection, tenant_id, bucket_of_tenant(share.quota))


def _require(connection: Connection, tenant_id: UUID, bucket: Bucket) -> None:
    level = take_quota(connection, tenant_id, bucket, 1)
    if not level.is_taken:
        raise _exceeded(bucket, level, level.wait_seconds(1))


class RequestQuotas:
    """The quotas of requests, of which a process takes a few ahead for all its threads.

    Each request takes from the share of its person, or of the owner of its key, and then from the tenant's
    quota. A process takes ahead from each of the two by itself, so that what a person does not use is lost to
    them alone.
    """

    def __init__(
        self,
        database: Database,
        read_seconds: Callable[[], float] = time.monotonic,
        *,
        limits: RequestLimits = DEFAULT_LIMITS,
    ) -> None:
        self._database = database
        # The age of a lease is no fact of the domain, so the clock of the process serves.
        self._read_seconds = read_seconds
        self._percent = limits.person_percent
        self._leases: OrderedDict[tuple[UUID, str], _Lease] = OrderedDict()

    def take(self, tenant_id: UUID, subject: str, name: str) -> Sequence[Left]:
        """Take a request of this person or sender; return the rests of the tenant's bucket and of theirs."""
        quota, now = QUOTAS[name], self._read_seconds()
        person = bucket_of_person(quota, subject, self._percent)
        tenant = bucket_of_tenant(quota)
        with ExitStack() as stack:
            connect = cache(lambda: stack.enter_context(self._database.transaction(tenant_id)))
            own = self._read_lease(tenant_id, person, now, connect)
            common = None if own.is_refused else self._read_lease(tenant_id, tenant, now, connect)
        if common is None:
            raise _exceeded(person, own.level, own.until - now)
        if common.is_refused:
            raise _exceeded(tenant, common.level, common.until - now)
        return _use(common, name), _use(own, f"{name}:person")

    def _read_lease(
        self, tenant_id: UUID, bucket: Bucket, now: float, connect: Callable[[], Connection]
    ) -> _Lease:
        """Return what this process holds of a bucket; where that is nothing, it takes some ahead."""
        lease = self._leases.get((tenant_id, bucket.meter))
        if lease is None or not lease.lasts(now):
            lease = _take_ahead(connect(), tenant_id, bucket, now, _count_ahead(bucket, lease, now))
            self._keep((tenant_id, bucket.meter), lease)
        return lease

    def _keep(self, key: tuple[UUID, str], lease: _Lease) -> None:
        self._leases[key] = lease
        self._leases.move_to_end(key)
        while len(self._leases) > MAX_HELD:
            self._leases.popitem(last=False)


def _count_ahead(bucket: Bucket, earlier: _Lease | None, now: float) -> int:
    if earlier is None or earlier.until <= now:
        return 1
    return max(1, min(2 * earlier.taken, MAX_LEASED, bucket.default_capacity // 50))


def _take_ahead(connection: Connection, tenant_id: UUID, bucket: Bucket, now: float, wanted: int) -> _Lease:
    level = take_quota(connection, tenant_id, bucket, wanted)
    if not level.is_taken and wanted > 1:
        wanted = 1
        level = take_quota(connection, tenant_id, bucket, wanted)
    if level.is_taken:
        return _Lease(wanted, wanted, now + LEASE_SECONDS, level)
    return _Lease(0, 0, now + level.wait_seconds(1), level, is_refused=True)


def _use(lease: _Lease, name: str) -> Left:
    # Two threads may both take the last one: a quota is a measure, and not a lock.
    lease.count = max(lease.count - 1, 0)
    level = lease.level
    granted = Quota(name, level.capacity, round(level.refill_seconds))
    return Left(granted, level.left + lease.count, max(level.full_seconds, 0.0))


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


def _exceeded(bucket: Bucket, level: Level, wait_seconds: float) -> Rejected:
    seconds, name = max(1, math.ceil(wait_seconds)), bucket.quota.name
    is_share = bucket.limit_of == "person"
    used_up = f"you have used up your share of '{name}'" if is_share else f"the tenant has used up '{name}'"
    return Rejected(
        "QUOTA_EXCEEDED",
        f"{used_up}: {level.capacity} in {round(level.refill_seconds)} seconds",
        remedy=f"Try again in {seconds} seconds, or ask the operator for more.",
        details={
            "retry_after_seconds": seconds,
            "quota": name,
            "limit_of": bucket.limit_of,
            "capacity": level.capacity,
            "refill_seconds": round(level.refill_seconds),
        },
    )
