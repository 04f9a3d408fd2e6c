"""The requester of an approval, when several people ask for transitions."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.decide import VoteResult
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.instances.actions import Instances
from signet.store.tenants.tenants import save_members
from tests.support.core.approval_policies import user
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

TRANSITIONS = {
    **CONTRACT["transitions"],
    "reopen": {"from": ["submitted"], "to": "draft", "kind": "requested"},
}
BOTH = {"approvers": [user("mona"), user("otto")]}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("rita", "mona", "otto")
        members = tuple(Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people)
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        yield made


@pytest.fixture
def approvals(stage: WorkflowStage) -> Approvals:
    return Approvals(stage.standing.company.database, stage.caches())


def asked(stage: WorkflowStage, slot: str, duties: dict[str, Any] | None = None, **config: Any) -> Made:
    """Create a document as carl and submit it as rita."""
    node = {"id": "look", "type": "approval", "config": config or BOTH}
    contract = {**CONTRACT, "transitions": TRANSITIONS, "separation_of_duties": duties or {}}
    document = stage.create(stage.publish(contract, **{slot: {"nodes": [node]}}))
    stage.drain()
    stage.ask(document.id, "submit", "rita")
    stage.drain()
    return document


def newest(stage: WorkflowStage, document: Made) -> UUID:
    rows = stage.standing.rows(
        "SELECT id FROM approval_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1", document.id
    )
    return UUID(str(rows[0][0]))


def answer(stage: WorkflowStage, approvals: Approvals, request_id: UUID, user_id: str) -> str:
    """Return the stage's state after the decision, or the code of its rejection."""
    try:
        decided = approvals.decide(stage.standing.company.caller(user_id), request_id, "approved")
    except Rejected as error:
        return error.code
    assert isinstance(decided, VoteResult)
    return decided.stage_state


def test_who_asks_instead_of_another_may_not_decide_nor_may_the_other(
    stage: WorkflowStage, approvals: Approvals
) -> None:
    document = asked(stage, "checks")
    request_id = newest(stage, document)
    stage.ask(document.id, "submit", "mona")
    for is_known_to_the_workflow in (False, True):
        if is_known_to_the_workflow:
            stage.drain()
        assert answer(stage, approvals, request_id, "mona") == "SEPARATION_OF_DUTIES"
        (item,) = [
            each
            for each in approvals.inbox(stage.standing.company.caller("mona"), limit=200)
            if each.document_id == document.id
        ]
        assert item.why_not is not None and item.why_not.code == "SEPARATION_OF_DUTIES"


def test_where_nobody_else_is_left_the_instance_pauses_and_says_why(stage: WorkflowStage) -> None:
    """Bar both approvers: the wave knows it as well as a decision does."""
    document = asked(stage, "checks", approvers=[user("mona"), user("rita")], quorum="any")
    stage.ask(document.id, "submit", "mona")
    stage.drain()
    row = stage.instance(document.instance_id)
    assert row["status"] == "paused" and row["reason"].startswith("APPROVAL_NOBODY_ELIGIBLE")


def test_who_has_decided_and_then_asks_is_not_both(stage: WorkflowStage, approvals: Approvals) -> None:
    """Expect the requester's earlier decision to be voided, and people to be asked again."""
    document = asked(stage, "checks")
    first = newest(stage, document)
    assert answer(stage, approvals, first, "mona") == "open"
    stage.drain()
    stage.ask(document.id, "submit", "mona")
    stage.drain()
    second = newest(stage, document)
    assert second != first
    query = "SELECT id::text, status, requester_id FROM approval_requests WHERE document_id = %s ORDER BY id"
    assert stage.standing.rows(query, document.id) == [
        (str(first), "voided", "rita"),
        (str(second), "open", "mona"),
    ]
    assert answer(stage, approvals, second, "otto") == "deadlocked"
    stage.drain()
    assert stage.status_of(document.id) == "draft"
    stage.check_rebuild(document.instance_id)


def test_where_a_requester_may_decide_nothing_is_taken_back(
    stage: WorkflowStage, approvals: Approvals
) -> None:
    document = asked(stage, "checks", {"may_decide": ["requester"]})
    first = newest(stage, document)
    assert answer(stage, approvals, first, "mona") == "open"
    stage.ask(document.id, "submit", "mona")
    stage.drain()
    assert newest(stage, document) == first
    assert answer(stage, approvals, first, "otto") == "approved"


def refused(stage: WorkflowStage, document: Made, user_id: str) -> None:
    """Ask for another exit as another person, and expect its refusal."""
    stage.ask(document.id, "reopen", user_id)
    stage.drain()
    assert stage.requests(document.id)[-1] == ("reopen", "refused")
    assert stage.status_of(document.id) == "submitted"


def test_after_another_request_that_was_refused_the_requester_is_still_barred(
    stage: WorkflowStage, approvals: Approvals
) -> None:
    document = asked(stage, "approval", approvers=[user("rita"), user("otto")], quorum="any")
    first = newest(stage, document)
    (entity_type,) = stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", document.id)
    stage.add_rule(str(entity_type), "never", "entity.status == 'draft'", on="transition")
    refused(stage, document, "mona")
    second = newest(stage, document)
    assert second != first
    assert answer(stage, approvals, second, "rita") == "SEPARATION_OF_DUTIES"
    assert answer(stage, approvals, second, "otto") == "approved"


def test_nor_does_a_new_instance_forget_who_had_asked(stage: WorkflowStage, approvals: Approvals) -> None:
    document = asked(stage, "approval", approvers=[user("rita"), user("otto")], quorum="any")
    company = stage.standing.company
    instances = Instances(company.database, stage.caches(), CompiledCache())
    version = stage.instance(document.instance_id)["version"]
    instances.fail(company.caller(), document.instance_id, version, "given up")
    (entity_type,) = stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", document.id)
    stage.add_rule(str(entity_type), "never", "entity.status == 'draft'", on="transition")
    refused(stage, document, "mona")
    assert answer(stage, approvals, newest(stage, document), "rita") == "SEPARATION_OF_DUTIES"
