"""Transactions of operators: instances locked after their documents.

Steps, rows, history and audit are written once, at the end.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from signet.core.audit.trail import AuditEntry, make_entry
from signet.core.errors import Defect, Rejected
from signet.core.repair.restart_check import EndedPlace
from signet.core.runtime.decisions import DecisionInput
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Actor
from signet.core.tenants.caller import Caller
from signet.core.tenants.permissions import grants
from signet.core.tenants.responsible import ResponsiblePersons
from signet.engine.access.quotas import require_quota
from signet.engine.approvals.requests import ApprovalRequests
from signet.engine.audit.trail import append_administration
from signet.engine.cache import CompiledCache
from signet.engine.documents.change import DocumentChange
from signet.engine.documents.commands import Applied, ConcludeTransition, Correct
from signet.engine.documents.persons.authorship import add_editors
from signet.engine.documents.unit_of_work import DocumentCaches, DocumentUnitOfWork
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import read_decided_way
from signet.engine.execution.nodes.opened_instance import make_execution
from signet.engine.execution.nodes.running_accounts import RunningAccounts
from signet.engine.execution.rebuild import instance_not_found, read_last_place, rebuild_locked
from signet.engine.execution.rows import (
    make_change_row,
    make_continuation,
    make_history_row,
    make_instance_row,
    make_step_row,
    refuse_after_end,
    settle_waits,
)
from signet.engine.incidents.changes import write_hold_changes
from signet.engine.instances.act_reports import ENTRIES, ActNote, ActReport
from signet.engine.instances.loaded_definitions import DefinitionLoader
from signet.ids import make_id
from signet.store.approvals.given_decisions import MAX_LINE, list_approvers
from signet.store.automations.starts import NO_CAUSE, read_cause
from signet.store.control.changes import read_four_eyes
from signet.store.database import Connection, Database
from signet.store.documents.write import lock_documents
from signet.store.incidents.incidents import has_open_incident
from signet.store.instances.earlier_steps import list_acted
from signet.store.instances.moves import lock_unsent
from signet.store.instances.waves import write_steps
from signet.store.instances.write import (
    Pause,
    end_steps,
    find_dead_of_instance,
    find_entity,
    has_answered,
    insert_history,
    lock_instances,
    read_instance,
    read_last_seq,
    read_pause,
    write_projection,
)
from signet.store.outbox.queue import EVENTS, requeue_dead

# The subject types of the audit rows.
INSTANCE = "instance"
DEAD_LETTER = "dead_letter"


def permission_of(act: str) -> str:
    """Return the permission for an act; `workflow:*` grants all of them."""
    return f"workflow:{act}"


class OperatorTransaction:
    """One transaction of an operator.

    `entities` are the documents by instance; the constructor locks them all.
    """

    def __init__(
        self,
        connection: Connection,
        caller: Caller,
        caches: DocumentCaches,
        compiled: CompiledCache,
        entities: Mapping[UUID, UUID | None],
    ) -> None:
        tenant_id = caller.principal.tenant_id
        documents = sorted({entity_id for entity_id in entities.values() if entity_id is not None})
        locked = lock_documents(connection, documents, caller.principal.roles)
        lock_instances(connection, tenant_id, sorted(entities))
        self._connection = connection
        self._caller = caller
        self._tenant_id = tenant_id
        self._compiled = compiled
        self._transaction = transaction = locked.transaction
        self._documents = DocumentUnitOfWork(caches, connection, tenant_id, transaction, locked.rows)
        self._approvals = ApprovalRequests(connection, tenant_id, transaction.now)
        self._accounts = RunningAccounts(connection, tenant_id, self._documents)
        self._contexts: dict[UUID, InstanceContext] = {}
        self._notes: list[ActNote] = []
        self.report = ActReport()  # what the act says beside the instance
        self._orphans: list[tuple[UUID, str, str | None]] = []

    def permit(self, permission: str) -> None:
        """Require a permission before anything is said of the instance."""
        principal = self._caller.principal
        held = (*self._transaction.permissions_of(principal.roles), *principal.own_permissions)
        if not grants(held, permission):
            raise Rejected("PERMISSION_DENIED", f"needs the permission '{permission}'")

    def require(self, permission: str) -> None:
        """Require a permission and take from its quota, once for each act."""
        self.permit(permission)
        # Last, so that its row is locked for a moment only; a later refusal rolls it back.
        require_quota(self._connection, self._tenant_id, permission)

    def begin_act(self, act: str, *, dry_run: bool = False) -> None:
        """Require the permission for an act; a dry run takes nothing from its quota."""
        if dry_run:
            self.permit(permission_of(act))
        else:
            self.require(permission_of(act))

    def write_act(self, *, dry_run: bool = False) -> None:
        """Write everything, or undo all of a dry run; its caller leaves the transaction within `undoing`."""
        for context in self._contexts.values():
            self.report.note_left(self._connection, context)
        if dry_run:
            raise _DryRun
        self.write()

    def open(self, instance_id: UUID) -> InstanceContext:
        """Open an instance as its row says; a row that differs from the steps is rebuilt first."""
        context, agrees_with_steps = self.peek(instance_id)
        if not agrees_with_steps:
            self.rebuild(instance_id)
            context = self._read(instance_id)
        self._contexts[instance_id] = context
        return context

    def peek(self, instance_id: UUID) -> tuple[InstanceContext, bool]:
        """Read an instance as its row says, and whether its steps agree; nothing is changed."""
        context = self._read(instance_id)
        last_seq = read_last_seq(self._connection, self._tenant_id, instance_id)
        return context, last_seq == context.row.version and context.execution.agrees_with_steps

    def _read(self, instance_id: UUID) -> InstanceContext:
        connection, tenant_id = self._connection, self._tenant_id
        stored = read_instance(connection, tenant_id, instance_id)
        if stored is None:
            raise instance_not_found(instance_id)
        row, steps = stored
        workflow = self._compiled.read(connection, tenant_id, row.definition_id, row.definition_version)
        row = replace(row, trace_id=self._caller.trace_id or row.trace_id)
        execution = make_execution(workflow, row, steps)
        if workflow.has_approvals:
            self._approvals.load([instance_id])
        is_automation = row.kind == "automation"
        cause = read_cause(connection, tenant_id, instance_id) if is_automation else NO_CAUSE
        context = InstanceContext(
            tenant_id, row, steps, execution, self._documents, {}, self._approvals, self._accounts, [], cause
        )
        execution.is_decided = read_decided_way(context).is_decided
        return context

    def rebuild(self, instance_id: UUID) -> bool:
        return rebuild_locked(self._connection, self._compiled, self._tenant_id, instance_id)

    def read_pause(self, instance_id: UUID) -> Pause | None:
        return read_pause(self._connection, self._tenant_id, instance_id)

    def requeue_dead(self, instance_id: UUID, at_most: int) -> list[UUID]:
        """Requeue the dead triggers of the instance as if they had never been tried."""
        dead = find_dead_of_instance(self._connection, self._tenant_id, instance_id, limit=at_most)
        return sorted(requeue_dead(self._connection, EVENTS, self._tenant_id, dead))

    def definitions(self, caches: DocumentCaches) -> DefinitionLoader:
        return DefinitionLoader(self._connection, self._tenant_id, caches, self._compiled)

    def read_last_place(self, context: InstanceContext, *, is_decided: bool) -> EndedPlace:
        """Read where the tokens of an ended instance stood, and what it had done."""
        tokens = read_last_place(self._connection, self._compiled, self._tenant_id, context.row.id)
        return EndedPlace(tokens, self.read_acted(context), is_decided)

    def read_acted(self, context: InstanceContext) -> Mapping[str, bool]:
        """Read which nodes have acted where the document is; nothing more leaves meanwhile."""
        self.lock_effects(context.row.id)
        since = {context.row.id: read_decided_way(context).decided_since}
        return list_acted(self._connection, self._tenant_id, since).get(context.row.id, {})

    def correct(self, operation: Correct, rejected: list[DocumentChange]) -> Applied:
        """Make a new version of the document, held to its contract and rules; raise a refusal.

        `rejected` takes what a rule has stopped: it is kept when this transaction is rolled back.
        """
        outcome = self._documents.execute(self._caller, operation)
        if not isinstance(outcome, Applied):
            rejected.extend(self._documents.rejected)
            raise outcome
        return outcome

    def conclude(self, instance_id: UUID, operation: ConcludeTransition) -> Applied:
        """End a transition of the instance's document in the name of the operator; raise a refusal."""
        outcome = self._documents.execute(replace(self._caller, instance_id=instance_id), operation)
        if not isinstance(outcome, Applied):
            raise outcome
        return outcome

    def has_open_incident(self, document_id: UUID) -> bool:
        return has_open_incident(self._connection, self._tenant_id, document_id)

    @property
    def connection(self) -> Connection:
        return self._connection

    @property
    def wants_two_people(self) -> bool:
        return read_four_eyes(self._connection, self._tenant_id)

    @property
    def actor(self) -> Actor:
        principal = self._caller.principal
        return Actor(principal.subject, tuple(principal.roles), principal.behind)

    def control(self, context: InstanceContext, name: str, reason: str | None = None) -> None:
        data = {"reason": reason} if reason is not None else {}
        context.execution.control(name, data, actor=self.actor)

    def end(self, context: InstanceContext, name: str, reason: str) -> None:
        """End the instance; an incident opens on its document where nothing else leads on."""
        if self.report.follows == "incident":
            context.execution.leave_document(name, {"reason": reason}, self.actor)
        else:
            self.control(context, name, reason)

    def retry(self, context: InstanceContext, reason: str) -> None:
        """Let everything that is held go on, and end a pause of the engine."""
        held = context.execution.projection.position.held()
        context.execution.resume("retried", held, reason, self.actor)

    def decision_input(self, context: InstanceContext, token: Token) -> DecisionInput:
        """Make the input of a decision, with the documents that its expressions follow a ref to."""
        self._documents.refs.load(list(context.list_ref_queries()))
        return context.decision_input(token)

    def add_editors(self, document_id: UUID, persons: ResponsiblePersons) -> None:
        """Count these persons as editors of a document from now on."""
        add_editors(self._connection, self._tenant_id, document_id, persons)

    def has_answered(self, context: InstanceContext, document_id: UUID, person: str) -> bool:
        """Return whether the person has answered by hand, and has written nothing of the document since."""
        return has_answered(self._connection, self._tenant_id, context.row.id, document_id, person)

    def list_approvers(self, document_id: UUID) -> frozenset[str]:
        """List who has approved the document, or one that it comes from, and the persons they voted for."""
        approvers = list_approvers(self._connection, self._tenant_id, document_id)
        if approvers is None:
            raise Rejected(
                "ORIGINS_TOO_MANY",
                f"document {document_id} comes from more than {MAX_LINE} others, one after the other",
                remedy="Nobody can say who has approved it: cancel its instance, and enter a new document.",
            )
        return approvers

    def lock_effects(self, instance_id: UUID) -> None:
        """Lock what waits to be sent, so that nothing more leaves before the act has ended."""
        lock_unsent(self._connection, self._tenant_id, instance_id)

    def wake(self, context: InstanceContext) -> None:
        self._documents.batch.events.append(make_continuation(context))

    def note(
        self, instance_id: UUID, act: str, reason: str | None = None, detail: Mapping[str, Any] | None = None
    ) -> None:
        self._notes.append(ActNote(instance_id, act, reason, detail or {}))

    def note_orphans(self, act: str, reason: str | None, row_ids: Sequence[UUID]) -> None:
        """Note an act on dead letters that belong to no instance; each has an audit row of its own."""
        self._orphans += [(row_id, act, reason) for row_id in row_ids]

    def write(self) -> None:
        for context in self._contexts.values():
            if context.execution.changed:
                self._write_steps(context)
                refuse_after_end(context)
                settle_waits(context)
                self._write_row(context)
        self._write_incidents()
        history = [row for note in self._notes for row in self._make_history(note)]
        if history:
            insert_history(self._connection, self._tenant_id, history)
        for note in self._notes:
            note.tell(self._contexts[note.instance_id], self._caller)
        self._approvals.write()
        self._documents.write()
        append_administration(self._connection, self._tenant_id, list(self._make_audit()))

    def _write_steps(self, context: InstanceContext) -> None:
        now = self._transaction.now
        new = [make_step_row(context, step) for step in context.execution.take_new()]
        if write_steps(self._connection, new, now) < len(new):
            raise Defect(
                "STEP_DONE_BEFORE", f"the instance {context.row.id} has more steps than its row knows"
            )
        changed = [make_change_row(context, step) for step in context.execution.changed.values()]
        end_steps(self._connection, self._tenant_id, changed, now)

    def _write_incidents(self) -> None:
        held = [(c.row, c.execution) for c in self._contexts.values() if c.execution.hold_changes]
        if held:
            written = write_hold_changes(held, self._tenant_id, self._transaction.now)
            self._connection.execute(written.text, written.values)

    def _write_row(self, context: InstanceContext) -> None:
        has_ended = context.execution.projection.status not in ("running", "paused")
        row = {
            **make_instance_row(context),
            "completed_at": self._transaction.now if has_ended else None,
            "definition_id": context.row.definition_id,
            "definition_version": context.row.definition_version,
        }
        write_projection(self._connection, self._tenant_id, context.row.id, row)

    def _make_history(self, note: ActNote) -> Iterable[dict[str, Any]]:
        context = self._contexts[note.instance_id]
        if context.row.version == 0 and context.execution.projection.version > 0:
            yield make_history_row(context, "started", context.execution.projection.actor, {})
        data = {**({"reason": note.reason} if note.reason else {}), **note.detail}
        yield make_history_row(context, ENTRIES[note.act], self.actor, data)

    def _make_audit(self) -> Iterable[AuditEntry]:
        for note in self._notes:
            context = self._contexts[note.instance_id]
            yield make_entry(
                make_id(),
                self._caller,
                self._tenant_id,
                self._transaction.now,
                (INSTANCE, str(note.instance_id)),
                note.act,
                note.detail,
                reason=note.reason,
                instance_id=note.instance_id,
                step_id=context.last_step[1],
                trace_id=context.trace_id,
            )
        for row_id, act, reason in self._orphans:
            subject = (DEAD_LETTER, str(row_id))
            now = self._transaction.now
            yield make_entry(make_id(), self._caller, self._tenant_id, now, subject, act, {}, reason=reason)


@contextmanager
def operating(
    database: Database,
    caches: DocumentCaches,
    compiled: CompiledCache,
    caller: Caller,
    instance_id: UUID,
    act: str,
    *,
    dry_run: bool = False,
) -> Iterator[OperatorTransaction]:
    """Lock one instance after its document, for one act of an operator who has its permission.

    A dry run does all of it but the writing, and uses nothing of the quota.
    """
    tenant_id = caller.principal.tenant_id
    with undoing(), database.pipelined(tenant_id, find_entity(tenant_id, instance_id)) as pipeline:
        row = pipeline.first_row
        entities = {instance_id: row[0]} if row is not None else {}
        transaction = OperatorTransaction(pipeline.connection, caller, caches, compiled, entities)
        # Before anything is said of the instance: a caller without the permission learns nothing of it.
        transaction.begin_act(act, dry_run=dry_run)
        yield transaction
        transaction.write_act(dry_run=dry_run)


class _DryRun(Exception):
    """The end of a dry run: only leaving its block rolls it back."""


@contextmanager
def undoing() -> Iterator[None]:
    """Go on behind a dry run, whose transaction is rolled back."""
    try:
        yield
    except _DryRun:
        pass
