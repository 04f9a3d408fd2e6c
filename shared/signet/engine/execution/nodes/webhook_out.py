"""The webhook node: it enqueues a call to an endpoint or an event on the bus, and waits for its delivery."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from signet.core.errors import Rejected
from signet.core.runtime.decisions import conclude
from signet.core.runtime.done_before import EarlierStep
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.graph.answer_readers import find_lost_read
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.result_bounds import render
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.done_once import find_done_before
from signet.engine.execution.nodes.handler import (
    Effect,
    HandlerResult,
    conclude_late,
    conclude_undelivered,
    conclude_unsaid,
    describe_delivery,
    find_held,
    wait_for,
)


class WebhookOutHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        rendered = render(node, "/payload", context.decision_input(token).env)
        if isinstance(rendered, Rejected):
            return ActionPlan(rendered)
        payload, variables = rendered
        given = {"payload": payload, "variables": variables}
        done = find_done_before(context, node, token) if context.may_come_again(token) else None
        if isinstance(done, Blocked):
            return done
        if isinstance(done, EarlierStep):
            lost = _find_lost(context, node, done.variables)
            return ActionPlan(done, given=given) if lost is None else lost
        call = _make_call(context, node, payload)
        return ActionPlan(call if done is None else replace(call, first_id=done.first_id), given=given)

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult:
        if isinstance(pending.plan, Rejected):
            return conclude_unsaid(context, pending)
        return _ask(context, pending.node, pending.plan)

    def resume(
        self, context: InstanceContext, node: WorkflowNode, step: Step
    ) -> HandlerResult | Blocked | None:
        """End with the response of the receiver, or with an error where the call was given up."""
        effect = context.effects.get(step.id)
        if effect is None or effect.status == "held":
            return conclude_late(context, node, step) or find_held(effect, node)
        delivery = describe_delivery(effect, *(["event_id"] if "event" in node.config else []))
        failed = conclude_undelivered(context, node, step, effect, delivery, "the call was given up")
        if failed is not None:
            return failed
        execution = context.execution
        env = context.decision_input(execution.token_of(step)).env
        saved: dict[str, Any] = {}
        if node.config["save_as"]:
            saved = {node.config["save_as"]: effect.response_json}
        lost = _find_lost(context, node, saved)
        if lost is not None:
            return lost
        env = {**env, "context": {**execution.projection.context, **saved}}
        return HandlerResult(conclude(execution.workflow, node, "delivered", env, delivery, saved))


def _find_lost(context: InstanceContext, node: WorkflowNode, variables: Mapping[str, Any]) -> Blocked | None:
    """Return why the step waits on: what is read behind it of the answer was lost when that was kept."""
    answer = variables.get(node.config["save_as"])
    lost = find_lost_read(context.execution.workflow.content, node.id, answer)
    return None if lost is None else Blocked(f"ANSWER_UNREADABLE: {lost}")


def _make_call(context: InstanceContext, node: WorkflowNode, payload: Any) -> Effect:
    event, document = node.config.get("event"), context.document
    if event is None:
        return Effect("webhook", {"payload": payload}, node.config["endpoint"])
    message = {"event": event, "payload": payload}
    if document is not None:
        message["subject"] = f"{document.entity_type}/{document.id}"
    return Effect("integration", message)


def _ask(context: InstanceContext, node: WorkflowNode, effect: Effect) -> HandlerResult:
    is_plain = "retry" not in node.config and "timeout" not in node.config
    return HandlerResult(None, effect) if is_plain else wait_for(context, node, effect)
