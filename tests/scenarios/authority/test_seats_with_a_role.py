"""A person that a field names decides only while they hold the role that the policy asks for (A7)."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import list_lapse_reasons, newest, submit, vote
from tests.support.core.approval_policies import expression, role
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

NAMED = {**expression("entity.number"), "who": "voter"}
PEOPLE = {"app1": ("voter",), "app2": ("voter",), "mallory": ("guest",), "carl": ("clerk", "admin")}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, (Role(role="guest", permissions=()),), COMMAND_LINE)
        for user_id, roles in PEOPLE.items():
            hold(made, user_id, *roles)
        yield made


def hold(stage: WorkflowStage, user_id: str, *roles: str) -> None:
    """Give the person these roles and no others."""
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_members(
            connection,
            stage.tenant_id,
            (Member(user_id=user_id, display_name=user_id, roles=roles),),
            COMMAND_LINE,
        )


def asked(stage: WorkflowStage, number: str, *nodes: Any, slot: str = "checks", **config: Any) -> Made:
    """Ask the person whose id is the number. In the slot `checks` voters need no permission."""
    first = {"id": "look", "type": "approval", "config": {"approvers": [NAMED], **config}}
    edges = [{"source": "look", "target": node["id"]} for node in nodes]
    document = stage.create(
        stage.publish(**{slot: {"nodes": [first, *nodes], "edges": edges}}), "carl", number=number
    )
    submit(stage, document, "carl")
    return document


def seats(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(
        "SELECT coalesce(s.holder_user_id, '@' || s.holder_role), s.needed_role, s.status"
        " FROM approval_seats s JOIN approval_requests q ON q.tenant_id = s.tenant_id AND q.id = s.request_id"
        " WHERE q.document_id = %s ORDER BY s.position",
        document.id,
    )


def test_a_person_without_the_role_gets_no_seat(stage: WorkflowStage) -> None:
    document = asked(stage, "mallory")
    instance = stage.instance(document.instance_id)
    assert (instance["status"], instance["reason"].split(":")[0]) == ("paused", "APPROVAL_NOBODY_FOUND")
    assert (seats(stage, document), stage.status_of(document.id)) == ([], "draft")


def test_the_wider_circle_is_asked_in_their_place(stage: WorkflowStage) -> None:
    document = asked(stage, "mallory", escalate={"after": "P1D", "to": role("voter")})
    assert seats(stage, document) == [("@voter", None, "open")]
    assert vote(stage, document.id, "mallory") == "APPROVAL_NOT_YOURS"
    assert vote(stage, document.id, "app2") == "approved"


@pytest.mark.parametrize("slot", ["checks", "approval"])
def test_a_person_with_the_role_decides(stage: WorkflowStage, slot: str) -> None:
    document = asked(stage, "app1", slot=slot)
    assert seats(stage, document) == [("app1", "voter", "open")]
    assert vote(stage, document.id, "app2") == "APPROVAL_NOT_YOURS"
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "active"


def test_who_has_lost_the_role_decides_no_more(stage: WorkflowStage) -> None:
    document = asked(stage, "app1")
    hold(stage, "app1", "guest")
    assert vote(stage, document.id, "app1") == "APPROVAL_NOT_YOURS"
    stage.wake(document.instance_id)
    stage.drain()
    instance = stage.instance(document.instance_id)
    assert (instance["status"], instance["reason"].split(":")[0]) == ("paused", "APPROVAL_NOBODY_ELIGIBLE")


def test_a_vote_lapses_at_the_gate_when_its_role_is_lost(stage: WorkflowStage) -> None:
    second = {"id": "second", "type": "approval", "config": {"approvers": [role("voter")]}}
    document = asked(stage, "app1", second)
    assert vote(stage, document.id, "app1") == "approved"
    hold(stage, "app1", "guest")
    assert vote(stage, document.id, "app2") == "approved"
    assert stage.status_of(document.id) == "draft"
    lapsed = [("app1", "voter", "lapsed"), ("app1", "voter", "open")]
    assert [row for row in seats(stage, document) if row[1]] == lapsed
    assert list_lapse_reasons(stage, document) == ["app1 does not hold the role 'voter' any more"]
    hold(stage, "app1", "voter")
    (first,) = stage.standing.row(
        "SELECT id FROM approval_requests WHERE document_id = %s ORDER BY id LIMIT 1", document.id
    )
    assert first != newest(stage, document.id)
    assert vote(stage, document.id, "app1", request_id=first) == "approved"
    # It was held for want of people; the vote has woken it.
    assert stage.status_of(document.id) == "active"
