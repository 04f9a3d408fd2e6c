"""The timer: it computes once, as its token arrives, the moment until which the token waits.

The moment is computed by the database's time and the pinned rules of zones, and is kept with the step. A
trigger that is due then wakes the instance: nothing polls. What comes late finds the wait ended, and does
nothing.
"""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from signet.core.errors import Rejected
from signet.core.runtime.decisions import conclude
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import ROOT, root_of
from signet.core.runtime.workflow import WorkflowNode
from signet.core.schedules.timer_due import WITHOUT_MOMENT, find_timer_due
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import HandlerResult
from signet.store.instances.earlier_steps import find_first_arrival
from signet.zones import TZDATA_VERSION, find_zone


class WaitTimerHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        env = context.decision_input(token).env
        named = node.config.get("zone") or env["org"]["time_zone"]
        try:
            zone = find_zone(named)
        except Rejected as unknown:
            return Blocked(f"{unknown.code}: {unknown}")
        until = node.expressions["/until"].value(env) if "/until" in node.expressions else None
        arrived = _find_arrival(context, node, token)
        due = find_timer_due(node.config, until, arrived, zone)
        if due is None:
            return Blocked(f"TIMER_WITHOUT_MOMENT: {WITHOUT_MOMENT}")
        return ActionPlan(due, given=_describe(arrived, due, zone))

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult:
        due: datetime = pending.plan
        if due <= context.now:
            return _end(context, pending.node, pending.step, due)
        context.wake_at(due)
        return HandlerResult(None, resume_at=due)

    def resume(self, context: InstanceContext, node: WorkflowNode, step: Step) -> HandlerResult | None:
        due = context.waits[step.token].resume_at
        return _end(context, node, step, due) if due is not None and due <= context.now else None


def _end(context: InstanceContext, node: WorkflowNode, step: Step, due: datetime) -> HandlerResult:
    execution = context.execution
    env = context.decision_input(execution.token_of(step)).env
    evidence = {"due_at": due.isoformat()}
    return HandlerResult(conclude(execution.workflow, node, "elapsed", env, evidence))


def _find_arrival(context: InstanceContext, node: WorkflowNode, token: Token) -> datetime:
    """Return when the token came, or came first where an edit has only sent it round again."""
    if node.config["for"] is None or node.config.get("since") == "restart" or root_of(token.id) == ROOT:
        return context.now
    connection = context.documents.connection
    return find_first_arrival(connection, context.tenant_id, context.row.id, node.id) or context.now


def _describe(arrived: datetime, due: datetime, zone: ZoneInfo) -> dict[str, Any]:
    return {
        "arrived_at": arrived.isoformat(),
        "due_at": due.isoformat(),
        "zone": zone.key,
        "tzdata": TZDATA_VERSION,
    }
