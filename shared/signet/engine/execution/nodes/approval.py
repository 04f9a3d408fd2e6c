"""People decide about one version of the document. The request is the authority; the step waits for it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from signet.core.approvals.seats import Deadlock
from signet.core.approvals.votes import Act, count, has_escalated, next_after
from signet.core.errors import Defect
from signet.core.runtime.decisions import conclude
from signet.core.runtime.execution import Hold, Intent, Plan
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import Token
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.approvals.requests import About, Asked, read_policy_of, seats_of_stage
from signet.engine.execution.nodes.handler import Acted, Place
from signet.store.approvals.requests import LiveRequest


class Approval:
    def prepare(self, place: Place, node: WorkflowNode, token: Token) -> Plan | Hold:
        policy, chain, version = place.approvals.policy_of(node)
        if policy is None:
            return Hold(f"APPROVAL_CHAIN_UNKNOWN: no published chain is called '{chain}'")
        seats = place.approvals.begin_stage(place.about(token), policy, 1)
        if isinstance(seats, Deadlock):
            return _hold(seats)
        return Plan(Asked(policy, chain, version, seats))

    def act(self, place: Place, intent: Intent) -> Acted:
        about = place.about(place.journey.token_of(intent.step))
        request = place.approvals.open(about, intent.node, intent.step.id, intent.plan)
        return Acted(None, resume_at=_next_moment(request))

    def resume(self, place: Place, node: WorkflowNode, step: Step) -> Acted | Hold | None:
        request = place.approvals.find_of_step(place.about_instance, step.id)
        if request is None:
            raise Defect("APPROVAL_REQUEST_ABSENT", f"{node.id} waits for a request that is not there")
        if request.status == "open":
            held = _move(place, request, step)
            if held is not None:
                return held
        if request.status == "open":
            return None
        env = place.look(place.journey.token_of(step)).env
        return Acted(conclude(place.journey.workflow, node, request.status, env, _describe(request)))


def _move(place: Place, request: LiveRequest, step: Step) -> Hold | None:
    """What the votes and the clock have made of it since."""
    approvals, about = place.approvals, _about(place, request, step)
    if request.expire_at is not None and place.now >= request.expire_at:
        approvals.end(request, "expired", "nobody decided in time")
        return None
    policy, seats = read_policy_of(request), seats_of_stage(request)
    stage = policy.stage(request.stage)
    verdict = count(stage, seats, can_vote=approvals.can_vote(about, seats))
    following = next_after(policy, request.stage, verdict, escalated=has_escalated(seats))
    is_late = request.escalate_at is not None and place.now >= request.escalate_at
    match following.act:
        case Act.APPROVE | Act.REJECT:
            status = "approved" if following.act is Act.APPROVE else "rejected"
            approvals.end(request, status, f"decided in stage {request.stage}")
        case Act.BEGIN_STAGE:
            found = approvals.begin_stage(about, policy, request.stage + 1)
            if isinstance(found, Deadlock):
                return _hold(found)
            approvals.go_to_stage(request, request.stage + 1, found)
        case Act.PAUSE:
            return _hold(following.reason or Deadlock.NOBODY_ELIGIBLE)
        case Act.ESCALATE:
            return _escalate(place, request, step)
        case Act.WAIT if is_late and not has_escalated(seats):
            return _escalate(place, request, step)
        case _:
            return None
    return None


def _about(place: Place, request: LiveRequest, step: Step) -> About:
    """Whoever it was asked for stays barred, whoever asked since."""
    about = place.about(place.journey.token_of(step))
    return replace(about, requesters=about.requesters | {request.requester_id})


def _escalate(place: Place, request: LiveRequest, step: Step) -> Hold | None:
    about = _about(place, request, step)
    stage = read_policy_of(request).stage(request.stage)
    found = place.approvals.escalate(about, stage, request.stage, seats_of_stage(request))
    if isinstance(found, Deadlock):
        return _hold(found)
    place.approvals.seat(request, found)
    return None


def _hold(deadlock: Deadlock) -> Hold:
    return Hold(f"{deadlock.value}: {deadlock.sentence}")


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
