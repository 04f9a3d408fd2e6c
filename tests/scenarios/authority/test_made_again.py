"""An unchanged document goes back to who rejected it, also as another instance or another document."""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.core.tenants.eligibility_changes import COMMAND_LINE, ChangeAuthor
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.chains import ApprovalChains, ChainVersion
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Delete
from signet.engine.instances.actions import Instances
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import edit, list_asked, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

PEOPLE = ("app1", "app2", "app3", "carl")


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in PEOPLE]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


def numbered(stage: WorkflowStage) -> str:
    """Publish things with a number that only one of them has."""
    number = {"type": "string", "required": True, "unique": True, "indexed": True, "max_length": 40}
    fields = {**CONTRACT["fields"], "number": number}
    node = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
    return stage.publish({**CONTRACT, "fields": fields}, approval={"nodes": [node]})


def rejected_thing(stage: WorkflowStage, entity_type: str, **data: Any) -> Made:
    document = stage.create(entity_type, "carl", **data)
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    return document


def make_again(stage: WorkflowStage, document: Made, entity_type: str, **data: Any) -> Made:
    """Delete the rejected draft, make it again and ask."""
    stage.mutate(Delete(document.id, stage.version_of(document.id)), "carl")
    stage.drain()
    again = stage.create(entity_type, "carl", **data)
    submit(stage, again, "carl")
    return again


@pytest.mark.parametrize("act", ["cancel", "fail"])
def test_an_instance_that_was_ended_is_no_way_around_the_rejecter(stage: WorkflowStage, act: str) -> None:
    document = rejected_thing(stage, numbered(stage), number="R-1")
    company, version = stage.standing.company, stage.instance(document.instance_id)["version"]
    operating = Instances(company.database, stage.caches(), CompiledCache())
    getattr(operating, act)(company.caller("carl", "admin"), document.instance_id, version, "stuck")
    submit(stage, document, "carl")
    assert stage.instance_of(document.id) != document.instance_id
    assert list_asked(stage, document) == ["app1"]
    assert vote(stage, document.id, "app2") == "APPROVAL_NOT_YOURS"
    assert vote(stage, document.id, "app1") == "approved"


def test_a_copy_under_another_number_shows_the_rejection(stage: WorkflowStage) -> None:
    """People who are asked read it. A second order may say the same, so that nobody is bound by it."""
    entity_type, company = numbered(stage), stage.standing.company
    first = rejected_thing(stage, entity_type, number="R-1", amount=7)
    rejected_thing(stage, entity_type, number="R-9", amount=8)
    copy = stage.create(entity_type, "carl", number="R-2", amount=7)
    submit(stage, copy, "carl")
    assert list_asked(stage, copy) == ["@voter"]
    approvals = Approvals(company.database, stage.caches())
    (seen,) = approvals.read_request(company.caller("app2"), newest(stage, copy.id)).rejected_before
    assert (seen.document_id, seen.is_look_alike, seen.is_same_content) == (first.id, True, False)
    assert vote(stage, copy.id, "app2", "rejected") == "rejected"
    submit(stage, copy, "carl")
    shown = approvals.read_request(company.caller("app2"), newest(stage, copy.id)).rejected_before
    assert [(seen.document_id, seen.is_look_alike) for seen in shown] == [(copy.id, False), (first.id, True)]


def test_a_document_that_is_deleted_and_made_again_goes_to_who_rejected_it(stage: WorkflowStage) -> None:
    entity_type = numbered(stage)
    data = {"number": "R-1", "amount": 7, "contact": "Erna"}
    again = make_again(stage, rejected_thing(stage, entity_type, **data), entity_type, **data)
    assert list_asked(stage, again) == ["app1"]
    assert vote(stage, again.id, "app2") == "APPROVAL_NOT_YOURS"
    company = stage.standing.company
    view = Approvals(company.database, stage.caches()).read_request(
        company.caller("app1"), newest(stage, again.id)
    )
    assert [(seen.rejected_by.user_id, seen.is_same_content) for seen in view.rejected_before] == [
        ("app1", True)
    ]
    assert vote(stage, again.id, "app1") == "approved"


def test_another_number_is_another_document(stage: WorkflowStage) -> None:
    """The lawful way beside it, and the limit: nobody can tell a copy from a second order."""
    entity_type = numbered(stage)
    document = rejected_thing(stage, entity_type, number="R-1", amount=7)
    again = make_again(stage, document, entity_type, number="R-2", amount=7)
    assert list_asked(stage, again) == ["@voter"]
    assert vote(stage, again.id, "app2") == "approved"


def test_each_rejecter_is_asked_again_in_their_stage(stage: WorkflowStage) -> None:
    """App2 rejects in stage 2, then app1 in stage 1: both are asked again."""
    chains, caller = ApprovalChains(stage.standing.company.database), stage.standing.company.caller("carl")
    step = {"approvers": [role("voter")]}
    saved = chains.save(caller, {"name": "two", "steps": [step, step]})
    assert isinstance(saved, ChainVersion), saved
    chains.publish(caller, "two", saved.version)
    node = {"id": "look", "type": "approval", "config": {"chain": "two"}}
    document = stage.create(stage.publish(approval={"nodes": [node]}), "carl")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == "open"
    assert vote(stage, document.id, "app2", "rejected") == "rejected"
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1", "rejected") == "rejected"
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app3") == "APPROVAL_NOT_YOURS"
    assert vote(stage, document.id, "app1") == "open"
    assert vote(stage, document.id, "app3") == "APPROVAL_NOT_YOURS"
    assert vote(stage, document.id, "app2") == "approved"
    assert stage.status_of(document.id) == "active"


# --- who was given something meanwhile ---


def give_role(stage: WorkflowStage, user_id: str, giver: str) -> None:
    with stage.standing.company.database.transaction(stage.tenant_id) as connection:
        member = Member(user_id=user_id, display_name=user_id, roles=("voter",))
        save_members(connection, stage.tenant_id, (member,), ChangeAuthor(giver, (giver,)))


@pytest.mark.parametrize(("giver", "answer"), [("carl", "VOTE_BARRED_BY_GRANT"), ("mia", "approved")])
def test_a_number_that_is_used_again_lifts_no_bar(stage: WorkflowStage, giver: str, answer: str) -> None:
    """Carl gives gus the role after the asking, and makes the document again; a gift of mia's bars nobody."""
    entity_type = numbered(stage)
    document = rejected_thing(stage, entity_type, number="R-1", amount=7)
    give_role(stage, "gus", giver)
    again = make_again(stage, document, entity_type, number="R-1", amount=8)
    assert vote(stage, again.id, "gus") == answer


def test_a_number_that_was_given_up_by_an_edit_lifts_no_bar(stage: WorkflowStage) -> None:
    """Carl deletes nothing: the rejected document gets another number, and a new one takes the old."""
    entity_type = numbered(stage)
    document = rejected_thing(stage, entity_type, number="R-1", amount=7)
    give_role(stage, "gus", "carl")
    edit(stage, document, "carl", number="R-0")
    again = stage.create(entity_type, "carl", number="R-1", amount=8)
    submit(stage, again, "carl")
    assert vote(stage, again.id, "gus") == "VOTE_BARRED_BY_GRANT"
