"""Asking again chooses nobody: after a rejection, in turns, and after a value was erased (A7, A10)."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from signet.core.explain.instance import write_instance
from signet.core.tenants.eligibility_changes import COMMAND_LINE, ChangeAuthor
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.chains import ApprovalChains, ChainVersion
from signet.engine.approvals.delegations import Delegations
from signet.engine.approvals.inbox import ApprovalRequest, Approvals
from signet.engine.documents.erase import erase_personal
from signet.engine.instances.explain import explain
from signet.store.tenants.people import set_member_status
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import newest, submit, vote
from tests.support.core.approval_policies import role, user
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

PEOPLE = ("app1", "app2", "app3", "carl")


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in PEOPLE]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def hold(stage: WorkflowStage, user_id: str, *roles: str, author: ChangeAuthor = COMMAND_LINE) -> None:
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        member = Member(user_id=user_id, display_name=user_id, roles=roles)
        save_members(connection, stage.tenant_id, (member,), author)


def read(stage: WorkflowStage, document: Made, user_id: str) -> ApprovalRequest:
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    return approvals.read_request(company.caller(user_id), newest(stage, document.id))


def asked(stage: WorkflowStage, *approvers: Any, **data: Any) -> Made:
    node = {"id": "look", "type": "approval", "config": {"approvers": list(approvers)}}
    document = stage.create(stage.publish(approval={"nodes": [node]}), "carl", **data)
    submit(stage, document, "carl")
    return document


def holders(stage: WorkflowStage, document: Made) -> list[str]:
    rows = stage.standing.rows(
        "SELECT coalesce(holder_user_id, '@' || holder_role) FROM approval_seats WHERE request_id = %s"
        " ORDER BY position",
        newest(stage, document.id),
    )
    return [row[0] for row in rows]


def told(stage: WorkflowStage, document: Made) -> str:
    database, contracts = stage.standing.company.database, stage.caches().contracts
    explained = explain(database, contracts, stage.tenant_id, document.instance_id)
    return " ".join(write_instance(explained))


def test_an_unchanged_document_goes_back_to_who_rejected_it(stage: WorkflowStage) -> None:
    document = asked(stage, role("voter"))
    first = newest(stage, document.id)
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    submit(stage, document, "carl")
    assert holders(stage, document) == ["app1"]
    assert vote(stage, document.id, "app2") == "APPROVAL_NOT_YOURS"
    why = (
        "app1 alone is asked there, because they have rejected the same content."
        " After an edit of the document, others with the role voter are asked too."
    )
    assert why in told(stage, document)
    (repeats,) = stage.standing.row(
        "SELECT repeats_request_id FROM approval_requests WHERE id = %s", newest(stage, document.id)
    )
    assert repeats == first
    assert vote(stage, document.id, "app1") == "approved"


def test_a_delegate_who_rejected_gets_no_seat_of_their_own(stage: WorkflowStage) -> None:
    """App1 revokes what they gave to mallory: app1 is asked again, and mallory is not."""
    hold(stage, "mallory", "admin")
    document = asked(stage, role("voter"))
    now, company = datetime.now(UTC), stage.standing.company
    delegations, app1 = Delegations(company.database), company.caller("app1")
    given = delegations.delegate(app1, "app1", "mallory", from_time=now, to_time=now + timedelta(days=1))
    assert vote(stage, document.id, "mallory", "rejected") == "rejected"
    delegations.revoke(app1, given.id)
    submit(stage, document, "carl")
    assert holders(stage, document) == ["app1"]
    assert vote(stage, document.id, "mallory") == "APPROVAL_NOT_YOURS"
    assert vote(stage, document.id, "app1") == "approved"


BY_COMMAND, BY_CREATOR = COMMAND_LINE, ChangeAuthor("carl", ("carl",))


def disable(stage: WorkflowStage, user_id: str, author: ChangeAuthor) -> None:
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        set_member_status(connection, stage.tenant_id, user_id, "disabled", datetime.now(UTC), author)


def paused_for(stage: WorkflowStage, document: Made) -> str:
    return str(stage.instance(document.instance_id)["reason"]).partition(":")[0]


@pytest.mark.parametrize("loss", ["role", "membership"])
def test_the_role_is_asked_where_who_rejected_can_never_decide(stage: WorkflowStage, loss: str) -> None:
    document = asked(stage, role("voter"))
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    if loss == "role":
        hold(stage, "app1", "admin")
    else:
        disable(stage, "app1", BY_COMMAND)
    submit(stage, document, "carl")
    assert holders(stage, document) == ["@voter"]
    assert "alone is asked there" not in told(stage, document)
    (rejection,) = read(stage, document, "app2").rejected_before
    assert (rejection.rejected_by.user_id, rejection.is_same_content) == ("app1", True)
    assert vote(stage, document.id, "app2") == "approved"


@pytest.mark.parametrize("loss", ["role", "membership"])
def test_it_stays_with_who_rejected_where_the_creator_brought_that_about(
    stage: WorkflowStage, loss: str
) -> None:
    document = asked(stage, role("voter"))
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    if loss == "role":
        hold(stage, "app1", "admin", author=BY_CREATOR)
    else:
        disable(stage, "app1", BY_CREATOR)
    submit(stage, document, "carl")
    assert paused_for(stage, document) == "APPROVAL_NOBODY_ELIGIBLE"


def asked_twice(stage: WorkflowStage) -> Made:
    """Ask app1, then a holder of the role, in two approvals of one gate; app1 rejects in the second."""
    first = {"id": "first", "type": "approval", "config": {"approvers": [user("app1")]}}
    second = {"id": "second", "type": "approval", "config": {"approvers": [role("voter")]}}
    edges = [{"source": "first", "target": "second"}]
    document = stage.create(stage.publish(approval={"nodes": [first, second], "edges": edges}))
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == "approved"
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    return document


def test_the_role_is_asked_where_who_rejected_has_approved_before(stage: WorkflowStage) -> None:
    document = asked_twice(stage)
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == "approved"
    assert holders(stage, document) == ["@voter"]
    assert vote(stage, document.id, "app1") == "APPROVAL_SAME_PERSON"
    assert vote(stage, document.id, "app2") == "approved"
    assert stage.status_of(document.id) == "active"


def test_no_gift_of_the_creator_takes_it_from_who_rejected(stage: WorkflowStage) -> None:
    document = asked_twice(stage)
    hold(stage, "app1", "voter", "admin", "clerk", author=BY_CREATOR)
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == "approved"
    assert paused_for(stage, document) == "APPROVAL_NOBODY_ELIGIBLE"
    assert vote(stage, document.id, "app2") == "APPROVAL_NOT_YOURS"


def test_a_later_stage_goes_back_to_who_rejected_it_too(stage: WorkflowStage) -> None:
    chains, caller = ApprovalChains(stage.standing.company.database), stage.standing.company.caller("carl")
    step = {"approvers": [role("voter")]}
    saved = chains.save(caller, {"name": "two", "steps": [step, step]})
    assert isinstance(saved, ChainVersion), saved
    chains.publish(caller, "two", saved.version)
    node = {"id": "look", "type": "approval", "config": {"chain": "two"}}
    document = stage.create(stage.publish(approval={"nodes": [node]}))
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == "open"
    assert vote(stage, document.id, "app2", "rejected") == "rejected"
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == "open"
    asked_now = [seat.holder_user_id for seat in read(stage, document, "app2").seats if seat.stage == 2]
    assert asked_now == ["app2"]
    assert vote(stage, document.id, "app3") == "APPROVAL_NOT_YOURS"
    assert vote(stage, document.id, "app2") == "approved"


def test_a_changed_document_may_be_decided_by_anybody_of_the_role(stage: WorkflowStage) -> None:
    document = asked(stage, role("voter"))
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    stage.edit(document.id, amount=77)
    submit(stage, document, "carl")
    assert holders(stage, document) == ["@voter"]
    assert vote(stage, document.id, "app2") == "approved"


def test_a_turn_stays_with_its_document(stage: WorkflowStage) -> None:
    """Edit and ask until another person comes: no other does."""
    document = asked(stage, role("voter", "round_robin"))
    (first,) = holders(stage, document)
    for amount in (5, 6, 7):
        stage.edit(document.id, amount=amount)
        stage.drain()
        assert holders(stage, document) == [first]
    others = {holders(stage, asked(stage, role("voter", "round_robin")))[0] for _ in range(2)}
    assert others == set(PEOPLE[:3]) - {first}


def test_an_erased_value_is_asked_about_again(stage: WorkflowStage) -> None:
    document = asked(stage, role("voter"), contact="Erna")
    first = newest(stage, document.id)
    erase_personal(
        stage.standing.company.database,
        stage.tenant_id,
        document.id,
        actor_id="carl",
        via="api",
        reason="asked",
    )
    company = stage.standing.company
    view = Approvals(company.database, stage.caches()).read_request(company.caller("app1"), first)
    assert (view.erased_fields, view.pins) == (["contact"], [])
    assert view.standing.why_not is not None and "asked: contact. The next" in view.standing.why_not.sentence
    assert vote(stage, document.id, "app1", request_id=first) == "APPROVAL_STALE"
    stage.drain()
    second = newest(stage, document.id)
    assert second != first
    assert vote(stage, document.id, "app1") == "approved"
    assert stage.status_of(document.id) == "active"
