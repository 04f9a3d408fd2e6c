"""Versions of a document and requests for it, in pages, for callers who may read such documents."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.principal import Principal
from signet.engine.access.read import LAST, ReadTransaction, bound_page, reading
from signet.engine.approvals.comparison import FieldChange
from signet.engine.documents.change import diff_data
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
    """The difference from one version to another; either may be the newer one."""

    from_version: int
    to_version: int
    from_status: str
    to_status: str
    changes: Sequence[FieldChange]


@dataclass(frozen=True, slots=True)
class DocumentHistory:
    """The use case of pages with the newest first, each after the end of the one before."""

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
        """Read a version as it was, with the personal values that have not been erased."""
        with self._open(principal, document_id) as read:
            record = store.read_version(read.connection, principal.tenant_id, document_id, version)
            if record is None:
                raise Rejected("DOCUMENT_NOT_FOUND", f"document {document_id} has no version {version}")
            return replace(record, data=resolve(read.connection, principal.tenant_id, record.data))

    def compare_versions(
        self, principal: Principal, document_id: UUID, from_version: int, to_version: int
    ) -> VersionDifference:
        before, after = (
            self.read_version(principal, document_id, number) for number in (from_version, to_version)
        )
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
        """List requests; `before` is the moment and the id of the last one on the page before."""
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
        """Open a read transaction. Answer alike for a missing document and for one that may not be read."""
        with reading(self.database, principal) as read:
            document = find_document(read.connection, principal.tenant_id, document_id)
            if document is None or not may_read(read, document.entity_type):
                raise document_not_found(document_id)
            yield read
