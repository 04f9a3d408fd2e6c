"""Slips of an administrator who has a part in the document, and what explanations advise after them.

To take back what they gave after the asking locks nobody out. It opens no way around those who were asked.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.explain.instance import InstanceExplanation
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.instances.explain import explain
from signet.engine.tenants.break_glass import BreakGlass
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

BARRED = "VOTE_BARRED_BY_GRANT"
# Carl makes and asks, and is an administrator. Frank is one without a part.
PEOPLE = {
    "anton": ("clerk",),
    "app1": ("voter",),
    "app2": ("voter",),
    "carl": ("clerk", "admin"),
    "frank": ("admin",),
    "wanda": ("clerk",),
}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            members = [Member(user_id=name, display_name=name, roles=roles) for name, roles in PEOPLE.items()]
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def asked(stage: WorkflowStage, **config: Any) -> Made:
    node = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], **config}}
    document = stage.create(stage.publish(approval={"nodes": [node]}), "carl")
    submit(stage, document, "carl")
    return document


def save(stage: WorkflowStage, by: str, user_id: str, *roles: str, status: Any = "active") -> None:
    company = stage.standing.company
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    Members(company.database).save(company.caller(by, "admin"), member, status, succession=Succession())
    stage.drain()


def told(stage: WorkflowStage, document: Made) -> InstanceExplanation:
    company, instance_id = stage.standing.company, stage.instance_of(document.id)
    return explain(company.database, stage.caches().contracts, stage.tenant_id, instance_id)


def test_a_role_that_is_given_and_taken_back_locks_nobody_out(stage: WorkflowStage) -> None:
    document = asked(stage)
    save(stage, "carl", "anton", "voter")
    assert vote(stage, document.id, "anton") == BARRED
    save(stage, "carl", "anton", "clerk")
    assert stage.instance(document.instance_id)["status"] == "running"
    assert {v.person: v.code for v in told(stage, document).approvals[-1].voters} == {
        "app1": None,
        "app2": None,
    }
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize("status", ["active", "disabled"])
def test_nor_does_it_twice_or_with_a_new_member(stage: WorkflowStage, status: str) -> None:
    document = asked(stage)
    for _ in range(2):
        save(stage, "carl", "nora", "voter")
        save(stage, "carl", "nora", *(("voter",) if status == "disabled" else ()), status=status)
    assert vote(stage, document.id, "app1") == "approved"


@pytest.mark.parametrize("giver", ["frank", "app1"])
def test_what_another_person_gave_is_not_taken_back_by_the_creator(stage: WorkflowStage, giver: str) -> None:
    """Neither is it where the creator has given it before, nor where the giver is the one who votes."""
    document = asked(stage)
    save(stage, giver, "wanda", "voter")
    save(stage, "carl", "wanda")
    assert vote(stage, document.id, "app1") == BARRED
    assert vote(stage, document.id, "app2") == BARRED


def test_the_creators_own_giving_hides_no_taking(stage: WorkflowStage) -> None:
    """App1 held the role when it was asked. Each order of takings and givings leaves the first taking."""
    document = asked(stage)
    for roles in ((), ("voter",), (), ("voter",), ()):
        save(stage, "carl", "app1", *roles)
    assert vote(stage, document.id, "app2") == BARRED


def test_a_disabled_approver_is_not_hidden_by_another_role(stage: WorkflowStage) -> None:
    document = asked(stage)
    save(stage, "carl", "app1", "voter", "clerk")
    save(stage, "carl", "app1", "voter", status="disabled")
    assert vote(stage, document.id, "app2") == BARRED


def test_the_giving_of_a_third_person_between_two_takings_counts(stage: WorkflowStage) -> None:
    """The taking of what frank gave stays, although carl gave and took it once more."""
    document = asked(stage)
    for by, roles in (("app2", ("voter",)), ("carl", ()), ("carl", ("voter",)), ("carl", ())):
        save(stage, by, "wanda", *roles)
    assert vote(stage, document.id, "app1") == BARRED
    assert vote(stage, document.id, "app2") == BARRED


# --- advice ---


def advice(stage: WorkflowStage, document: Made) -> tuple[str, ...]:
    (stuck,) = told(stage, document).stuck_stages
    return stuck.remedies


def test_where_a_taking_bars_all_the_advice_is_to_give_back_and_who_can(stage: WorkflowStage) -> None:
    document = asked(stage)
    save(stage, "carl", "app1")
    (stuck,) = told(stage, document).stuck_stages
    assert stuck.additions == ()
    assert stuck.remedies[0].startswith("Undo this first: carl took the role 'voter' from app1 at ")
    assert "That can be done by frank." in stuck.remedies
    assert not any("Give the role" in line or "break-glass" in line for line in stuck.remedies)
    save(stage, "frank", "wanda", "voter")
    assert vote(stage, document.id, "wanda") == BARRED, "a new holder is no way out"
    save(stage, "frank", "app1", "voter")
    stage.retry(document, stage.standing.company.caller("frank", "admin"))
    assert vote(stage, document.id, "app2") == "approved"


def test_who_was_given_the_role_or_made_a_member_by_the_creator_is_not_advised(stage: WorkflowStage) -> None:
    save(stage, "frank", "app2", "clerk")
    document = asked(stage)
    save(stage, "carl", "nora", "clerk")
    save(stage, "carl", "wanda", "voter")
    save(stage, "frank", "app1", "clerk")
    (stuck,) = told(stage, document).stuck_stages
    # Frank would be barred himself: they took the role from app1.
    assert stuck.additions == ("anton", "app1", "app2")
    assert "Give the role voter to anton, app1 or app2, or to a new member: nothing else keeps them." in (
        stuck.remedies
    )
    # What it says is so.
    save(stage, "frank", "anton", "voter")
    stage.retry(document, stage.standing.company.caller("frank", "admin"))
    assert vote(stage, document.id, "wanda") == BARRED
    assert vote(stage, document.id, "anton") == "approved"


def test_where_only_the_creator_may_change_members_it_says_so(stage: WorkflowStage) -> None:
    save(stage, "carl", "frank", "clerk")
    document = asked(stage)
    save(stage, "carl", "app1")
    assert any(
        "No active member without a part in the document may do that" in each
        for each in advice(stage, document)
    )


def test_no_seat_by_break_glass_gets_around_a_taking(stage: WorkflowStage) -> None:
    """The way out is an administrator that an operator adds: they give back what was taken."""
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        # Emil has the permission that votes need, and no seat.
        save_roles(
            connection, stage.tenant_id, (Role(role="second", permissions=("*:approve",)),), COMMAND_LINE
        )
        emil = Member(user_id="emil", display_name="Emil", roles=("second",))
        save_members(connection, stage.tenant_id, (emil,), COMMAND_LINE)
    save(stage, "carl", "frank", "clerk")
    document = asked(stage)
    save(stage, "carl", "app1")
    glass, request_id = BreakGlass(stage.standing.company.database), newest(stage, document.id)
    with pytest.raises(Rejected) as caught:
        glass.propose(operate_as(stage, "otis"), stage.tenant_id, request_id, "emil", "all are away")
    assert caught.value.code == "BREAK_GLASS_IN_VAIN" and f"({BARRED})" in caught.value.message
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        added = Member(user_id="nora", display_name="Nora", roles=("admin",))
        save_members(connection, stage.tenant_id, (added,), COMMAND_LINE)
    assert "That can be done by nora." in advice(stage, document)
    save(stage, "nora", "app1", "voter")
    stage.retry(document, stage.standing.company.caller("nora", "admin"))
    assert vote(stage, document.id, "app2") == "approved"


def operate_as(stage: WorkflowStage, name: str) -> Caller:
    caller = stage.standing.company.caller(name)
    return replace(caller, principal=replace(caller.principal, is_operator=True))
