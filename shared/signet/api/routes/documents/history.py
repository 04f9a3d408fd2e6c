"""Routes of a document's past: versions, requests, audit trail, timeline, explanation."""

from datetime import datetime
from uuid import UUID

from signet.api.http.call import Call
from signet.api.http.cursors import Page, count_fitting, make_page, parse_cursor, parse_position
from signet.api.http.parameters import PAGE, Cursor, Limit, PathId, PathVersion
from signet.api.http.routing import Routes
from signet.engine.documents.queries.timeline import AuditRecord, Before, TimelineEntry
from signet.engine.documents.queries.versions import (
    RequestSummary,
    VersionDifference,
    VersionRecord,
    VersionSummary,
)
from signet.engine.instances.queries import Explained


def add_document_history_routes(routes: Routes) -> None:
    @routes.get(
        "/v1/documents/<document_id>/timeline", "Everything that happened to a document", Page[TimelineEntry]
    )
    def list_timeline(
        call: Call, document_id: PathId, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[TimelineEntry]:
        """List mutations, requests, entries and finished steps of instances, decisions; the newest first."""
        before, kind = _parse_before(cursor, "timeline", document_id)
        records = call.use.document_timeline.list_timeline(call.principal, document_id, before, limit + 1)
        return make_page(records, limit, lambda record: (record.at, record.id), kind)

    @routes.get(
        "/v1/documents/<document_id>/requests",
        "The requests for transitions of a document",
        Page[RequestSummary],
    )
    def list_transition_requests(
        call: Call, document_id: PathId, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[RequestSummary]:
        """List requests for transitions, the newest first."""
        before, kind = _parse_before(cursor, "requests", document_id)
        records = call.use.document_history.list_requests(
            call.principal, document_id, before=before, limit=limit + 1
        )
        return make_page(records, limit, lambda record: (record.created_at, record.id), kind)

    @routes.get("/v1/documents/<document_id>/audit", "The audit trail of a document", Page[AuditRecord])
    def list_document_audit(
        call: Call, document_id: PathId, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[AuditRecord]:
        """List the chain from its first row on; each row names the hash of the one before."""
        filters = ("audit", str(document_id))
        after = parse_position(cursor, filters, int) or 0
        records = call.use.document_timeline.list_audit(call.principal, document_id, after, limit + 1)
        return make_page(records, count_fitting(records, limit), lambda record: (record.seq,), filters)

    @routes.get("/v1/documents/<document_id>/explain", "Explain why a document is where it is", Explained)
    def explain_document(call: Call, document_id: PathId) -> Explained:
        """Explain the newest instance of a document, as data and as text."""
        return call.use.document_timeline.explain(call.principal, document_id)


def add_document_version_routes(routes: Routes) -> None:
    @routes.get("/v1/documents/<document_id>/versions", "The versions of a document", Page[VersionSummary])
    def list_document_versions(
        call: Call, document_id: PathId, limit: Limit = PAGE, cursor: Cursor = None
    ) -> Page[VersionSummary]:
        """List versions, the newest first."""
        filters = ("versions", str(document_id))
        before = parse_position(cursor, filters, int)
        records = call.use.document_history.list_versions(
            call.principal, document_id, before=before, limit=limit + 1
        )
        return make_page(records, limit, lambda record: (record.version,), filters)

    @routes.get(
        "/v1/documents/<document_id>/versions/<version>", "A document at one of its versions", VersionRecord
    )
    def get_document_version(call: Call, document_id: PathId, version: PathVersion) -> VersionRecord:
        """Show a version with the snapshot that approvals pin, and its hash."""
        return call.use.document_history.read_version(call.principal, document_id, version)

    @routes.get(
        "/v1/documents/<document_id>/versions/<version>/diff/<other_version>",
        "The differences between two versions",
        VersionDifference,
    )
    def compare_document_versions(
        call: Call, document_id: PathId, version: PathVersion, other_version: PathVersion
    ) -> VersionDifference:
        """Compare two versions field by field, from the first to the second."""
        return call.use.document_history.compare_versions(call.principal, document_id, version, other_version)


def _parse_before(cursor: str | None, kind: str, document_id: UUID) -> tuple[Before | None, tuple[str, str]]:
    filters = (kind, str(document_id))
    place = parse_cursor(cursor, filters, datetime, UUID)
    return (place[0], place[1]) if place else None, filters
