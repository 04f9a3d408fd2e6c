"""The notification node: it enqueues a message to people, and waits only where the author says `await`."""

from collections.abc import Mapping
from typing import Any

from signet.core.errors import Rejected
from signet.core.runtime.decisions import conclude
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.result_bounds import render
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import (
    Effect,
    HandlerResult,
    conclude_late,
    conclude_undelivered,
    conclude_unsaid,
    describe_delivery,
    plan_effect,
    wait_for,
)


class NotificationHandler:
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        env = context.decision_input(token).env
        of_subject, of_text = render(node, "/subject", env), render(node, "/text", env)
        if isinstance(of_subject, Rejected):
            return ActionPlan(of_subject)
        if isinstance(of_text, Rejected):
            return ActionPlan(of_text)
        payload = {"to": _name_people(node, env), "subject": of_subject[0], "text": of_text[0]}
        return ActionPlan(payload, given={"payload": payload, "variables": {**of_subject[1], **of_text[1]}})

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult:
        if isinstance(pending.plan, Rejected):
            return conclude_unsaid(context, pending)
        node = pending.node
        env = context.decision_input(context.execution.token_of(pending.step)).env
        effect = Effect(node.config["channel"], pending.plan)
        if node.config["await"]:
            return wait_for(context, node, effect)
        return HandlerResult(
            conclude(context.execution.workflow, node, "done", env), plan_effect(node, effect)
        )

    def resume(self, context: InstanceContext, node: WorkflowNode, step: Step) -> HandlerResult | None:
        effect = context.effects.get(step.id)
        if effect is None:
            return conclude_late(context, node, step)
        delivery = describe_delivery(effect, "told", "missed", "left")
        failed = conclude_undelivered(context, node, step, effect, delivery, "nobody could be told")
        if failed is not None:
            return failed
        execution = context.execution
        env = context.decision_input(execution.token_of(step)).env
        return HandlerResult(conclude(execution.workflow, node, "done", env, delivery))


def _name_people(node: WorkflowNode, env: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Name the people. A role or a manager is resolved on delivery, a value of the document now."""
    named: list[dict[str, Any]] = []
    for index, person in enumerate(node.config["to"]):
        match person["by"]:
            case "user":
                named.append({"user": person["user"]})
            case "role":
                named.append({"role": person["role"]})
            case "manager":
                of = node.expressions[f"/to/{index}/of"].value(env)
                named.append({"manager_of": of, "levels": person["levels"]})
            case _:
                value = node.expressions[f"/to/{index}/expression"].value(env)
                named.extend({"user": user} for user in (value if isinstance(value, list) else [value]))
    return named
