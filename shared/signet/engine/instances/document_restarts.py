"""Restarts: a document without a live instance gets a new one, by the report of a move.

The new instance acts for the person that the last one acted for. Who restarts it has no part in what it does:
the audit trail of the document names them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from signet.core.contracts.contract import AMENDED
from signet.core.errors import Rejected
from signet.core.repair.move_check import Definition, Report
from signet.core.repair.restart_check import (
    EndedPlace,
    RestartInput,
    assess_restart,
    check_left,
    choose_beginning,
    foresee_end,
    has_nothing_left,
    list_before_decision,
    list_repeated,
    list_undone,
    refuse_ended,
    refuse_repeated,
)
from signet.core.runtime.done_before import DONE_BEFORE
from signet.core.runtime.go_to_targets import check_approval_ahead
from signet.core.runtime.operator_actions import Sequel, check_end
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.documents.change import InstanceStart, audit_only_change
from signet.engine.documents.decide import version_conflict
from signet.engine.documents.read import document_not_found
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import read_decided_way
from signet.engine.execution.nodes.done_once import find_acted_ahead
from signet.engine.execution.nodes.unpinned_reads import find_pointed_ahead
from signet.engine.instances.act_checks import raise_if, require_reason
from signet.engine.instances.hand_answers import refuse_part_behind_gate
from signet.engine.instances.loaded_definitions import DefinitionLoader, LoadedDefinition, list_unpinned
from signet.engine.instances.moves import MoveTarget
from signet.engine.instances.operator_transaction import OperatorTransaction, permission_of
from signet.store.database import Database
from signet.store.documents.write import DocumentRow, WorkflowOfType, find_workflow
from signet.store.instances.moves import find_last_instance, find_left_instance, list_begun_over_left

RESTART = permission_of("restart")


@dataclass(frozen=True, slots=True)
class HeldAhead:
    """A node ahead, and the code and reason by which its token would be held there."""

    node: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class RestartOutcome:
    """The outcome for a document; `version` is the document's, and stays as it is."""

    document_id: UUID
    outcome: Literal["restarted", "safe", "blocked"]
    version: int
    node: str
    definition: Definition
    # Nodes that have acted since there, and act again.
    repeats: Sequence[str]
    report: Report
    instance_id: UUID | None = None
    # Where a dry run foresees that the new instance would be held on its way.
    held_ahead: Sequence[HeldAhead] = ()


class Restarts:
    """The use case with the caches of a process."""

    def __init__(self, database: Database, caches: DocumentCaches, compiled: CompiledCache) -> None:
        self._database = database
        self._caches = caches
        self._compiled = compiled

    def report(self, caller: Caller, document_id: UUID, target: MoveTarget | None = None) -> RestartOutcome:
        """Report where a document would begin again; nothing is written, and no quota is used."""
        with self._locked(caller, document_id) as (transaction, instance_id):
            transaction.permit(RESTART)
            plan = self._plan(caller, transaction, document_id, instance_id, target)
            outcome = plan.describe("safe" if plan.report.is_safe else "blocked")
            return replace(outcome, held_ahead=plan.list_held_ahead())

    def restart(
        self,
        caller: Caller,
        document_id: UUID,
        expected_version: int,
        reason: str,
        target: MoveTarget | None = None,
    ) -> RestartOutcome:
        """Begin a new instance where the last one stood, or report why it cannot begin there."""
        with self._locked(caller, document_id) as (transaction, instance_id):
            transaction.require(RESTART)
            plan = self._plan(caller, transaction, document_id, instance_id, target)
            if plan.document.version != expected_version:
                raise version_conflict(plan.document, expected_version)
            require_reason(reason)
            if not plan.report.is_safe:
                return plan.describe("blocked")
            begun = plan.perform(caller, reason)
            transaction.write()
            return plan.describe("restarted", begun)

    @contextmanager
    def _locked(self, caller: Caller, document_id: UUID) -> Iterator[tuple[OperatorTransaction, UUID | None]]:
        tenant_id = caller.principal.tenant_id
        with self._database.pipelined(tenant_id, find_last_instance(tenant_id, document_id)) as pipeline:
            row = pipeline.first_row
            entities = {row[0]: row[1]} if row is not None else {}
            transaction = OperatorTransaction(
                pipeline.connection, caller, self._caches, self._compiled, entities
            )
            yield transaction, row[0] if row is not None else None

    def _plan(
        self,
        caller: Caller,
        transaction: OperatorTransaction,
        document_id: UUID,
        instance_id: UUID | None,
        target: MoveTarget | None,
    ) -> "RestartPlan":
        if instance_id is None:
            raise document_not_found(document_id)
        instance_id = find_left_instance(transaction.connection, caller.principal.tenant_id, instance_id)
        context, _ = transaction.peek(instance_id)
        _require_without_workflow(context.document, document_id)
        decided = context.execution.is_decided
        place = transaction.read_last_place(context, is_decided=decided)
        refuse_part_behind_gate(transaction, context, caller, place.tokens)
        return plan_restart(transaction, self._caches, context, place, target)


@dataclass(frozen=True, slots=True)
class RestartPlan:
    """A restart that was judged: where the document begins, under which definition, and what repeats."""

    context: InstanceContext
    document: DocumentRow
    new: LoadedDefinition
    node: str
    repeats: Sequence[str]
    report: Report

    def list_held_ahead(self) -> list[HeldAhead]:
        """List the nodes ahead that would be held by what the last instances have done, or not seen."""
        workflow = self.new.definition.workflow
        if self.node not in workflow.nodes:
            return []
        return list(_list_held_ahead(self.context, workflow, self.node))

    def perform(self, caller: Caller, reason: str) -> UUID | None:
        """Begin the new instance; the document goes along to the contract of its definition."""
        documents, contract = self.context.documents, self.new.definition.contract
        if contract is not None:
            documents.adopt_contract(caller, documents.row(self.document.id), contract, reason)
        row = documents.row(self.document.id)
        context = documents.make_context(caller, documents.contract_of(row), row)
        changes = {"changes_approvals": True} if self.report.changes_approvals else {}
        detail = {
            **changes,
            "node": self.node,
            "definition": self.new.definition.to_json(),
            "ended_instance": str(self.context.row.id),
        }
        change = audit_only_change(context, row, "restart", reason, detail=detail)
        stored, workflow = self.new.row, self.new.definition.workflow
        change.instance = InstanceStart(
            self.node,
            "restarted",
            WorkflowOfType(stored.id, stored.version, row.contract_version, stored.definition_kind),
            actor=self.context.execution.projection.actor,
            window=workflow.nodes[self.node].window,
        )
        return documents.apply(change).instance_id

    def describe(
        self, outcome: Literal["restarted", "safe", "blocked"], instance_id: UUID | None = None
    ) -> RestartOutcome:
        return RestartOutcome(
            self.document.id,
            outcome,
            self.document.version,
            self.node,
            self.new.definition,
            self.repeats,
            self.report,
            instance_id,
        )


def plan_restart(
    transaction: OperatorTransaction,
    caches: DocumentCaches,
    context: InstanceContext,
    place: EndedPlace,
    target: MoveTarget | None = None,
) -> RestartPlan:
    """Judge a restart behind an instance that has ended, or that the same transaction ends."""
    document = context.document
    assert document is not None
    loader = transaction.definitions(caches)
    old = loader.read(context.row.definition_id)
    new = _choose_definition(loader, old, document, target)
    left, is_amendment = old.definition.workflow, document.amended_from_id is not None
    node = choose_beginning(left, place, document.status, is_amendment=is_amendment)
    if has_nothing_left(new.definition.workflow, node):
        raise refuse_ended(document.status)
    is_in_force = target is None or new.row.id == old.row.id
    unpinned = list_unpinned(old, new, document.status, is_decided=place.is_decided)
    facts = RestartInput(
        document.version, document.status, transaction.wants_two_people, is_in_force, unpinned
    )
    report = assess_restart(old.definition, new.definition, node, facts)
    repeats = list_repeated(left, place.acted, node)
    raise_if(refuse_repeated(left, place, document.status, node))
    return RestartPlan(context, document, new, node, repeats, report)


def _list_held_ahead(context: InstanceContext, workflow: Workflow, begin: str) -> Iterator[HeldAhead]:
    """List where an instance that begins at a node would be held; `context` is of the last one."""
    way = read_decided_way(context)
    for node in (workflow.nodes[name] for name in sorted(list_before_decision(workflow, begin))):
        unpinned = find_pointed_ahead(context, workflow, node)
        if unpinned is not None:
            code, _, reason = unpinned.partition(": ")
            yield HeldAhead(node.id, code, reason)
            continue
        done = find_acted_ahead(context, workflow, node, way)
        if done is not None:
            answer = "takes that answer" if done.has_answer and not done.is_finished else "is not repeated"
            reason = f"{node.id} has acted since people decided; it {answer}, and is held for anything else"
            yield HeldAhead(node.id, DONE_BEFORE, reason)


def check_ending(
    transaction: OperatorTransaction, context: InstanceContext, caller: Caller, then: Sequel | None
) -> EndedPlace:
    """Refuse to end an instance whose document would be left without a way on; note what follows for it."""
    execution, document = context.execution, context.document
    workflow, status = execution.workflow, document.status if document is not None else None
    raise_if(check_approval_ahead(execution))
    raise_if(check_end(workflow, status, then))
    refuse_part_behind_gate(transaction, context, caller)
    place = transaction.read_last_place(context, is_decided=execution.is_decided)
    is_amendment = document is not None and document.amended_from_id is not None
    if then != "restart" and status is not None:
        raise_if(check_left(workflow, place, status, is_amendment=is_amendment))
    transaction.report.undone = list_undone(workflow, place)
    if context.is_automation:
        _refuse_restart_of_automation(then)
        return place  # the document has a workflow of its own, which goes on
    follows = foresee_end(workflow, place, status, then, is_amendment=is_amendment)
    if then != "restart" and list_begun_over_left(
        transaction.connection, context.tenant_id, [context.row.id]
    ):
        follows = "incident"
    transaction.report.follows = follows
    return place


def _refuse_restart_of_automation(then: Sequel | None) -> None:
    if then == "restart":
        sentence = "an automation begins again only where it fires again"
        raise Rejected("RESTART_NOT_POSSIBLE", sentence, remedy="Leave `then` out.")


def refuse_blocked(plan: RestartPlan) -> None:
    """Refuse what the report blocks, where the restart is a part of another act."""
    found = [*plan.report.obstacles, *(o for one in plan.report.assessments for o in one.obstacles)]
    if found:
        remedy = "Name `leave`, then restart the document under another definition."
        raise Rejected("RESTART_NOT_POSSIBLE", f"{found[0].code}: {found[0].sentence}", remedy=remedy)


def _choose_definition(
    loader: DefinitionLoader, old: LoadedDefinition, document: DocumentRow, target: MoveTarget | None
) -> LoadedDefinition:
    """Choose the definition that is named, or its own while that is published, else the newest."""
    if target is not None:
        return loader.find(old.row, target.name, target.version)
    if old.row.status == "published":
        return old
    newest = find_workflow(
        loader.connection, loader.tenant_id, document.entity_type, document.contract_version
    )
    if newest is None:
        sentence = f"no workflow of '{document.entity_type}' is published for version"
        remedy = "Publish one, or name a published version of a newer contract."
        raise Rejected("DEFINITION_NOT_FOUND", f"{sentence} {document.contract_version}", remedy=remedy)
    return loader.read(newest.id)


def _require_without_workflow(document: DocumentRow | None, document_id: UUID) -> None:
    if document is None or document.deleted_at is not None:
        raise document_not_found(document_id)
    if document.instance_id is not None:
        raise Rejected(
            "RESTART_NOT_POSSIBLE",
            f"the document has a workflow already: the instance {document.instance_id}",
            remedy="Retry that, send it back, or cancel it.",
        )
    if document.status == AMENDED:
        sentence = "the document was amended: its amendment goes on in its place"
        raise Rejected("RESTART_NOT_POSSIBLE", sentence, remedy="Act on the amendment.")
