"""A role with more holders than have a part: those who have none are found, and no wider circle is asked."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import list_asked, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

# Requested by a person, so that the voters need no permission of their own.
REQUESTED = {"from": ["submitted"], "to": "active", "kind": "requested"}
BOTH: dict[str, Any] = {
    "id": "both",
    "type": "approval",
    "config": {"approvers": [role("voter"), role("voter")], "quorum": "all"},
}
ONE_MORE: dict[str, Any] = {"approvers": [role("voter")]}
LATER_THE_BOSS: dict[str, Any] = {**ONE_MORE, "escalate": {"after": "P30D", "to": role("boss")}}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        voters = [Member(user_id=f"app{n}", display_name=f"App {n}", roles=("voter",)) for n in range(1, 6)]
        others = [
            Member(user_id="carl", display_name="Carl", roles=("clerk", "admin")),
            Member(user_id="bob", display_name="Bob", roles=("boss",)),
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_roles(connection, made.tenant_id, (Role(role="boss", permissions=("*:act",)),), COMMAND_LINE)
            save_members(connection, made.tenant_id, (*voters, *others), COMMAND_LINE)
        yield made


def approved_by_two(stage: WorkflowStage, **config: Any) -> Made:
    """Have the first two of five approve, so that another node asks one more of the five."""
    more = {"id": "more", "type": "approval", "config": config}
    edges = [{"source": "both", "target": "more"}]
    contract = {**CONTRACT, "transitions": {**CONTRACT["transitions"], "approve": REQUESTED}}
    document = stage.create(stage.publish(contract, approval={"nodes": [BOTH, more], "edges": edges}))
    for transition in ("submit", "approve"):
        stage.ask(document.id, transition, "carl")
        stage.drain()
    assert [vote(stage, document.id, person) for person in ("app1", "app2")] == ["open", "approved"]
    return document


@pytest.mark.parametrize("config", [ONE_MORE, LATER_THE_BOSS], ids=["alone", "with an escalation"])
def test_those_who_have_no_part_are_asked(stage: WorkflowStage, config: dict[str, Any]) -> None:
    document = approved_by_two(stage, **config)
    assert stage.instance(document.instance_id)["status"] == "running"
    assert list_asked(stage, document) == ["@voter"]
    assert vote(stage, document.id, "app1") == "APPROVAL_SAME_PERSON"
    assert vote(stage, document.id, "app3") == "approved"
    assert stage.status_of(document.id) == "active"
