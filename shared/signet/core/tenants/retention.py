"""For how long what has served is kept, where nothing else is said."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType

MAX_RETENTION_DAYS = 36_500
# Whole months of it go, and what is under way is to keep its history.
LEAST_HISTORY_DAYS = 30


@dataclass(frozen=True)
class Retentions:
    """In days."""

    # Triggers and effects that were done.
    outbox_days: int = 90
    # Of instances that have ended.
    receipts_days: int = 90
    # The answers that a repeated request gets.
    idempotency_days: int = 7
    # Since they were read.
    notifications_days: int = 90
    # Since they were deleted.
    deleted_documents_days: int = 365
    # The life of instances; None is for ever.
    history_days: int | None = None


LEAST_DAYS: Mapping[str, int] = MappingProxyType(
    {**{each.name: 1 for each in fields(Retentions)}, "history_days": LEAST_HISTORY_DAYS}
)
