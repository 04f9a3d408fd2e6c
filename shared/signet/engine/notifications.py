"""What a person was told, and that he has read it."""

from collections.abc import Sequence
from uuid import UUID

from signet.core.errors import Rejected
from signet.engine.documents.operations import Author
from signet.store import notifications as store
from signet.store.database import Database
from signet.store.notifications import NotificationRow

MAX_PAGE = 200
LAST = UUID(int=2**128 - 1)


class Notifications:
    """The use case; one a process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_of(
        self, author: Author, *, limit: int = 50, before: UUID | None = None
    ) -> list[NotificationRow]:
        """The newest first."""
        tenant_id, person = author.principal.tenant_id, author.principal.subject
        limit = max(1, min(limit, MAX_PAGE + 1))
        with self._database.transaction(tenant_id) as connection:
            return store.list_notifications(connection, tenant_id, person, before=before or LAST, limit=limit)

    def mark_read(self, author: Author, ids: Sequence[UUID]) -> int:
        """How many of them were for him and not read yet."""
        if len(ids) > MAX_PAGE:
            raise Rejected("BATCH_TOO_LARGE", f"at most {MAX_PAGE} notifications at a time, not {len(ids)}")
        tenant_id, person = author.principal.tenant_id, author.principal.subject
        with self._database.transaction(tenant_id) as connection:
            return store.mark_read(connection, tenant_id, person, sorted(set(ids)))
