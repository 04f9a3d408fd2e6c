"""The approval node: people decide about one version of the document.

The request is the authority; the step waits for it.
"""

from collections.abc import Mapping
from typing import Any

from signet.core.approvals.seats.assignment import Deadlock
from signet.core.errors import Defect
from signet.core.runtime.decisions import conclude
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.approvals.subject import RequestDraft
from signet.engine.execution.nodes.approval_progress import block, find_timeless, move_request, next_moment
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import HandlerResult
from signet.store.approvals.requests import LiveRequest


class ApprovalHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        policy, chain, version = context.approvals.policy_of(node)
        if policy is None:
            return Blocked(f"APPROVAL_CHAIN_UNKNOWN: no published chain is called '{chain}'")
        subject = context.subject_of(token, policy)
        seats = context.approvals.begin_stage(subject, policy, 1)
        if isinstance(seats, Deadlock):
            return block(seats)
        timeless = find_timeless(context, policy.stage(1))
        if timeless is not None:
            return timeless
        return ActionPlan((subject, RequestDraft(policy, chain, version, seats)))

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult:
        subject, draft = pending.plan
        request = context.approvals.open(subject, pending.node, pending.step.id, draft)
        return HandlerResult(None, resume_at=next_moment(request))

    def resume(
        self, context: InstanceContext, node: WorkflowNode, step: Step
    ) -> HandlerResult | Blocked | None:
        request = context.approvals.find_of_step(context.row.id, step.id)
        if request is None:
            raise Defect("APPROVAL_REQUEST_ABSENT", f"{node.id} waits for a request that is not there")
        if request.status == "open":
            blocked = move_request(context, request, context.execution.token_of(step))
            if blocked is not None:
                return blocked
        if request.status == "open":
            return HandlerResult(None, resume_at=next_moment(request))
        env = context.decision_input(context.execution.token_of(step)).env
        return HandlerResult(
            conclude(context.execution.workflow, node, request.status, env, _describe(request))
        )


def _describe(request: LiveRequest) -> Mapping[str, Any]:
    """Return the evidence: who decided, and for which person. The decisions have a table of their own."""
    return {
        "request": str(request.id),
        "document_version": request.document_version,
        "policy_hash": request.policy_hash,
        "seats": [
            {
                "stage": seat.stage,
                "seat": seat.position,
                "vote": seat.status,
                "decided_by": seat.decided_by,
                "on_behalf_of": seat.on_behalf_of,
            }
            for seat in request.seats
            if seat.decided_by is not None
        ],
    }
