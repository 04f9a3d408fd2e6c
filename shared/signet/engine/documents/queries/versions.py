"""What a document has been, and what was asked of it, in pages; for who may read such documents."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.principal import Principal
from signet.engine.access.read import LAST, ReadTransaction, bound_page, reading
from signet.engine.approvals.comparison import FieldChange
from signet.engine.documents.decide import diff_data
from signet.engine.documents.read import document_not_found, may_read, resolve
from signet.store.database import Database
from signet.store.documents import versions as store
from signet.store.documents.read import find_document
from signet.store.documents.versions import RequestSummary as RequestSummary
from signet.store.documents.versions import VersionRecord as VersionRecord
from signet.store.documents.versions import VersionSummary as VersionSummary

# After every version, and after every moment.
END, FOREVER = 2**63 - 1, "infinity"


@dataclass(frozen=True, slots=True)
class VersionDifference:
    """From one version to another, whichever is the newer."""

    from_version: int
    to_version: int
    from_status: str
    to_status: str
    changes: Sequence[FieldChange]


@dataclass(frozen=True, slots=True)
class DocumentHistory:
    """The use case; one a process. The newest first, each page from where the one before has ended."""

    database: Database

    def list_versions(
        self, principal: Principal, document_id: UUID, *, limit: int = 50, before: int | None = None
    ) -> list[VersionSummary]:
        with self._open(principal, document_id) as read:
            return store.list_versions(
                read.connection,
                principal.tenant_id,
                document_id,
                before=END if before is None else before,
                limit=bound_page(limit),
            )

    def read_version(self, principal: Principal, document_id: UUID, version: int) -> VersionRecord:
        """As it was then, with the personal values that are still there."""
        with self._open(principal, document_id) as read:
            found = store.read_version(read.connection, principal.tenant_id, document_id, version)
            if found is None:
                raise Rejected("DOCUMENT_NOT_FOUND", f"document {document_id} has no version {version}")
            return replace(found, data=resolve(read.connection, principal.tenant_id, found.data))

    def compare_versions(
        self, principal: Principal, document_id: UUID, from_version: int, to_version: int
    ) -> VersionDifference:
        before, after = (self.read_version(principal, document_id, one) for one in (from_version, to_version))
        changes = [FieldChange(name, **change) for name, change in diff_data(before.data, after.data).items()]
        return VersionDifference(from_version, to_version, before.status, after.status, changes)

    def list_requests(
        self,
        principal: Principal,
        document_id: UUID,
        *,
        limit: int = 50,
        before: tuple[datetime, UUID] | None = None,
    ) -> list[RequestSummary]:
        """`before` is the moment and the id of the last one of the page before."""
        before_at, before_id = before or (FOREVER, LAST)
        with self._open(principal, document_id) as read:
            return store.list_requests(
                read.connection,
                principal.tenant_id,
                document_id,
                before_at=before_at,
                before_id=before_id,
                limit=bound_page(limit),
            )

    @contextmanager
    def _open(self, principal: Principal, document_id: UUID) -> Iterator[ReadTransaction]:
        """What is not there and what may not be read are answered alike."""
        with reading(self.database, principal) as read:
            found = find_document(read.connection, principal.tenant_id, document_id)
            if found is None or not may_read(read, found.entity_type):
                raise document_not_found(document_id)
            yield read
