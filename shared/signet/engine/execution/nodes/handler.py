"""The handler of an acting node, and its answers.

`prepare` plans what the node would do, and changes nothing: no receipt has been written yet. `act` does it
in the wave's transaction (a mutation, a row in an outbox), never outside of it. `resume` is called when a
trigger wakes the instance while the node's step waits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from signet.core.incidents.incident import UNSENT_CODES
from signet.core.integrations.retry_plan import describe_plan, describe_timeout, parse_plan
from signet.core.moments.durations import parse_duration_seconds
from signet.core.runtime.decisions import Decision, conclude_error, conclude_inside, conclude_refused
from signet.core.runtime.execution import ActionPlan, Blocked, PendingAction
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.execution.nodes.context import InstanceContext
from signet.store.instances.earlier_steps import read_tries
from signet.store.instances.waves import EffectOutcome

# Its endpoint is off, or nobody is there to be told.
_OURS = UNSENT_CODES | {"ADDRESS_MISSING", "ENDPOINT_DISABLED", "NOBODY_MEANT"}


@dataclass(frozen=True, slots=True)
class Effect:
    """A call to the outside, which is enqueued with its step (WF-10)."""

    effect_type: str
    payload: Mapping[str, Any]
    endpoint: str | None = None
    # Where the author says how often it is tried.
    max_attempts: int | None = None
    # The id that its receiver knows it by, where it has failed before.
    first_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class HandlerResult:
    """The answer of a handler; `decision` is None while the step waits for its moment or its event."""

    decision: Decision | None
    effect: Effect | None = None
    resume_at: datetime | None = None
    # The keys of the events that it waits for: any of them.
    event_keys: Sequence[str] = ()
    # What the moment of a timer was computed from, where it follows that.
    followed: str | None = None


def conclude_unsaid(context: InstanceContext, pending: PendingAction) -> HandlerResult:
    """Conclude with the refusal of what was to leave: its plan is a Rejected, and nothing leaves."""
    execution = context.execution
    decision_input = context.decision_input(execution.token_of(pending.step))
    return HandlerResult(conclude_refused(execution.workflow, pending.node, pending.plan, decision_input))


def describe_delivery(effect: EffectOutcome, *of_body: str) -> dict[str, Any]:
    """Return the evidence of a delivery, with the named values of the response's body."""
    response = effect.response_json if isinstance(effect.response_json, dict) else {}
    body = response.get("body")
    evidence = {name: response.get(name) for name in ("status", "duration_ms")}
    if isinstance(body, dict):
        evidence |= {name: body.get(name) for name in of_body}
    return {name: value for name, value in evidence.items() if value is not None}


def plan_effect(node: WorkflowNode, effect: Effect) -> Effect:
    """Add the retries that the author declares."""
    if node.config.get("retry") is None:
        return effect
    plan = describe_plan(node.config)
    payload = {**effect.payload, **plan}
    return replace(effect, payload=payload, max_attempts=parse_plan(plan).attempts)


def wait_for(context: InstanceContext, node: WorkflowNode, effect: Effect) -> HandlerResult:
    """Wait for an effect as patiently as its author declares; when its answer is late, wake the instance."""
    planned, timeout = plan_effect(node, effect), node.config.get("timeout")
    if timeout is None:
        return HandlerResult(None, planned)
    deadline = context.now + timedelta(seconds=parse_duration_seconds(timeout))
    context.wake_at(deadline)
    return HandlerResult(None, planned, resume_at=deadline)


def conclude_late(context: InstanceContext, node: WorkflowNode, step: Step) -> HandlerResult | None:
    """Conclude with an error where the answer did not come in time; what was not delivered is withdrawn."""
    wait = context.waits.get(step.token)
    if node.config.get("timeout") is None or wait is None or wait.resume_at is None:
        return None
    if wait.resume_at > context.now:
        return None
    reason = describe_timeout(node.config["timeout"])
    evidence = {"error": reason, "timed_out": True}
    tries = read_tries(context.documents.connection, context.tenant_id, step.id)
    is_ours = tries is None or tries.attempts == 0 or tries.was_paused or _is_ours(tries.error)
    return _conclude_failed(context, node, step, reason, evidence, is_ours=is_ours)


def conclude_undelivered(
    context: InstanceContext,
    node: WorkflowNode,
    step: Step,
    effect: EffectOutcome,
    delivery: Mapping[str, Any],
    otherwise: str,
) -> HandlerResult | None:
    """Conclude with an error where the effect will not be delivered any more."""
    reason = describe_undelivered(effect, otherwise)
    if reason is None:
        return None
    evidence = {"error": reason, **delivery}
    return _conclude_failed(context, node, step, reason, evidence, is_ours=_is_ours(effect.error))


def _conclude_failed(
    context: InstanceContext,
    node: WorkflowNode,
    step: Step,
    reason: str,
    evidence: Mapping[str, Any],
    *,
    is_ours: bool,
) -> HandlerResult:
    execution = context.execution
    decision_input = context.decision_input(execution.token_of(step))
    if is_ours:
        return HandlerResult(conclude_inside(execution.workflow, node, reason, decision_input, evidence))
    return HandlerResult(conclude_error(execution.workflow, node, reason, decision_input.env, evidence))


def _is_ours(error: str | None) -> bool:
    """Return whether the tenant has the error, and no other system: nothing was sent because of it."""
    return (error or "").partition(":")[0] in _OURS


def find_held(effect: EffectOutcome | None, node: WorkflowNode) -> Blocked | None:
    """Return why the step waits on, where its endpoint is missing or switched off, and the call is held."""
    if effect is None:
        return None
    # The release before wrote no code.
    is_coded = (effect.error or "").startswith(("ENDPOINT_DISABLED:", "ENDPOINT_UNKNOWN:"))
    reason = effect.error if is_coded else f"ENDPOINT_DISABLED: {effect.error}"
    return Blocked(str(reason), {"endpoint": node.config.get("endpoint")})


def describe_undelivered(effect: EffectOutcome, otherwise: str) -> str | None:
    """Return why the effect will not be delivered any more; None where it was."""
    code, _, _ = (effect.error or "").partition(":")
    match effect.status:
        case "withdrawn":
            return f"EFFECT_WITHDRAWN: {effect.error}"
        # What the tenant has not set up is no fault of the other system.
        case "dead_letter" | "discarded" if code in UNSENT_CODES:
            return effect.error
        case "dead_letter" | "discarded":
            return f"EFFECT_DEAD: {effect.error or otherwise}"
    return None


class NodeHandler(Protocol):
    def prepare(self, context: InstanceContext, node: WorkflowNode, token: Token) -> ActionPlan | Blocked: ...

    def act(self, context: InstanceContext, pending: PendingAction) -> HandlerResult: ...

    def resume(
        self, context: InstanceContext, node: WorkflowNode, step: Step
    ) -> HandlerResult | Blocked | None: ...
