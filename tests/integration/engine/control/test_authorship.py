"""Authors of the control in the approver's view, and in the explanation of an instance."""

from typing import LiteralString
from uuid import UUID

import pytest

from signet.core.explain.instance import write_instance
from signet.engine.approvals.chains import ApprovalChains
from signet.engine.approvals.inbox import ApprovalRequest, Approvals
from signet.engine.instances.explain import explain
from tests.support.core.approval_policies import role, user
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

NEWEST: LiteralString = "SELECT id FROM approval_requests WHERE document_id = %s"
ALONE = {"authors": ["carl"], "published_by": "carl", "publishers": ["carl"]}


@pytest.fixture
def anton(stage: WorkflowStage) -> str:
    stage.add_member("anton")
    return "anton"


def ask(stage: WorkflowStage, **config: object) -> tuple[Made, ApprovalRequest]:
    """Ask about a document under a workflow that carl wrote and published alone."""
    node = {"id": "look", "type": "approval", "config": config}
    made = stage.create(stage.publish(CONTRACT, approval={"nodes": [node]}), "dora")
    stage.ask(made.id, "submit", "dora")
    stage.drain()
    (request_id,) = stage.standing.row(NEWEST, made.id)
    return made, read(stage, request_id)


def read(stage: WorkflowStage, request_id: UUID) -> ApprovalRequest:
    approvals = Approvals(stage.standing.company.database, stage.caches())
    return approvals.read_request(stage.standing.company.caller("anton"), request_id)


def test_a_request_names_who_made_its_control_alone(stage: WorkflowStage, anton: str) -> None:
    _, request = ask(stage, approvers=[user(anton)])
    assert request.control.single_author == ["carl"]
    assert request.control.definition == request.control.contract
    assert request.control.definition is not None
    assert request.control.definition.authors == ALONE["authors"]
    assert request.control.chains == {}
    assert request.seated_authors == []


@pytest.mark.parametrize("by", ["user", "role"])
def test_an_author_who_is_asked_is_shown(stage: WorkflowStage, anton: str, by: str) -> None:
    own = user("carl") if by == "user" else role("clerk")
    _, request = ask(stage, approvers=[own, user(anton)], quorum="any")
    assert request.seated_authors == ["carl"]


def test_a_request_names_who_made_its_chain(stage: WorkflowStage, anton: str) -> None:
    chains, company = ApprovalChains(stage.standing.company.database), stage.standing.company
    chains.save(company.caller("cora"), {"name": "own", "steps": [{"approvers": [user(anton)]}]})
    chains.publish(company.caller("cora"), "own", 1)
    _, request = ask(stage, chain="own")
    assert request.control.single_author == ["carl", "cora"]
    assert request.control.chains["own"].published_by == "cora"


def test_rows_without_authors_say_so(stage: WorkflowStage, anton: str) -> None:
    _, request = ask(stage, approvers=[user(anton)])
    run = stage.standing.run
    for table in ("contracts", "workflow_definitions"):
        run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        run(f"UPDATE {table} SET authors = NULL, published_by = NULL, publishers = NULL")
        run(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    shown = read(stage, request.id).control
    for part in (shown.definition, shown.contract):
        assert part is not None
        assert (part.authors, part.published_by, part.publishers) == (None, "carl", None)
    assert shown.single_author == []


def test_an_explanation_names_who_made_the_control_alone(stage: WorkflowStage, anton: str) -> None:
    made, _ = ask(stage, approvers=[user(anton)])
    database, contracts = stage.standing.company.database, stage.caches().contracts
    explained = explain(database, contracts, stage.tenant_id, made.instance_id)
    assert explained.control is not None
    assert explained.control.single_author == ["carl"]
    assert "published by carl, who also wrote them." in write_instance(explained)[2]
