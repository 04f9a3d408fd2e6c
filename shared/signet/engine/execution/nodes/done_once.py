"""The things that a node has done behind the gate already, in any instance of its document."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from signet.core.canonical_json import content_hash
from signet.core.runtime.decisions import conclude
from signet.core.runtime.done_before import EarlierStep, find_done, is_done_once
from signet.core.runtime.execution import Blocked, PendingAction
from signet.core.runtime.operator_actions import OUTCOME_OF_SKIPPED
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Step
from signet.core.runtime.tokens import is_item
from signet.core.runtime.workflow import WorkflowNode
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import Effect, HandlerResult
from signet.ids import created_at_of
from signet.store.instances.earlier_steps import (
    EarlierStepRow,
    EffectOfStep,
    list_earlier,
    lock_effects_of_steps,
)


def find_done_before(
    context: InstanceContext, node: WorkflowNode, token: Token, content: Any
) -> EarlierStep | Blocked | None:
    """Find the step that has done what the node would do again; None where nothing was done.

    Without content nobody can tell whether it is the same.
    """
    document, workflow = context.document, context.execution.workflow
    if document is None or not is_done_once(workflow, token, document.status):
        return None
    rows = _since_request(context, node, _list_earlier(context, node))
    effects = lock_effects_of_steps(context.documents.connection, context.tenant_id, [row.id for row in rows])
    earlier = [_read(context, node, row, effects.get(row.id)) for row in rows]
    return find_done(node, token, None if content is None else content_hash(content), earlier)


def conclude_as_before(context: InstanceContext, pending: PendingAction, done: EarlierStep) -> HandlerResult:
    """End the step with the answer of the first time."""
    node, execution = pending.node, context.execution
    env = context.decision_input(execution.token_of(pending.step)).env
    env = {**env, "context": {**execution.projection.context, **done.variables}}
    outcome, evidence = OUTCOME_OF_SKIPPED[node.type.name], {"done_before": done.id}
    return HandlerResult(conclude(execution.workflow, node, outcome, env, evidence, done.variables))


def describe_call(effect: Effect) -> dict[str, Any]:
    """Describe what a call says, and its receiver, without how often it is tried."""
    return _describe(effect.endpoint, effect.payload)


def _describe(endpoint: str | None, payload: Any) -> dict[str, Any]:
    return {"endpoint": endpoint, "event": payload.get("event"), "payload": payload.get("payload")}


def _list_earlier(context: InstanceContext, node: WorkflowNode) -> list[EarlierStepRow]:
    """List the steps of the node since the last passed gate, the newest first, as they are in this wave."""
    document, changed = context.document, context.execution.changed.values()
    assert document is not None
    gate = context.execution.passed_gate
    own = [_make_row(context, step) for step in changed if step.node == node.id and step.seq > gate]
    # A gate that was passed in this wave lies behind all that the database knows.
    key = context.documents.connection, context.tenant_id, document.entity_type, document.id
    known = [] if gate else list_earlier(*key, node.id)
    ids = {row.id for row in own}
    return [*reversed(own), *(row for row in known if row.id not in ids)]


def _make_row(context: InstanceContext, step: Step) -> EarlierStepRow:
    return EarlierStepRow(
        step.id, context.row.id, step.token, step.status, created_at_of(step.id), step.to_output()
    )


def _since_request(
    context: InstanceContext, node: WorkflowNode, rows: Sequence[EarlierStepRow]
) -> Sequence[EarlierStepRow]:
    """Leave out what was done for earlier requests, where a person asks for the slot each time."""
    gate, request = context.execution.workflow.exit_gate_of(node.id), context.execution.projection.request
    if gate is None or gate.config["kind"] != "requested" or request is None:
        return rows
    asked = created_at_of(UUID(request))
    return [row for row in rows if row.created_at >= asked]


def _read(
    context: InstanceContext, node: WorkflowNode, row: EarlierStepRow, effect: EffectOfStep | None
) -> EarlierStep:
    """Read an earlier step. An answer that came when its step was cancelled counts."""
    output = row.output_json or {}
    evidence, variables = output.get("evidence", {}), output.get("variables", {})
    has_ended = row.status == "completed" or (row.status == "skipped" and not is_item(row.token_id))
    content = evidence.get("payload")
    if effect is not None:
        content = _describe(effect.endpoint, effect.payload_json)
    if effect is not None and not has_ended and node.config.get("save_as"):
        variables = {node.config["save_as"]: effect.response_json}
    return EarlierStep(
        id=str(row.id),
        token=row.token_id,
        is_own=row.instance_id == context.row.id,
        may_have_acted=has_ended or (effect is not None and effect.may_have_left),
        has_answer=(has_ended and not is_item(row.token_id))
        or (effect is not None and effect.status == "completed"),
        is_by_hand=row.status == "skipped" or "advanced_by" in evidence,
        content=content_hash(content),
        variables=variables,
    )
