"""Everything that a wave writes of an instance: the rows of its steps, its history, effects and triggers.

Requests that it refuses, and approvals that it leaves unused, are written with it.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.canonical_json import content_hash
from signet.core.documents.personal_data import mask_said, mask_variables
from signet.core.errors import Defect
from signet.core.moments.followed import is_followed
from signet.core.runtime.idempotency_keys import effect_key, join_key, step_key
from signet.core.runtime.projection import CONTROL, Actor, Projection, Step
from signet.core.runtime.tokens import ROOT, origin_of, root_of
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.principal import SYSTEM_SUBJECT
from signet.engine.documents.commands import Applied, ConcludeTransition
from signet.engine.documents.paused_requests import REQUEST_WITHDRAWN
from signet.engine.documents.rules import KeepResponsible
from signet.engine.execution.nodes.context import InstanceContext
from signet.engine.execution.nodes.handler import Effect
from signet.ids import created_at_of, make_id
from signet.store.database import Connection
from signet.store.instances.event_waits import hold_waits
from signet.store.instances.waves import WaveRows
from signet.store.json_values import to_json
from signet.store.outbox.queue import make_trigger

# Of what a node was given: larger input leaves its size and its hash.
MAX_INPUT_BYTES = 16_384


def make_step_row(context: InstanceContext, step: Step) -> dict[str, Any]:
    """Make the row of a new step, and give the step its id."""
    step.id = make_id()
    node = context.execution.workflow.nodes.get(step.node)
    row = make_change_row(context, step)
    if step.given is not None:
        row["input"] = _bound(_mask_given(context, step.given))
    row["instance_id"] = context.row.id
    row["seq"] = step.seq
    row["node_id"] = step.node
    row["node_type"] = node.type.name if node is not None else "control"
    row["token_id"] = step.token
    row["entity_version"] = step.version
    row["run_as"] = node.run_as if node is not None else _name_channel(step)
    row["actor_id"] = context.actor_of(node).id if node is not None else _name_actor(step)
    actor = step.actor if node is None and step.actor is not None else context.execution.projection.actor
    row["responsible"] = context.keep_responsible(actor)
    row["idempotency_key"] = "\\x" + _key_of(context.name, step).hex()
    row["trace_id"] = context.trace_id
    if node is not None and node.type.name == "approval" and context.document is not None:
        row["snapshot_version_id"] = context.document.snapshot_id
    if node is not None and node.type.name == "state":
        context.has_come_to_state = True
    return row


def make_change_row(context: InstanceContext, step: Step) -> dict[str, Any]:
    """Make the columns of a step's row that may change until it has ended."""
    happened = max(step.seq, step.end_seq or 0), step.seq
    if happened > context.last_step[0]:
        context.last_step = happened, step.id
    row = {
        "id": step.id,
        "created_at": created_at_of(step.id),
        "status": step.status,
        "version_after": step.version_after,
        "error": step.error,
    }
    if step.end_seq is not None:
        row["end_seq"] = step.end_seq
        row["output"] = _mask(context, step, step.to_output())
    elif step.token in context.waits:
        wait = context.waits[step.token]
        row["resume_at"] = wait.resume_at
        row["waiting_for_event_key"] = wait.waiting_for_event_key
        request = context.approvals.find_of_step(context.row.id, step.id)
        if request is not None:
            row["approval_request_id"] = request.id
    return row


def _name_actor(step: Step) -> str:
    """Return who made a control step, by an act or by a request; else the engine itself."""
    return step.actor.id if step.actor is not None else SYSTEM_SUBJECT


def _name_channel(step: Step) -> str:
    return "actor" if step.actor is not None else "system"


def _key_of(instance_id: str, step: Step) -> bytes:
    if step.epoch is not None and step.status != "cancelled":
        return join_key(instance_id, step.node, step.epoch)
    if step.is_control:
        # A control step has no token: its number tells it from others, and two of one number must not be.
        return step_key(instance_id, CONTROL, f"seq:{step.seq}", 0)
    return step_key(instance_id, step.node, step.token, step.version)


def _mask(context: InstanceContext, step: Step, output: dict[str, Any]) -> dict[str, Any]:
    """Mask personal values in a step's evidence; a control step is evidence as a whole."""
    document = context.document if "evidence" in output or step.is_control else None
    if document is None:
        return output
    personal = context.documents.contract_of(document).personal_fields
    if not personal:
        return output
    values = list((document.personal or {}).values())
    masked = output if step.is_control else {"evidence": output["evidence"]}
    return {**output, **{name: _mask_within(value, personal, values) for name, value in masked.items()}}


def _mask_given(context: InstanceContext, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Mask personal values in what a node was given, as in its evidence."""
    document = context.document
    personal = context.documents.contract_of(document).personal_fields if document is not None else ()
    if document is None or not personal:
        return given
    values = list((document.personal or {}).values())
    return {name: _mask_named(name, value, personal, values) for name, value in given.items()}


def _bound(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the input of a step, or its size and hash where it is larger than what steps keep."""
    size = len(to_json([given]))
    return given if size <= MAX_INPUT_BYTES else {"omitted": {"bytes": size, "hash": content_hash(given)}}


def _mask_within(evidence: Any, personal: Sequence[str], values: Sequence[Any]) -> Any:
    """Mask personal values at any depth: inputs under `variables`, results under `result` or `payload`."""
    if isinstance(evidence, Mapping):
        return {name: _mask_named(name, value, personal, values) for name, value in evidence.items()}
    if isinstance(evidence, (list, tuple)):
        return [_mask_within(item, personal, values) for item in evidence]
    return evidence


def _mask_named(name: str, value: Any, personal: Sequence[str], values: Sequence[Any]) -> Any:
    if name == "variables" and isinstance(value, Mapping):
        return mask_variables(value, personal)
    if name in ("result", "payload", "items"):
        return mask_said(value, values)
    return _mask_within(value, personal, values)


def make_deadline_row(context: InstanceContext) -> dict[str, Any]:
    """Make the row of an instance that has taken no step, and waits for another moment."""
    return {"id": context.row.id, "timeout_at": _find_deadline(context)}


def _find_deadline(context: InstanceContext) -> datetime | None:
    deadlines = [
        wait.resume_at
        for token_id, wait in context.waits.items()
        if wait.resume_at is not None and token_id in context.execution.open
    ]
    return min(deadlines, default=None)


def make_instance_row(context: InstanceContext) -> dict[str, Any]:
    projection = context.execution.projection
    return {
        **describe_projection(projection, context.execution.workflow, context.documents.keep_responsible),
        "id": context.row.id,
        "timeout_at": _find_deadline(context) if projection.status in ("running", "paused") else None,
        "last_step_id": context.last_step[1],
    }


def describe_projection(projection: Projection, workflow: Workflow, keep: KeepResponsible) -> dict[str, Any]:
    """Return the columns that follow from the projection alone, live or rebuilt."""
    nodes = projection.position.current_nodes()
    window = workflow.strictest_window(nodes) if projection.status in ("running", "paused") else None
    return {
        "status": projection.status,
        "reason": projection.reason,
        "version": projection.version,
        "entity_version": projection.entity_version,
        "active_tokens": [token.to_json() for token in projection.tokens()],
        "current_nodes": nodes,
        "edit_window": window[0] if window else None,
        "edit_window_node": window[1] if window else None,
        "context": projection.context,
        "actor_id": projection.actor.id,
        "actor_roles": list(projection.actor.roles),
        "responsible": keep(projection.actor.responsible),
        "pins": projection.pins,
        "request_id": projection.request,
    }


def make_history_rows(context: InstanceContext) -> list[dict[str, Any]]:
    """Make a line for the beginning of the instance, and one for a change of its status."""
    projection, entries = context.execution.projection, []
    if context.row.version == 0:
        entries.append("started")
    if projection.status != context.row.status:
        entries.append("resumed" if projection.status == "running" else projection.status)
    reason = {"reason": projection.reason} if projection.reason else {}
    # A wave pauses for a reason of its own, and not for the person that it acts for.
    actors = {"paused": Actor(SYSTEM_SUBJECT)}
    return [
        make_history_row(
            context, entry, actors.get(entry, projection.actor), {} if entry == "started" else reason
        )
        for entry in entries
    ]


def make_history_row(
    context: InstanceContext, entry: str, actor: Actor, data: Mapping[str, Any]
) -> dict[str, Any]:
    identifier = make_id()
    return {
        "id": identifier,
        "created_at": created_at_of(identifier),
        "instance_id": context.row.id,
        "entry": entry,
        "actor_id": actor.id or SYSTEM_SUBJECT,
        "responsible": context.keep_responsible(actor),
        "step_id": context.last_step[1],
        "data": data,
        "trace_id": context.trace_id,
    }


def make_effect_row(context: InstanceContext, step: Step, effect: Effect) -> dict[str, Any]:
    identifier = make_id()
    return {
        "id": identifier,
        "created_at": created_at_of(identifier),
        "instance_id": context.row.id,
        "step_id": step.id,
        "effect_type": effect.effect_type,
        "endpoint": effect.endpoint,
        "payload": effect.payload,
        "max_attempts": effect.max_attempts,
        "idempotency_key": f"\\x{effect_key(step.id, effect.effect_type, effect.payload).hex()}",
        "trace_id": context.trace_id,
    }


def add_effect_rows(rows: WaveRows, context: InstanceContext, step: Step, effect: Effect) -> None:
    """Add the row of an effect, and once more where it may repeat an earlier one."""
    rows.effects.append(row := make_effect_row(context, step, effect))
    origin = origin_of(step.token)
    is_sent_back = origin is not None or root_of(step.token) != ROOT
    if effect.first_id is not None or is_sent_back or context.row.birth == "restarted":
        rows.repeating.append(row | {"token": origin, "first_id": effect.first_id})


def hold_event_waits(
    connection: Connection, tenant_id: UUID, contexts: Mapping[UUID, InstanceContext]
) -> Collection[UUID]:
    """Hold what has begun to wait, and lock the keys of what has ended. Return who is offered a kept event.

    All keys of a wave are locked together and in order, at its end: so no two waves wait for each other.
    """
    rows, ended = [], []
    for context in contexts.values():
        execution = context.execution
        for step in execution.changed.values():
            node = execution.workflow.nodes.get(step.node)
            if node is None or node.type.name != "wait_event" or step.id is None:
                continue
            if execution.open.get(step.token) is not step:
                ended.append(step.id)
                continue
            rows += [
                {
                    "event_key": key,
                    "step_id": step.id,
                    "instance_id": context.row.id,
                    "payload_schema": node.config.get("schema"),
                }
                for key in context.waits[step.token].new_keys
            ]
    return hold_waits(connection, tenant_id, rows, ended) if rows or ended else ()


def make_continuation(context: InstanceContext, due_at: datetime | None = None) -> dict[str, Any]:
    """Make a trigger for what this wave leaves to the next."""
    projection = context.execution.projection
    trigger = make_trigger(
        context.row.id,
        "continue",
        {},
        context.trace_id,
        entity_version=projection.entity_version,
        due_at=due_at,
    )
    return trigger | {"responsible": context.documents.keep_responsible(projection.actor.responsible)}


def has_ready_tokens(context: InstanceContext) -> bool:
    return context.execution.is_running and bool(context.execution.projection.position.ready())


def is_asked(context: InstanceContext) -> bool:
    """Return whether a request or its withdrawal reaches the instance, also while it is paused."""
    document, execution = context.document, context.execution
    if context.is_automation or document is None or not execution.is_live:
        return False
    if document.request_id is None:
        return context.has_trigger(REQUEST_WITHDRAWN)
    return str(document.request_id) != execution.projection.request


def refuse_request(context: InstanceContext, transition: str, reason: str, step_id: UUID | None) -> None:
    """Refuse the document's open request. It says why, and so does the audit trail of the document."""
    document = context.document
    if document is None or document.request_id is None:
        return
    operation = ConcludeTransition(document.id, transition, None, "refused", reason)
    refused = context.documents.execute(context.system_caller(step_id), operation)
    if not isinstance(refused, Applied):
        raise Defect("REFUSAL_REJECTED", f"a request could not be refused: {refused.message}")


def refuse_after_end(context: InstanceContext) -> None:
    """Refuse the request that is open when the instance has ended: it can no longer be served."""
    projection, document = context.execution.projection, context.document
    if context.is_automation or context.execution.is_live:
        return
    if document is not None and document.requested is not None:
        reason = projection.reason or f"the workflow has ended: {projection.status}"
        refuse_request(context, document.requested, reason, context.last_step[1])


def settle_waits(context: InstanceContext) -> None:
    """Pin the variables of new requests, void those that count no more, and let waits follow the document."""
    context.approvals.pin_variables(context.row.id, context.execution)
    open_steps = {step.id for step in context.execution.open.values()}
    version = context.document.version if context.document is not None else 0
    has_moved_on = context.has_come_to_state or not context.execution.is_live
    context.approvals.void_what_is_left(context.row.id, open_steps, version, has_moved_on=has_moved_on)
    has_written = any(step.version_after > step.version for step in context.execution.changed.values())
    if has_written and any(is_followed(wait.waiting_for_event_key or "") for wait in context.waits.values()):
        context.wake_at(context.now)
