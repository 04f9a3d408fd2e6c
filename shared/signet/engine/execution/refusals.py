"""Requests that an instance refuses, and approvals that it leaves unused: written with its wave."""

from uuid import UUID

from signet.core.errors import Defect
from signet.engine.documents.commands import Applied, ConcludeTransition
from signet.engine.execution.nodes.context import InstanceContext


def refuse_request(context: InstanceContext, transition: str, reason: str, step_id: UUID | None) -> None:
    """Refuse the document's open request. It says why, and so does the audit trail of the document."""
    document = context.document
    if document is None or document.request_id is None:
        return
    operation = ConcludeTransition(document.id, transition, None, "refused", reason)
    refused = context.documents.execute(context.system_caller(step_id), operation)
    if not isinstance(refused, Applied):
        raise Defect("REFUSAL_REJECTED", f"a request could not be refused: {refused.message}")


def refuse_after_end(context: InstanceContext) -> None:
    """Refuse the request that is open when the instance has ended: it can no longer be served."""
    projection, document = context.execution.projection, context.document
    if not context.execution.is_live and document is not None and document.requested is not None:
        reason = projection.reason or f"the workflow has ended: {projection.status}"
        refuse_request(context, document.requested, reason, context.last_step[1])


def void_unused_approvals(context: InstanceContext) -> None:
    open_steps = {step.id for step in context.execution.open.values()}
    version = context.document.version if context.document is not None else 0
    has_moved_on = context.has_come_to_state or not context.execution.is_live
    context.approvals.void_what_is_left(context.row.id, open_steps, version, has_moved_on=has_moved_on)
