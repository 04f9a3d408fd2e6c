"""Open requests of a member who is to be disabled: listed with what becomes of them, before it is done."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.tenants.api_keys import ApiKeys
from signet.engine.tenants.dependents import Dependents, Succession
from signet.engine.tenants.members import Members
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
ASKER = ("*:submit", "*:create", "api_key:edit")
FIRST = {
    **CONTRACT["states"],
    "draft": {"edit": "editable"},
    "submitted": {"edit": "editable", "initial": True},
}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name, roles=(held,))
            for name, held in (("sid", "asker"), ("ann", "asker"), ("app1", "voter"), ("root", "admin"))
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, (Role(role="asker", permissions=ASKER),), COMMAND_LINE)
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def asked(stage: WorkflowStage, requester: str = "sid", **slots: Any) -> Made:
    document = stage.create(stage.publish(CONTRACT, **slots), "carl")
    stage.ask(document.id, "submit", requester, "asker")
    stage.drain()
    return document


def dependents_of(stage: WorkflowStage, user_id: str) -> Dependents:
    members = Members(stage.standing.company.database)
    return members.list_dependents(Principal(stage.tenant_id, "root", ("admin",)), user_id)


def disable(stage: WorkflowStage, user_id: str, succession: Succession | None = None) -> str:
    company = stage.standing.company
    member = Member(user_id=user_id, display_name=user_id, roles=("asker",))
    try:
        Members(company.database).save(company.caller("root", "admin"), member, "disabled", None, succession)
    except Rejected as refused:
        return f"{refused.code}: {refused}"
    return "disabled"


def test_open_requests_are_named_before_the_member_is_disabled(stage: WorkflowStage) -> None:
    requested = asked(stage, checks={"nodes": [LOOK]})
    automatic = asked(stage, approval={"nodes": [LOOK]})
    asked(stage, "ann", checks={"nodes": [LOOK]})
    found = dependents_of(stage, "sid")
    assert found.counts.requests == 2
    assert [(one.document_id, one.transition, one.asked_by) for one in found.requests] == [
        (requested.id, "submit", "sid"),
        (automatic.id, None, "sid"),
    ]
    assert [one.becomes.rpartition(", or ")[2] for one in found.requests] == [
        "another member asks for the same.",
        "cancel_token sends it back and another member asks.",
    ]
    assert disable(stage, "sid") == "MEMBER_HAS_DEPENDENTS: sid still has 2 open requests"
    assert disable(stage, "sid", Succession()) == "disabled"
    # What was said is what happens.
    for document in (requested, automatic):
        assert vote(stage, document.id, "app1") == "approved"
        assert stage.instance(document.instance_id)["reason"].startswith("ACTOR_NOT_ACTIVE")


def test_requests_of_a_key_are_those_of_its_owner(stage: WorkflowStage) -> None:
    company = stage.standing.company
    key = ApiKeys(company.database).create(company.caller("sid", "asker"), "erp", ("asker",))
    document = asked(stage, f"key:{key.record.id}", checks={"nodes": [LOOK]})
    (found,) = dependents_of(stage, "sid").requests
    assert (found.document_id, found.asked_by) == (document.id, f"key:{key.record.id}")
    assert "another member owns the key" in found.becomes


def test_what_is_decided_or_was_never_asked_for_is_not_listed(stage: WorkflowStage) -> None:
    decided = asked(stage, checks={"nodes": [LOOK]})
    assert vote(stage, decided.id, "app1") == "approved"
    begins_there = stage.publish({**CONTRACT, "states": FIRST}, approval={"nodes": [LOOK]})
    stage.create(begins_there, "sid", "asker")
    stage.drain()
    assert dependents_of(stage, "sid").requests == []
    assert disable(stage, "sid") == "disabled"
