"""Notifications of a person, and marks for those that they have read."""

from collections.abc import Sequence
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.engine.access.read import LAST, MAX_PAGE, bound_page
from signet.store.database import Database
from signet.store.integrations import notifications as store
from signet.store.integrations.notifications import NotificationRecord as NotificationRecord


class Notifications:
    """A person's notifications. One in each process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_of(
        self, caller: Caller, *, is_unread: bool = False, limit: int = 50, before: UUID | None = None
    ) -> list[NotificationRecord]:
        """List notifications, the newest first; with `is_unread` only those not marked as read."""
        tenant_id, person = caller.principal.tenant_id, caller.principal.subject
        with self._database.transaction(tenant_id) as connection:
            return store.list_notifications(
                connection,
                tenant_id,
                person,
                is_unread=is_unread,
                before=before or LAST,
                limit=bound_page(limit),
            )

    def mark_read(self, caller: Caller, ids: Sequence[UUID]) -> int:
        """Mark notifications of the caller as read, and return how many were unread."""
        if len(ids) > MAX_PAGE:
            raise Rejected("BATCH_TOO_LARGE", f"at most {MAX_PAGE} notifications at a time, not {len(ids)}")
        tenant_id, person = caller.principal.tenant_id, caller.principal.subject
        with self._database.transaction(tenant_id) as connection:
            return store.mark_read(connection, tenant_id, person, sorted(set(ids)))
