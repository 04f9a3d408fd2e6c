"""The moment that an approval waits for is that of the stage that is open, in each row that says it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import pytest

from signet.engine.approvals.chains import ApprovalChains
from signet.engine.approvals.inbox import Approvals
from signet.engine.instances.lists import list_stuck
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

ROLES = {"mona": "finance", "anna": "board"}
PASS: LiteralString = "- interval '2 hours'"
REQUEST: LiteralString = (
    "SELECT id, stage, status, escalate_at, expire_at FROM approval_requests WHERE instance_id = %s"
)
STEP: LiteralString = (
    "SELECT resume_at FROM workflow_step_executions WHERE instance_id = %s AND node_type = 'approval'"
    " AND status = 'running'"
)
FINANCE = {"by": "role", "role": "finance"}
BOARD = {"by": "role", "role": "board"}
WIDER = {"after": "PT1H", "to": BOARD}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        tenant = made.tenant_id
        for user_id, role in ROLES.items():
            made.standing.run("INSERT INTO roles VALUES (%s, %s, '{*:approve}')", tenant, role)
            made.standing.run("INSERT INTO members VALUES (%s, %s, %s)", tenant, user_id, user_id)
            for held in (role, "voter"):
                made.standing.run("INSERT INTO member_roles VALUES (%s, %s, %s)", tenant, user_id, held)
        yield made


def submitted(stage: WorkflowStage, **config: Any) -> Made:
    look = {"id": "look", "type": "approval", "config": config}
    document = stage.create(stage.publish(approval={"nodes": [look]}))
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def request_of(stage: WorkflowStage, document: Made) -> dict[str, Any]:
    names = ("id", "stage", "status", "escalate_at", "expire_at")
    return dict(zip(names, stage.standing.row(REQUEST, document.instance_id), strict=True))


def deadlines_of(stage: WorkflowStage, document: Made) -> tuple[datetime | None, datetime | None]:
    """Return the moments of the open step and of the instance."""
    (of_step,) = stage.standing.row(STEP, document.instance_id)
    of_instance: LiteralString = "SELECT timeout_at FROM workflow_instances WHERE id = %s"
    return of_step, stage.standing.row(of_instance, document.instance_id)[0]


def let_two_hours_pass(stage: WorkflowStage, document: Made) -> None:
    """Move all moments of the instance back, as if it had been waiting for so long."""
    for table, column, key in MOMENTS:
        statement: Any = f"UPDATE {table} SET {column} = {column} {PASS} WHERE {key} = %s"
        stage.standing.run_unguarded(statement, document.instance_id)
    stage.wake(document.instance_id)
    stage.drain()


MOMENTS = (
    ("approval_requests", "escalate_at", "instance_id"),
    ("approval_requests", "expire_at", "instance_id"),
    ("workflow_step_executions", "resume_at", "instance_id"),
    ("workflow_instances", "timeout_at", "id"),
    ("workflow_instances", "updated_at", "id"),
)


def is_stuck(stage: WorkflowStage, document: Made) -> bool:
    stuck = list_stuck(stage.standing.company.database, stage.tenant_id, idle_seconds=0.0)
    return document.instance_id in {row.id for row in stuck}


def test_after_an_escalation_it_waits_for_the_end_of_the_stage(stage: WorkflowStage) -> None:
    document = submitted(stage, approvers=[FINANCE], escalate=WIDER, expire_after="P3D")
    asked = request_of(stage, document)
    assert deadlines_of(stage, document) == (asked["escalate_at"], asked["escalate_at"])
    let_two_hours_pass(stage, document)
    escalated = request_of(stage, document)
    assert escalated["escalate_at"] < datetime.now(UTC) < escalated["expire_at"]
    assert deadlines_of(stage, document) == (escalated["expire_at"], escalated["expire_at"])
    stage.standing.run("DELETE FROM workflow_events_outbox")
    assert not is_stuck(stage, document)
    stage.check_rebuild(document.instance_id)


def test_after_an_escalation_without_an_end_it_waits_for_people_alone(stage: WorkflowStage) -> None:
    document = submitted(stage, approvers=[FINANCE], escalate=WIDER)
    let_two_hours_pass(stage, document)
    assert deadlines_of(stage, document) == (None, None)
    stage.standing.run("DELETE FROM workflow_events_outbox")
    assert not is_stuck(stage, document)
    stage.check_rebuild(document.instance_id)


def test_the_next_stage_has_moments_of_its_own(stage: WorkflowStage) -> None:
    company = stage.standing.company
    chains, caller = ApprovalChains(company.database), company.caller()
    steps = [{"approvers": [FINANCE], "expire_after": "P1D"}, {"approvers": [BOARD], "expire_after": "P9D"}]
    chains.save(caller, {"name": "two", "steps": steps})
    chains.publish(caller, "two", 1)
    document = submitted(stage, chain="two")
    first = request_of(stage, document)
    assert deadlines_of(stage, document) == (first["expire_at"], first["expire_at"])
    approvals = Approvals(company.database, stage.caches())
    approvals.decide(company.caller("mona"), UUID(str(first["id"])), "approved", "seen")
    stage.drain()
    second = request_of(stage, document)
    assert second["stage"] == 2 and second["expire_at"] - first["expire_at"] > timedelta(days=7)
    assert deadlines_of(stage, document) == (second["expire_at"], second["expire_at"])
    stage.check_rebuild(document.instance_id)


def test_a_wave_that_moves_no_moment_writes_none(stage: WorkflowStage) -> None:
    document = submitted(stage, approvers=[FINANCE], escalate=WIDER, expire_after="P3D")
    before = stage.standing.row("SELECT xmin FROM workflow_instances WHERE id = %s", document.instance_id)
    stage.wake(document.instance_id)
    stage.drain()
    after = stage.standing.row("SELECT xmin FROM workflow_instances WHERE id = %s", document.instance_id)
    assert before == after
