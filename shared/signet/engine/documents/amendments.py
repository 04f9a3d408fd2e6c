"""Amendments: the new document, what becomes of its original, and what is refused while one is open."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from signet.core.contracts.contract import AMENDED, Contract
from signet.core.documents.amendments import keeps_original, settles
from signet.core.documents.edit_window import EditEffect, decide_edit
from signet.core.documents.personal_data import MASK
from signet.core.errors import Rejected
from signet.engine.documents.actions import MakeId
from signet.engine.documents.change import (
    AuditNote,
    DocumentChange,
    InstanceStart,
    MutationContext,
    NewContent,
    audit_only_change,
    cancel_instance,
    make_version,
    supersede_request,
    window_of,
)
from signet.engine.documents.commands import Amend, OfEdit, RequestTransition, Update
from signet.store.documents.write import DocumentRow

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


def diff_data(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that differ, each with its value before and after."""
    differing = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    return {name: {"before": before.get(name), "after": after.get(name)} for name in sorted(differing)}


def refuse_while_open(operation: OfEdit, context: MutationContext, row: DocumentRow) -> Rejected | None:
    """Refuse a second amendment while one is open, and more where the contract suspends the original."""
    if context.open_amendment is None:
        return None
    is_second = isinstance(operation, Amend) or (
        isinstance(operation, Update) and decide_edit(window_of(context, row)) is EditEffect.AMEND
    )
    if not is_second and (not _is_suspended(context) or _interrupts(operation, context)):
        return None
    why = "which is one at a time" if is_second else "and suspended until that settles"
    return Rejected(
        "AMENDMENT_OPEN",
        f"the document is amended by {context.open_amendment}, {why}",
        remedy="Edit that document, or give it up: delete or cancel it.",
        details={"amendment_open": str(context.open_amendment)},
    )


def is_edit_of_amendment(change: DocumentChange) -> bool:
    """Return whether a person edits an amendment that has not settled: they answer for what it stands for."""
    before = change.before
    if before is None or before.amended_from_id is None or change.caller.instance_id is not None:
        return False
    return change.note.action == "update" and not settles(change.contract.contract, before.status)


def may_meet_amendment(operation: OfEdit, contract: Contract, row: DocumentRow) -> bool:
    """Return whether the answer depends on an open amendment, so that it is read."""
    if contract.amendment is None or not keeps_original(contract, row.status):
        return False
    if isinstance(operation, Amend) or contract.amendment.while_open == "suspended":
        return True
    window = row.edit_window or contract.states[row.status].edit
    return isinstance(operation, Update) and window == "amend_only"


def _is_suspended(context: MutationContext) -> bool:
    amendment = context.contract.contract.amendment
    return amendment is not None and amendment.while_open == "suspended"


def _interrupts(operation: OfEdit, context: MutationContext) -> bool:
    if not isinstance(operation, RequestTransition):
        return False
    transition = context.contract.contract.transitions.get(operation.transition)
    return transition is not None and transition.kind == "interrupting"


def _refuse_under_way(row: DocumentRow) -> Rejected:
    return Rejected(
        "AMENDMENT_NOT_POSSIBLE",
        f"an amendment would suspend the document, and its workflow {row.instance_id} is under way",
        remedy="Wait until that has ended, or have it ended.",
    )
