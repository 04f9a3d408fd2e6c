"""Which instances there are, and which of them are stuck; what they may need stands with each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, cast
from uuid import UUID

from signet.core.explain.instance_record import InstanceStatus
from signet.store.database import Database
from signet.store.instances.lists import InstanceFilter, ListedInstance, list_instances
from signet.store.instances.write import StuckRow
from signet.store.instances.write import list_stuck as find_stuck

# Longer than any lease, and than what failed waits before it is tried again.
IDLE_SECONDS = 600.0
MAX_STUCK = 1_000
MAX_LISTED = 200
LIVE: Sequence[InstanceStatus] = ("running", "paused")
ENDED: Sequence[InstanceStatus] = ("completed", "failed", "cancelled")
Why = Literal["ready", "asked", "answered", "overdue", "nothing_open"]
# What may help, the likeliest first. Waking makes a lost trigger good, rebuilding a wrong row; and both wake.
REMEDIES = ("wake", "rebuild", "fail")
REMEDIES_OF_A_WRONG_ROW = ("rebuild", "fail", "wake")


@dataclass(frozen=True, slots=True)
class Stuck:
    """An instance that should go on, and that nothing will wake.

    `why` is what it does not see: a token that is `ready`, an open request (`asked`), an answer from outside
    (`answered`), a moment that is past (`overdue`); or that it waits for nothing at all (`nothing_open`).
    """

    id: UUID
    entity_type: str | None
    document_id: UUID | None
    current_nodes: Sequence[str]
    version: int
    idle_since: datetime
    why: Why
    remedies: Sequence[str]


def list_newest(
    database: Database,
    tenant_id: UUID,
    *,
    statuses: Sequence[str] = LIVE,
    document_id: UUID | None = None,
    limit: int = MAX_LISTED,
) -> Sequence[ListedInstance]:
    """Of those in these statuses, or of all that a document has had."""
    limit = max(1, min(limit, MAX_LISTED))
    with database.transaction(tenant_id) as connection:
        wanted = InstanceFilter(statuses)
        if document_id is not None:
            wanted = InstanceFilter([*LIVE, *ENDED], subject_id=str(document_id))
        return list_instances(connection, tenant_id, wanted, limit=limit)


def list_stuck(
    database: Database, tenant_id: UUID, *, idle_seconds: float = IDLE_SECONDS, limit: int = MAX_STUCK
) -> Sequence[Stuck]:
    """Those that have been so for longest first. What waits, is paused or will be woken is not stuck."""
    limit = max(1, min(limit, MAX_STUCK))
    with database.transaction(tenant_id) as connection:
        rows = find_stuck(connection, tenant_id, idle_seconds=idle_seconds, limit=limit)
    return [_read_stuck(row) for row in rows]


def _read_stuck(row: StuckRow) -> Stuck:
    remedies = REMEDIES_OF_A_WRONG_ROW if row.why == "nothing_open" else REMEDIES
    return Stuck(
        row.id,
        row.entity_type,
        row.entity_id,
        row.current_nodes,
        row.version,
        row.updated_at,
        cast(Why, row.why),
        remedies,
    )
