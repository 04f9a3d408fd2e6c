"""Roles that a person of the document gives a voter: those that the vote rests on bar it, and no others."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE, ChangeAuthor
from signet.core.tenants.tenant_file import Member, Role
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import submit, vote
from tests.support.core.approval_policies import role, user
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

BARRED = "VOTE_BARRED_BY_GRANT"
# Carl makes and asks, and gives roles.
CREATOR = ChangeAuthor("carl", ("carl",))
ROLES = {"guest": (), "reader": ("*:read",), "signer": ("*:approve",)}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        define(made, COMMAND_LINE, **ROLES)
        give(made, COMMAND_LINE, "app1", "voter")
        give(made, COMMAND_LINE, "fiona", "signer")
        yield made


def define(stage: WorkflowStage, author: ChangeAuthor, **roles: tuple[str, ...]) -> None:
    defined = tuple(Role(role=name, permissions=granted) for name, granted in roles.items())
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_roles(connection, stage.tenant_id, defined, author)


def give(stage: WorkflowStage, author: ChangeAuthor, user_id: str, *roles: str) -> None:
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        save_members(connection, stage.tenant_id, (member,), author)


def asked(stage: WorkflowStage, approver: Mapping[str, Any], contract: Any = None) -> Made:
    node = {"id": "look", "type": "approval", "config": {"approvers": [approver]}}
    document = stage.create(stage.publish(contract, approval={"nodes": [node]}), "carl")
    submit(stage, document, "carl")
    return document


@pytest.mark.parametrize("given", ["guest", "reader"])
def test_a_role_beside_the_vote_bars_nothing(stage: WorkflowStage, given: str) -> None:
    document = asked(stage, role("voter"))
    give(stage, CREATOR, "app1", "voter", given)
    define(stage, CREATOR, **{given: ("*:read", "*:post")})
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "active"


def test_a_role_that_grants_the_permission_bars(stage: WorkflowStage) -> None:
    give(stage, COMMAND_LINE, "nora", "reader", "signer")
    document = asked(stage, user("nora"))
    give(stage, COMMAND_LINE, "nora", "reader")
    give(stage, CREATOR, "nora", "reader", "signer")
    assert vote(stage, document.id, "nora") == BARRED


def test_nor_does_one_that_grants_what_the_voter_has(stage: WorkflowStage) -> None:
    document = asked(stage, user("app1"))
    give(stage, CREATOR, "app1", "voter", "signer")
    assert vote(stage, document.id, "app1") == "approved"


def test_a_role_that_comes_to_grant_it_bars_too(stage: WorkflowStage) -> None:
    """Carl gives a role without permissions, and a person without a part adds the permission later."""
    document = asked(stage, user("app1"))
    give(stage, COMMAND_LINE, "app1")
    give(stage, CREATOR, "app1", "guest")
    define(stage, COMMAND_LINE, guest=("*:approve",))
    assert vote(stage, document.id, "app1") == BARRED


def test_the_role_of_the_seat_bars_though_another_grants_the_permission(stage: WorkflowStage) -> None:
    document = asked(stage, role("voter"))
    give(stage, CREATOR, "fiona", "signer", "voter")
    assert vote(stage, document.id, "fiona") == BARRED
    assert vote(stage, document.id, "app1") == "approved"


def test_the_gate_asks_for_the_role_of_the_seat_too(stage: WorkflowStage) -> None:
    """Fiona loses the role after her vote, and carl gives it back to her before the gate uses it."""
    nodes = [
        {"id": name, "type": "approval", "config": {"approvers": [approver]}}
        for name, approver in (("first", role("voter")), ("second", user("fiona")))
    ]
    edges = [{"source": "first", "target": "second"}]
    document = stage.create(stage.publish(approval={"nodes": nodes, "edges": edges}), "carl")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == "approved"
    give(stage, COMMAND_LINE, "app1", "signer")
    give(stage, CREATOR, "app1", "signer", "voter")
    assert vote(stage, document.id, "fiona") == "approved"
    assert stage.status_of(document.id) == "submitted", "the first vote has lapsed"


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("entity.amount <= 10 || 'guest' in actor.roles", BARRED),
        ("entity.amount <= 10 || actor.user_id != 'olga'", "approved"),
    ],
)
def test_any_role_bars_where_the_condition_on_the_voter_reads_roles(
    stage: WorkflowStage, condition: str, answer: str
) -> None:
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"]["approve"]["permission"] = "thing:approve"
    document = asked(stage, role("voter"), {**contract, "conditions": {"thing:approve": condition}})
    give(stage, CREATOR, "app1", "voter", "guest")
    assert vote(stage, document.id, "app1") == answer
