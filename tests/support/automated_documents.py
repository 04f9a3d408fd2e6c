"""Automations of a stage: published, fired by its people, and what became of each firing."""

from collections.abc import Mapping, Sequence
from itertools import count, pairwise
from typing import Any
from uuid import UUID

from signet.core.tenants.caller import Caller
from tests.support.workflow_stage import WorkflowStage

SET = {"id": "mark", "type": "script", "config": {"set": {"seen": "entity.amount"}}}
POST = {"id": "post", "type": "action", "config": {"action": "post"}}
_NUMBERS = count()


def automate(
    stage: WorkflowStage,
    entity_type: str | None,
    trigger: Mapping[str, Any],
    *nodes: Mapping[str, Any],
    by: Caller | None = None,
    **more: Any,
) -> str:
    """Publish an automation of a name of its own, with these nodes in a row."""
    name = more.pop("name", None) or f"auto_{next(_NUMBERS)}"
    listed = nodes or (SET,)
    edges = [{"source": a["id"], "target": b["id"]} for a, b in pairwise(listed)]
    variables = {"seen": {"type": "int"}} if SET in listed else {}
    body = {
        "automation": name,
        "trigger": dict(trigger),
        "nodes": list(listed),
        "edges": edges,
        "variables": variables,
        **({"entity_type": entity_type} if entity_type is not None else {}),
        **more,
    }
    company = stage.standing.company
    publisher = by or company.caller()
    draft = company.definitions.create(publisher, "automation", body)
    company.definitions.publish(publisher, draft.id)
    return str(name)


def list_started(stage: WorkflowStage, name: str) -> list[dict[str, Any]]:
    """List the instances of an automation, the oldest first."""
    rows = stage.standing.rows(
        "SELECT to_jsonb(i) FROM workflow_instances i JOIN workflow_definitions d"
        " ON d.tenant_id = i.tenant_id AND d.id = i.definition_id"
        " WHERE i.kind = 'automation' AND d.name = %s ORDER BY i.id",
        name,
    )
    return [row[0] for row in rows]


def list_entries(stage: WorkflowStage, name: str) -> Sequence[tuple[str, str | None]]:
    """List what became of the firings of an automation, with the code where it did not start."""
    rows = stage.standing.rows(
        "SELECT e.entry, e.data ->> 'code' FROM workflow_event e JOIN automations a"
        " ON a.tenant_id = e.tenant_id AND a.id = e.subject_id"
        " WHERE e.subject_kind = 'automation' AND a.name = %s ORDER BY e.created_at, e.id",
        name,
    )
    return [(str(entry), code) for entry, code in rows]


def read_chain(stage: WorkflowStage, instance_id: UUID | str) -> Any:
    (chain,) = stage.standing.row("SELECT chain FROM instance_causes WHERE instance_id = %s", instance_id)
    return chain


def end_wait(stage: WorkflowStage, instance_id: str) -> None:
    """End the wait of an instance, as its timer does."""
    stage.standing.run(
        "UPDATE workflow_step_executions SET resume_at = now()"
        " WHERE instance_id = %s AND resume_at IS NOT NULL",
        instance_id,
    )
    stage.wake(UUID(instance_id))
    stage.drain()
