"""The things that a node has done already: behind the gate, or for items that a retry leaves alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from signet.core.approvals.decided_way import DecidedWay
from signet.core.canonical_json import content_hash
from signet.core.errors import Rejected
from signet.core.repair.kept_items import KeptItem, KeptItems, name_kept, name_round
from signet.core.runtime.done_before import (
    EarlierStep,
    Resent,
    StepElsewhere,
    conclude_earlier,
    describe_call,
    find_done,
    find_done_elsewhere,
    hash_said,
)
from signet.core.runtime.execution import Blocked, PendingAction
from signet.core.runtime.go_to_targets import has_lasting_effect, is_behind_gate
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.projection import Step
from signet.core.runtime.result_bounds import render
from signet.core.runtime.tokens import ROOT, is_item
from signet.core.runtime.workflow import Workflow, WorkflowNode
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.decided_way import read_decided_way
from signet.engine.execution.nodes.handler import HandlerResult
from signet.store.documents.write import DocumentRow
from signet.store.instances.earlier_steps import (
    EarlierStepRow,
    EffectOfStep,
    StepElsewhereRow,
    list_done_elsewhere,
    list_earlier,
    lock_effects_of_steps,
)


def find_done_before(
    context: InstanceContext, node: WorkflowNode, token: Token
) -> EarlierStep | Resent | Blocked | None:
    """Find the step that has done what the node would do again; None where nothing was done.

    What was done counts since people decided last. Where nobody did, it counts since the last gate. Behind a
    decision another node may have done it, under another definition.
    """
    document, workflow = context.document, context.execution.workflow
    if document is None or not has_lasting_effect(workflow, node.id):
        return None
    way = read_decided_way(context)
    if not is_behind_gate(workflow, (token,), document.status, is_decided=way.is_decided):
        return None
    earlier = _read_earlier(context, workflow, node, document, way)
    said = hash_said(node, context.decision_input(token).env)
    if said is None:
        # A node that would say too much does nothing, and so repeats nothing.
        return None
    done = find_done(node, token, said, earlier)
    is_approved = is_behind_gate(workflow, (), document.status, is_decided=way.is_decided)
    return _find_done_elsewhere(context, node, said, way.since) if done is None and is_approved else done


def find_acted_ahead(
    context: InstanceContext, workflow: Workflow, node: WorkflowNode, way: DecidedWay
) -> EarlierStep | None:
    """Find a step by which a node has acted since people decided; a new instance meets it there."""
    document = context.document
    if document is None or not has_lasting_effect(workflow, node.id):
        return None
    if not is_behind_gate(
        workflow,
        (Token(ROOT, node.id, TokenState.READY, document.version),),
        document.status,
        is_decided=way.is_decided,
    ):
        return None
    earlier = _read_earlier(context, workflow, node, document, way)
    return next((step for step in earlier if step.may_have_acted), None)


def _read_earlier(
    context: InstanceContext, workflow: Workflow, node: WorkflowNode, document: DocumentRow, way: DecidedWay
) -> list[EarlierStep]:
    """Read what the node has done since people decided; where nobody did, since the last gate."""
    rows = _list_earlier(context, workflow, node, way.since)
    if not is_behind_gate(workflow, (), document.status, is_decided=way.is_decided):
        rows = [row for row in rows if not row.is_before_gate]
    effects = lock_effects_of_steps(context.documents.connection, context.tenant_id, [row.id for row in rows])
    return [_read(context, node, row, effects.get(row.id)) for row in rows]


def _find_done_elsewhere(
    context: InstanceContext, node: WorkflowNode, said: str, since: int
) -> Blocked | None:
    """Find what other nodes have done for the same decision under other definitions."""
    document = context.document
    assert document is not None
    definition = context.row.definition_id, context.row.definition_version
    key = context.documents.connection, context.tenant_id, document.entity_type, document.id
    rows = list_done_elsewhere(*key, node.id, definition, since)
    acted = (
        StepElsewhere(row.id, row.node_id, _find_workflow(context, row), _read_said_elsewhere(row))
        for row in rows
    )
    return find_done_elsewhere(context.execution.workflow, node, said, acted)


def _find_workflow(context: InstanceContext, row: StepElsewhereRow) -> Workflow | None:
    """Find the definition of a step; None where this release does not run it."""
    definition, documents = (row.definition_id, row.definition_version), context.documents
    try:
        return documents.compiled.read(documents.connection, context.tenant_id, *definition)
    except Rejected as rejected:
        if rejected.code != "WORKFLOW_COMPILER_STALE":
            raise
        return None


def conclude_as_before(context: InstanceContext, pending: PendingAction, done: EarlierStep) -> HandlerResult:
    """End the step as it ended the first time."""
    execution = context.execution
    env = context.decision_input(execution.token_of(pending.step)).env
    env = {**env, "context": execution.projection.context}
    return HandlerResult(conclude_earlier(execution.workflow, pending.node, done, env))


def _list_earlier(
    context: InstanceContext, workflow: Workflow, node: WorkflowNode, since: int
) -> list[EarlierStepRow]:
    """List the steps of the node since this version, the newest first, as they are in this wave."""
    document, execution = context.document, context.execution
    assert document is not None
    gates = workflow.list_gates_of_slot(node.id)
    passed, ended = execution.find_passed_gate(), execution.find_passed_gate(gates)
    own = [
        _make_row(context, step, is_before_gate=step.seq < passed, is_finished=step.seq < ended)
        for step in execution.changed.values()
        if step.node == node.id and step.version >= since
    ]
    key = context.documents.connection, context.tenant_id, document.entity_type, document.id
    known = list_earlier(*key, node.id, gates, since)
    # A gate that was passed in this wave lies behind all that the database knows.
    if passed:
        known = [replace(row, is_before_gate=True, is_finished=row.is_finished or ended > 0) for row in known]
    ids = {row.id for row in own}
    return [*reversed(own), *(row for row in known if row.id not in ids)]


def _make_row(
    context: InstanceContext, step: Step, *, is_before_gate: bool, is_finished: bool
) -> EarlierStepRow:
    return EarlierStepRow(
        step.id,
        context.row.id,
        step.token,
        step.status,
        step.to_output(),
        step.error,
        is_before_gate=is_before_gate,
        is_finished=is_finished,
    )


def _read(
    context: InstanceContext, node: WorkflowNode, row: EarlierStepRow, effect: EffectOfStep | None
) -> EarlierStep:
    """Read an earlier step. An answer that came when its step was cancelled counts."""
    output = row.output_json or {}
    evidence, variables = output.get("evidence", {}), output.get("variables", {})
    has_ended = row.status == "completed" or (row.status == "skipped" and not is_item(row.token_id))
    has_failed = row.status == "failed" and bool(output.get("chosen_edge_ids"))
    if effect is not None and not has_ended and node.config.get("save_as"):
        variables = {node.config["save_as"]: effect.response_json}
    return EarlierStep(
        id=str(row.id),
        token=row.token_id,
        is_own=row.instance_id == context.row.id,
        may_have_acted=has_ended or (effect is not None and effect.may_have_left),
        has_answer=((has_ended or has_failed) and not is_item(row.token_id))
        or (effect is not None and effect.status == "completed"),
        is_finished=row.is_finished,
        failed_id=(effect.first_id or effect.id) if effect is not None and effect.has_failed else None,
        content=_read_said(evidence, effect),
        variables=variables,
        error=row.error if has_failed else None,
    )


def _read_said(evidence: Any, effect: EffectOfStep | None) -> str:
    """Return the hash of what was said. What a person of an older release answered for is not known."""
    if effect is not None:
        return _hash_call(effect.endpoint, effect.payload_json)
    return str(evidence["said"]) if "said" in evidence else content_hash(evidence.get("payload"))


def _read_said_elsewhere(row: StepElsewhereRow) -> str:
    return (
        _read_said(row.evidence or {}, None)
        if row.payload_json is None
        else _hash_call(row.endpoint, row.payload_json)
    )


def _hash_call(endpoint: str | None, message: Any) -> str:
    return content_hash(describe_call(endpoint, message.get("event"), message.get("payload")))


def read_kept(context: InstanceContext, node: WorkflowNode, token_id: str, items: Sequence[Any]) -> KeptItems:
    """Read what the round of the token has done of these items."""
    stored = context.execution.projection.context.get(name_kept(node.id))
    return KeptItems(stored, name_round(context.name, token_id), items)


def find_kept(
    context: InstanceContext, node: WorkflowNode, token: Token, kept: KeptItems, index: int, item: Any
) -> KeptItem | None:
    """Find what has done the item: one that says the same, or that the action was given the same for."""
    before = kept.find(index)
    if before is not None or not kept.has_left:
        return before
    given = render(node, "/payload", {**context.decision_input(token).env, "item": item})
    return None if isinstance(given, Rejected) else kept.find_given(index, given[0])


def list_repeated_items(context: InstanceContext) -> list[str]:
    """List the nodes about to be tried again that would do more of their list than had failed."""
    nodes = context.execution.workflow.nodes
    listed = [
        token
        for token in context.execution.projection.position.ready()
        if nodes[token.node].config.get("each") == "keep"
    ]
    if listed:
        context.documents.refs.load(list(context.list_ref_queries()))
    return sorted({token.node for token in listed if _repeats(context, nodes[token.node], token)})


def _repeats(context: InstanceContext, node: WorkflowNode, token: Token) -> bool:
    value = node.expressions["/for_each"].value(context.decision_input(token).env)
    items = value if isinstance(value, list) else []
    kept = read_kept(context, node, token.id, items)
    for index, item in enumerate(items):
        find_kept(context, node, token, kept, index, item)
    return kept.repeats
