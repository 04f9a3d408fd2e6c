"""Triggers that outages give back: each is counted, and one that others leave behind is taken out.

The outage of a server is met by all of a tenant's triggers. What stands in the way of a single one, such as a
lock on its document, would have it given back for ever.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from signet.store.database import Connection
from signet.store.outbox.queue import EVENTS, GIVEN_BACK, ClaimedTrigger
from signet.store.statements import Statements
from signet.store.wake_ups import add_wake_up

# The code of what another transaction holds.
CONTENDED = "DATABASE_CONTENDED"
# `claim_events()` has the same two bounds: from then on a trigger goes alone, so that no other is meant.
LEAST_GIVEN_BACK = 10
STRANDED_AFTER_SECONDS = 900.0
# Others of the tenant were done so lately: the server is there.
DONE_LATELY_SECONDS = 300.0
# Where the tenant has no others, or an outage lasts so long.
STRANDED_AT_LAST_SECONDS = 21_600.0
# What was due for so long, and not tried, was not kept from being done.
GAP_SECONDS = 900.0
_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class StrandedTrigger:
    """A trigger that was given back for too long: so often, and since then."""

    id: UUID
    count: int
    since: datetime


def plan_delays(rows: Sequence[ClaimedTrigger]) -> Sequence[float]:
    """Plan a while of its own for each: one that can never be done does not keep the same others with it."""
    return [GIVEN_BACK.delay_seconds(row.attempts, row.id) for row in rows]


def give_back_triggers(
    connection: Connection,
    tenant_id: UUID,
    rows: Sequence[ClaimedTrigger],
    claim_id: UUID,
    code: str,
    delays: Sequence[float],
) -> set[UUID]:
    """Release triggers that something kept from being done, without an attempt, and count it."""
    for delay_seconds in delays:
        add_wake_up(connection, tenant_id, EVENTS.name, delay_seconds)
    values = {
        **_keys(tenant_id, rows, claim_id),
        "delays": list(delays),
        "code": code,
        "gap_seconds": GAP_SECONDS,
    }
    return set(connection.cursor(row_factory=scalar_row).execute(_SQL.give_back, values).fetchall())


def take_stranded(
    connection: Connection, tenant_id: UUID, rows: Sequence[ClaimedTrigger], claim_id: UUID
) -> Sequence[StrandedTrigger]:
    """Take those of a claim that were given back for too long. The caller holds what they are for."""
    values = {
        **_keys(tenant_id, rows, claim_id),
        "least": LEAST_GIVEN_BACK,
        "after_seconds": STRANDED_AFTER_SECONDS,
        "at_last_seconds": STRANDED_AT_LAST_SECONDS,
        "lately_seconds": DONE_LATELY_SECONDS,
    }
    with connection.cursor(row_factory=class_row(StrandedTrigger)) as cursor:
        return cursor.execute(_SQL.take_stranded, values).fetchall()


def _keys(tenant_id: UUID, rows: Sequence[ClaimedTrigger], claim_id: UUID) -> dict[str, object]:
    return {
        "tenant_id": tenant_id,
        "claim_id": claim_id,
        "created_ats": [row.created_at for row in rows],
        "ids": [row.id for row in rows],
    }
