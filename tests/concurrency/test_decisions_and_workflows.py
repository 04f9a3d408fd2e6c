"""A decision meets a cancellation, an edit meets a gate: in either order the result is lawful."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.decide import Ballot
from signet.engine.approvals.decide import decide as decide_ballot
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Update
from signet.engine.execution.nodes.lifecycle_gate import LifecycleGateHandler
from signet.engine.instances.operator_transaction import OperatorTransaction
from signet.store.approvals.decisions import document_statement
from signet.store.tenants.tenants import save_members
from tests.support.core.approval_policies import user
from tests.support.database.transaction_steps import Second, holding
from tests.support.drained_waves import work_once
from tests.support.operated_instances import operating_on
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

PEOPLE = ("mona", "carl")


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = tuple(
            Member(user_id=name, display_name=name, roles=("clerk", "voter", "admin")) for name in PEOPLE
        )
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        yield made


@pytest.fixture
def document(stage: WorkflowStage) -> Made:
    """Submit a document as carl, and ask mona to approve it."""
    node = {"id": "look", "type": "approval", "config": {"approvers": [user("mona")]}}
    made = stage.create(stage.publish(approval={"nodes": [node]}))
    stage.ask(made.id, "submit")
    stage.drain()
    return made


def request_of(stage: WorkflowStage) -> tuple[Any, ...]:
    return stage.standing.row("SELECT id, status, applied FROM approval_requests")


def decide(stage: WorkflowStage) -> list[Any]:
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    return [approvals.decide(company.caller("mona"), request_of(stage)[0], "approved")]


@contextmanager
def deciding(stage: WorkflowStage) -> Iterator[None]:
    """Count the vote, and keep its transaction open until the block ends."""
    company, request_id = stage.standing.company, request_of(stage)[0]
    opening = document_statement(stage.tenant_id, request_id)
    with company.database.pipelined(stage.tenant_id, opening) as pipeline:
        assert pipeline.first_row is not None
        decide_ballot(stage.caches(), pipeline, company.caller("mona"), Ballot(request_id, "approved"))
        yield


def status(stage: WorkflowStage, document: Made) -> tuple[str, str]:
    """Return the status of the document, and of its instance."""
    return stage.status_of(document.id), stage.instance(document.instance_id)["status"]


def test_a_cancel_that_was_first_closes_the_request(
    stage: WorkflowStage, document: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[Second] = []
    write = OperatorTransaction.write

    def write_and_meet(transaction: OperatorTransaction) -> None:
        write(transaction)
        late.append(Second(lambda: decide(stage)))
        stage.standing.wait_until_blocked()

    monkeypatch.setattr(OperatorTransaction, "write", write_and_meet)
    instances, olga = operating_on(stage)
    version = stage.instance(document.instance_id)["version"]
    instances.cancel(olga, document.instance_id, version, "nobody wants it", "leave")
    came = late[0].result()
    assert isinstance(came, Rejected) and came.code == "APPROVAL_CLOSED"
    assert stage.standing.rows("SELECT FROM approval_decisions") == []
    stage.drain()
    assert status(stage, document) == ("submitted", "cancelled")
    stage.check_rebuild(document.instance_id)


def test_a_decision_that_was_first_is_void_once_the_instance_is_cancelled(
    stage: WorkflowStage, document: Made
) -> None:
    instances, olga = operating_on(stage)
    version = stage.instance(document.instance_id)["version"]

    def cancel() -> list[Any]:
        return [instances.cancel(olga, document.instance_id, version, "nobody wants it", "leave")]

    with deciding(stage):
        late = Second(cancel)
        stage.standing.wait_until_blocked()
    late.result()
    assert stage.instance(document.instance_id)["status"] == "cancelled"
    stage.drain()
    # The vote is recorded, and opens nothing.
    assert request_of(stage)[1:] == ("voided", False)
    assert status(stage, document) == ("submitted", "cancelled")
    stage.check_rebuild(document.instance_id)


def test_an_edit_that_was_first_takes_the_approval_from_the_gate(
    stage: WorkflowStage, document: Made
) -> None:
    decide(stage)
    version = stage.version_of(document.id)
    with holding(stage.standing, [Update(document.id, version, {"amount": 7})]):
        drained = work_once(stage.worker(), stage.tenant_id)
        assert drained.steps == 0
    stage.make_due()
    stage.drain()
    # The approved version is not the present one: people are asked again, and nothing is active.
    assert stage.status_of(document.id) != "active"
    first: LiteralString = "SELECT status, applied FROM approval_requests ORDER BY id LIMIT 1"
    assert stage.standing.row(first) == ("voided", False)
    stage.check_rebuild(document.instance_id)


def test_a_gate_that_was_first_leaves_the_edit_a_document_that_is_locked(
    stage: WorkflowStage, document: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let the wave lock the document; the waiting edit then finds the approved document."""
    version = stage.version_of(document.id)
    decide(stage)
    late: list[Second] = []
    act = LifecycleGateHandler.act

    def edit() -> list[Any]:
        company = stage.standing.company
        return [company.documents.mutate(company.caller(), Update(document.id, version, {"amount": 7}))]

    def act_and_meet(self: LifecycleGateHandler, *arguments: Any) -> Any:
        if not late:
            late.append(Second(edit))
            stage.standing.wait_until_blocked()
        return act(self, *arguments)

    monkeypatch.setattr(LifecycleGateHandler, "act", act_and_meet)
    stage.drain()
    came = late[0].result()
    assert isinstance(came, Rejected)
    assert came.code in ("DOCUMENT_VERSION_CONFLICT", "WORKFLOW_EDIT_LOCKED")
    assert status(stage, document) == ("active", "completed")
    assert request_of(stage)[1:] == ("approved", True)
    (amount,) = stage.standing.row("SELECT data -> 'amount' FROM documents WHERE id = %s", document.id)
    assert amount != 7
    stage.check_rebuild(document.instance_id)
