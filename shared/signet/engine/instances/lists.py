"""Lists of instances, and of the stuck ones with the acts that may help each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Literal, cast
from uuid import UUID

from signet.core.explain.instance_record import InstanceStatus
from signet.core.incidents.given_back import describe_given_back
from signet.store.database import Database
from signet.store.instances.lists import InstanceFilter, ListedInstance, list_instances
from signet.store.instances.write import StuckRow
from signet.store.instances.write import list_stuck as find_stuck

# Longer than any lease, and than any delay before a retry.
IDLE_SECONDS = 600.0
MAX_STUCK = 1_000
MAX_LISTED = 200
LIVE: Sequence[InstanceStatus] = ("running", "paused")
ENDED: Sequence[InstanceStatus] = ("completed", "failed", "cancelled")
Why = Literal["ready", "asked", "edited", "decided", "answered", "overdue", "nothing_open", "given_back"]
# Acts that may help, the likeliest first. Waking replaces a lost trigger. Rebuilding corrects a wrong row,
# and wakes as well.
REMEDIES = ("wake", "rebuild", "fail")
REMEDIES_OF_A_WRONG_ROW = ("rebuild", "fail", "wake")
# Once the cause is gone, it goes on by itself.
REMEDIES_OF_GIVEN_BACK = ("wake", "fail")
_REMEDIES: Mapping[str, Sequence[str]] = MappingProxyType(
    {"nothing_open": REMEDIES_OF_A_WRONG_ROW, "given_back": REMEDIES_OF_GIVEN_BACK}
)


@dataclass(frozen=True, slots=True)
class Stuck:
    """An instance that should go on, although no trigger will wake it.

    `why` names what it does not see. That is a `ready` token, an open request (`asked`), a version of its
    document (`edited`), or votes (`decided`). It may be an answer from outside (`answered`) or a past moment
    (`overdue`). With `nothing_open` it waits for nothing at all. With `given_back` a trigger would wake it,
    and outages give that back again and again: `reason` says how often, since when, and why.
    """

    id: UUID
    entity_type: str | None
    document_id: UUID | None
    current_nodes: Sequence[str]
    version: int
    idle_since: datetime
    why: Why
    remedies: Sequence[str]
    reason: str | None = None


def list_newest(
    database: Database,
    tenant_id: UUID,
    *,
    statuses: Sequence[str] = LIVE,
    document_id: UUID | None = None,
    limit: int = MAX_LISTED,
) -> Sequence[ListedInstance]:
    """List instances in these statuses, or all that a document has had."""
    limit = max(1, min(limit, MAX_LISTED))
    with database.transaction(tenant_id) as connection:
        wanted = InstanceFilter(statuses)
        if document_id is not None:
            wanted = InstanceFilter([*LIVE, *ENDED], subject_id=str(document_id))
        return list_instances(connection, tenant_id, wanted, limit=limit)


def list_stuck(
    database: Database,
    tenant_id: UUID,
    *,
    idle_seconds: float = IDLE_SECONDS,
    limit: int = MAX_STUCK,
    after: tuple[datetime, UUID] | None = None,
) -> Sequence[Stuck]:
    """List stuck instances, the longest stuck first.

    An instance that waits, is paused or will be woken is not stuck; but one whose triggers are given back is.
    """
    limit = max(1, min(limit, MAX_STUCK))
    with database.transaction(tenant_id) as connection:
        rows = find_stuck(connection, tenant_id, idle_seconds=idle_seconds, limit=limit, after=after)
    return [_make_stuck(row) for row in rows]


def _make_stuck(row: StuckRow) -> Stuck:
    return Stuck(
        row.id,
        row.entity_type,
        row.entity_id,
        row.current_nodes,
        row.version,
        row.updated_at,
        cast(Why, row.why),
        _REMEDIES.get(row.why, REMEDIES),
        _describe_given_back(row),
    )


def _describe_given_back(row: StuckRow) -> str | None:
    if row.given_back is None or row.given_back_since is None or row.given_back_code is None:
        return None
    return describe_given_back(row.given_back, row.given_back_since, row.given_back_code)
