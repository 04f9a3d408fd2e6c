"""People decide about one version of the document. The request is the authority; the step waits for it."""

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
from signet.engine.execution.nodes.handler import HandlerResult, NodeContext
from signet.store.approvals.requests import LiveRequest


class ApprovalHandler:
    def prepare(self, context: NodeContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        policy, chain, version = context.approvals.policy_of(node)
        if policy is None:
            return Blocked(f"APPROVAL_CHAIN_UNKNOWN: no published chain is called '{chain}'")
        seats = context.approvals.begin_stage(context.about(token), policy, 1)
        if isinstance(seats, Deadlock):
            return _hold(seats)
        return ActionPlan(RequestDraft(policy, chain, version, seats))

    def act(self, context: NodeContext, pending: PendingAction) -> HandlerResult:
        about = context.about(context.execution.token_of(pending.step))
        request = context.approvals.open(about, pending.node, pending.step.id, pending.plan)
        return HandlerResult(None, resume_at=_next_moment(request))

    def resume(self, context: NodeContext, node: WorkflowNode, step: Step) -> HandlerResult | Blocked | None:
        request = context.approvals.find_of_step(context.about_instance, step.id)
        if request is None:
            raise Defect("APPROVAL_REQUEST_ABSENT", f"{node.id} waits for a request that is not there")
        if request.status == "open":
            held = _move(context, request, step)
            if held is not None:
                return held
        if request.status == "open":
            return None
        env = context.decision_input(context.execution.token_of(step)).env
        return HandlerResult(
            conclude(context.execution.workflow, node, request.status, env, _describe(request))
        )


def _move(context: NodeContext, request: LiveRequest, step: Step) -> Blocked | None:
    """What the votes and the clock have made of it since."""
    approvals, about = context.approvals, _about(context, request, step)
    if request.expire_at is not None and context.now >= request.expire_at:
        approvals.end(request, "expired", "nobody decided in time")
        return None
    policy, seats = parse_policy_of(request), seats_of_stage(request)
    stage = policy.stage(request.stage)
    verdict = count_votes(stage, seats, can_vote=approvals.can_vote(about, seats))
    following = next_action(policy, request.stage, verdict, escalated=has_escalated(seats))
    is_late = request.escalate_at is not None and context.now >= request.escalate_at
    match following.act:
        case NextAction.APPROVE | NextAction.REJECT:
            status = "approved" if following.act is NextAction.APPROVE else "rejected"
            approvals.end(request, status, f"decided in stage {request.stage}")
        case NextAction.BEGIN_STAGE:
            found = approvals.begin_stage(about, policy, request.stage + 1)
            if isinstance(found, Deadlock):
                return _hold(found)
            approvals.go_to_stage(request, request.stage + 1, found)
        case NextAction.PAUSE:
            return _hold(following.reason or Deadlock.NOBODY_ELIGIBLE)
        case NextAction.ESCALATE:
            return _escalate(context, request, step)
        case NextAction.WAIT if is_late and not has_escalated(seats):
            return _escalate(context, request, step)
        case _:
            return None
    return None


def _about(context: NodeContext, request: LiveRequest, step: Step) -> ApprovalSubject:
    """Whoever it was asked for stays barred, whoever asked since."""
    about = context.about(context.execution.token_of(step))
    return replace(about, requesters=about.requesters | {request.requester_id})


def _escalate(context: NodeContext, request: LiveRequest, step: Step) -> Blocked | None:
    about = _about(context, request, step)
    stage = parse_policy_of(request).stage(request.stage)
    found = context.approvals.escalate(about, stage, request.stage, seats_of_stage(request))
    if isinstance(found, Deadlock):
        return _hold(found)
    context.approvals.seat(request, found)
    return None


def _hold(deadlock: Deadlock) -> Blocked:
    return Blocked(f"{deadlock.value}: {deadlock.sentence}")


def _next_moment(request: LiveRequest) -> Any:
    return min((moment for moment in (request.escalate_at, request.expire_at) if moment), default=None)


def _describe(request: LiveRequest) -> Mapping[str, Any]:
    """Who decided, for whom; the decisions themselves stand in their own table."""
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
