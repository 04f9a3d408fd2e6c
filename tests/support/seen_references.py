"""The digest of what a person is shown of other documents, as the ETag of a document names it."""

from uuid import UUID

from signet.core.approvals.decided_pins import digest_seen
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.engine.documents.read import DocumentsRead
from signet.store.database import Database


def read_digest(database: Database, reader: Caller, document_id: UUID) -> str | None:
    try:
        return digest_seen(DocumentsRead(database).read(reader.principal, document_id).references)
    except Rejected:
        return None
