"""Requests for transitions that are withdrawn."""

from signet.core.errors import Rejected
from signet.engine.documents.change import (
    DocumentChange,
    EndedRequest,
    MutationContext,
    RequestChange,
    audit_only_change,
    trigger_workflow,
)
from signet.engine.documents.commands import WithdrawRequest
from signet.store.documents.write import DocumentRow

# The event by which the instance is told.
REQUEST_WITHDRAWN = "request_withdrawn"
WITHDRAWN = "withdrawn by the person who asked"


def withdraw_request(
    operation: WithdrawRequest, context: MutationContext, row: DocumentRow
) -> DocumentChange | Rejected:
    """Withdraw the open request; only the person who asked does, and needs no permission for it."""
    if row.request_id != operation.request_id:
        sentence = "the request has ended already"
        return Rejected("REQUEST_ENDED", sentence, remedy="Read it: it says how it ended.")
    if row.requester_id != context.caller.principal.subject:
        sentence = "the request is that of another person"
        remedy = "Let that person withdraw it, or ask for another transition."
        return Rejected("PERMISSION_DENIED", sentence, remedy=remedy)
    detail = {"request": str(operation.request_id), "transition": row.requested}
    change = audit_only_change(context, row, "withdraw_request", operation.reason, detail=detail)
    change.request = RequestChange(ends=EndedRequest(operation.request_id, "superseded", WITHDRAWN))
    trigger_workflow(change, row, REQUEST_WITHDRAWN, {"request": str(operation.request_id)})
    return change
