"""The wait for an event from outside: its keys are read once, as its token arrives.

Each key has a row by which an event finds the wait (`rows.py`). What comes is offered to the wait, and
wakes the instance. The wait takes the first event that fits, and the others stay for the next wait.
Who stands behind the event counts as an editor of the document: what it says may decide about it.
"""

from datetime import datetime, timedelta

from signet.core.errors import Rejected
from signet.core.moments.durations import parse_duration_seconds
from signet.core.runtime.decisions import conclude
from signet.core.runtime.event_waits import conclude_received, find_unfit, read_event_keys
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import HandlerResult
from signet.engine.execution.nodes.unpinned_reads import find_erased_read
from signet.store.instances.event_waits import (
    OfferedEvent,
    decide_offer,
    find_next_offer,
    has_older_offer,
    lock_offers,
    make_arrival,
)

MAX_REASON_CHARACTERS = 2_000


class WaitEventHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        keys = read_event_keys(node, context.decision_input(token).env)
        if isinstance(keys, Rejected):
            return Blocked(f"{keys.code}: {keys.message}")
        return ActionPlan(keys, given={"keys": list(keys)})

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult:
        timeout = pending.node.config["timeout"]
        if timeout is None:
            return HandlerResult(None, event_keys=pending.plan)
        due = context.now + timedelta(seconds=parse_duration_seconds(timeout))
        context.wake_at(due)
        return HandlerResult(None, resume_at=due, event_keys=pending.plan)

    def resume(
        self, context: InstanceContext, node: WorkflowNode, step: Step
    ) -> HandlerResult | Blocked | None:
        due = context.waits[step.token].resume_at
        received = _receive(context, node, step, due)
        if received is not None:
            return received
        if due is None or due > context.now:
            return None
        env = context.decision_input(context.execution.token_of(step)).env
        evidence = {"due_at": due.isoformat()}
        return HandlerResult(conclude(context.execution.workflow, node, "timeout", env, evidence))


def _receive(
    context: InstanceContext, node: WorkflowNode, step: Step, due: datetime | None
) -> HandlerResult | Blocked | None:
    """Take the first event that fits, of those that came before the wait was over."""
    connection, tenant_id = context.documents.connection, context.tenant_id
    assert step.id is not None
    has_decided = True
    while has_decided:
        has_decided = False
        for event in lock_offers(connection, tenant_id, step.id, due):
            if event.is_alone and event.taken_at is not None:
                _decide(context, step, event, "ended", "another wait has taken it")
            elif event.is_alone and has_older_offer(connection, tenant_id, step.id, event):
                continue
            else:
                taken = _try_event(context, node, step, event)
                if taken is not None:
                    return taken
            has_decided = True
    return None


def _try_event(
    context: InstanceContext, node: WorkflowNode, step: Step, event: OfferedEvent
) -> HandlerResult | Blocked | None:
    """Take the event where it fits. Otherwise say why not, and let the next wait decide about it."""
    execution = context.execution
    env = context.decision_input(execution.token_of(step)).env
    unfit = find_unfit(node, event.payload, env)
    if unfit is not None:
        _decide(context, step, event, "unfit", unfit[:MAX_REASON_CHARACTERS])
        _pass_on(context, event)
        return None
    erased = find_erased_read(context, node)
    if erased is not None:
        return Blocked(erased)
    if context.document is not None:
        try:
            context.documents.widen_editors(context.document.id, frozenset(event.persons))
        except Rejected as full:
            return Blocked(f"{full.code}: {full.message}")
    _decide(context, step, event, "taken", None)
    evidence = {
        "event_id": str(event.id),
        "key": event.key,
        "source": event.source,
        "received_at": event.received_at.isoformat(),
    }
    env = context.decision_input(execution.token_of(step)).env
    return HandlerResult(conclude_received(execution.workflow, node, env, event.payload, evidence))


def _decide(
    context: InstanceContext, step: Step, event: OfferedEvent, status: str, reason: str | None
) -> None:
    assert step.id is not None
    context.has_decided = True
    decide_offer(context.documents.connection, context.tenant_id, step.id, event.id, status, reason)


def _pass_on(context: InstanceContext, event: OfferedEvent) -> None:
    following = find_next_offer(context.documents.connection, context.tenant_id, event.id)
    if following is not None:
        context.documents.batch.events.append(make_arrival(following, event.id, context.trace_id))
