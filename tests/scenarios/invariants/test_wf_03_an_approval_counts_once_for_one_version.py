"""WF-03: an approval is given for one version of a document, and a gate uses it up.

`engine/approvals` goes further: the right to decide, the effect of a vote, and the ways in which a
request is voided.
"""

from itertools import pairwise
from typing import Any, LiteralString
from uuid import UUID

import pytest

from signet.core.compiler.node_configurations import Vote
from signet.core.errors import Rejected
from signet.engine.approvals.inbox import Approvals
from tests.support.operated_instances import operating_on, version
from tests.support.workflow_stage import CALL, Made, WorkflowStage

LOOK_NODE = "usr:approval:look"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "user", "user": "mona"}]}}


def newest(stage: WorkflowStage, instance_id: UUID) -> dict[str, Any]:
    query: LiteralString = (
        "SELECT to_jsonb(r) FROM approval_requests r WHERE instance_id = %s ORDER BY id DESC LIMIT 1"
    )
    (found,) = stage.standing.row(query, instance_id)
    return dict(found)


def submitted(stage: WorkflowStage, *nodes: Any) -> Made:
    stage.standing.run(
        "INSERT INTO members VALUES (%s, 'mona', 'Mona') ON CONFLICT DO NOTHING", stage.tenant_id
    )
    stage.standing.run(
        "INSERT INTO member_roles VALUES (%s, 'mona', 'voter') ON CONFLICT DO NOTHING", stage.tenant_id
    )
    edges = [{"source": a["id"], "target": b["id"]} for a, b in pairwise(nodes)]
    document = stage.create(stage.publish(approval={"nodes": list(nodes), "edges": edges}))
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def decide(stage: WorkflowStage, request: dict[str, Any], vote: Vote = "approved") -> None:
    company = stage.standing.company
    Approvals(company.database, stage.caches()).decide(
        company.caller("mona"), UUID(request["id"]), vote, "so"
    )


def test_wf_03_what_is_approved_lets_the_gate_pass_and_is_used_up(stage: WorkflowStage) -> None:
    document = submitted(stage, LOOK)
    decide(stage, newest(stage, document.instance_id))
    stage.drain()
    assert stage.status_of(document.id) == "active"
    request = newest(stage, document.instance_id)
    assert (request["status"], request["applied"], request["document_version"]) == ("approved", True, 2)
    (step,) = [s for s in stage.whole_steps(document.instance_id) if s["node_type"] == "approval"]
    assert (step["applied"], step["approval_request_id"]) == (True, request["id"])


def test_wf_03_an_edit_after_the_approval_takes_it_away(stage: WorkflowStage) -> None:
    """Edit between the approval and the gate: people are asked again."""
    document = submitted(stage, LOOK, CALL)
    first = newest(stage, document.instance_id)
    decide(stage, first)
    stage.drain()
    assert newest(stage, document.instance_id)["applied"] is False
    stage.edit(document.id, amount=1_000_000)
    stage.drain()
    old = stage.standing.row("SELECT status, applied FROM approval_requests WHERE id = %s", first["id"])
    assert old == ("voided", False)
    second = newest(stage, document.instance_id)
    assert (second["status"], second["document_version"]) == ("open", 3)
    assert stage.status_of(document.id) == "submitted"


def test_wf_03_a_vote_for_a_version_that_is_gone_does_not_count(stage: WorkflowStage) -> None:
    document = submitted(stage, LOOK)
    request = newest(stage, document.instance_id)
    stage.edit(document.id, amount=7)
    with pytest.raises(Rejected, match="version"):
        decide(stage, request)
    decisions: LiteralString = "SELECT id FROM approval_decisions WHERE request_id = %s"
    assert stage.standing.rows(decisions, request["id"]) == []


def test_wf_03_a_gate_does_not_take_an_approval_of_another_version(stage: WorkflowStage) -> None:
    """Alter the version in the database, as a server's owner can."""
    document = submitted(stage, LOOK, CALL)
    request = newest(stage, document.instance_id)
    decide(stage, request)
    stage.drain()
    stage.standing.run_unguarded(
        "UPDATE approval_requests SET document_version = 1 WHERE id = %s", request["id"]
    )
    stage.answer(document.instance_id)
    stage.drain()
    row = stage.instance(document.instance_id)
    assert stage.status_of(document.id) == "submitted"
    assert row["status"] == "paused" and row["reason"].startswith("APPROVAL_STALE")


def test_wf_03_what_was_used_up_is_not_used_again(stage: WorkflowStage) -> None:
    """Approve a document again when it comes back to the same gate."""
    document = submitted(stage, LOOK)
    decide(stage, newest(stage, document.instance_id), "rejected")
    stage.drain()
    stage.ask(document.id, "submit")
    stage.drain()
    assert stage.status_of(document.id) == "submitted"
    rows = stage.standing.rows(
        "SELECT status FROM approval_requests WHERE instance_id = %s ORDER BY id", document.instance_id
    )
    assert rows == [("rejected",), ("open",)]


def test_wf_03_who_cancels_an_approval_has_not_given_it(stage: WorkflowStage) -> None:
    """Send the document back and have it approved before it passes; a late vote is refused."""
    document = submitted(stage, LOOK)
    request = newest(stage, document.instance_id)
    instances, olga = operating_on(stage)
    instances.cancel_token(olga, document.instance_id, version(stage, document), LOOK_NODE, "nobody is there")
    with pytest.raises(Rejected) as caught:
        decide(stage, request)
    assert caught.value.code == "APPROVAL_CLOSED"
    stage.drain()
    assert (stage.status_of(document.id), newest(stage, document.instance_id)["status"]) == (
        "draft",
        "voided",
    )
    stage.ask(document.id, "submit")
    stage.drain()
    assert stage.status_of(document.id) == "submitted"
    decide(stage, newest(stage, document.instance_id))
    stage.drain()
    assert stage.status_of(document.id) == "active"
