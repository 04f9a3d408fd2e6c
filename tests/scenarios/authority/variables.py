"""Documents with variables that a condition reads, and the stage of those who write and decide about them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, submit
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], "quorum": "any"}}
OLGA = {"id": "olga", "type": "approval", "config": {"approvers": [{"by": "user", "user": "olga"}]}}
SUM = {"id": "sum", "type": "script", "config": {"set": {"payable": "entity.amount"}}}
CHECK = {"id": "check", "type": "webhook_out", "config": {"endpoint": "erp"}}
SCORE = {
    "id": "score",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"amount": "{entity.amount}"}, "save_as": "score"},
}
PAY = {
    "id": "pay",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"sum": "{entity.amount}"}},
}
PAY_SUM = {**PAY, "config": {"endpoint": "erp", "payload": {"sum": "{context.payable}"}}}
CHOICE = {"id": "choice", "type": "condition"}


def choosing(condition: str, *before: Any) -> dict[str, Any]:
    """Return a slot that asks people about large amounts, and checks small ones by a call."""
    return {
        "nodes": [*before, CHOICE, LOOK, CHECK],
        "edges": [
            *({"source": node["id"], "target": "choice"} for node in before),
            {"source": "choice", "target": "look", "condition": condition},
            {"source": "choice", "target": "check"},
            {"source": "look", "target": "out"},
            {"source": "check", "target": "out"},
        ],
        "exit": "join",
    }


LARGE = "context.payable > 1000"


@contextmanager
def stage_of_variables(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("app1", "app2", "carl", "olga")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def incidents(stage: WorkflowStage, made: Made) -> list[tuple[str, str]]:
    rows = stage.standing.rows(
        "SELECT code, node_id FROM incidents WHERE entity_id = %s AND closed_at IS NULL ORDER BY id", made.id
    )
    return [(code, node) for code, node in rows]


def paid(stage: WorkflowStage, made: Made) -> list[Any]:
    rows = stage.standing.rows(
        "SELECT e.payload_json -> 'payload' ->> 'sum' FROM workflow_side_effects_outbox e"
        " JOIN workflow_instances i ON i.tenant_id = e.tenant_id AND i.id = e.instance_id"
        " WHERE i.entity_id = %s AND e.payload_json -> 'payload' ? 'sum' ORDER BY e.id",
        made.id,
    )
    return [row[0] for row in rows]


def submitted(stage: WorkflowStage, amount: int, **slots: Any) -> Made:
    made = stage.create(stage.publish(**{"posting": {"nodes": [PAY]}, **slots}), "carl", amount=amount)
    submit(stage, made, "carl")
    return made


HELD = [("VARIABLE_OUTDATED", "usr:approval:choice")]
