"""People who asked for the same before: no other request, and no asking again, lets them decide."""

from collections.abc import Callable, Iterator

import pytest

from signet.core.explain.instance import write_instance
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.engine.instances.explain import explain
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import edit, list_asked, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

APPROVED, DUTIES = "approved", "SEPARATION_OF_DUTIES"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [
            Member(user_id=name, display_name=name, roles=("voter", "admin"))
            for name in ("fiona", "frank", "carl", "dave", "mia")
        ]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def claim(stage: WorkflowStage) -> tuple[Made, Made]:
    """Make a supplier, and a claim whose submission itself waits for an approval that reads the supplier."""
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    take = {"kind": "update", "set": {"number": "{entity.vendor.number}"}}
    contract = {**CONTRACT, "fields": {**CONTRACT["fields"], "vendor": ref}, "actions": {"take": take}}
    node = {"id": "take", "type": "action", "config": {"action": "take", "run_as": "system"}}
    claims = stage.publish(contract, checks={"nodes": [LOOK]}, posting={"nodes": [node]})
    supplier = stage.create(vendor, "mia", number="DE-GOOD")
    return supplier, stage.create(claims, "mia", vendor=str(supplier.id))


def change_the_reference(stage: WorkflowStage, supplier: Made, document: Made) -> None:
    edit(stage, supplier, "mia", number="DE-OTHER")
    stage.wake(document.instance_id)
    stage.drain()


def edit_and_ask(stage: WorkflowStage, supplier: Made, document: Made) -> None:
    """Edit the document, which takes the request back, and ask for the same again."""
    edit(stage, document, "mia", amount=7)
    stage.drain()
    submit(stage, document, "carl")


def let_another_ask(stage: WorkflowStage, supplier: Made, document: Made) -> None:
    submit(stage, document, "dave")


@pytest.mark.parametrize("changes", [change_the_reference, edit_and_ask, let_another_ask])
def test_who_asked_first_stays_barred(
    stage: WorkflowStage, changes: Callable[[WorkflowStage, Made, Made], None]
) -> None:
    """Fiona asks, carl asks for the same, and then people are asked again, or a third person asks."""
    supplier, made = claim(stage)
    for person in ("fiona", "carl"):
        submit(stage, made, person)
        assert vote(stage, made.id, "fiona") == DUTIES
    changes(stage, supplier, made)
    assert list_asked(stage, made) == ["@voter"]
    for person in ("fiona", "carl", "mia"):
        assert vote(stage, made.id, person) == DUTIES
    assert vote(stage, made.id, "frank") == APPROVED
    assert stage.status_of(made.id) == "active"


def test_the_view_names_all_who_asked(stage: WorkflowStage) -> None:
    supplier, made = claim(stage)
    submit(stage, made, "fiona")
    submit(stage, made, "carl")
    change_the_reference(stage, supplier, made)
    company = stage.standing.company
    shown = Approvals(company.database, stage.caches()).read_request(
        company.caller("frank"), newest(stage, made.id)
    )
    assert [person.user_id for person in shown.responsible.requesters] == ["carl", "fiona"]


def test_an_only_voter_who_asked_is_told_that_nobody_is_left(stage: WorkflowStage) -> None:
    """The wave counts voters by the same persons: it pauses, and waits for nobody."""
    supplier, made = claim(stage)
    submit(stage, made, "fiona")
    submit(stage, made, "carl")
    for person in ("frank", "dave"):
        stage.standing.run("DELETE FROM member_roles WHERE user_id = %s AND role = 'voter'", person)
    change_the_reference(stage, supplier, made)
    assert "APPROVAL_NOBODY_ELIGIBLE" in stage.instance(made.instance_id)["reason"]


def test_what_was_performed_bars_nobody_from_the_next(stage: WorkflowStage) -> None:
    """The lawful way beside it: what carl asked for is done, and nobody asks any more."""
    _, made = claim(stage)
    submit(stage, made, "fiona")
    submit(stage, made, "carl")
    assert vote(stage, made.id, "frank") == APPROVED
    query = "SELECT earlier_requesters(%s)"
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        row = connection.execute(query, (made.id,)).fetchone()
    assert row == ([],)


def test_explanations_say_that_an_earlier_requester_is_barred(stage: WorkflowStage) -> None:
    """Let the one person who may vote ask first, and another ask for the same: nobody is left."""
    stage.standing.run("DELETE FROM member_roles WHERE role = 'voter' AND user_id <> 'fiona'")
    document = stage.create(stage.publish(checks={"nodes": [LOOK]}), "mia")
    submit(stage, document, "fiona")
    submit(stage, document, "dave")
    reason = stage.instance(document.instance_id)["reason"]
    assert reason.startswith("APPROVAL_NOBODY_ELIGIBLE")
    database, contracts = stage.standing.company.database, stage.caches().contracts
    explained = explain(database, contracts, stage.tenant_id, document.instance_id)
    assert [stuck.stage for stuck in explained.stuck_stages] == [1]
    assert "Not fiona:" in "\n".join(write_instance(explained))
