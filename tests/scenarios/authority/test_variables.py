"""Variables of the workflow behind an approval: people see what they approve, and nothing else is used."""

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import DatabaseError

from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.engine.approvals.request_view import PinnedVariable
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, edit, newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")], "quorum": "any"}}
SUM = {"id": "sum", "type": "script", "config": {"set": {"payable": "entity.amount"}}}
PAY = {
    "id": "pay",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"amount": "{context.payable}"}},
}
AGAIN = {**SUM, "id": "again"}
CALL = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "payable"}}
ANSWER = {"status": 200, "body": 40_000, "duration_ms": 1.0}
TOLD = '{"body":40000,"status":200,"duration_ms":1.0}'
FIRST = {"nodes": [SUM]}
THEN = {"nodes": [SUM, LOOK], "edges": [{"source": "sum", "target": "look"}]}
BEFORE = {"nodes": [LOOK, AGAIN], "edges": [{"source": "look", "target": "again"}]}
BESIDE = {
    "nodes": [
        {"id": "fork", "type": "parallel_split"},
        LOOK,
        CALL,
        {"id": "join", "type": "parallel_join", "config": {"mode": "all"}},
    ],
    "edges": [
        {"source": "fork", "target": "look"},
        {"source": "fork", "target": "call"},
        {"source": "look", "target": "join"},
        {"source": "call", "target": "join"},
    ],
}
APPROVED = "approved"


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        people = ("app1", "app2", "carl")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in people]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def answer(stage: WorkflowStage, document: Made, body: Any) -> None:
    stage.answer(document.instance_id, body=body)
    stage.drain()


def paid(stage: WorkflowStage, document: Made) -> list[Any]:
    """Return the amounts that the bank was told; the call beside an approval tells none."""
    rows = stage.standing.rows(
        "SELECT e.payload_json -> 'payload' FROM workflow_side_effects_outbox e"
        " JOIN workflow_instances i ON i.tenant_id = e.tenant_id AND i.id = e.instance_id"
        " WHERE i.entity_id = %s ORDER BY e.id",
        document.id,
    )
    return [row[0]["amount"] for row in rows if row[0]]


def shown(stage: WorkflowStage, document: Made) -> list[PinnedVariable]:
    """Return the variables that an approver sees in the newest request."""
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    return list(approvals.read_request(company.caller("app2"), newest(stage, document.id)).variables)


def count_requests(stage: WorkflowStage, document: Made) -> int:
    return len(stage.standing.rows("SELECT id FROM approval_requests WHERE document_id = %s", document.id))


def asked(stage: WorkflowStage, amount: int = 400, **slots: Any) -> Made:
    slots = {"approval": {"nodes": [LOOK]}, "posting": {"nodes": [PAY]}, **slots}
    made = stage.create(stage.publish(**slots), "carl", amount=amount)
    submit(stage, made, "carl")
    return made


def test_a_variable_of_before_an_edit_is_shown_as_older(stage: WorkflowStage) -> None:
    """The slot before computes 400, carl makes it 40,000: the approver sees that 400 would be paid."""
    made = asked(stage, checks=FIRST)
    first = newest(stage, made.id)
    assert [(seen.value, seen.is_older) for seen in shown(stage, made)] == [(400, True)], "of the draft"
    edit(stage, made, "carl", amount=40_000)
    stage.drain()
    assert newest(stage, made.id) != first
    (seen,) = shown(stage, made)
    assert (seen.name, seen.value, seen.set_by) == ("payable", 400, "usr:checks:sum")
    assert (seen.is_older, seen.is_changed) == (True, False)
    assert vote(stage, made.id, "app1") == APPROVED
    assert paid(stage, made) == ["400"]
    stage.check_rebuild(made.instance_id)


def test_a_variable_of_a_way_that_is_not_taken_again_is_shown_as_older(stage: WorkflowStage) -> None:
    """Large amounts are computed, small ones are not: after the edit the large one is left over."""
    nodes = [{"id": "choice", "type": "condition"}, SUM, LOOK]
    edges = [
        {"source": "choice", "target": "sum", "condition": "entity.amount > 1000"},
        {"source": "choice", "target": "look"},
        {"source": "sum", "target": "look"},
    ]
    made = asked(stage, 40_000, approval={"nodes": nodes, "edges": edges})
    assert [(seen.value, seen.is_older) for seen in shown(stage, made)] == [(40_000, False)]
    edit(stage, made, "carl", amount=400)
    stage.drain()
    assert [(seen.value, seen.is_older) for seen in shown(stage, made)] == [(40_000, True)]
    assert vote(stage, made.id, "app1", "rejected") == "rejected"
    assert paid(stage, made) == []


def test_a_variable_that_is_computed_anew_is_not_older(stage: WorkflowStage) -> None:
    """The lawful way: the script stands before the approval in its slot, and runs again after an edit."""
    made = asked(stage, approval=THEN)
    edit(stage, made, "carl", amount=40_000)
    stage.drain()
    assert [(seen.value, seen.is_older) for seen in shown(stage, made)] == [(40_000, False)]
    assert vote(stage, made.id, "app1") == APPROVED
    assert paid(stage, made) == ["40000"]


def test_a_variable_that_is_set_again_behind_the_approval_is_not_pinned(stage: WorkflowStage) -> None:
    made = asked(stage, checks=FIRST, approval=BEFORE)
    edit(stage, made, "carl", amount=40_000)
    stage.drain()
    assert shown(stage, made) == []
    assert vote(stage, made.id, "app1") == APPROVED
    assert paid(stage, made) == ["40000"]
    assert count_requests(stage, made) == 2


def test_a_variable_that_changes_before_the_vote_is_asked_about_again(stage: WorkflowStage) -> None:
    made = asked(stage, checks=FIRST, approval=BESIDE)
    first = newest(stage, made.id)
    answer(stage, made, 40_000)
    assert [(seen.value, seen.is_changed) for seen in shown(stage, made)] == [(400, True)]
    assert vote(stage, made.id, "app1") == "APPROVAL_STALE"
    stage.drain()
    assert newest(stage, made.id) != first
    assert [seen.value for seen in shown(stage, made)] == [ANSWER]
    answer(stage, made, 40_000)
    assert vote(stage, made.id, "app1") == APPROVED
    assert paid(stage, made) == [TOLD]


def test_a_variable_that_changes_behind_the_vote_passes_no_gate(stage: WorkflowStage) -> None:
    """The answer and the gate come in one wave: it does not pass, and people are asked again."""
    made = asked(stage, checks=FIRST, approval=BESIDE)
    first = newest(stage, made.id)
    assert vote(stage, made.id, "app1") == APPROVED
    answer(stage, made, 40_000)
    assert (stage.status_of(made.id), paid(stage, made)) == ("submitted", [])
    assert newest(stage, made.id) != first
    assert stage.instance(made.instance_id)["status"] == "running"
    answer(stage, made, 40_000)
    assert vote(stage, made.id, "app1") == APPROVED
    assert paid(stage, made) == [TOLD]
    stage.check_rebuild(made.instance_id)


def test_an_approval_of_an_older_release_is_asked_again_where_a_variable_is_read(
    stage: WorkflowStage,
) -> None:
    made, without = asked(stage, checks=FIRST), asked(stage, approval=BEFORE)
    first, other = newest(stage, made.id), newest(stage, without.id)
    stage.standing.run_unguarded("UPDATE approval_requests SET variables = NULL WHERE status = 'open'")
    assert vote(stage, made.id, "app1") == APPROVED, "a vote does not know what is read behind it"
    assert (stage.status_of(made.id), paid(stage, made)) == ("submitted", [])
    assert newest(stage, made.id) != first
    assert vote(stage, without.id, "app1") == APPROVED
    assert newest(stage, without.id) == other


def test_nobody_rewrites_what_was_pinned(stage: WorkflowStage) -> None:
    """Refuse it to the owner of the tables too, who forgets to switch the triggers off."""
    request_id = newest(stage, asked(stage, checks=FIRST).id)
    with pytest.raises(DatabaseError) as refused:
        stage.standing.run("UPDATE approval_requests SET variables = '{}' WHERE id = %s", request_id)
    assert refused.value.sqlstate == "SG002"
