"""Workflows that wait for events, and the events that tests send them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, LiteralString

from signet.engine.integrations.inbound_events import InboundEvents, TakenEvent
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

KEY = "paid:{entity.number}"
STEPS: LiteralString = (
    "SELECT status, input_json, output_json, resume_at FROM workflow_step_executions"
    " WHERE instance_id = %s AND node_type = 'wait_event' ORDER BY seq"
)
# Nobody waits in a test: the moments go back, as if so much time had passed.
MOMENTS: tuple[LiteralString, ...] = (
    "UPDATE workflow_step_executions SET resume_at = resume_at - %s"
    " WHERE resume_at IS NOT NULL AND instance_id = %s",
    "UPDATE workflow_events_outbox SET due_at = due_at - %s WHERE instance_id = %s",
    "UPDATE workflow_instances SET timeout_at = timeout_at - %s WHERE id = %s",
)
# In this state people edit while the slot of an automatic way waits.
EDITABLE: Mapping[str, Any] = {
    **CONTRACT,
    "states": {**CONTRACT["states"], "submitted": {"edit": "editable"}},
}


def waiting(key: str = KEY, **config: Any) -> dict[str, Any]:
    """Return a slot with one wait for an event; a timeout goes on, too."""
    node = {"id": "wait", "type": "wait_event", "config": {"key": key, **config}}
    if "timeout" not in config:
        return {"nodes": [node]}
    late = {"id": "late", "type": "wait_timer", "config": {"for": "P9D"}}
    then = {"id": "then", "type": "script", "config": {"set": {"is_over": "true"}}}
    edges = [
        {"source": "wait", "target": "then", "on": "received"},
        {"source": "wait", "target": "late", "on": "timeout"},
        {"source": "late", "target": "then"},
    ]
    return {"nodes": [node, late, then], "edges": edges}


def wait_in(stage: WorkflowStage, number: str, slot: Mapping[str, Any], **changes: Any) -> Made:
    """Submit a document of this number, whose approval slot waits for an event."""
    document = stage.create(stage.publish({**CONTRACT, **changes}, approval=slot), number=number)
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def send(
    stage: WorkflowStage, key: str, payload: Any = None, *, by: str = "erika", **options: Any
) -> TakenEvent:
    """Send an event with the token of a person who may."""
    company = stage.standing.company
    events = InboundEvents(company.database, lambda tenant_id, name: None)
    message_id = options.pop("message_id", None)
    return events.send(company.caller(by, "admin"), key, message_id, payload, **options)


def steps(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(STEPS, document.instance_id)


def pass_time(stage: WorkflowStage, document: Made, time: timedelta) -> None:
    for statement in MOMENTS:
        stage.standing.run_unguarded(statement, time, document.instance_id)
    stage.drain()
