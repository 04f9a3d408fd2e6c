"""The handler of an acting node, and its answers.

`prepare` plans what the node would do, and changes nothing: no receipt has been written yet. `act` does it
in the wave's transaction (a mutation, a row in an outbox), never outside of it. `resume` is called when a
trigger wakes the instance while the node's step waits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from signet.core.runtime.decisions import Decision
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.execution.nodes.context import InstanceContext
from signet.store.instances.waves import EffectOutcome


@dataclass(frozen=True, slots=True)
class Effect:
    """A call to the outside, which is enqueued with its step (WF-10)."""

    effect_type: str
    payload: Mapping[str, Any]
    endpoint: str | None = None


@dataclass(frozen=True, slots=True)
class HandlerResult:
    """The answer of a handler; `decision` is None while the step waits for its moment or its event."""

    decision: Decision | None
    effect: Effect | None = None
    resume_at: datetime | None = None
    waiting_for_event_key: str | None = None


def describe_delivery(effect: EffectOutcome, *of_body: str) -> dict[str, Any]:
    """Return the evidence of a delivery, with the named values of the response's body."""
    response = effect.response_json if isinstance(effect.response_json, dict) else {}
    body = response.get("body")
    evidence = {name: response.get(name) for name in ("status", "duration_ms")}
    if isinstance(body, dict):
        evidence |= {name: body.get(name) for name in of_body}
    return {name: value for name, value in evidence.items() if value is not None}


def find_held(effect: EffectOutcome, node: WorkflowNode) -> Blocked | None:
    """Return why the step waits on: its endpoint is switched off, and holds the call."""
    if effect.status != "held":
        return None
    return Blocked(f"ENDPOINT_DISABLED: {effect.error}", {"endpoint": node.config.get("endpoint")})


def describe_undelivered(effect: EffectOutcome, otherwise: str) -> str | None:
    """Return why the effect will not be delivered any more; None where it was."""
    match effect.status:
        case "withdrawn":
            return f"EFFECT_WITHDRAWN: {effect.error}"
        case "dead_letter" | "discarded":
            return f"EFFECT_DEAD: {effect.error or otherwise}"
    return None


class NodeHandler(Protocol):
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked: ...

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult: ...

    def resume(
        self, context: InstanceContext, node: WorkflowNode, step: Step
    ) -> HandlerResult | Blocked | None: ...
