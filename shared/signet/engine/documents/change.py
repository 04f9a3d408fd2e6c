"""What a mutation decides from, the change that it decides on, and the parts that changes share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from signet.core.contracts.compiled_contract import CompiledContract, Denial
from signet.core.documents.edit_window import LiveInstance, Window, find_window
from signet.core.errors import FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.tenant_file import TenantSettings
from signet.engine.documents.commands import Create
from signet.engine.documents.references import RefQuery, Refs
from signet.store.documents.write import DocumentRow, TransactionContext


@dataclass(frozen=True, slots=True)
class MutationContext:
    """One document as it is now, under its contract, for one author."""

    caller: Caller
    transaction: TransactionContext
    contract: CompiledContract
    row: DocumentRow | None
    # The data with personal values in place of their references.
    data: Mapping[str, Any]
    permissions: Sequence[str]
    # What `org.*` says.
    org: Mapping[str, Any]
    refs: Refs
    # The ref fields that the expressions at hand follow.
    followed: frozenset[str] = frozenset()

    @property
    def is_own_workflow(self) -> bool:
        """The step of the document's own workflow: inside the contract, and not stopped by its window."""
        instance_id = self.caller.instance_id
        return instance_id is not None and self.row is not None and instance_id == self.row.instance_id

    def env(self, data: Mapping[str, Any], *, status: str, version: int) -> dict[str, Any]:
        row, principal = self.row, self.caller.principal
        entity = {
            **data,
            "id": str(row.id) if row else None,
            "status": status,
            "version": version,
            "creator": row.creator_id if row else principal.subject,
            "created_at": format_moment(row.created_at if row else self.transaction.now),
            "updated_at": format_moment(row.updated_at if row else self.transaction.now),
        }
        return {
            "entity": entity,
            "refs": self.refs.of(RefQuery(self.contract, self.followed, data)) if self.followed else {},
            "actor": {"user_id": principal.subject, "roles": list(principal.roles)},
            "org": self.org,
            "now": format_moment(self.transaction.now),
            "context": {},
        }


@dataclass(slots=True)
class DocumentChange:
    """A document as it is to become. Rows are made of it when all changes of a batch are known."""

    document_id: UUID
    caller: Caller
    contract: CompiledContract
    row: DocumentRow | None
    action: str
    data: Mapping[str, Any]
    status: str
    version: int
    reason: str | None = None
    # Of a gate: what was approved is what becomes effective, so that no rule may set anything.
    keeps_content: bool = False
    is_deleted: bool = False
    amended_from: DocumentRow | None = None
    # The request that this opens, and those that it ends: (id, status, outcome).
    opens_request: str | None = None
    ends_requests: list[tuple[UUID, str, str]] = field(default_factory=list)
    # Where an instance begins, when one does.
    begins_at: str | None = None
    cancels_instance: str | None = None
    event_type: str | None = None
    event_payload: dict[str, Any] = field(default_factory=dict)
    executions: list[Mapping[str, Any]] = field(default_factory=list)
    emits: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    # What an action gives back: this, or what these fields say when all rules have run.
    output: Mapping[str, Any] | None = None
    output_fields: Sequence[str] | None = None
    # The documents that an action makes, and of such a document which action of which one made it.
    creates: Sequence[Create] = ()
    made_by: Mapping[str, str] | None = None
    # Of a decision: for whom the author stands in, and what its audit row tells besides.
    on_behalf_of: str | None = None
    audit_detail: Mapping[str, Any] = field(default_factory=dict)
    request_id: UUID | None = None
    # Of the instance that begins, once its row is made.
    instance_id: UUID | None = None
    # Further changes of the same mutation, which stand or fall with it and are written before it: the
    # document that an amendment ends, those that an action makes.
    further: list["DocumentChange"] = field(default_factory=list)

    @property
    def whole(self) -> Sequence["DocumentChange"]:
        return (*self.further, self)

    @property
    def writes_document(self) -> bool:
        return self.row is None or self.version != self.row.version

    @property
    def editors(self) -> Sequence[str]:
        if self.row is not None:
            return self.row.editor_ids
        if self.amended_from is None:
            return ()
        # Whose content it is, but for what the amendment changes.
        origin = self.amended_from
        return list(dict.fromkeys((origin.creator_id, *origin.editor_ids)))


def format_moment(moment: datetime) -> str:
    """The one form of a moment: UTC, six digits, so that the order of texts is that of time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_org(tenant_id: UUID, transaction: TransactionContext) -> dict[str, Any]:
    values = TenantSettings.model_validate(transaction.settings).read_values()
    return {**values, "id": str(tenant_id), "name": transaction.tenant_name}


def make_version(
    context: MutationContext,
    row: DocumentRow,
    action: str,
    data: Mapping[str, Any],
    reason: str | None,
    status: str | None = None,
) -> DocumentChange:
    version = row.version + 1
    return DocumentChange(
        row.id, context.caller, context.contract, row, action, data, status or row.status, version, reason
    )


def audit_only_change(
    context: MutationContext, row: DocumentRow, action: str, reason: str | None
) -> DocumentChange:
    """A request is on record without a new version of the document."""
    return DocumentChange(
        row.id, context.caller, context.contract, row, action, context.data, row.status, row.version, reason
    )


def trigger_workflow(
    change: DocumentChange, row: DocumentRow, event_type: str, payload: dict[str, Any]
) -> None:
    if row.instance_id is not None:
        change.event_type, change.event_payload = event_type, payload


def supersede_request(change: DocumentChange, row: DocumentRow, outcome: str) -> None:
    if row.request_id is not None:
        change.ends_requests.append((row.request_id, "superseded", outcome))


def window_of(context: MutationContext, row: DocumentRow) -> Window:
    live = LiveInstance(row.edit_window, row.edit_window_node) if row.instance_id is not None else None
    return find_window(context.contract.contract, row.status, live)


def authorize(context: MutationContext, permission: str, env: Mapping[str, Any]) -> Rejected | None:
    if context.caller.instance_id is not None:
        return None  # the workflow's own policy gate has decided, with evidence
    return as_rejected(context.contract.authorize(permission, context.permissions, env))


def as_rejected(denial: Denial | None) -> Rejected | None:
    return None if denial is None else Rejected(denial.code, denial.sentence)


def reject_fields(mistakes: tuple[FieldError, ...]) -> Rejected:
    return Rejected(
        "FIELDS_INVALID", f"{len(mistakes)} field(s) are not as the contract says", fields=mistakes
    )


def refuse_created(index: int, entity_type: str, rejected: Rejected) -> Rejected:
    """What keeps a document that an action makes from being, and with it the action."""
    fields = tuple(
        FieldError(f"/created/{index}{each.pointer}", each.code, each.message) for each in rejected.fields
    )
    return Rejected(
        rejected.code,
        f"the new {entity_type}: {rejected.message}",
        remedy=rejected.remedy,
        fields=fields,
        details=rejected.details,
    )


def reject_locked(window: Window) -> Rejected:
    return Rejected(
        "WORKFLOW_EDIT_LOCKED",
        f"the document is {window.window.value} here: {window.held_by} holds it",
        details={"window": window.window.value, "held_by": window.held_by},
    )
