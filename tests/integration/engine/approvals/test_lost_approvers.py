"""People who lose a role while they are asked: the stage escalates, or the instance pauses with a reason."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role, TenantFile
from signet.engine.approvals import lost_approvers as recounting
from signet.engine.tenants.install import (
    install_tenant,
    write_member_status,
    write_members,
    write_roles,
)
from signet.engine.tenants.roles import Roles
from signet.store.tenants.tenants import read_now, save_members, save_roles
from tests.support.core.approval_policies import role, user
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

ROLES = ("finance", "board")


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = {
            "carl": ("clerk", "finance", "admin"),
            "mona": ("finance", "board"),
            "otto": ("board",),
            "dora": (),
        }
        members = tuple(Member(user_id=name, display_name=name, roles=held) for name, held in people.items())
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(
                connection,
                made.tenant_id,
                tuple(Role(role=each, permissions=("*:approve",)) for each in ROLES),
                COMMAND_LINE,
            )
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        yield made


def give(stage: WorkflowStage, user_id: str, *roles: str) -> None:
    """Give the person exactly these roles, as the tenant's file does."""
    install_tenant(
        stage.standing.company.database,
        TenantFile(
            tenant_id=stage.tenant_id,
            name="acme",
            roles=tuple(Role(role=each, permissions=("*:approve",)) for each in ROLES),
            members=(Member(user_id=user_id, display_name=user_id, roles=roles),),
        ),
        COMMAND_LINE,
    )


def submitted(stage: WorkflowStage, **config: Any) -> Made:
    """Submit a document as carl, its creator."""
    node = {"id": "look", "type": "approval", "config": config}
    document = stage.create(stage.publish(approval={"nodes": [node]}))
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def state_of(stage: WorkflowStage, document: Made) -> tuple[str, str | None]:
    row = stage.instance(document.instance_id)
    return row["status"], row["reason"] and row["reason"].partition(":")[0]


def woken(stage: WorkflowStage, document: Made) -> int:
    return len(stage.triggers(document.instance_id))


RUNNING, NOBODY = ("running", None), ("paused", "APPROVAL_NOBODY_ELIGIBLE")


def test_when_the_last_who_may_decide_loses_his_role_it_pauses_and_says_why(stage: WorkflowStage) -> None:
    """Leave as the role's only holder the creator of the document."""
    document = submitted(stage, approvers=[role("finance")])
    assert state_of(stage, document) == RUNNING
    give(stage, "mona", "board")
    stage.drain()
    assert state_of(stage, document) == NOBODY
    stage.check_rebuild(document.instance_id)


def test_when_the_only_one_who_is_asked_is_disabled_it_pauses_and_says_why(stage: WorkflowStage) -> None:
    document, other = (submitted(stage, approvers=[user(name)]) for name in ("otto", "mona"))
    disable(stage, "otto")
    stage.drain()
    assert [state_of(stage, one) for one in (document, other)] == [NOBODY, RUNNING]
    stage.check_rebuild(document.instance_id)


WIDER = {"after": "P9D", "to": role("board")}


def seats_of(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(
        "SELECT coalesce(s.holder_role, s.holder_user_id), s.origin FROM approval_seats s"
        " JOIN approval_requests r ON r.id = s.request_id WHERE r.document_id = %s ORDER BY s.position",
        document.id,
    )


def disable(stage: WorkflowStage, user_id: str) -> None:
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        write_member_status(
            connection, stage.tenant_id, user_id, "disabled", read_now(connection), COMMAND_LINE
        )


def come_to_the_time_of_the_escalation(stage: WorkflowStage, document: Made) -> None:
    stage.bring_escalation(document.id)
    stage.wake(document.instance_id)
    stage.drain()


@pytest.mark.parametrize("way", ["role taken", "disabled", "seat of a person"])
def test_clearing_the_bench_hastens_no_escalation(stage: WorkflowStage, way: str) -> None:
    """Leave nobody who is asked, by the hand of hana of the board: the board waits for its time."""
    approvers = [user("mona")] if way == "seat of a person" else [role("finance")]
    document = submitted(stage, approvers=approvers, escalate=WIDER)
    asked = ("mona" if way == "seat of a person" else "finance", "resolved")
    if way == "role taken":
        give(stage, "mona")
    else:
        disable(stage, "mona")
    stage.drain()
    assert seats_of(stage, document) == [asked]
    assert state_of(stage, document) == RUNNING
    stage.wake(document.instance_id)
    stage.drain()
    assert seats_of(stage, document) == [asked], "nor does waking it"
    come_to_the_time_of_the_escalation(stage, document)
    assert seats_of(stage, document) == [asked, ("board", "escalated")]
    assert state_of(stage, document) == RUNNING
    stage.check_rebuild(document.instance_id)


def test_a_stage_that_has_nobody_when_it_begins_escalates_at_once(stage: WorkflowStage) -> None:
    give(stage, "mona", "board")
    document = submitted(stage, approvers=[role("finance")], escalate=WIDER)
    assert seats_of(stage, document)[-1] == ("board", "escalated")


def test_a_stage_whose_people_have_voted_escalates_at_once(stage: WorkflowStage) -> None:
    """Let nobody be lost: one person cannot fill two seats of the role."""
    document = submitted(stage, approvers=[role("finance"), role("finance")], escalate=WIDER)
    run = stage.standing.run
    run(
        "UPDATE approval_seats SET status = 'approved', decided_at = now(), decided_by = 'mona'"
        " WHERE position = 1 AND request_id IN (SELECT id FROM approval_requests WHERE document_id = %s)",
        document.id,
    )
    stage.wake(document.instance_id)
    stage.drain()
    assert seats_of(stage, document)[-1] == ("board", "escalated")


def test_who_was_lost_before_the_stage_began_hastens_nothing_and_delays_nothing(
    stage: WorkflowStage,
) -> None:
    disable(stage, "dora")
    document = submitted(stage, approvers=[user("dora"), role("finance")], quorum="any", escalate=WIDER)
    assert seats_of(stage, document) == [("dora", "resolved"), ("finance", "resolved")]
    stage.standing.run("INSERT INTO responsible_sets VALUES (%s, sha256('mona'), '{mona}')", stage.tenant_id)
    stage.standing.run("UPDATE documents SET editor_responsible = sha256('mona') WHERE id = %s", document.id)
    stage.wake(document.instance_id)
    stage.drain()
    assert seats_of(stage, document)[-1] == ("board", "escalated")


@pytest.mark.parametrize(
    "config",
    [
        {"approvers": [role("board")]},
        {"approvers": [role("finance"), user("otto")], "quorum": "any"},
    ],
)
def test_where_somebody_else_may_decide_nobody_is_woken(stage: WorkflowStage, config: dict[str, Any]) -> None:
    document = submitted(stage, **config)
    before = woken(stage, document)
    give(stage, "mona")
    stage.drain()
    assert (woken(stage, document), state_of(stage, document)) == (before, RUNNING)


@pytest.mark.parametrize("obstacle", ["counted", "counted for him", "disabled", "edited", "asks"])
def test_who_may_not_vote_any_more_is_nobody_to_wait_for(stage: WorkflowStage, obstacle: str) -> None:
    """Leave otto the role, but bar the vote after otto was asked."""
    document = submitted(stage, approvers=[role("board"), role("board"), user("dora")], quorum=3)
    run, tenant = stage.standing.run, stage.tenant_id
    fill = (
        "UPDATE approval_seats SET status = 'approved', decided_at = now(), decided_by = %s,"
        " on_behalf_of = %s WHERE tenant_id = %s AND position = %s"
    )
    run(fill, "dora", None, tenant, 3)
    if obstacle.startswith("counted"):
        voices = ("otto", None) if obstacle == "counted" else ("dina", "otto")
        run(fill, *voices, tenant, 1)
    elif obstacle == "disabled":
        run("UPDATE members SET status = 'disabled' WHERE user_id = 'otto'")
    elif obstacle == "edited":
        run(
            "INSERT INTO responsible_sets VALUES (%s, sha256('otto'), '{otto}') ON CONFLICT DO NOTHING",
            tenant,
        )
        run("UPDATE documents SET editor_responsible = sha256('otto') WHERE id = %s", document.id)
    else:
        stage.standing.run_unguarded("UPDATE approval_requests SET requester_id = 'otto', responsible = NULL")
    give(stage, "mona")
    stage.drain()
    assert state_of(stage, document) == NOBODY


def test_who_has_the_seat_and_not_the_permission_is_nobody_to_wait_for(stage: WorkflowStage) -> None:
    """Leave dora, who is asked by name, without any role that permits it."""
    document = submitted(stage, approvers=[role("finance"), user("dora")], quorum="any")
    give(stage, "mona", "board")
    stage.drain()
    assert state_of(stage, document) == NOBODY
    stage.check_rebuild(document.instance_id)


def test_they_are_looked_through_page_by_page(stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the role twice in one request, on either side of a page's end."""
    monkeypatch.setattr(recounting, "MAX_SEATS_LOOKED_AT", 2)
    documents = [submitted(stage, approvers=[role("finance")]) for _ in range(3)]
    documents.append(
        submitted(stage, approvers=[role("finance"), role("finance"), role("board")], quorum="any")
    )
    documents.append(submitted(stage, approvers=[role("finance")]))
    give(stage, "mona")
    give(stage, "otto")
    stage.drain()
    assert [state_of(stage, document) for document in documents] == [NOBODY] * 5
    rows = stage.standing.rows(
        "SELECT status, count(*) FROM workflow_events_outbox WHERE event_type = 'voter_lost' GROUP BY status"
    )
    (completed,) = rows
    assert completed[0] == "completed" and completed[1] > len(ROLES)


def test_a_page_that_fails_is_tried_again_and_keeps_nobody_from_moving(stage: WorkflowStage) -> None:
    document = submitted(stage, approvers=[role("finance")])
    give(stage, "mona")
    stage.standing.run("ALTER TABLE workflow_events_outbox DISABLE TRIGGER USER")
    stage.standing.run(
        'UPDATE workflow_events_outbox SET payload_json = payload_json || \'{"after": "no id"}\''
        " WHERE event_type = 'voter_lost' AND payload_json ->> 'role' = 'board'"
    )
    stage.standing.run("ALTER TABLE workflow_events_outbox ENABLE TRIGGER USER")
    stage.drain()
    assert state_of(stage, document) == NOBODY
    found = stage.standing.rows(
        "SELECT payload_json ->> 'role', status, attempts, error IS NOT NULL FROM workflow_events_outbox"
        " WHERE event_type = 'voter_lost' ORDER BY 1"
    )
    assert found == [
        ("board", "failed", 1, True),
        ("finance", "completed", 1, False),
        (None, "completed", 1, False),
    ]


def test_nothing_is_left_behind_where_nobody_lost_anything(stage: WorkflowStage) -> None:
    give(stage, "mona", "finance", "board")
    give(stage, "dora", "finance")
    query = "SELECT count(*) FROM workflow_events_outbox WHERE event_type = 'voter_lost'"
    assert stage.standing.row(query) == (0,)


# The seat comes from one role, and the permission that votes need from another.
APART = {"finance": (), "paying": ("*:approve",), "board": ("*:approve",)}
PAYING = {"role": {"approvers": [role("finance")]}, "name": {"approvers": [user("mona")]}}


def set_roles(stage: WorkflowStage, **roles: tuple[str, ...]) -> None:
    made = tuple(Role(role=name, permissions=held) for name, held in roles.items())
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        write_roles(connection, stage.tenant_id, made, COMMAND_LINE)


def hold(stage: WorkflowStage, user_id: str, *roles: str) -> None:
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        write_members(connection, stage.tenant_id, (member,), COMMAND_LINE)


def lose_permission(stage: WorkflowStage, way: str) -> None:
    company = stage.standing.company
    if way == "role changed":
        Roles(company.database).save(company.caller("olga", "admin"), "paying", ("*:read",))
    else:
        hold(stage, "mona", "finance")
    stage.drain()


@pytest.fixture
def apart(stage: WorkflowStage) -> WorkflowStage:
    """Let mona, who is asked, have the permission by a role that nobody asks."""
    set_roles(stage, **APART)
    hold(stage, "mona", "finance", "paying")
    return stage


@pytest.mark.parametrize("way", ["role changed", "role taken"])
@pytest.mark.parametrize("asked", PAYING)
def test_when_the_last_loses_the_permission_it_pauses_and_says_why(
    apart: WorkflowStage, asked: str, way: str
) -> None:
    document = submitted(apart, **PAYING[asked])
    assert state_of(apart, document) == RUNNING
    lose_permission(apart, way)
    assert state_of(apart, document) == NOBODY
    apart.check_rebuild(document.instance_id)


@pytest.mark.parametrize("way", ["role changed", "role taken"])
@pytest.mark.parametrize("asked", PAYING)
def test_taking_the_permission_hastens_no_escalation(apart: WorkflowStage, asked: str, way: str) -> None:
    document = submitted(apart, **PAYING[asked], escalate=WIDER)
    lose_permission(apart, way)
    assert [origin for _, origin in seats_of(apart, document)] == ["resolved"]
    assert state_of(apart, document) == RUNNING
    come_to_the_time_of_the_escalation(apart, document)
    assert seats_of(apart, document)[-1] == ("board", "escalated")


def test_where_another_has_the_permission_nobody_is_woken(apart: WorkflowStage) -> None:
    hold(apart, "dora", "finance", "board")
    document = submitted(apart, **PAYING["role"])
    before = woken(apart, document)
    lose_permission(apart, "role changed")
    assert (woken(apart, document), state_of(apart, document)) == (before, RUNNING)


def test_holders_are_looked_through_page_by_page(
    apart: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recounting, "MAX_HOLDERS_LOOKED_AT", 1)
    hold(apart, "dora", "paying")
    documents = [submitted(apart, approvers=[user(name)]) for name in ("dora", "mona")]
    lose_permission(apart, "role changed")
    assert [state_of(apart, document) for document in documents] == [NOBODY] * 2
    query = "SELECT count(*) FROM workflow_events_outbox WHERE payload_json ->> 'holders_of' = 'paying'"
    assert apart.standing.row(query) == (3,), "the last page is empty"


def test_a_role_that_loses_nothing_leaves_nothing_behind(apart: WorkflowStage) -> None:
    query = "SELECT count(*) FROM workflow_events_outbox WHERE payload_json ? 'holders_of'"
    before = apart.standing.row(query)
    set_roles(apart, paying=("*:approve", "*:read"), another=("*:read",))
    assert apart.standing.row(query) == before
