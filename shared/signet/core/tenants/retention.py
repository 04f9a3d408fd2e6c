"""Default retention of rows that have served their purpose."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

MAX_RETENTION_DAYS = 36_500
# History is removed by whole months, and instances in progress are to keep theirs.
LEAST_HISTORY_DAYS = 30


@dataclass(frozen=True)
class Retentions:
    """Retention times in days."""

    # Of triggers and effects that were done.
    outbox_days: int = 90
    # Of instances that have ended.
    receipts_days: int = 90
    # Of outcomes for repeated requests.
    idempotency_days: int = 7
    # Since they were read.
    notifications_days: int = 90
    # Of changes of who may vote; what an open request may need stays.
    eligibility_days: int = 365
    # Since they were deleted.
    deleted_documents_days: int = 365
    # Of the history of instances; None means for ever.
    history_days: int | None = None
    # Of incidents, since they were closed.
    incidents_days: int = 365


LEAST_DAYS: Mapping[str, int] = MappingProxyType(
    {**{field.name: 1 for field in fields(Retentions)}, "history_days": LEAST_HISTORY_DAYS}
)
