"""A vote that lapses at the gate: what else happens meanwhile changes nothing of the rest."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.instances.moves import InstanceMoves, MoveTarget
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import add_endpoint, newest, submit, vote
from tests.support.core.approval_policies import role, user
from tests.support.workflow_stage import CALL, Made, WorkflowStage, standing_stage

PEOPLE = {
    "app1": ("voter",),
    "app2": ("voter",),
    "app3": ("voter",),
    "carl": ("clerk", "admin"),
    "frank": ("clerk", "admin"),
}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, (Role(role="boss", permissions=("*:act",)),), COMMAND_LINE)
        for user_id, roles in PEOPLE.items():
            hold(made, user_id, *roles)
        yield made


def hold(stage: WorkflowStage, user_id: str, *roles: str) -> None:
    """Give the person these roles and no others."""
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_members(connection, stage.tenant_id, (member,), COMMAND_LINE)


def look(name: str = "look", **config: Any) -> dict[str, Any]:
    return {"id": name, "type": "approval", "config": {"approvers": [role("voter")], **config}}


def asked(stage: WorkflowStage, *nodes: dict[str, Any], **slot: Any) -> Made:
    document = stage.create(stage.publish(approval={"nodes": list(nodes), **slot}), "carl")
    submit(stage, document, "carl")
    return document


def vote_and_lose(stage: WorkflowStage, user_id: str, request_id: UUID) -> None:
    """Let the person approve, and lose the role before the gate looks."""
    company = stage.standing.company
    Approvals(company.database, stage.caches()).decide(
        company.caller(user_id), request_id, "approved", "seen"
    )
    hold(stage, user_id, "clerk")
    stage.drain()


def requests_of(stage: WorkflowStage) -> dict[str, UUID]:
    rows = stage.standing.rows("SELECT node_id, id FROM approval_requests ORDER BY id")
    return {node_id.split(":")[-1]: request_id for node_id, request_id in rows}


def test_an_instance_that_waits_for_a_lapsed_vote_does_not_move(stage: WorkflowStage) -> None:
    """The definition to move to asks for a second approval behind the first."""
    document = asked(stage, look())
    (entity_type,) = stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", document.id)
    vote_and_lose(stage, "app1", newest(stage, document.id))
    both = {"nodes": [look(), look("second")], "edges": [{"source": "look", "target": "second"}]}
    version = stage.publish_next(entity_type, 1, approval=both)
    moves = InstanceMoves(stage.standing.company.database, stage.caches(), CompiledCache())
    frank = stage.standing.company.caller("frank", "admin")
    seen = stage.instance(document.instance_id)["version"]
    moved = moves.move(frank, document.instance_id, seen, MoveTarget(version), "newer")
    assert moved.report is not None
    assert [obstacle.code for obstacle in moved.report.obstacles] == ["APPROVAL_UNUSED"]
    assert vote(stage, document.id, "app2") == "approved"
    assert stage.status_of(document.id) == "active"


def test_a_rejection_of_an_earlier_round_rejects_nothing_later(stage: WorkflowStage) -> None:
    document = asked(stage, look())
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    stage.edit(document.id, number="better")
    submit(stage, document, "carl")
    vote_and_lose(stage, "app1", newest(stage, document.id))
    assert stage.status_of(document.id) == "submitted"
    assert vote(stage, document.id, "app2") == "approved"
    assert stage.status_of(document.id) == "active"


def test_a_branch_that_lost_its_join_rejects_nothing(stage: WorkflowStage) -> None:
    fork = {"id": "fork", "type": "parallel_split"}
    join = {"id": "join", "type": "parallel_join", "config": {"mode": "any"}}
    edges = [{"source": "fork", "target": name} for name in ("left", "right")]
    edges += [{"source": name, "target": "join"} for name in ("left", "right")]
    document = asked(stage, fork, look("left"), look("right"), join, edges=edges)
    requests = requests_of(stage)
    assert vote(stage, document.id, "app1", "rejected", request_id=requests["left"]) == "rejected"
    vote_and_lose(stage, "app2", requests["right"])
    assert vote(stage, document.id, "app3", request_id=requests["right"]) == "approved"
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize("way", ["wider circle", "first vote"])
def test_where_nobody_can_give_the_lapsed_vote_the_others_are_asked_again(
    stage: WorkflowStage, way: str
) -> None:
    """Bob of the wider circle, or app1 as the first of two, decided; the others had been let go."""
    if way == "wider circle":
        hold(stage, "bob", "boss", "admin")
        wider = {"after": "P1D", "to": role("boss")}
        document = asked(stage, look(approvers=[role("voter")] * 2, escalate=wider))
        assert vote(stage, document.id, "app1") == "open"
        stage.bring_escalation(document.id)
        stage.wake(document.instance_id)
        stage.drain()
        decider = "bob"
    else:
        document = asked(stage, look(approvers=[user("app1"), user("app2")], quorum="any"))
        decider = "app1"
    vote_and_lose(stage, decider, newest(stage, document.id))
    assert stage.status_of(document.id) == "submitted"
    assert stage.instance(document.instance_id)["status"] == "running"
    assert vote(stage, document.id, "app2") == "approved"
    assert stage.status_of(document.id) == "active"
    stage.check_rebuild(document.instance_id)


def test_a_seat_that_is_asked_again_rejects_as_ever(stage: WorkflowStage) -> None:
    document = asked(stage, look())
    vote_and_lose(stage, "app1", newest(stage, document.id))
    assert vote(stage, document.id, "app2", "rejected") == "rejected"
    assert stage.status_of(document.id) == "draft"


@pytest.mark.parametrize("lapses", [False, True], ids=["at once", "after a lapsed vote"])
def test_what_fails_behind_the_gate_leaves_the_gate_shut(stage: WorkflowStage, lapses: bool) -> None:
    """Pass the gate and run what is behind it in one wave, or do neither."""
    add_endpoint(stage)
    known = {"id": "known", "type": "rule", "config": {"rules": ["known"]}}
    edges = [
        {"source": "known", "target": "call"},
        {"source": "known", "target": "call", "on": "rejected"},
    ]
    posting = {"nodes": [known, CALL], "edges": edges}
    name = stage.publish(approval={"nodes": [look()]}, posting=posting)
    document = stage.create(name, "carl")
    submit(stage, document, "carl")
    if lapses:
        vote_and_lose(stage, "app1", newest(stage, document.id))
    assert vote(stage, document.id, "app2") == "approved"
    assert stage.triggers(document.instance_id)[-1][0] == "failed"
    assert stage.status_of(document.id) == "submitted"
    assert stage.standing.rows("SELECT applied FROM approval_requests") == [(False,)]
    stage.add_rule(name, "known", "entity.amount > 500", on="delete")
    stage.make_due()
    stage.drain()
    assert stage.status_of(document.id) == "active"
    assert stage.standing.rows("SELECT applied FROM approval_requests") == [(True,)]
    passed = "SELECT count(*) FROM audit_log WHERE action = 'transition:approve' AND subject_id = %s"
    assert stage.standing.row(passed, str(document.id)) == (1,)
    assert stage.instance(document.instance_id)["current_nodes"] == ["usr:posting:call"]
    stage.check_rebuild(document.instance_id)
