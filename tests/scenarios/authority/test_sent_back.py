"""A document that is sent back is asked about as if for the first time: earlier votes bar nobody."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.documents.erase import Erasures
from signet.store.tenants.tenants import save_members, save_roles
from tests.scenarios.authority.acts import edit, list_asked, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

# Anton is the only voter.
PEOPLE = {
    "anton": ("voter",),
    "carl": ("clerk", "admin"),
    "mia": ("clerk", "admin"),
    "frank": ("manager",),
    "ada": ("boss",),
}
WIDER = {"after": "P9D", "to": role("boss")}
APPROVED = "approved"


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            roles = [Role(role=name, permissions=("*:approve",)) for name in ("boss", "manager")]
            save_roles(connection, made.tenant_id, tuple(roles), COMMAND_LINE)
            members = [Member(user_id=name, display_name=name, roles=roles) for name, roles in PEOPLE.items()]
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def look(name: str, of: str, **config: Any) -> dict[str, Any]:
    return {"id": name, "type": "approval", "config": {"approvers": [role(of)], **config}}


def payment_of(stage: WorkflowStage, *nodes: Any, small: str = "none") -> tuple[str, str]:
    """Publish vendors, and payments that these nodes ask about in turn, unless the account is `small`."""
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    contract = {**CONTRACT, "fields": {**CONTRACT["fields"], "vendor": ref}}
    listed = [{"id": "choice", "type": "condition"}, *nodes, {"id": "ready", "type": "condition"}]
    edges = [{"source": first["id"], "target": then["id"]} for first, then in pairwise(listed)]
    past = {"source": "choice", "target": "ready", "condition": f"entity.vendor.number == '{small}'"}
    edges.append(past)
    return vendor, stage.publish(contract, approval={"nodes": listed, "edges": edges})


def wake(stage: WorkflowStage, document: Made) -> None:
    stage.wake(document.instance_id)
    stage.drain()


def test_the_only_voter_is_asked_again_when_a_pinned_value_changes(stage: WorkflowStage) -> None:
    """Anton has voted, carl corrects the account: it is anton's again, and not the wider circle's."""
    nodes = look("first", "voter", escalate=WIDER), look("second", "manager")
    vendor, payment = payment_of(stage, *nodes)
    supplier = stage.create(vendor, "carl", number="DE-OLD")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "anton") == APPROVED
    edit(stage, supplier, "carl", number="DE-NEW")
    wake(stage, made)
    assert list_asked(stage, made) == ["@voter"]
    assert vote(stage, made.id, "ada") == "APPROVAL_NOT_YOURS"
    assert vote(stage, made.id, "anton") == APPROVED
    assert vote(stage, made.id, "frank") == APPROVED
    assert stage.status_of(made.id) == "active"


def test_the_only_voter_is_asked_again_without_a_wider_circle(stage: WorkflowStage) -> None:
    vendor, payment = payment_of(stage, look("first", "voter"), look("second", "manager"))
    supplier = stage.create(vendor, "carl", number="DE-OLD")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "anton") == APPROVED
    edit(stage, supplier, "carl", number="DE-NEW")
    wake(stage, made)
    assert stage.instance(made.instance_id)["status"] == "running"
    assert list_asked(stage, made) == ["@voter"]


def test_the_only_voter_is_asked_again_after_an_erasure(stage: WorkflowStage) -> None:
    nodes = look("first", "voter", escalate=WIDER), look("second", "manager")
    _, payment = payment_of(stage, *nodes)
    made = stage.create(payment, "carl", contact="Erna")
    submit(stage, made, "carl")
    assert vote(stage, made.id, "anton") == APPROVED
    company = stage.standing.company
    Erasures(company.database).erase(company.caller("mia", "admin"), made.id, None, "asked")
    stage.drain()
    assert list_asked(stage, made) == ["@voter"]


def test_a_vote_still_bars_its_voter_from_the_next_approval(stage: WorkflowStage) -> None:
    """The rule beside it: on one way, two approvals are of two people."""
    _, payment = payment_of(stage, look("first", "voter"), look("second", "voter"))
    made = stage.create(payment, "carl")
    submit(stage, made, "carl")
    assert vote(stage, made.id, "anton") == APPROVED
    reason = stage.instance(made.instance_id)["reason"]
    assert reason.split(":")[0] == "APPROVAL_NOBODY_ELIGIBLE"


def test_a_gate_uses_nothing_of_the_way_before(stage: WorkflowStage) -> None:
    """The account that was corrected wants no approval any more: the vote before it counts for nothing."""
    vendor, payment = payment_of(stage, look("first", "voter"), look("second", "manager"), small="DE-NEW")
    supplier = stage.create(vendor, "carl", number="DE-OLD")
    made = stage.create(payment, "carl", vendor=str(supplier.id))
    submit(stage, made, "carl")
    assert vote(stage, made.id, "anton") == APPROVED
    edit(stage, supplier, "carl", number="DE-NEW")
    wake(stage, made)
    assert stage.status_of(made.id) == "active"
    rows = stage.standing.rows("SELECT status FROM approval_requests WHERE document_id = %s", made.id)
    assert rows == [("voided",), ("voided",)]
    assert not stage.instance(made.instance_id)["pins"]
