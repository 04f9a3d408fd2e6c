"""The context of a mutation, and the change of a document that is decided in it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Literal, Protocol
from uuid import UUID

import orjson

from signet.core.approvals.pins import Pins, read_as_approved
from signet.core.contracts.compiled_contract import CompiledContract, Denial
from signet.core.documents.edit_window import UNLOCK, LiveInstance, Window, find_window
from signet.core.errors import FieldError, Rejected, Within
from signet.core.expressions import FollowedField
from signet.core.expressions.actors import PersonsBehind
from signet.core.runtime.projection import Actor
from signet.core.tenants.caller import Caller
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons
from signet.core.tenants.tenant_file import TenantSettings
from signet.engine.documents.commands import Applied, Create
from signet.engine.documents.decisions.record import DocumentDecisions
from signet.engine.documents.references import RefQuery, Refs
from signet.store.documents.write import DocumentRow, TransactionContext, WorkflowOfType


class DatedDocument(Protocol):
    """A document with its id, and with its author and times as expressions read them."""

    @property
    def id(self) -> UUID | None: ...

    @property
    def creator_id(self) -> str: ...

    @property
    def created_at(self) -> datetime: ...

    @property
    def updated_at(self) -> datetime: ...


@dataclass(frozen=True, slots=True)
class _NewDocument:
    """A document that is being made: it has no id yet."""

    id: UUID | None
    creator_id: str
    created_at: datetime
    updated_at: datetime


def describe_entity(
    document: DatedDocument, data: Mapping[str, Any], *, status: str, version: int
) -> dict[str, Any]:
    """Return what expressions read of a document under `entity`."""
    return {
        **data,
        "id": str(document.id) if document.id is not None else None,
        "status": status,
        "version": version,
        "creator": document.creator_id,
        "created_at": format_moment(document.created_at),
        "updated_at": format_moment(document.updated_at),
    }


def make_environment(
    entity: Mapping[str, Any],
    actor_id: str,
    roles: Collection[str],
    *,
    org: Mapping[str, Any],
    now: datetime,
) -> dict[str, Any]:
    """Make the environment of an expression that follows no ref."""
    return {
        "entity": entity,
        "refs": {},
        "actor": {"user_id": actor_id, "roles": list(roles)},
        "org": org,
        "now": format_moment(now),
        "context": {},
    }


@dataclass(frozen=True, slots=True)
class MutationContext:
    """One document as it is now, under its contract, for one caller."""

    caller: Caller
    transaction: TransactionContext
    contract: CompiledContract
    row: DocumentRow | None
    data: Mapping[str, Any]  # with personal values in place of their references
    permissions: Sequence[str]
    org: Mapping[str, Any]  # in expressions
    refs: Refs
    # What the expressions of this decision read behind refs.
    followed: frozenset[FollowedField] = frozenset()
    # What the gates of the document's workflow have used of other documents. Its own steps read this, and so
    # do actions that people run.
    pins: Pins = field(default_factory=dict)
    # How a condition is asked of the persons behind a key; None where the actor is none.
    list_behind: PersonsBehind | None = None
    open_amendment: UUID | None = None  # where the decision depends on it
    decisions: DocumentDecisions | None = None  # about a document that is there

    @property
    def is_own_workflow(self) -> bool:
        """Return whether a step of the document's own workflow acts.

        Such a step is held to the contract, but not to the edit window.
        """
        instance_id = self.caller.instance_id
        return instance_id is not None and self.row is not None and instance_id == self.row.instance_id

    def env(self, data: Mapping[str, Any], *, status: str, version: int) -> dict[str, Any]:
        principal, now = self.caller.principal, self.transaction.now
        row = self.row or _NewDocument(None, principal.subject, now, now)
        entity = describe_entity(row, data, status=status, version=version)
        env = make_environment(entity, principal.subject, principal.roles, org=self.org, now=now)
        return {**env, "refs": self._read_refs(data)} if self.followed else env

    def _read_refs(self, data: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
        """Read other documents: behind a gate as they were approved, elsewhere as they are."""
        return read_as_approved(self.pins, data, self.refs.of(RefQuery(self.contract, self.followed, data)))


@dataclass(slots=True)
class NewContent:
    """The content of a document after a change; rules may still set its data."""

    data: Mapping[str, Any]
    status: str
    version: int
    is_deleted: bool = False


@dataclass(slots=True)
class AuditNote:
    """The part of an audit row that the document itself does not tell."""

    action: str
    reason: str | None = None
    # In a decision: the person on whose behalf the caller votes.
    on_behalf_of: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    # Of a document that an action made: which action of which document.
    made_by: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class EndedRequest:
    """A request for a transition that a change ends."""

    id: UUID
    status: Literal["performed", "refused", "superseded"]
    outcome: str


@dataclass(slots=True)
class RequestChange:
    """The request for a transition that a change opens, and the one that it ends."""

    opens: str | None = None
    ends: EndedRequest | None = None
    pins: Pins | None = None  # of a request that decides
    id: UUID | None = None  # of the opened request, as soon as its row is made


@dataclass(slots=True)
class InstanceStart:
    """An instance that begins with a change. `workflow` is pinned when the change is decided."""

    node: str
    birth: Literal["created", "amended", "reentered", "restarted"]
    workflow: WorkflowOfType | None = None
    # What it begins with: pins of the document that made this one.
    pins: Pins = field(default_factory=dict)
    # The person that it acts for, and the edit window, where they are not those of the change.
    actor: Actor | None = None
    window: str | None = None
    # As soon as its row is made.
    id: UUID | None = None


@dataclass(frozen=True, slots=True)
class InstanceEnd:
    """The cancellation of the document's instance; `output` goes into its last step."""

    instance_id: UUID
    reason: str
    output: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WorkflowTrigger:
    """An event for the document's instance."""

    event_type: str
    payload: Mapping[str, Any]


@dataclass(slots=True)
class DocumentChange:
    """A document before and after a mutation. Rows are made when all changes of a batch are decided."""

    document_id: UUID
    caller: Caller
    contract: CompiledContract
    before: DocumentRow | None  # none of a document that the change makes
    after: NewContent
    note: AuditNote
    request: RequestChange | None = None
    instance: InstanceStart | InstanceEnd | None = None
    trigger: WorkflowTrigger | None = None
    keeps_content: bool = False  # at a gate no rule may set anything: what was approved becomes effective
    # Asks whether people have approved what it edits.
    is_approved: Callable[[], bool] | Literal[False] = False
    amended_from: DocumentRow | None = None
    # Of an amendment: its original stays in force until it settles, and then it takes that one's place.
    original_stays: bool = False
    replaces: DocumentRow | None = None
    # The persons behind content that rules set or other documents gave: they count as editors.
    content_responsible: ResponsiblePersons = NOBODY
    is_set_by_rules: bool = False
    # Evidence of the rules that ran, and the events that they emit.
    executions: list[Mapping[str, Any]] = field(default_factory=list)
    emits: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    # The output of an action: this, or the values of these fields when all rules have run.
    output: Mapping[str, Any] | None = None
    output_fields: Sequence[str] | None = None
    # The documents that an action makes.
    creates: Sequence[Create] = ()
    # Changes of the same mutation: the document that an amendment ends, the documents that an action makes.
    # They are done or refused with this change, and written before it.
    further: list["DocumentChange"] = field(default_factory=list)

    @property
    def parts(self) -> Sequence["DocumentChange"]:
        return (*self.further, self)

    @property
    def writes_document(self) -> bool:
        return self.before is None or self.after.version != self.before.version

    @property
    def responsible(self) -> ResponsiblePersons:
        """Return the persons behind the new version: the caller's, and those of what it took over."""
        return self.caller.principal.responsible | self.content_responsible

    @property
    def wrote_before(self) -> ResponsiblePersons:
        """Return the persons who count as editors before this change."""
        if self.before is not None:
            return self.before.editor_responsible
        origin = self.amended_from
        return origin.creator_responsible | origin.editor_responsible if origin is not None else NOBODY

    @property
    def editors(self) -> Sequence[str]:
        """The editors before this change. An amendment begins with everyone who wrote its original."""
        if self.before is not None:
            return self.before.editor_ids
        if (origin := self.amended_from) is None:
            return ()
        return list(dict.fromkeys((origin.creator_id, *origin.editor_ids)))


def diff_data(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that differ, each with its value before and after."""
    names = before.keys() | after.keys() if before != after else ()
    differing = [name for name in names if before.get(name) != after.get(name)]
    return {name: {"before": before.get(name), "after": after.get(name)} for name in sorted(differing)}


def format_moment(moment: datetime) -> str:
    """Format a moment in its one form: UTC with six digits, so that texts sort by time."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def make_org(tenant_id: UUID, transaction: TransactionContext) -> dict[str, Any]:
    """Make the values that expressions read under `org`."""
    return describe_org(tenant_id, transaction.tenant_name, transaction.settings)


def describe_org(tenant_id: UUID, name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {**_read_org_values(orjson.dumps(settings)), "id": str(tenant_id), "name": name}


@lru_cache(maxsize=1_000)
def _read_org_values(settings: bytes) -> Mapping[str, Any]:
    """Read what expressions see of a tenant's settings, which seldom change."""
    return TenantSettings.model_validate(orjson.loads(settings)).make_values()


def make_version(
    context: MutationContext,
    row: DocumentRow,
    action: str,
    data: Mapping[str, Any],
    reason: str | None,
    status: str | None = None,
) -> DocumentChange:
    after = NewContent(data, status or row.status, row.version + 1)
    return DocumentChange(row.id, context.caller, context.contract, row, after, AuditNote(action, reason))


def audit_only_change(
    context: MutationContext,
    row: DocumentRow,
    action: str,
    reason: str | None,
    *,
    on_behalf_of: str | None = None,
    detail: Mapping[str, Any] | None = None,
) -> DocumentChange:
    """Make a change that is put on record without a new version of the document."""
    after = NewContent(context.data, row.status, row.version)
    note = AuditNote(action, reason, on_behalf_of, detail or {})
    return DocumentChange(row.id, context.caller, context.contract, row, after, note)


def trigger_workflow(
    change: DocumentChange, row: DocumentRow, event_type: str, payload: Mapping[str, Any]
) -> None:
    if row.instance_id is not None:
        change.trigger = WorkflowTrigger(event_type, payload)


def supersede_request(change: DocumentChange, row: DocumentRow, outcome: str) -> None:
    if row.request_id is not None:
        change.request = change.request or RequestChange()
        change.request.ends = EndedRequest(row.request_id, "superseded", outcome)


def cancel_instance(
    change: DocumentChange, row: DocumentRow, reason: str, output: Mapping[str, Any] | None = None
) -> None:
    if row.instance_id is not None:
        change.instance = InstanceEnd(row.instance_id, reason, output or {})


def window_of(context: MutationContext, row: DocumentRow) -> Window:
    live = LiveInstance(row.edit_window, row.edit_window_node) if row.instance_id is not None else None
    return find_window(context.contract.contract, row.status, live)


def authorize(context: MutationContext, permission: str, env: Mapping[str, Any]) -> Rejected | None:
    if context.caller.instance_id is not None:
        return None  # the workflow's own policy gate has decided, with evidence
    return as_rejected(context.contract.authorize(permission, context.permissions, env, context.list_behind))


def as_rejected(denial: Denial | None) -> Rejected | None:
    return None if denial is None else Rejected(denial.code, denial.sentence)


def reject_fields(mistakes: tuple[FieldError, ...], within: Within = "document") -> Rejected:
    fields = tuple(replace(mistake, within=within) for mistake in mistakes)
    return Rejected("FIELDS_INVALID", f"{len(mistakes)} field(s) are not as the contract says", fields=fields)


def refuse_created(index: int, entity_type: str, rejected: Rejected) -> Rejected:
    """Refuse an action because a document that it makes is refused."""
    fields = tuple(
        replace(mistake, pointer=f"/created/{index}{mistake.pointer}", within="document")
        for mistake in rejected.fields
    )
    sentence = f"the new {entity_type}: {rejected.message}"
    return Rejected(rejected.code, sentence, remedy=rejected.remedy, fields=fields, details=rejected.details)


def reject_locked(window: Window) -> Rejected:
    return Rejected(
        "WORKFLOW_EDIT_LOCKED",
        f"the document is {window.window.value} here: {window.held_by} holds it",
        remedy=UNLOCK,
        details={"window": window.window.value, "held_by": window.held_by},
    )


def to_applied(change: DocumentChange) -> Applied:
    """Make the outcome of a change that is applied."""
    output = change.output
    if change.output_fields is not None:
        output = {name: change.after.data.get(name) for name in change.output_fields}
    started = change.instance.id if isinstance(change.instance, InstanceStart) else None
    return Applied(
        document_id=change.document_id,
        version=change.after.version,
        status=change.after.status,
        original_id=change.amended_from.id if change.amended_from else None,
        request_id=change.request.id if change.request else None,
        instance_id=started or (change.before.instance_id if change.before else None),
        output=output,
    )
