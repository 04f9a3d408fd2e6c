"""Waits of requests for their outcome: each keeps a place, and there are few, so that others are served."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from signet.core.errors import Transient
from signet.core.tenants.principal import Principal
from signet.core.tenants.quotas import digest_subject
from signet.core.tenants.request_limits import RequestLimits, share_waits
from signet.ids import make_id
from signet.store.database import Database
from signet.store.tenants.waits import WaitPlace, begin_wait, end_wait

# A process that does not come back keeps its place for so much longer than it wanted to wait.
SPARE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class RequestWaits:
    """The use case. What was asked for is done already, so that no error of the counting may hide it."""

    database: Database
    limits: RequestLimits

    @contextmanager
    def holding_place(self, principal: Principal, seconds: float) -> Iterator[bool]:
        """Hold a place within the block; yield False where none is left, so that nobody should wait."""
        place = self._begin(principal, seconds)
        if place is None:
            yield False
            return
        try:
            yield True
        finally:
            # If it cannot be given back now, it expires.
            with suppress(Transient), self.database.transaction(place.tenant_id) as connection:
                end_wait(connection, place)

    def _begin(self, principal: Principal, seconds: float) -> WaitPlace | None:
        tenant_id, waiter = principal.tenant_id, digest_subject(principal.counted_as)
        limits = share_waits(self.limits.max_waits)
        try:
            with self.database.transaction(tenant_id) as connection:
                return begin_wait(connection, tenant_id, make_id(), waiter, seconds + SPARE_SECONDS, limits)
        except Transient:
            return None
