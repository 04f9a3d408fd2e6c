"""A role with thousands of members: none is overlooked as a voter or when turns rotate."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from signet.engine.approvals.inbox import Approvals
from signet.store.approvals.requests import MEMBERS_IN_A_PAGE
from tests.support.core.approval_policies import role, user
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

CROWD = MEMBERS_IN_A_PAGE + 100


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        run, tenant = made.standing.run, made.tenant_id
        run("INSERT INTO roles VALUES (%s, 'crowd', '{*:approve}')", tenant)
        run(
            "INSERT INTO members (tenant_id, user_id, display_name)"
            " SELECT %s, 'c' || lpad(n::text, 5, '0'), 'c' FROM generate_series(1, %s) n",
            tenant,
            CROWD,
        )
        run(
            "INSERT INTO member_roles SELECT tenant_id, user_id, 'crowd' FROM members WHERE user_id <> 'carl'"
        )
        run("INSERT INTO members (tenant_id, user_id, display_name) VALUES (%s, 'zoe', 'Zoe')", tenant)
        run("INSERT INTO member_roles VALUES (%s, 'zoe', 'voter')", tenant)
        yield made


def submitted(stage: WorkflowStage, **config: Any) -> tuple[Made, UUID]:
    node = {"id": "look", "type": "approval", "config": config}
    document = stage.create(stage.publish(approval={"nodes": [node]}))
    stage.ask(document.id, "submit")
    stage.drain()
    query = "SELECT id FROM approval_requests WHERE document_id = %s"
    return document, UUID(str(stage.standing.row(query, document.id)[0]))


def test_who_comes_after_a_thousand_others_is_still_waited_for(stage: WorkflowStage) -> None:
    document, request_id = submitted(stage, approvers=[role("crowd"), user("zoe")])
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    assert approvals.decide(company.caller("c00001"), request_id, "approved").stage_state == "open"
    stage.wake(document.instance_id)
    stage.drain()
    assert stage.instance(document.instance_id)["status"] == "running"
    approvals.decide(company.caller("zoe"), request_id, "approved")
    stage.drain()
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize("turn", [0, CROWD - 1, CROWD])
def test_everybodys_turn_comes(stage: WorkflowStage, turn: int) -> None:
    stage.standing.run("DELETE FROM approval_turns")
    stage.standing.run("INSERT INTO approval_turns VALUES (%s, 'crowd', %s)", stage.tenant_id, turn)
    _, request_id = submitted(stage, approvers=[role("crowd", "round_robin")])
    query = "SELECT holder_user_id FROM approval_seats WHERE request_id = %s"
    assert stage.standing.row(query, request_id) == (f"c{turn % CROWD + 1:05}",)
