"""Documents whose workflows wait for a call, and connectors with prepared answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from signet.engine.integrations.effects import Effects
from signet.outbound.connector import Connector, Delivery, OutboundMessage
from tests.support.workflow_stage import CALL, Made, WorkflowStage

EDGES = [
    {"source": "call", "target": "out"},
    {"source": "call", "target": "failed", "on": "error"},
    {"source": "failed", "target": "out"},
]
FAILED = {"id": "failed", "type": "script", "config": {"set": {"failed": "true"}}}


@dataclass
class Answering:
    """A connector that gives a prepared answer and keeps the messages it was given."""

    delivery: Delivery = field(default_factory=lambda: Delivery(200, None, {"ok": True}))
    given: list[OutboundMessage] = field(default_factory=list)

    def deliver(self, message: OutboundMessage) -> Delivery:
        self.given.append(message)
        return self.delivery


def begin(stage: WorkflowStage, node: Mapping[str, Any] = CALL, count: int = 1) -> list[Made]:
    """Create and submit documents, so that their workflows wait for a call."""
    edges = [{**edge, "source": edge["source"].replace("call", node["id"])} for edge in EDGES]
    contract = stage.publish(checks={"nodes": [node, FAILED], "edges": edges, "exit": "join"})
    made = [stage.create(contract) for _ in range(count)]
    for one in made:
        stage.ask(one.id, "submit")
    stage.drain()
    return made


def add_endpoint(
    stage: WorkflowStage, url: str = "https://erp.example/", *refs: str, name: str = "erp"
) -> None:
    stage.standing.run(
        "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by)"
        " VALUES (%s, %s, %s, %s, 'carl')"
        " ON CONFLICT (tenant_id, name) DO UPDATE SET url = excluded.url, secret_refs = excluded.secret_refs",
        stage.tenant_id,
        name,
        url,
        list(refs or ("new",)),
    )


def effects(stage: WorkflowStage, **connectors: Connector) -> Effects:
    return Effects(stage.database, connectors)


def endpoint(stage: WorkflowStage) -> tuple[Any, ...]:
    """Return (status, failures, whether it rests)."""
    return stage.standing.row("SELECT status, failures, rests_until > now() FROM endpoints")


def rows(stage: WorkflowStage) -> list[tuple[Any, ...]]:
    return stage.standing.rows("SELECT status, attempts FROM workflow_side_effects_outbox ORDER BY id")


def list_may_have_left(stage: WorkflowStage) -> list[bool]:
    """Return of each effect whether it may have left."""
    found = stage.standing.rows("SELECT left_at IS NOT NULL FROM workflow_side_effects_outbox ORDER BY id")
    return [has_left for (has_left,) in found]


def come_due(stage: WorkflowStage) -> None:
    stage.standing.run("UPDATE workflow_side_effects_outbox SET due_at = now() - interval '1 second'")
