"""Requests by a key of a person who has voted: they are the person's own, so that the vote is taken back."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import Principal
from signet.core.tenants.tenant_file import Member
from signet.engine.documents.commands import RequestTransition
from signet.engine.documents.mutate import Documents
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, WorkflowStage, standing_stage

PEOPLE = ("app1", "app2", "app3", "carl", "dave")
ASKED = {"from": ["submitted"], "to": "active", "kind": "requested"}
CONTRACT_OF_ASKED = {**CONTRACT, "transitions": {**CONTRACT["transitions"], "approve": ASKED}}
APPROVAL = {
    "nodes": [
        {"id": name, "type": "approval", "config": {"approvers": [role("voter")]}} for name in ("one", "two")
    ],
    "edges": [{"source": "one", "target": "two"}],
}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in PEOPLE]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def key_of(stage: WorkflowStage, person: str) -> Caller:
    key_id = UUID(int=7)
    stage.standing.run(
        "INSERT INTO api_keys (tenant_id, id, name, secret_hash, roles, created_by, created_at)"
        " VALUES (%s, %s, 'erp', decode(repeat('00', 32), 'hex'), '{admin}', %s, now())",
        stage.tenant_id,
        key_id,
        person,
    )
    principal = Principal(stage.tenant_id, f"key:{key_id}", ("admin",), behind=frozenset((person,)))
    return Caller(principal, "test")


@pytest.mark.parametrize(
    ("who", "asked_first"),
    [("app1", True), ("key of app1", True), ("app3", False), ("key of app3", False)],
)
def test_a_vote_is_taken_back_when_its_voter_asks(
    stage: WorkflowStage, who: str, *, asked_first: bool
) -> None:
    """A person who has not voted takes nothing back."""
    document = stage.create(stage.publish(CONTRACT_OF_ASKED, approval=APPROVAL), "carl")
    submit(stage, document, "carl")
    stage.ask(document.id, "approve", "dave")
    stage.drain()
    assert vote(stage, document.id, "app1") == "approved"
    person = who.removeprefix("key of ")
    caller = key_of(stage, person) if person != who else stage.standing.company.caller(person, "admin")
    operation = RequestTransition(document.id, stage.version_of(document.id), "approve", "once more")
    Documents(stage.standing.company.database).mutate(caller, operation)
    stage.drain()
    query = "SELECT node_id, status FROM approval_requests WHERE id = %s"
    node, status = stage.standing.row(query, newest(stage, document.id))
    assert (node, status) == ("usr:approval:one" if asked_first else "usr:approval:two", "open")
