"""The timer: it computes once, as its token arrives, the moment until which the token waits.

The moment is computed by the database's time and the pinned rules of zones, and is kept with the step. A
trigger that is due then wakes the instance: nothing polls. What comes late finds the wait ended, and does
nothing. A wait with `follow` computes its moment again whenever its instance is woken.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from signet.core.errors import Rejected
from signet.core.runtime.decisions import conclude
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import ROOT, root_of
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import HandlerResult
from signet.engine.execution.nodes.waits.timer_moment import TimerMoment, compute_moment, find_cause
from signet.store.instances.earlier_steps import find_first_arrival
from signet.store.instances.followers import find_given

# A change that commits beside the wave of an arrival does not see the wait: it looks once more.
LOOK_AGAIN = timedelta(minutes=1)


class WaitTimerHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        env, arrived = context.decision_input(token).env, _find_arrival(context, node, token)
        try:
            moment = compute_moment(context, node, env, arrived)
        except Rejected as refused:
            return Blocked(f"{refused.code}: {refused}")
        return ActionPlan(moment, given=moment.given)

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult:
        moment: TimerMoment = pending.plan
        if moment.due <= context.now:
            return _end(context, pending.node, pending.step, moment.due)
        context.wake_at(moment.due)
        if not pending.node.config.get("follow"):
            return HandlerResult(None, resume_at=moment.due)
        context.wake_at(context.now + LOOK_AGAIN)
        return HandlerResult(None, resume_at=moment.due, followed=moment.followed)

    def resume(
        self, context: InstanceContext, node: WorkflowNode, step: Step
    ) -> HandlerResult | Blocked | None:
        due = context.waits[step.token].resume_at
        if due is not None and due <= context.now:
            return _end(context, node, step, due)
        return _follow(context, node, step) if node.config.get("follow") else None


def _follow(context: InstanceContext, node: WorkflowNode, step: Step) -> HandlerResult | Blocked:
    """Compute the moment again from the same arrival, and put on record when it is another one."""
    given = find_given(context.documents.connection, context.tenant_id, context.row.id, step.id)
    env = context.decision_input(context.execution.token_of(step)).env
    try:
        moment = compute_moment(context, node, env, datetime.fromisoformat(given["arrived_at"]))
    except Rejected as refused:
        return Blocked(f"{refused.code}: {refused}")
    wait = context.waits[step.token]
    if wait.waiting_for_event_key != moment.followed:
        context.waits[step.token] = replace(wait, waiting_for_event_key=moment.followed)
        context.execution.mark_changed(step)
    if moment.due == wait.resume_at:
        return HandlerResult(None, resume_at=moment.due)
    context.execution.control(
        "rescheduled",
        {
            "token": step.token,
            "node": node.id,
            "from": given["due_at"],
            "because": find_cause(given, moment.given),
            "given": moment.given,
        },
    )
    if moment.due <= context.now:
        return _end(context, node, step, moment.due)
    context.wake_at(moment.due)
    return HandlerResult(None, resume_at=moment.due)


def _end(context: InstanceContext, node: WorkflowNode, step: Step, due: datetime) -> HandlerResult:
    execution = context.execution
    env = context.decision_input(execution.token_of(step)).env
    evidence = {"due_at": due.isoformat()}
    return HandlerResult(conclude(execution.workflow, node, "elapsed", env, evidence))


def _find_arrival(context: InstanceContext, node: WorkflowNode, token: Token) -> datetime:
    """Return when the token came, or came first where an edit has only sent it round again."""
    is_counted = node.config["for"] is not None or node.config.get("business") is not None
    if not is_counted or node.config.get("since") == "restart" or root_of(token.id) == ROOT:
        return context.now
    cut = (step for step in context.execution.changed.values() if step.status == "cancelled")
    first = find_first_arrival(
        context.documents.connection,
        context.tenant_id,
        context.row.id,
        node.id,
        is_cut_now=any(step.node == node.id for step in cut),
    )
    return first or context.now
