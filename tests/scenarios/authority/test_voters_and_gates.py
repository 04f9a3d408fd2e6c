"""A vote needs a seat, the permission and its condition, and another person; the gate asks again."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.chains import ApprovalChains, ChainVersion
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import newest, submit, vote
from tests.support.core.approval_policies import role, user
from tests.support.database.runtime_roles import as_role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

APPROVED, SAME, DENIED = "approved", "APPROVAL_SAME_PERSON", "PERMISSION_DENIED"
PEOPLE = {
    "app1": ("voter",),
    "app2": ("voter",),
    "app3": ("voter",),
    "fay": ("voter", "owner"),
    "olga": ("owner",),
    "carl": ("clerk", "admin"),
}
BOTH = [role("voter"), role("voter")]


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, (Role(role="owner", permissions=()),), COMMAND_LINE)
            save_members(connection, made.tenant_id, members(PEOPLE), COMMAND_LINE)
        yield made


def members(people: dict[str, tuple[str, ...]]) -> tuple[Member, ...]:
    return tuple(Member(user_id=name, display_name=name, roles=roles) for name, roles in people.items())


def asked(stage: WorkflowStage, *nodes: dict[str, Any], contract: Any = None, **slot: Any) -> Made:
    document = stage.create(stage.publish(contract, approval={"nodes": list(nodes), **slot}))
    submit(stage, document, "carl")
    return document


def look(name: str = "look", **config: Any) -> dict[str, Any]:
    return {"id": name, "type": "approval", "config": config}


def change(stage: WorkflowStage, user_id: str, *roles: str) -> None:
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_members(connection, stage.tenant_id, members({user_id: roles}), COMMAND_LINE)


def seats(stage: WorkflowStage, request_id: UUID) -> list[tuple[Any, ...]]:
    return stage.standing.rows(
        "SELECT stage, position, status, decided_by FROM approval_seats WHERE request_id = %s"
        " ORDER BY stage, position",
        request_id,
    )


# --- one person, several voices (A3) ---


def chain(stage: WorkflowStage, **terms: Any) -> Made:
    """Ask in two stages."""
    chains, company = ApprovalChains(stage.standing.company.database), stage.standing.company
    step = {"approvers": [role("voter")]}
    saved = chains.save(company.caller("olga", "admin"), {"name": "two", "steps": [step, step], **terms})
    assert isinstance(saved, ChainVersion), saved
    chains.publish(company.caller("olga", "admin"), "two", saved.version)
    return asked(stage, look(chain="two"))


def test_one_person_does_not_approve_in_two_stages(stage: WorkflowStage) -> None:
    document = chain(stage)
    assert vote(stage, document.id, "app1") == "open"
    assert vote(stage, document.id, "app1") == SAME
    assert vote(stage, document.id, "app2") == APPROVED
    assert stage.status_of(document.id) == "active"


def test_nor_for_who_delegated_to_them(stage: WorkflowStage) -> None:
    document = chain(stage)
    assert vote(stage, document.id, "app1") == "open"
    stage.standing.run(
        "INSERT INTO approval_delegations (tenant_id, id, user_id, delegate_id, from_time, to_time,"
        " created_by, created_at) VALUES (%s, gen_random_uuid(), 'app2', 'app1', now() - interval '1 h',"
        " now() + interval '1 d', 'app2', now())",
        stage.tenant_id,
    )
    assert vote(stage, document.id, "app1") == SAME


def test_a_policy_may_allow_the_same_person(stage: WorkflowStage) -> None:
    document = chain(stage, same_person="allowed")
    assert vote(stage, document.id, "app1") == "open"
    assert vote(stage, document.id, "app1") == APPROVED
    assert stage.status_of(document.id) == "active"


def test_nobody_is_kept_from_rejecting(stage: WorkflowStage) -> None:
    document = chain(stage)
    assert vote(stage, document.id, "app1") == "open"
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    assert stage.status_of(document.id) == "draft"


def in_two_branches(stage: WorkflowStage, mode: str) -> tuple[Made, UUID, UUID]:
    """Ask the voters in two branches; return the document with both requests."""
    fork = {"id": "fork", "type": "parallel_split"}
    join = {"id": "join", "type": "parallel_join", "config": {"mode": mode}}
    branches = [look(name, approvers=[role("voter")]) for name in ("left", "right")]
    edges = [{"source": "fork", "target": each["id"]} for each in branches]
    edges += [{"source": each["id"], "target": "join"} for each in branches]
    document = asked(stage, fork, *branches, join, edges=edges)
    left, right = (row[0] for row in stage.standing.rows("SELECT id FROM approval_requests ORDER BY id"))
    return document, left, right


def test_one_person_does_not_approve_in_two_branches(stage: WorkflowStage) -> None:
    document, left, right = in_two_branches(stage, "all")
    assert vote(stage, document.id, "app1", request_id=left) == APPROVED
    assert vote(stage, document.id, "app1", request_id=right) == SAME
    assert vote(stage, document.id, "app2", request_id=right) == APPROVED
    assert stage.status_of(document.id) == "active"


def test_where_any_branch_wins_one_approval_is_enough(stage: WorkflowStage) -> None:
    """A rejection in the other branch takes nothing away."""
    document, left, right = in_two_branches(stage, "any")
    assert vote(stage, document.id, "app1", "rejected", request_id=left) == "rejected"
    assert stage.status_of(document.id) == "submitted"
    assert vote(stage, document.id, "app2", request_id=right) == APPROVED
    assert stage.status_of(document.id) == "active"


def test_who_is_left_when_another_person_is_wanted_and_there_is_none(stage: WorkflowStage) -> None:
    for user_id in ("app2", "app3", "fay"):
        change(stage, user_id)
    document = chain(stage)
    assert vote(stage, document.id, "app1") == "open"
    instance = stage.instance(document.instance_id)
    assert (instance["status"], instance["reason"].split(":")[0]) == ("paused", "APPROVAL_NOBODY_ELIGIBLE")
    assert stage.status_of(document.id) == "submitted"


# --- permission and condition of an automatic transition (A4) ---


def conditioned(text: str) -> dict[str, Any]:
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"]["approve"] = {**contract["transitions"]["approve"], "permission": "thing:approve"}
    return {**contract, "conditions": {"thing:approve": text}}


def test_a_seat_without_the_permission_is_not_enough(stage: WorkflowStage) -> None:
    document = asked(stage, look(approvers=[user("olga"), user("app1")], quorum="any"))
    assert vote(stage, document.id, "olga") == DENIED
    assert vote(stage, document.id, "olga", "rejected") == DENIED
    assert vote(stage, document.id, "app1") == APPROVED


def test_the_condition_is_about_the_voter(stage: WorkflowStage) -> None:
    """An owner may not approve above ten; the notes' olga and fiona (A4)."""
    contract = conditioned("entity.amount <= 10 || !('owner' in actor.roles)")
    entity_type = stage.publish(contract, approval={"nodes": [look(approvers=[role("voter")])]})
    large, small = (stage.create(entity_type, "carl", amount=amount) for amount in (11, 9))
    for document in (large, small):
        submit(stage, document, "carl")
    assert vote(stage, large.id, "fay") == "PERMISSION_CONDITION"
    assert vote(stage, small.id, "fay") == APPROVED
    assert vote(stage, large.id, "app1") == APPROVED
    assert stage.status_of(large.id) == "active"


def test_a_token_widens_no_role_of_a_voter(stage: WorkflowStage) -> None:
    document = asked(stage, look(approvers=[user("olga"), user("app1")], quorum="any"))
    assert vote(stage, document.id, "olga", roles=("admin", "voter")) == DENIED


def test_where_nobody_asked_may_ever_vote_the_wider_circle_is_asked(stage: WorkflowStage) -> None:
    escalation = {"after": "P1D", "to": role("voter")}
    document = asked(stage, look(approvers=[user("olga")], escalate=escalation))
    assert [row[2] for row in seats(stage, newest(stage, document.id))] == ["open", "open"]
    assert vote(stage, document.id, "app1") == APPROVED


# --- the gate asks again (A8) ---


@pytest.mark.parametrize("loss", ["role", "membership"])
def test_only_the_seat_of_a_vote_that_may_not_be_given_any_more_is_asked_again(
    stage: WorkflowStage, loss: str
) -> None:
    """app1 votes in stage 1, and loses the role before the gate."""
    document = chain(stage)
    request_id = newest(stage, document.id)
    assert vote(stage, document.id, "app1") == "open"
    if loss == "role":
        change(stage, "app1", "clerk")
    else:
        stage.standing.run("UPDATE members SET status = 'disabled' WHERE user_id = 'app1'")
    assert vote(stage, document.id, "app2") == APPROVED
    assert stage.status_of(document.id) == "submitted"
    assert seats(stage, request_id) == [
        (1, 1, "lapsed", "app1"),
        (1, 2, "open", None),
        (2, 1, "approved", "app2"),
    ]
    told = stage.standing.rows(
        "SELECT user_id, data ->> 'code' FROM notifications WHERE kind = 'vote_lapsed'"
    )
    assert told == [("app1", "VOTE_NO_LONGER_VALID")]
    assert vote(stage, document.id, "app2") == SAME
    assert vote(stage, document.id, "app3") == APPROVED
    assert stage.status_of(document.id) == "active"
    stage.check_rebuild(document.instance_id)


def test_a_seat_that_is_asked_again_may_reject(stage: WorkflowStage) -> None:
    document = chain(stage)
    assert vote(stage, document.id, "app1") == "open"
    change(stage, "app1", "clerk")
    assert vote(stage, document.id, "app2") == APPROVED
    assert vote(stage, document.id, "app3", "rejected") == "rejected"
    assert stage.status_of(document.id) == "draft"
    stage.check_rebuild(document.instance_id)


# --- what the worker writes proves nothing (B1) ---


@pytest.fixture
def as_worker(stage: WorkflowStage) -> Iterator[Connection[Any]]:
    """Yield a transaction of the worker's role, which is never committed."""
    with psycopg.connect(as_role(stage.standing.admin_url, "signet_worker")) as connection:
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", (str(stage.tenant_id),))
        yield connection
        connection.rollback()


FORGERIES = {
    "status": "UPDATE approval_requests SET status = 'approved', applied = false, ended_at = now()",
    "seat": "UPDATE approval_seats SET status = 'approved', decided_by = 'app1', decided_at = now()",
    "function": """SELECT move_approval_requests(
        (SELECT json_agg(json_build_object('id', id, 'stage', 1, 'status', 'approved', 'applied', false))
         FROM approval_requests), now())""",
    "creator": "UPDATE documents SET creator_id = 'eve'",
    "creator's persons": "UPDATE documents SET creator_responsible = NULL",
    "requester": "UPDATE transition_requests SET actor_id = 'eve'",
    "decision": (
        "INSERT INTO approval_decisions"
        " SELECT tenant_id, gen_random_uuid(), id, 1, 1, 'approved', NULL, 'app1', NULL, NULL,"
        " document_version, snapshot_hash, definition_hash, policy_hash, NULL, now() FROM approval_requests"
    ),
    "set of persons": "INSERT INTO responsible_sets SELECT tenant_id, sha256('carl'), '{eve}' FROM documents",
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_the_worker_cannot_write_an_approval(
    stage: WorkflowStage, as_worker: Connection[Any], forgery: str
) -> None:
    asked(stage, look(approvers=[role("voter")]))
    with pytest.raises(psycopg.Error) as refused:
        as_worker.execute(FORGERIES[forgery].encode())
    assert refused.value.sqlstate in ("42501", "SG001", "SG002", "23514"), refused.value


@pytest.mark.parametrize(
    "forgery",
    [
        "UPDATE approval_seats SET status = 'approved', decided_by = 'app1', decided_at = now()",
        "UPDATE approval_requests SET status = 'approved', applied = false, ended_at = now()",
    ],
)
def test_not_even_a_superusers_update_passes_the_gate(stage: WorkflowStage, forgery: str) -> None:
    document = asked(stage, look(approvers=[role("voter")]))
    stage.standing.admin.execute(forgery.encode())
    stage.wake(document.instance_id)
    stage.drain()
    instance = stage.instance(document.instance_id)
    assert (instance["status"], instance["reason"].split(":")[0]) == ("paused", "APPROVAL_UNPROVEN")
    assert stage.status_of(document.id) == "submitted"


def test_a_decision_without_its_audit_row_proves_nothing(stage: WorkflowStage) -> None:
    document = asked(stage, look(approvers=[role("voter")]))
    stage.standing.run(
        "INSERT INTO approval_decisions SELECT tenant_id, gen_random_uuid(), id, 1, 1, 'approved', NULL,"
        " 'app1', NULL, NULL, document_version, snapshot_hash, definition_hash, policy_hash, NULL, now(),"
        " NULL, pins_hash"
        " FROM approval_requests"
    )
    stage.standing.run(
        "UPDATE approval_seats SET status = 'approved', decided_by = 'app1', decided_at = now()"
    )
    stage.standing.run("UPDATE approval_requests SET status = 'approved', applied = false, ended_at = now()")
    stage.wake(document.instance_id)
    stage.drain()
    assert "is not in the audit trail" in stage.instance(document.instance_id)["reason"]


def test_what_a_gate_has_used_stays_used(stage: WorkflowStage) -> None:
    document = asked(stage, look(approvers=[role("voter")]))
    assert vote(stage, document.id, "app1") == APPROVED
    for table in ("approval_requests", "workflow_step_executions"):
        with pytest.raises(psycopg.Error) as refused:
            stage.standing.admin.execute(f"UPDATE {table} SET applied = false WHERE applied".encode())
        assert refused.value.sqlstate == "SG002"


@pytest.mark.parametrize(
    "rewriting",
    [
        "UPDATE documents SET creator_id = 'eve'",
        "UPDATE documents SET creator_responsible = NULL",
        "UPDATE transition_requests SET actor_id = 'eve'",
        "UPDATE approval_requests SET requester_id = 'eve'",
        "UPDATE approval_requests SET responsible = NULL",
    ],
)
def test_nobody_writes_again_who_created_or_asked(stage: WorkflowStage, rewriting: str) -> None:
    """Refuse it to a superuser too, as long as the triggers are there."""
    asked(stage, look(approvers=[role("voter")]))
    with pytest.raises(psycopg.Error) as refused:
        stage.standing.admin.execute(rewriting.encode())
    assert refused.value.sqlstate == "SG002"


# --- nobody votes by what they granted (A5) ---


def test_a_role_that_the_voter_was_given_by_the_creator_bars_the_vote(stage: WorkflowStage) -> None:
    """Carl creates and asks, and then makes olga a voter; later another administrator does it for app3."""
    from signet.engine.tenants.dependents import Succession
    from signet.engine.tenants.members import Members

    document = asked(stage, look(approvers=[role("voter")]))
    company = stage.standing.company
    for by, new in (("carl", "olga"), ("frank", "otto")):
        member = Member(user_id=new, display_name=new, roles=("voter",))
        Members(company.database).save(company.caller(by, "admin"), member, "active", succession=Succession())
    assert vote(stage, document.id, "olga") == "VOTE_BARRED_BY_GRANT"
    assert vote(stage, document.id, "otto") == APPROVED
