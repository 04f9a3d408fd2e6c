"""A bench that is cleared before the approval expires, so that its edge leads to a wider circle."""

from collections.abc import Iterator

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import list_asked, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

# Carl makes and asks. Frank is an administrator without a part.
PEOPLE = {
    "strict": ("finance", "admin"),
    "idle": ("finance", "admin"),
    "lenient": ("clerk", "admin"),
    "carl": ("admin",),
    "frank": ("admin",),
}
HELD = ("paused", "APPROVAL_NOBODY_ELIGIBLE")


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            finance = Role(role="finance", permissions=("*:approve",))
            save_roles(connection, made.tenant_id, (finance,), COMMAND_LINE)
            members = [Member(user_id=name, display_name=name, roles=held) for name, held in PEOPLE.items()]
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def asked(stage: WorkflowStage) -> Made:
    """Ask finance, and the clerks where finance has not decided in time."""
    finance, clerks = (
        {"id": name, "type": "approval", "config": {"approvers": [role(held)], "quorum": "any", **more}}
        for name, held, more in (("look", "finance", {"expire_after": "PT1H"}), ("wide", "clerk", {}))
    )
    edges = [
        {"source": "look", "target": "out"},
        {"source": "look", "target": "wide", "on": "expired"},
        {"source": "wide", "target": "out"},
    ]
    entity_type = stage.publish(approval={"nodes": [finance, clerks], "edges": edges, "exit": "join"})
    document = stage.create(entity_type, "carl")
    submit(stage, document, "carl")
    return document


def give(stage: WorkflowStage, by: str, user_id: str, *roles: str) -> None:
    company = stage.standing.company
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    Members(company.database).save(company.caller(by, "admin"), member, "active", succession=Succession())
    stage.drain()


def expire(stage: WorkflowStage, document: Made) -> None:
    """Let the time pass until the approval expires, and wake the document."""
    stage.standing.run("UPDATE approval_requests SET expire_at = now() - interval '1 minute'")
    if stage.instance(document.instance_id)["status"] == "paused":
        stage.retry(document, stage.standing.company.caller("frank", "admin"))
    else:
        stage.wake(document.instance_id)
    stage.drain()


def reason_of(stage: WorkflowStage, document: Made) -> tuple[str, str]:
    instance = stage.instance(document.instance_id)
    return instance["status"], (instance["reason"] or "").split(":")[0]


@pytest.mark.parametrize("taken", [("strict",), ("strict", "idle")])
def test_nobody_opens_the_way_of_an_expired_approval_by_clearing_the_bench(
    stage: WorkflowStage, taken: tuple[str, ...]
) -> None:
    """Carl takes the role of those who are asked. Frank gives it back: then the edge leads on."""
    document = asked(stage)
    for name in taken:
        give(stage, "carl", name, "admin")
    expire(stage, document)
    assert (reason_of(stage, document), list_asked(stage, document)) == (HELD, ["@finance"])
    for name in taken:
        give(stage, "frank", name, "finance", "admin")
    expire(stage, document)
    assert list_asked(stage, document) == ["@clerk"]
    assert vote(stage, document.id, "lenient") == "approved"
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize("taken", [(), ("strict", "idle")])
def test_an_approval_expires_where_nobody_of_the_document_has_taken_anything(
    stage: WorkflowStage, taken: tuple[str, ...]
) -> None:
    """The lawful way: time passes, or a person without a part takes the role."""
    document = asked(stage)
    for name in taken:
        give(stage, "frank", name, "admin")
    expire(stage, document)
    assert list_asked(stage, document) == ["@clerk"]
