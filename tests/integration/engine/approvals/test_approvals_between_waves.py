"""Approvals from the node that asks to the gate that passes: decisions between the waves of a worker."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member, Role
from signet.engine.approvals.chains import ApprovalChains, ChainVersion
from signet.engine.approvals.decide import VoteResult
from signet.engine.approvals.inbox import Approvals
from signet.engine.audit.verify import verify_tenant
from signet.store.tenants.tenants import save_members, save_roles
from tests.support.core.approval_policies import role, user
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

PEOPLE = {
    "mona": ("finance",),
    "otto": ("finance",),
    "anna": ("board",),
    "dora": (),
    "carl": ("clerk", "admin"),
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = [Member(user_id=name, display_name=name, roles=held) for name, held in PEOPLE.items()]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            roles = tuple(Role(role=name, permissions=("*:approve",)) for name in ("finance", "board"))
            save_roles(connection, made.tenant_id, roles, COMMAND_LINE)
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        yield made


@pytest.fixture
def approvals(stage: WorkflowStage) -> Approvals:
    return Approvals(stage.standing.company.database, stage.caches())


def submitted(stage: WorkflowStage, **config: Any) -> Made:
    """Submit a document as its creator, and let the worker ask the approvers."""
    node = {"id": "look", "type": "approval", "config": config}
    document = stage.create(stage.publish(approval={"nodes": [node]}))
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def waiting(stage: WorkflowStage, approvals: Approvals, document: Made, user_id: str) -> UUID:
    """Return the request about the document in the person's inbox."""
    inbox = approvals.inbox(stage.standing.company.caller(user_id), limit=200)
    (found,) = [item.request_id for item in inbox if item.document_id == document.id]
    return found


def decide(
    stage: WorkflowStage, approvals: Approvals, document: Made, user_id: str, vote: Any = "approved"
) -> VoteResult:
    request_id = waiting(stage, approvals, document, user_id)
    decided = approvals.decide(stage.standing.company.caller(user_id), request_id, vote, "seen")
    stage.drain()
    return decided


def outcome_of(stage: WorkflowStage, decided: VoteResult) -> tuple[Any, ...]:
    query = "SELECT status, outcome, applied FROM approval_requests WHERE id = %s"
    return stage.standing.row(query, decided.request_id)


def test_an_approval_opens_the_gate_and_is_used_up(stage: WorkflowStage, approvals: Approvals) -> None:
    document = submitted(stage, approvers=[role("finance")])
    decided = decide(stage, approvals, document, "otto")
    assert stage.status_of(document.id) == "active"
    assert outcome_of(stage, decided) == ("approved", "decided in stage 1", True)
    stage.check_rebuild(document.instance_id)
    assert verify_tenant(stage.standing.company.database, stage.tenant_id).is_sound


def test_a_rejection_sends_the_document_back(stage: WorkflowStage, approvals: Approvals) -> None:
    document = submitted(stage, approvers=[user("mona"), user("anna")])
    decided = decide(stage, approvals, document, "anna", "rejected")
    assert stage.status_of(document.id) == "draft"
    assert outcome_of(stage, decided) == ("rejected", "rejected by anna in stage 1: seen", None)


def test_a_chain_goes_from_stage_to_stage(stage: WorkflowStage, approvals: Approvals) -> None:
    company = stage.standing.company
    chains, caller = ApprovalChains(company.database), company.caller()
    steps = [{"approvers": [user("mona"), user("otto")], "quorum": "any"}, {"approvers": [role("board")]}]
    saved = chains.save(caller, {"name": "two_stages", "steps": steps})
    assert isinstance(saved, ChainVersion)
    assert not isinstance(chains.publish(caller, "two_stages", saved.version), tuple)
    document = submitted(stage, chain="two_stages")
    first = decide(stage, approvals, document, "mona")
    assert (first.stage_state, first.request_status) == ("approved", "open")
    with pytest.raises(Rejected, match="not asked"):
        approvals.decide(company.caller("otto"), first.request_id, "approved")
    second = decide(stage, approvals, document, "anna")
    assert (second.stage, second.request_status) == (2, "approved")
    assert stage.status_of(document.id) == "active"


def test_when_all_abstain_a_wider_circle_is_asked(stage: WorkflowStage, approvals: Approvals) -> None:
    wider = {"after": "P9D", "to": user("anna")}
    document = submitted(stage, approvers=[user("mona")], escalate=wider)
    assert decide(stage, approvals, document, "mona", "abstained").stage_state == "deadlocked"
    assert stage.status_of(document.id) == "submitted"
    decide(stage, approvals, document, "anna")
    assert stage.status_of(document.id) == "active"


def test_without_a_wider_circle_the_instance_pauses_and_says_why(
    stage: WorkflowStage, approvals: Approvals
) -> None:
    document = submitted(stage, approvers=[user("mona")])
    decide(stage, approvals, document, "mona", "abstained")
    row = stage.instance(document.instance_id)
    assert row["status"] == "paused" and row["reason"].startswith("APPROVAL_ALL_ABSTAINED")


def test_an_abstention_leaves_the_seat_of_a_role_to_its_other_holders(
    stage: WorkflowStage, approvals: Approvals
) -> None:
    document = submitted(stage, approvers=[role("finance")])
    decide(stage, approvals, document, "mona", "abstained")
    assert stage.instance(document.instance_id)["status"] == "running"
    request_id = waiting(stage, approvals, document, "otto")
    with pytest.raises(Rejected) as caught:
        approvals.decide(stage.standing.company.caller("mona"), request_id, "approved")
    assert caught.value.code == "APPROVAL_SEAT_TAKEN"
    decide(stage, approvals, document, "otto")
    assert stage.status_of(document.id) == "active"


@pytest.mark.parametrize("wider", [None, {"after": "P9D", "to": user("anna")}])
def test_a_stage_is_held_or_goes_to_others_when_all_holders_have_abstained(
    stage: WorkflowStage, approvals: Approvals, wider: Any
) -> None:
    document = submitted(stage, approvers=[role("finance")], **({"escalate": wider} if wider else {}))
    for person in ("mona", "otto"):
        decide(stage, approvals, document, person, "abstained")
    row = stage.instance(document.instance_id)
    if wider is not None:
        decide(stage, approvals, document, "anna")
        assert stage.status_of(document.id) == "active"
        return
    assert row["status"] == "paused" and row["reason"].startswith("APPROVAL_ALL_ABSTAINED")


def test_after_an_edit_people_are_asked_anew_and_only_that_counts(
    stage: WorkflowStage, approvals: Approvals
) -> None:
    document = submitted(stage, approvers=[user("mona")])
    before = waiting(stage, approvals, document, "mona")
    stage.edit(document.id, amount=7)
    stage.drain()
    with pytest.raises(Rejected) as caught:
        approvals.decide(stage.standing.company.caller("mona"), before, "approved")
    assert caught.value.code == "APPROVAL_CLOSED"
    assert waiting(stage, approvals, document, "mona") != before
    decide(stage, approvals, document, "mona")
    assert stage.status_of(document.id) == "active"


def test_an_approval_that_an_edit_overtook_opens_nothing(stage: WorkflowStage, approvals: Approvals) -> None:
    """Edit before the wave that would have used the approval."""
    document = submitted(stage, approvers=[user("mona")])
    request_id = waiting(stage, approvals, document, "mona")
    decided = approvals.decide(stage.standing.company.caller("mona"), request_id, "approved")
    stage.edit(document.id, amount=9)
    stage.drain()
    assert stage.status_of(document.id) == "submitted"
    assert outcome_of(stage, decided)[0::2] == ("voided", False)
    assert waiting(stage, approvals, document, "mona") != request_id


def asked_twice(stage: WorkflowStage) -> Made:
    """Submit a document whose approval asks two people, one after the other."""
    nodes = [
        {"id": name, "type": "approval", "config": {"approvers": [approver]}}
        for name, approver in (("first", user("mona")), ("second", user("anna")))
    ]
    edges = [{"source": "first", "target": "second"}]
    document = stage.create(stage.publish(approval={"nodes": nodes, "edges": edges}))
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def test_an_interrupt_uses_no_approval_that_was_given_for_another_way(
    stage: WorkflowStage, approvals: Approvals
) -> None:
    document = asked_twice(stage)
    decided = decide(stage, approvals, document, "mona")
    assert outcome_of(stage, decided) == ("approved", "decided in stage 1", False)
    stage.ask(document.id, "cancel")
    stage.drain()
    assert stage.status_of(document.id) == "cancelled"
    assert outcome_of(stage, decided) == ("voided", "the document went another way, or was edited", False)


def test_an_interrupt_passes_whatever_became_of_the_approvals(
    stage: WorkflowStage, approvals: Approvals
) -> None:
    """Pause the instance by an approval of another version; cancelling needs no approval."""
    document = asked_twice(stage)
    decide(stage, approvals, document, "mona")
    stage.standing.run_unguarded(
        "UPDATE approval_requests SET document_version = document_version - 1 WHERE instance_id = %s"
        " AND status = 'approved'",
        document.instance_id,
    )
    stage.ask(document.id, "cancel")
    stage.drain()
    assert stage.requests(document.id)[-1] == ("cancel", "performed")
