"""The approval node: people decide about one version of the document.

The request is the authority; the step waits for it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from signet.core.approvals.seats import Deadlock
from signet.core.approvals.votes import NextAction, count_votes, has_escalated, next_action
from signet.core.errors import Defect
from signet.core.runtime.decisions import conclude
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import Token
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.approvals.requests import ApprovalSubject, RequestDraft, parse_policy_of, seats_of_stage
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import HandlerResult
from signet.store.approvals.requests import LiveRequest


class ApprovalHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        policy, chain, version = context.approvals.policy_of(node)
        if policy is None:
            return Blocked(f"APPROVAL_CHAIN_UNKNOWN: no published chain is called '{chain}'")
        seats = context.approvals.begin_stage(context.subject_of(token), policy, 1)
        if isinstance(seats, Deadlock):
            return _block(seats)
        return ActionPlan(RequestDraft(policy, chain, version, seats))

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult:
        subject = context.subject_of(context.execution.token_of(pending.step))
        request = context.approvals.open(subject, pending.node, pending.step.id, pending.plan)
        return HandlerResult(None, resume_at=_next_moment(request))

    def resume(
        self, context: InstanceContext, node: WorkflowNode, step: Step
    ) -> HandlerResult | Blocked | None:
        request = context.approvals.find_of_step(context.row.id, step.id)
        if request is None:
            raise Defect("APPROVAL_REQUEST_ABSENT", f"{node.id} waits for a request that is not there")
        if request.status == "open":
            blocked = _move(context, request, step)
            if blocked is not None:
                return blocked
        if request.status == "open":
            return None
        env = context.decision_input(context.execution.token_of(step)).env
        return HandlerResult(
            conclude(context.execution.workflow, node, request.status, env, _describe(request))
        )


def _move(context: InstanceContext, request: LiveRequest, step: Step) -> Blocked | None:
    """Move the request on by the votes and the clock."""
    approvals, subject = context.approvals, _subject_of(context, request, step)
    if request.expire_at is not None and context.now >= request.expire_at:
        approvals.end(request, "expired", "nobody decided in time")
        return None
    policy, seats = parse_policy_of(request), seats_of_stage(request)
    stage = policy.stage(request.stage)
    verdict = count_votes(stage, seats, can_vote=approvals.can_vote(subject, seats))
    following = next_action(policy, request.stage, verdict, escalated=has_escalated(seats))
    is_late = request.escalate_at is not None and context.now >= request.escalate_at
    match following.act:
        case NextAction.APPROVE | NextAction.REJECT:
            status = "approved" if following.act is NextAction.APPROVE else "rejected"
            approvals.end(request, status, f"decided in stage {request.stage}")
        case NextAction.BEGIN_STAGE:
            seated = approvals.begin_stage(subject, policy, request.stage + 1)
            if isinstance(seated, Deadlock):
                return _block(seated)
            approvals.go_to_stage(request, request.stage + 1, seated)
        case NextAction.PAUSE:
            return _block(following.reason or Deadlock.NOBODY_ELIGIBLE)
        case NextAction.ESCALATE:
            return _escalate(context, request, step)
        case NextAction.WAIT if is_late and not has_escalated(seats):
            return _escalate(context, request, step)
        case _:
            return None
    return None


def _subject_of(context: InstanceContext, request: LiveRequest, step: Step) -> ApprovalSubject:
    """Return the subject of an open request: its first requester stays barred, also after another request."""
    subject = context.subject_of(context.execution.token_of(step))
    return replace(subject, requesters=subject.requesters | {request.requester_id})


def _escalate(context: InstanceContext, request: LiveRequest, step: Step) -> Blocked | None:
    subject = _subject_of(context, request, step)
    stage = parse_policy_of(request).stage(request.stage)
    seated = context.approvals.escalate(subject, stage, request.stage, seats_of_stage(request))
    if isinstance(seated, Deadlock):
        return _block(seated)
    context.approvals.seat(request, seated)
    return None


def _block(deadlock: Deadlock) -> Blocked:
    return Blocked(f"{deadlock.value}: {deadlock.sentence}")


def _next_moment(request: LiveRequest) -> Any:
    return min((moment for moment in (request.escalate_at, request.expire_at) if moment), default=None)


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
