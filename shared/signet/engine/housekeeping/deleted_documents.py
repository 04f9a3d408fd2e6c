"""The purge of deleted documents: their content is erased, their audit trail stays provable."""

from uuid import UUID

from signet.core.audit.trail import AuditEntry, chain_all
from signet.core.audit.verification import DOCUMENT
from signet.core.tenants.principal import SYSTEM_SUBJECT
from signet.engine.housekeeping.pruning import DAY_SECONDS
from signet.engine.housekeeping.task_run import TaskRun
from signet.ids import make_id
from signet.store.audit.write import append_rows, read_heads, read_transaction
from signet.store.database import Connection
from signet.store.operations.housekeeping import PurgedDocument, purge_documents

VIA = "housekeeping"


def purge_deleted(task_run: TaskRun, kept_days: int) -> None:
    def purge(connection: Connection, tenant_id: UUID, at_most: int) -> int:
        purged = purge_documents(connection, kept_days=kept_days, at_most=at_most)
        entries = [_make_entry(tenant_id, document, kept_days) for document in purged]
        if entries:
            heads = read_heads(connection, tenant_id, [entry.subject for entry in entries])
            append_rows(connection, chain_all(heads, entries, read_transaction(connection)))
        return len(purged)

    task_run.each_batch("deleted_documents", purge, kept_days * DAY_SECONDS)


def _make_entry(tenant_id: UUID, purged: PurgedDocument, kept_days: int) -> AuditEntry:
    return AuditEntry(
        id=make_id(),
        tenant_id=tenant_id,
        subject_type=DOCUMENT,
        subject_id=str(purged.document_id),
        action="purge",
        actor_id=SYSTEM_SUBJECT,
        via=VIA,
        at=purged.purged_at,
        reason=f"deleted more than {kept_days} days ago",
        detail={"erased": [dict(value) for value in purged.erased]},
    )
