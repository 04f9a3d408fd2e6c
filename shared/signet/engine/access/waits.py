"""Waits of requests for their outcome: each keeps a place, and there are few, so that others are served."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from signet.core.tenants.principal import Principal
from signet.core.tenants.quotas import digest_subject
from signet.core.tenants.request_limits import RequestLimits, share_waits
from signet.ids import make_id
from signet.store.database import Database
from signet.store.tenants.waits import begin_wait, end_wait

# A process that does not come back keeps its place for so much longer than it wanted to wait.
SPARE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class RequestWaits:
    database: Database
    limits: RequestLimits

    @contextmanager
    def holding_place(self, principal: Principal, seconds: float) -> Iterator[bool]:
        """Hold a place within the block; yield False where none is left, so that nobody should wait."""
        tenant_id, waiter = principal.tenant_id, digest_subject(principal.subject)
        with self.database.transaction(tenant_id) as connection:
            limits = share_waits(self.limits.max_waits)
            place = begin_wait(connection, tenant_id, make_id(), waiter, seconds + SPARE_SECONDS, limits)
        if place is None:
            yield False
            return
        try:
            yield True
        finally:
            with self.database.transaction(tenant_id) as connection:
                end_wait(connection, place)
