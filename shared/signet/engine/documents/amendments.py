"""Amendments: the new document, what becomes of its original, and what is refused while one is open.

Amendments are read only where a decision depends on them. An original is locked only when one settles.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import AMENDED
from signet.core.documents.amendments import (
    OriginalState,
    find_movement,
    keeps_original,
    settles,
)
from signet.core.documents.edit_window import EditEffect, decide_edit
from signet.core.documents.personal_data import MASK
from signet.core.documents.request_check import refuse_amended, suspends
from signet.core.errors import Rejected
from signet.engine.documents.actions import MakeId
from signet.engine.documents.business_keys import find_lost_key, list_business_keys
from signet.engine.documents.change import (
    AuditNote,
    DocumentChange,
    InstanceStart,
    MutationContext,
    NewContent,
    audit_only_change,
    cancel_instance,
    diff_data,
    make_version,
    supersede_request,
    window_of,
)
from signet.engine.documents.commands import (
    Amend,
    ConcludeTransition,
    OfEdit,
    RequestTransition,
    Update,
)
from signet.store.database import Connection
from signet.store.documents.amendments import (
    AmendmentRow,
    StandingRow,
    find_amendment,
    find_standing,
    hold_original,
    list_foreign_keys,
    list_open_amendments,
)
from signet.store.documents.write import DocumentRow, lock_documents

START = "sys:start"


def make_amendment(
    context: MutationContext, row: DocumentRow, data: Mapping[str, Any], reason: str | None, make_id: MakeId
) -> DocumentChange | Rejected:
    """Make a new document with the edited content.

    A settled original stays in force until the new one settles. One that is not settled yet ends at once,
    with its workflow and its request.
    """
    contract, document_id = context.contract.contract, make_id()
    stays = keeps_original(contract, row.status)
    if stays and _is_suspended(context) and row.instance_id is not None:
        return _refuse_under_way(row)
    detail = describe_amendment(context, document_id, data)
    if stays:
        original = audit_only_change(context, row, "amendment_opened", reason, detail=detail)
    else:
        original = end_original(context, row, detail, reason)
    return DocumentChange(
        document_id=document_id,
        caller=context.caller,
        contract=context.contract,
        before=None,
        after=NewContent(data, contract.initial_state, 1),
        note=AuditNote("amend", reason),
        instance=InstanceStart(START, "amended"),
        amended_from=row,
        original_stays=stays,
        further=[original],
    )


def end_original(
    context: MutationContext, row: DocumentRow, detail: Mapping[str, Any], reason: str | None
) -> DocumentChange:
    """End a document that an amendment takes the place of, with its workflow and its request."""
    original = make_version(context, row, "amended", context.data, reason, status=AMENDED)
    # The audit trail has the difference too, since an original without an instance has no step for it.
    original.note.detail = detail
    cancel_instance(original, row, AMENDED, detail)
    supersede_request(original, row, "amended")
    return original


def describe_amendment(
    context: MutationContext, document_id: UUID, data: Mapping[str, Any]
) -> dict[str, Any]:
    """Describe what an amendment changes of the document of this context, without personal values."""
    diff = diff_data(context.data, data)
    hidden = {name: MASK for name in context.contract.personal_fields if name in diff}
    return {"amended_by": str(document_id), "diff": {**diff, **hidden}}


def refuse_while_open(operation: OfEdit, context: MutationContext, row: DocumentRow) -> Rejected | None:
    """Refuse a second amendment beside the open one, and more where the contract suspends the original."""
    is_second = isinstance(operation, Amend) or (
        isinstance(operation, Update) and decide_edit(window_of(context, row)) is EditEffect.AMEND
    )
    asked = operation.transition if isinstance(operation, RequestTransition) else None
    if not is_second and not suspends(context.contract.contract, row.status, asked):
        return None
    assert context.open_amendment is not None
    why = "which is one at a time" if is_second else "and suspended until that settles"
    return refuse_amended(context.open_amendment, why)


def foresee_movement(
    connection: Connection,
    tenant_id: UUID,
    document_id: UUID,
    contract_of: Callable[[StandingRow], CompiledContract | None],
) -> Rejected | None:
    """Return why the gate of an amendment would not pass now: its original is gone, or has moved on.

    Nothing is locked, and the gate decides again.
    """
    row = find_standing(connection, tenant_id, document_id)
    contract = contract_of(row) if row is not None else None
    if row is None or contract is None:
        return None
    made_of = OriginalState(row.original_version, row.original_status)
    now = OriginalState(row.version, row.status, row.is_deleted, row.has_other)
    return find_movement(contract.contract, made_of, now)


def is_edit_of_amendment(change: DocumentChange) -> bool:
    """Return whether a person edits an amendment that has not settled: they answer for what it stands for."""
    before = change.before
    if before is None or before.amended_from_id is None or change.caller.instance_id is not None:
        return False
    return change.note.action in ("update", "correct") and not settles(
        change.contract.contract, before.status
    )


def _is_suspended(context: MutationContext) -> bool:
    amendment = context.contract.contract.amendment
    return amendment is not None and amendment.while_open == "suspended"


def _refuse_under_way(row: DocumentRow) -> Rejected:
    return Rejected(
        "AMENDMENT_NOT_POSSIBLE",
        f"an amendment would suspend the document, and its workflow {row.instance_id} is under way",
        remedy="Wait until that has ended, or have it ended.",
    )


class Originals:
    """The amendments that a transaction meets; `rows` are its documents, which the locked originals join."""

    def __init__(self, connection: Connection, tenant_id: UUID, rows: dict[UUID, DocumentRow]) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._rows = rows
        self._amendments: dict[UUID, AmendmentRow | None] = {}
        # The originals that were locked for their amendments.
        self._locked: set[UUID] = set()

    def list_open(self, document_ids: Iterable[UUID]) -> dict[UUID, UUID]:
        """List the open amendment of each of these documents that has one."""
        return list_open_amendments(self._connection, self._tenant_id, set(document_ids))

    def hold(self, contract: CompiledContract, row: DocumentRow, to: str | None) -> bool:
        """Lock the original that the document replaces in this status, if there is one.

        Return False where another transaction holds it, or where this wave moves it: then a later one tries.
        """
        amendment = self._find_settling(contract, row, to)
        if amendment is None or amendment.original_id in self._locked:
            return True
        original_id = amendment.original_id
        if original_id in self._rows or not hold_original(self._connection, self._tenant_id, original_id):
            return False
        self._rows |= lock_documents(self._connection, [original_id], ()).rows
        self._locked.add(original_id)
        return True

    def find_replaced(
        self, operation: ConcludeTransition, contract: CompiledContract, row: DocumentRow
    ) -> DocumentRow | None:
        """Find the original whose place the document takes by this operation; `hold` has locked it."""
        amendment = self._find_settling(contract, row, operation.to)
        return None if amendment is None else self._rows[amendment.original_id]

    def replace(
        self, original: DocumentRow, of_original: MutationContext, change: DocumentChange
    ) -> Rejected | None:
        """Let an amendment that settles take the place of its original; refuse it where that moved on."""
        moved = self._refuse_moved(original, of_original, change)
        if moved is not None:
            return moved
        detail = describe_amendment(of_original, change.document_id, change.after.data)
        change.further.append(end_original(of_original, original, detail, change.note.reason))
        change.replaces = original
        _, wanted = list_business_keys([change])
        lost = list_foreign_keys(self._connection, self._tenant_id, wanted) if wanted else {}
        return find_lost_key(change, lost)

    def _refuse_moved(
        self, original: DocumentRow, of_original: MutationContext, change: DocumentChange
    ) -> Rejected | None:
        """Refuse that an amendment replaces an original that is not what the amendment was made of."""
        amendment = self._amendments[change.document_id]
        if amendment is None:
            return None
        made_of = OriginalState(amendment.original_version, amendment.original_status)
        is_deleted = original.deleted_at is not None
        now = OriginalState(original.version, original.status, is_deleted, amendment.has_other)
        return find_movement(of_original.contract.contract, made_of, now)

    def _find_settling(
        self, contract: CompiledContract, row: DocumentRow, to: str | None
    ) -> AmendmentRow | None:
        """Find the amendment that settles in this status for the first time. Most documents are none."""
        if row.amended_from_id is None or to is None or not settles(contract.contract, to):
            return None
        if row.id not in self._amendments:
            self._amendments[row.id] = find_amendment(self._connection, self._tenant_id, row.id)
        amendment = self._amendments[row.id]
        return None if amendment is None or amendment.closing == "settled" else amendment
