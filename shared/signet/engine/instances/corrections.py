"""Corrections: an operator changes what a document says while an incident is open on it.

No edit window holds them, but what people approved stays as it is: that is amended.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.repair.correction_check import check_correction
from signet.core.repair.restart_check import list_repeated
from signet.core.runtime.document_changes import take_correction
from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.documents.change import DocumentChange
from signet.engine.documents.commands import Correct
from signet.engine.documents.decide import version_conflict
from signet.engine.documents.read import document_not_found
from signet.engine.documents.rules import keep_rejections
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import read_document_state
from signet.engine.execution.nodes.done_once import list_repeated_items
from signet.engine.instances.act_checks import (
    raise_if,
    require_current,
    require_reason,
    require_repairable,
)
from signet.engine.instances.operator_transaction import OperatorTransaction, undoing
from signet.store.approvals.given_decisions import list_given_decisions
from signet.store.database import Database
from signet.store.documents.write import DocumentRow
from signet.store.instances.moves import find_last_instance

_NOTHING_HELD = (
    "Edit or amend it where its status allows that. Where it waits for another system, ask for a transition"
    " that ends it, or wait for the answer."
)


@dataclass(frozen=True, slots=True)
class Correction:
    """A corrected document, and its instance as it goes on; null where it has none."""

    document_id: UUID
    version: int
    status: str
    instance_id: UUID | None
    nodes: list[str]
    # Nodes that have acted since the place where it begins again, and act again.
    repeats: Sequence[str]
    # Nodes whose call or message the correction withdraws, and that may have left already.
    may_have_left: Sequence[str]


class Corrections:
    """The use case with the caches of a process."""

    def __init__(self, database: Database, caches: DocumentCaches, compiled: CompiledCache) -> None:
        self._database = database
        self._caches = caches
        self._compiled = compiled

    def correct(
        self,
        caller: Caller,
        document_id: UUID,
        expected_version: int,
        patch: Mapping[str, Any],
        reason: str,
        *,
        dry_run: bool = False,
    ) -> Correction:
        """Correct the document, and try again what is held; who does it counts as its editor.

        People who are asked in front of a gate are asked about what it says now.
        """
        operation = Correct(document_id, patch, reason)
        rejected: list[DocumentChange] = []
        try:
            return self._correct(caller, expected_version, operation, rejected, dry_run=dry_run)
        except Rejected:
            if not dry_run:
                keep_rejections(self._database, caller.principal.tenant_id, rejected)
            raise

    def _correct(
        self,
        caller: Caller,
        expected_version: int,
        operation: Correct,
        rejected: list[DocumentChange],
        *,
        dry_run: bool,
    ) -> Correction:
        document_id, reason = operation.id, operation.reason or ""
        opening = find_last_instance(caller.principal.tenant_id, document_id)
        with undoing(), self._database.pipelined(caller.principal.tenant_id, opening) as pipeline:
            row = pipeline.first_row
            entities = {row[0]: row[1]} if row is not None else {}
            transaction = OperatorTransaction(
                pipeline.connection, caller, self._caches, self._compiled, entities
            )
            transaction.begin_act("correct", dry_run=dry_run)
            if row is None:
                raise document_not_found(document_id)
            require_reason(reason)
            context = transaction.open(row[0])
            document = _require_correctable(transaction, context, document_id)
            if document.version != expected_version:
                raise version_conflict(document, expected_version)
            applied = transaction.correct(operation, rejected)
            if context.execution.is_live:
                _apply_correction(transaction, context, reason)
            position = context.execution.projection.position
            live = context.row.id if context.execution.is_live else None
            nodes, report = position.current_nodes(), transaction.report
            transaction.write_act(dry_run=dry_run)
            if caller.claimed is not None:
                # A command line has the part of the person that it claims to be.
                transaction.add_editors(document_id, frozenset((caller.claimed,)))
        version, status = applied.version, applied.status
        return Correction(document_id, version, status, live, nodes, report.repeats, report.may_have_left)


def _apply_correction(transaction: OperatorTransaction, context: InstanceContext, reason: str) -> None:
    state = read_document_state(context)
    assert state is not None
    again = take_correction(context.execution, state, reason, transaction.actor)
    if again is not None:
        acted = transaction.read_acted(context)
        transaction.report.repeats = list_repeated(context.execution.workflow, acted, again)
    context.adopt_changes()
    if again is None:
        transaction.report.repeats = list_repeated_items(context)
    transaction.wake(context)
    transaction.note(context.row.id, "correct", reason, {"version": state.version})


def _require_correctable(
    transaction: OperatorTransaction, context: InstanceContext, document_id: UUID
) -> DocumentRow:
    document = context.document
    if document is None or document.deleted_at is not None:
        raise document_not_found(document_id)
    if not transaction.has_open_incident(document_id):
        sentence = "no incident is open on the document"
        raise Rejected("CORRECTION_NOT_POSSIBLE", sentence, remedy=_NOTHING_HELD)
    given = list_given_decisions(transaction.connection, context.tenant_id, [document_id])
    is_amendment = document.amended_from_id is not None
    workflow, decisions = context.execution.workflow, given.get(document_id, ())
    deciding = context.documents.contract_of(document).contract.separation_of_duties.deciding
    raise_if(
        check_correction(workflow, document.status, decisions, is_amendment=is_amendment, deciding=deciding)
    )
    if context.execution.is_live:
        require_repairable(context)
        require_current(context)
    return document
