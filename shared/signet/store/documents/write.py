"""Documents and all rows that are written with them. Only `engine/documents` writes here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import itemgetter
from typing import Any
from uuid import UUID

from psycopg import Cursor
from psycopg.errors import UniqueViolation
from psycopg.rows import class_row, dict_row

from signet.core.approvals.withdrawals import Void
from signet.core.audit.verification import AuditRow
from signet.core.errors import Rejected, Transient
from signet.core.tenants.responsible import ResponsiblePersons
from signet.ids import parse_id
from signet.store.approvals.voiding import Voiding, void_requests
from signet.store.database import Connection
from signet.store.documents import amendments, rule_executions
from signet.store.json_values import to_id_array, to_json
from signet.store.pipeline import DeferredStatement, PipelinedTransaction
from signet.store.responsible_sets import keep_responsible
from signet.store.statements import Statements
from signet.store.wake_ups import add_wake_up

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A locked document with everything that a mutation must know about it."""

    id: UUID
    entity_type: str
    contract_version: int
    status: str
    version: int
    data: dict[str, Any]
    amended_from_id: UUID | None
    creator_id: str
    editor_ids: list[str]
    # By field, the version that changed it last; older versions left none.
    field_versions: dict[str, int]
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None
    instance_id: UUID | None
    instance_version: int | None
    instance_entity_version: int | None
    edit_window: str | None
    edit_window_node: str | None
    definition_version: int | None
    # Why the instance as a whole is paused, and whether a person has done it.
    pause: dict[str, Any] | None
    request_id: UUID | None
    requested: str | None
    requester_id: str | None
    requester_roles: list[str] | None
    # The requester as a member now: status and roles; None if they are no member.
    requester_member: dict[str, Any] | None
    # The persons behind creator, editors and requester.
    creator_responsible: ResponsiblePersons
    editor_responsible: ResponsiblePersons
    requester_responsible: ResponsiblePersons
    audit_seq: int | None
    audit_hash: str | None
    snapshot_id: UUID | None
    snapshot_hash: str | None
    personal: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class TransactionContext:
    """The tenant, the time and the roles' permissions by which a transaction is judged."""

    now: datetime
    tenant_name: str
    settings: dict[str, Any]
    epoch: int
    xid: str
    # By role; only for the roles that were passed in.
    permissions: dict[str, list[str]] | None

    def permissions_of(self, roles: Sequence[str]) -> list[str]:
        known = self.permissions or {}
        return [permission for role in roles for permission in known.get(role, ())]


@dataclass(frozen=True, slots=True)
class LockedDocuments:
    """The documents that a transaction holds locked, with its context."""

    rows: Mapping[UUID, DocumentRow]
    transaction: TransactionContext


@dataclass(frozen=True, slots=True)
class WorkflowOfType:
    id: UUID
    version: int
    contract_version: int
    definition_kind: str


@dataclass(slots=True)
class WriteBatch:
    """Rows by statement, as JSON objects; empty lists are not sent."""

    inserted_documents: list[Mapping[str, Any]] = field(default_factory=list)
    # By document, as of the last of its changes.
    updated_documents: dict[UUID, Mapping[str, Any]] = field(default_factory=dict)
    adopted_contracts: list[Mapping[str, Any]] = field(default_factory=list)
    personal_values: list[Mapping[str, Any]] = field(default_factory=list)
    versions: list[Mapping[str, Any]] = field(default_factory=list)
    ended_requests: list[Mapping[str, Any]] = field(default_factory=list)
    requests: list[Mapping[str, Any]] = field(default_factory=list)
    cancelled_instances: list[Mapping[str, Any]] = field(default_factory=list)
    instances: list[Mapping[str, Any]] = field(default_factory=list)
    opened_amendments: list[Mapping[str, Any]] = field(default_factory=list)
    handed_amendments: list[Mapping[str, Any]] = field(default_factory=list)
    edited_amendments: list[Mapping[str, Any]] = field(default_factory=list)
    settled_amendments: list[Mapping[str, Any]] = field(default_factory=list)
    # Documents that had no workflow, and need none from now on.
    settled_documents: list[Mapping[str, Any]] = field(default_factory=list)
    events: list[Mapping[str, Any]] = field(default_factory=list)
    # Changes that automations may listen to.
    firings: list[Mapping[str, Any]] = field(default_factory=list)
    rule_executions: list[Mapping[str, Any]] = field(default_factory=list)
    audit: list[AuditRow] = field(default_factory=list)

    def audit_id_of(self, document_id: UUID) -> str:
        """Return the id of the document's newest audit row."""
        return next(row.id for row in reversed(self.audit) if row.subject_id == str(document_id))

    @property
    def is_empty(self) -> bool:
        return not (self.audit or self.events or self.rule_executions)

    @property
    def is_edits_only(self) -> bool:
        """Return whether only edits are written, as most mutations do."""
        return bool(self.updated_documents) and not (
            self.inserted_documents
            or self.adopted_contracts
            or self.personal_values
            or self.ended_requests
            or self.requests
            or self.cancelled_instances
            or self.instances
            or self.edited_amendments
            or self.settled_amendments
            or self.settled_documents
            or self.rule_executions
        )


def lock_documents(connection: Connection, ids: Sequence[UUID], roles: Sequence[str]) -> LockedDocuments:
    """Lock documents in a statement of its own, and read what their transaction is judged by."""
    opening = lock_statement(ids, roles)
    return require_locked(connection.execute(opening.text, opening.values).fetchone())


def lock_statement(ids: Sequence[UUID], roles: Sequence[str]) -> DeferredStatement:
    """Make the statement that locks documents in id order, then reads them.

    `parse_locked_documents` reads the answer.
    """
    return DeferredStatement(_SQL.lock_documents, {"ids": to_id_array(ids), "roles": list(roles)})


def require_locked(row: tuple[Any, ...] | None) -> LockedDocuments:
    """Parse the answer of `lock_statement`, and refuse a tenant that is not active."""
    documents, transaction = parse_locked_documents(row)
    if transaction is None:
        raise Rejected("TENANT_INACTIVE", "this tenant does not exist or is suspended")
    return LockedDocuments(documents, transaction)


def parse_locked_documents(
    row: tuple[Any, ...] | None,
) -> tuple[dict[UUID, DocumentRow], TransactionContext | None]:
    if row is None:
        return {}, None
    *context, documents = row
    rows = map(_parse_document, documents or ())
    return {document.id: document for document in rows}, TransactionContext(*context)


def find_workflow(
    connection: Connection,
    tenant_id: UUID,
    entity_type: str,
    contract_version: int | None,
    other_than: Sequence[UUID] = (),
) -> WorkflowOfType | None:
    """Find the workflow of documents of this type, apart from some; without a version, that of new ones."""
    with connection.cursor(row_factory=class_row(WorkflowOfType)) as cursor:
        values = {
            "tenant_id": tenant_id,
            "entity_type": entity_type,
            "contract_version": contract_version,
            "other_than": list(other_than),
        }
        return cursor.execute(_SQL.find_workflow, values).fetchone()


def read_last_pins(
    connection: Connection, tenant_id: UUID, types: Mapping[UUID, str]
) -> dict[UUID, dict[str, Any]]:
    """Read the pins of the newest instance of each document; `types` are their entity types."""
    wanted = {"tenant_id": tenant_id, "ids": list(types), "entity_types": list(types.values())}
    rows: list[Any] = connection.execute(_SQL.read_last_pins, wanted).fetchall()
    return dict(rows)


def reserve_business_keys(
    connection: Connection,
    tenant_id: UUID,
    released: Sequence[Mapping[str, Any]],
    wanted: Sequence[Mapping[str, Any]],
    *,
    undo: bool,
) -> dict[UUID, str]:
    """Reserve business keys; return each document whose key is taken, with the field.

    What a document's own line of amendments holds is not taken. With `undo`, a lost key means that nothing
    was released or reserved.
    """
    with connection.pipeline():
        if undo:
            connection.execute(_SQL.begin_keys)
        if released:
            connection.execute(_SQL.release_keys, {"tenant_id": tenant_id, "rows": to_json(released)})
        cursor = connection.cursor(row_factory=dict_row)
        cursor.execute(_SQL.reserve_business_keys, {"tenant_id": tenant_id, "rows": to_json(wanted)})
        taken = {(row["document_id"], row["field"]) for row in cursor.fetchall()}
    missed = [key for key in wanted if (key["document_id"], key["field"]) not in taken]
    if missed:
        taken = _take_over_keys(connection, tenant_id, missed)
    lost = {
        key["document_id"]: key["field"] for key in missed if (key["document_id"], key["field"]) not in taken
    }
    if lost and undo:
        connection.execute(_SQL.undo_keys)
    return lost


def _take_over_keys(
    connection: Connection, tenant_id: UUID, missed: Sequence[Mapping[str, Any]]
) -> set[tuple[UUID, str]]:
    """Take keys from amendments of the same line that were given up; return those that the line has now."""
    values = {"tenant_id": tenant_id, "rows": to_json(missed)}
    connection.execute(_SQL.take_over_keys, values)
    connection.execute(_SQL.reserve_business_keys, values)
    return amendments.list_keys_of_line(connection, tenant_id, missed)


def begin_items(connection: Connection) -> None:
    """Set a savepoint, so that the keys of several changes can be given back together."""
    connection.execute(_SQL.begin_items)


def undo_items(connection: Connection) -> None:
    connection.execute(_SQL.undo_items)


def _add_wake_ups(connection: Connection, tenant_id: UUID, batch: WriteBatch, now: datetime) -> None:
    """Add a wake-up for each moment of the triggers: a wait is as long as it is written."""
    for due_at in {event.get("due_at") for event in batch.events}:
        delay_seconds = (due_at - now).total_seconds() if due_at else 0.0
        add_wake_up(connection, tenant_id, "events", delay_seconds, is_exact=True)


def write_batch(
    connection: Connection,
    tenant_id: UUID,
    batch: WriteBatch,
    *,
    now: datetime,
    pipeline: PipelinedTransaction | None = None,
) -> None:
    """Write all rows in one round trip, in the order of foreign keys; in a pipeline with its COMMIT."""
    fixed = {"tenant_id": tenant_id, "now": now}
    edits = _make_edits(batch, fixed)
    _add_wake_ups(connection, tenant_id, batch, now)
    # Where nothing else wakes the tenant, it must be known whether a start does.
    if batch.is_edits_only and pipeline is not None and (batch.events or not batch.firings):
        pipeline.closing.append(edits)
        return
    statements = [
        (_SQL.insert_personal_values, batch.personal_values),
        (_SQL.end_requests, batch.ended_requests),
        (_SQL.insert_requests, batch.requests),
        # Before instances end: an amendment that is handed on or settles is not given up.
        (amendments.HAND_ON, batch.handed_amendments),
        (amendments.OPEN, batch.opened_amendments),
        (amendments.COMPARE_AGAIN, batch.edited_amendments),
        (amendments.SETTLE, batch.settled_amendments),
        (_SQL.cancel_instances, batch.cancelled_instances),
        (_SQL.insert_instances, batch.instances),
        # A restarted instance says which contract its document goes along to.
        (_SQL.adopt_contracts, batch.adopted_contracts),
        (_SQL.close_incidents_of_documents, batch.settled_documents),
        (rule_executions.INSERT, batch.rule_executions),
    ]
    try:
        with connection.pipeline():
            if batch.inserted_documents:
                rows = {"rows": to_json(batch.inserted_documents)}
                connection.execute(_SQL.insert_documents, {**fixed, **rows})
            written = connection.execute(edits.text, edits.values)
            for text, listed in statements:
                if listed:
                    connection.execute(text, {**fixed, "rows": to_json(listed)})
            # Approval requests that are open, or decided and not used by a gate, end with the instance.
            ended = [
                Voiding(row["id"], Void("instance_ended", row["reason"])) for row in batch.cancelled_instances
            ]
            void_requests(connection, tenant_id, ended, now)
        if batch.firings and not batch.events and _count_starts(written):
            add_wake_up(connection, tenant_id, "events")
    except UniqueViolation as error:
        # Another transaction has taken an id that the caller gave. A retry finds the document.
        raise Transient(
            "DATABASE_CONTENDED", "another transaction was in the way; nothing was changed"
        ) from error


def _make_edits(batch: WriteBatch, fixed: Mapping[str, Any]) -> DeferredStatement:
    values = {
        **fixed,
        "ids": to_id_array(batch.updated_documents),
        "documents": to_json(list(batch.updated_documents.values())),
        "versions": to_json(batch.versions),
        "audit": to_json(batch.audit),
        "events": to_json(batch.events),
    }
    if not batch.firings:
        return DeferredStatement(_SQL.write_edits, values)
    return DeferredStatement(_SQL.write_edits_and_starts, {**values, "firings": to_json(batch.firings)})


def _count_starts(written: Cursor[tuple[Any, ...]]) -> int:
    row = written.fetchone()
    return int(row[1]) if row is not None else 0


def read_editors(connection: Connection, tenant_id: UUID, document_id: UUID) -> ResponsiblePersons:
    values = {"tenant_id": tenant_id, "document_id": document_id}
    row: Any = connection.execute(_SQL.read_editors, values).fetchone()
    return frozenset(row[0])


def write_editors(
    connection: Connection, tenant_id: UUID, document_id: UUID, persons: ResponsiblePersons
) -> None:
    """Write who counts as an editor of a locked document, without a version."""
    digest = bytes.fromhex(keep_responsible(connection, tenant_id, persons)[2:])
    values = {"tenant_id": tenant_id, "document_id": document_id, "responsible": digest}
    connection.execute(_SQL.write_editors, values)


def widen_editors(connection: Connection, document_id: UUID, responsible: str) -> None:
    """Write a larger set of editors of a document that a wave holds locked, named by its hash."""
    values = {"document_id": document_id, "responsible": bytes.fromhex(responsible[2:])}
    connection.execute(_SQL.widen_editors, values)


# In the order of the class: names of arguments take longer than their values. What is newer is left out.
_read_columns = itemgetter(*(column.name for column in fields(DocumentRow)))


def _parse_document(columns: dict[str, Any]) -> DocumentRow:
    """Make a row of JSON, which has no ids and no times."""
    for name in ("id", "amended_from_id", "instance_id", "request_id", "snapshot_id"):
        columns[name] = columns[name] and parse_id(columns[name])
    for name in ("created_at", "updated_at", "deleted_at"):
        columns[name] = columns[name] and datetime.fromisoformat(columns[name])
    creators, editors = columns["creator_responsible"], columns["editor_responsible"]
    requesters, requester_id = columns["requester_responsible"], columns["requester_id"]
    # A row of an older release names no set: then its actors stand for themselves.
    columns["creator_responsible"] = frozenset((columns["creator_id"],) if creators is None else creators)
    columns["editor_responsible"] = frozenset(columns["editor_ids"] if editors is None else editors)
    columns["requester_responsible"] = frozenset(
        requesters or () if requester_id is None or requesters is not None else (requester_id,)
    )
    return DocumentRow(*_read_columns(columns))
