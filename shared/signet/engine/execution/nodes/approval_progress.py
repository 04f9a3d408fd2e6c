"""The way of an open request: from stage to stage by its votes, and on by the clock."""

from collections.abc import Iterable
from datetime import datetime

from signet.core.approvals.policy import Stage
from signet.core.approvals.seats.abstentions import list_seats_for_others
from signet.core.approvals.seats.assignment import Deadlock
from signet.core.approvals.votes import (
    NextAction,
    count_votes,
    has_escalated,
    list_approved_stages,
    next_action,
    waits_for_lost_holders,
)
from signet.core.errors import Rejected
from signet.core.runtime.execution import Blocked
from signet.core.runtime.position import Token
from signet.engine.approvals.approver_lookup import is_bench_cleared
from signet.engine.approvals.request_rows import (
    make_changed_row,
    make_notification_row,
    parse_policy_of,
    seats_of_stage,
)
from signet.engine.approvals.stage_times import add_deadline, find_stage_times
from signet.engine.approvals.subject import ApprovalSubject
from signet.engine.execution.nodes.context import InstanceContext
from signet.store.approvals.requests import LiveRequest


def move_request(context: InstanceContext, request: LiveRequest, token: Token) -> Blocked | None:
    """Move the request on by the votes and the clock."""
    approvals = context.approvals
    if request.expire_at is not None and context.now >= request.expire_at:
        return _expire(context, request, token)
    policy, seats = parse_policy_of(request), seats_of_stage(request)
    subject = context.subject_of(token, policy, request)
    stage = policy.stage(request.stage)
    verdict = count_votes(stage, seats, can_vote=approvals.can_vote(subject, stage, seats))
    if verdict.deadlock is Deadlock.ALL_ABSTAINED and _ask_others(context, request, subject, stage):
        return None
    following = next_action(
        policy,
        request.stage,
        verdict,
        escalated=has_escalated(seats),
        approved=list_approved_stages(policy, request.seats),
    )
    is_late = request.escalate_at is not None and context.now >= request.escalate_at
    match following.act:
        case NextAction.APPROVE | NextAction.REJECT:
            # The vote that decides ends its request; seats that say so alone prove nothing.
            return Blocked("APPROVAL_UNPROVEN: the seats say that it is decided, and no vote has decided it")
        case NextAction.BEGIN_STAGE if following.stage is not None:
            return _begin_stage(context, request, token, following.stage)
        case NextAction.PAUSE if approvals.ask_closed_seats(subject, stage, request):
            return None
        case NextAction.PAUSE:
            return block(following.reason or Deadlock.NOBODY_ELIGIBLE)
        case NextAction.ESCALATE:
            has_lost = not is_late and approvals.has_lost_holder(subject, stage, seats)
            if waits_for_lost_holders(following, is_late=is_late, has_lost_holder=has_lost):
                return None
            return _escalate(context, request, token)
        case NextAction.WAIT if is_late and not has_escalated(seats):
            return _escalate(context, request, token)
        case _:
            return _remind(context, request, stage)


def _remind(context: InstanceContext, request: LiveRequest, stage: Stage) -> Blocked | None:
    """Remind those who have not decided, where it is time, and find when to remind them again.

    Where a calendar gives no further moment the token is held; votes count all the same.
    """
    terms = stage.remind
    if terms is None or request.remind_at is None or request.remind_at > context.now:
        return None
    following = None
    try:
        if terms.every is not None and request.reminders + 1 < terms.at_most:
            following = add_deadline(
                context.documents.connection, context.tenant_id, context.now, terms.every
            )
    except Rejected as refused:
        return Blocked(f"{refused.code}: {refused}")
    rows = context.approvals.rows
    undecided = (seat for seat in seats_of_stage(request) if seat.status == "open")
    rows.notifications.extend(make_notification_row(request, seat, "approval_reminder") for seat in undecided)
    request.reminders, request.remind_at = request.reminders + 1, following
    rows.changed[request.id] = make_changed_row(request)
    if following is not None:
        context.wake_at(following)
    return None


def _expire(context: InstanceContext, request: LiveRequest, token: Token) -> Blocked | None:
    """End the request, as nobody decided in time.

    An edge may lead on from there. Nobody of the document opens it by clearing the bench.
    """
    node, approvals = context.execution.workflow.nodes[request.node_id], context.approvals
    policy, seats = parse_policy_of(request), seats_of_stage(request)
    subject, stage = context.subject_of(token, policy, request), policy.stage(request.stage)
    if node.edges.get("expired") and not approvals.can_vote(subject, stage, seats):
        key = context.documents.connection, context.tenant_id
        if is_bench_cleared(*key, subject, stage, seats, context.now):
            return block(Deadlock.NOBODY_ELIGIBLE)
    approvals.end(request, "expired", "nobody decided in time")
    return None


def _ask_others(
    context: InstanceContext, request: LiveRequest, subject: ApprovalSubject, stage: Stage
) -> bool:
    """Ask the other holders of the roles that have only abstained, where any of them can vote."""
    approvals, seats = context.approvals, seats_of_stage(request)
    again = [
        seat
        for seat in list_seats_for_others(stage, seats)
        if approvals.can_vote(subject, stage, [*seats, seat])
    ]
    approvals.seat(request, again)
    return bool(again)


def _begin_stage(context: InstanceContext, request: LiveRequest, token: Token, number: int) -> Blocked | None:
    policy = parse_policy_of(request)
    subject = context.subject_of(token, policy, request, stage=number)
    seated = context.approvals.begin_stage(subject, policy, number)
    if isinstance(seated, Deadlock):
        return block(seated)
    timeless = find_timeless(context, policy.stage(number))
    if timeless is not None:
        return timeless
    context.approvals.go_to_stage(request, number, seated)
    return None


def _escalate(context: InstanceContext, request: LiveRequest, token: Token) -> Blocked | None:
    policy = parse_policy_of(request)
    subject = context.subject_of(token, policy, request)
    seated = context.approvals.escalate(
        subject, policy.stage(request.stage), request.stage, seats_of_stage(request)
    )
    if isinstance(seated, Deadlock):
        return block(seated)
    context.approvals.seat(request, seated)
    return None


def block(deadlock: Deadlock) -> Blocked:
    return Blocked(f"{deadlock.value}: {deadlock.sentence}")


def find_timeless(context: InstanceContext, stage: Stage) -> Blocked | None:
    """Return why a stage cannot begin now: a calendar gives no moment for one of its deadlines."""
    try:
        find_stage_times(context.documents.connection, context.tenant_id, context.now, stage)
    except Rejected as refused:
        return Blocked(f"{refused.code}: {refused}")
    return None


def next_moment(request: LiveRequest) -> datetime | None:
    """Return the next moment of the stage that is open; one that has escalated escalates no more."""
    escalate_at = None if has_escalated(seats_of_stage(request)) else request.escalate_at
    return min((moment for moment in (escalate_at, request.expire_at) if moment), default=None)


def next_moment_of(requests: Iterable[LiveRequest]) -> datetime | None:
    """Return the first moment of all that are open."""
    moments = (next_moment(request) for request in requests if request.status == "open")
    return min((moment for moment in moments if moment), default=None)
