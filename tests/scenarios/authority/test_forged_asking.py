"""Requests and seats that a worker was made to write: no vote on them counts, and the lawful ones do."""

from collections.abc import Iterator
from typing import Any, LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.core.approvals.policy import hash_policy
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import newest, submit, vote
from tests.support.company import VOTER
from tests.support.core.approval_policies import role, user
from tests.support.database.runtime_roles import as_role
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

APPROVED, UNPROVEN, NOT_ASKED = "approved", "APPROVAL_UNPROVEN", "APPROVAL_NOT_YOURS"
ESCALATING = {
    "approvers": [role("finance"), {"by": "manager", "of": "entity.creator"}],
    "quorum": "any",
    "escalate": {"after": "P3D", "to": role("boss")},
}
POLICY = (
    '{"stages":[{"approvers":[{"by":"user","user":"wanda"}],"escalate":null,"expire_after":null,'
    '"quorum":"all","reason_required_for":["rejected"]}]}'
)
SEATING: LiteralString = (
    "INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_user_id, holder_role, origin)"
    " SELECT tenant_id, id, 1, 90, %s, %s, %s FROM approval_requests WHERE id = %s"
)


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        held = {
            "fiona": ("finance",),
            "frank": ("finance",),
            "bea": ("boss",),
            "wanda": (),
            "carl": (),
            "mona": (),
        }
        members = tuple(
            Member(user_id=name, display_name=name, roles=(*roles, "voter", "admin"))
            for name, roles in held.items()
        )
        roles = tuple(Role(role=name, permissions=VOTER) for name in ("finance", "boss"))
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, roles, COMMAND_LINE)
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        made.standing.run("INSERT INTO org_chart VALUES (%s, 'carl', 'mona')", made.tenant_id)
        yield made


def ask(stage: WorkflowStage, **config: Any) -> Made:
    node = {"id": "look", "type": "approval", "config": config or ESCALATING}
    document = stage.create(stage.publish(approval={"nodes": [node]}))
    submit(stage, document, "carl")
    return document


def execute(stage: WorkflowStage, statement: LiteralString, *values: Any) -> None:
    with psycopg.connect(as_role(stage.standing.admin_url, "signet_worker")) as connection:
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", (str(stage.tenant_id),))
        connection.execute(statement, values)


def forge_request(stage: WorkflowStage, document: Made, **changes: Any) -> UUID:
    """Write a copy of the open request with other columns, and seat wanda in it."""
    columns = [
        row[0]
        for row in stage.standing.rows(
            "SELECT column_name FROM information_schema.columns WHERE table_name = 'approval_requests'"
        )
    ]
    forged = {"id": uuid4(), "step_execution_id": uuid4(), **changes}
    names = ", ".join(columns)
    chosen = ", ".join(f"%({name})s" if name in forged else name for name in columns)
    query = (
        f"INSERT INTO approval_requests ({names}) SELECT {chosen} FROM approval_requests WHERE id = %(old)s"
    )
    with psycopg.connect(as_role(stage.standing.admin_url, "signet_worker")) as connection:
        connection.execute("SELECT set_config('signet.tenant_id', %s, true)", (str(stage.tenant_id),))
        connection.execute(query.encode(), {**forged, "old": newest(stage, document.id)})
        connection.execute(SEATING, ("wanda", None, "resolved", forged["id"]))
    return UUID(str(forged["id"]))


def step_of(stage: WorkflowStage, document: Made) -> UUID:
    """Write another step of the approval node as the worker does, and return its id."""
    step_id = uuid4()
    execute(
        stage,
        "INSERT INTO workflow_step_executions (tenant_id, created_at, id, instance_id, seq, node_id,"
        " node_type, token_id, entity_version, version_after, status, idempotency_key, started_at,"
        " actor_user_id)"
        " SELECT tenant_id, now(), %s, id, 999, 'usr:approval:look', 'approval', 'X', 1, 1, 'running',"
        " sha256('forged'), now(), 'carl' FROM workflow_instances WHERE id = %s",
        step_id,
        document.instance_id,
    )
    return step_id


@pytest.mark.parametrize(
    "changes",
    [
        {"policy": POLICY, "policy_hash": hash_policy(POLICY), "voter_permissions": []},
        {"voter_permissions": []},
        {"node_id": "usr:approval:other"},
        {"node_id": "sys:gate:approve"},
        {"definition_hash": "0" * 64},
        {"chain_name": "lenient", "chain_version": 1},
        {},
    ],
    ids=["policy", "permissions", "unknown node", "other node", "definition", "chain", "step"],
)
def test_a_request_that_no_step_asks_takes_no_vote(stage: WorkflowStage, changes: dict[str, Any]) -> None:
    document = ask(stage)
    lawful = newest(stage, document.id)
    forged = forge_request(stage, document, **changes)
    assert vote(stage, document.id, "wanda", request_id=forged) == UNPROVEN
    assert stage.status_of(document.id) == "submitted"
    assert vote(stage, document.id, "fiona", request_id=lawful) == APPROVED
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize("changes", [{"policy": POLICY, "policy_hash": hash_policy(POLICY)}, {}])
def test_a_step_that_was_written_too_is_not_enough(stage: WorkflowStage, changes: dict[str, Any]) -> None:
    """There are two requests of one node then, as the definition wants them: neither takes a vote."""
    document = ask(stage)
    forged = forge_request(stage, document, step_execution_id=step_of(stage, document), **changes)
    assert vote(stage, document.id, "wanda", request_id=forged) == UNPROVEN
    assert stage.status_of(document.id) == "submitted"


@pytest.mark.parametrize(
    ("person", "seat"),
    [
        ("bea", (None, "boss", "escalated")),
        ("bea", ("bea", None, "escalated")),
        ("wanda", ("wanda", None, "resolved")),
        ("wanda", (None, "voter", "resolved")),
    ],
    ids=["escalated early", "escalated to a person", "in the manager's line", "by another role"],
)
def test_a_seat_that_was_added_gives_no_vote(
    stage: WorkflowStage, person: str, seat: tuple[str | None, str | None, str]
) -> None:
    """The manager's line would draw anybody; the seat was not there when the stage was asked."""
    document = ask(stage)
    assert vote(stage, document.id, person) == NOT_ASKED
    execute(stage, SEATING, *seat, newest(stage, document.id))
    assert vote(stage, document.id, person) == UNPROVEN
    assert stage.status_of(document.id) == "submitted"
    assert vote(stage, document.id, "mona") == APPROVED
    assert stage.status_of(document.id) == "active"


def test_a_seat_that_was_added_takes_no_vote_from_its_holder(stage: WorkflowStage) -> None:
    """Fiona has a seat of her role: a forged one of her own does not keep her from it."""
    document = ask(stage)
    execute(stage, SEATING, "fiona", None, "resolved", newest(stage, document.id))
    assert vote(stage, document.id, "fiona") == APPROVED
    assert stage.status_of(document.id) == "active"


def test_a_stage_that_lacks_a_seat_of_its_policy_opens_no_gate(stage: WorkflowStage) -> None:
    """Finance and boss must both approve; the worker has seated finance alone."""
    document = ask(stage, approvers=[role("finance"), role("boss")], quorum="all")
    with psycopg.connect(stage.standing.admin_url) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("DELETE FROM approval_seats WHERE holder_role = 'boss'")
    assert vote(stage, document.id, "fiona") == APPROVED
    assert stage.status_of(document.id) == "submitted"
    (reason,) = stage.standing.rows("SELECT message FROM incidents WHERE closed_at IS NULL")[0]
    assert reason.startswith(UNPROVEN) and "the role boss has no seat" in reason


def test_an_escalation_that_is_due_gives_a_vote(stage: WorkflowStage) -> None:
    """The lawful way beside it."""
    document = ask(stage)
    stage.bring_escalation(document.id)
    stage.wake(document.instance_id)
    stage.drain()
    assert vote(stage, document.id, "bea") == APPROVED
    assert stage.status_of(document.id) == "active"


def test_an_escalation_because_nobody_else_may_vote_gives_a_vote(stage: WorkflowStage) -> None:
    """Escalate at once, and when the last who could vote has voted."""
    wider = {"after": "P3D", "to": role("boss")}
    alone = ask(stage, approvers=[user("carl")], escalate=wider)
    assert vote(stage, alone.id, "bea") == APPROVED
    two = ask(stage, approvers=[role("finance"), user("carl")], escalate=wider)
    assert vote(stage, two.id, "fiona") == "open"
    stage.drain()
    assert vote(stage, two.id, "bea") == APPROVED
    assert stage.status_of(two.id) == "active"


def test_the_worker_does_not_say_when_a_seat_was_asked(stage: WorkflowStage) -> None:
    document = ask(stage)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        execute(
            stage,
            "INSERT INTO approval_seats (tenant_id, request_id, stage, position, holder_role, asked_at)"
            " SELECT tenant_id, id, 1, 90, 'boss', '2000-01-01' FROM approval_requests WHERE id = %s",
            newest(stage, document.id),
        )
