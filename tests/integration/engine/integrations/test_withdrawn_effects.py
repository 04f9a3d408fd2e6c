"""An effect that nobody waits for any more is not sent; one that is retried is known by its first id."""

from typing import Any, LiteralString

import pytest

from signet.engine.documents.commands import Delete
from signet.ids import make_id
from signet.store.outbox.queue import EFFECTS, claim, complete, fail
from tests.support.operated_instances import operating_on, submitted, version
from tests.support.workflow_stage import CALL, Made, WorkflowStage

OF_INSTANCE: LiteralString = (
    "SELECT status, withdrawn_at IS NOT NULL, first_id FROM workflow_side_effects_outbox"
    " WHERE instance_id = %s ORDER BY id"
)


def effects_of(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(OF_INSTANCE, document.instance_id)


@pytest.fixture
def waiting(stage: WorkflowStage) -> Made:
    """Make a document whose slot waits for the answer of a call."""
    document = submitted(stage, checks={"nodes": [CALL]})
    assert effects_of(stage, document) == [("pending", False, None)]
    return document


@pytest.mark.parametrize("act", ["cancel", "fail"])
def test_the_end_of_an_instance_withdraws_its_calls(stage: WorkflowStage, waiting: Made, act: str) -> None:
    instances, olga = operating_on(stage)
    do = {"cancel": instances.cancel, "fail": instances.fail}[act]
    do(olga, waiting.instance_id, version(stage, waiting), "not wanted")
    assert effects_of(stage, waiting) == [("withdrawn", True, None)]


def test_another_request_withdraws_the_call(stage: WorkflowStage, waiting: Made) -> None:
    stage.ask(waiting.id, "cancel")
    stage.drain()
    assert stage.status_of(waiting.id) == "cancelled"
    assert effects_of(stage, waiting) == [("withdrawn", True, None)]


def test_a_deleted_document_withdraws_the_call(stage: WorkflowStage, waiting: Made) -> None:
    stage.mutate(Delete(waiting.id, stage.version_of(waiting.id)))
    assert effects_of(stage, waiting) == [("withdrawn", True, None)]


def test_an_edit_withdraws_the_call_and_asks_for_a_new_one(stage: WorkflowStage, waiting: Made) -> None:
    stage.edit(waiting.id, amount=2)
    stage.drain()
    stage.ask(waiting.id, "submit")
    stage.drain()
    assert [row[0] for row in effects_of(stage, waiting)] == ["withdrawn", "pending"]


def test_an_answer_by_hand_withdraws_the_call(stage: WorkflowStage, waiting: Made) -> None:
    instances, olga = operating_on(stage)
    instances.advance(
        olga, waiting.instance_id, version(stage, waiting), "usr:checks:call", "it came by phone"
    )
    assert effects_of(stage, waiting) == [("withdrawn", True, None)]


def test_a_call_that_has_its_answer_is_left_alone(stage: WorkflowStage, waiting: Made) -> None:
    stage.answer(waiting.instance_id)
    stage.drain()
    assert stage.status_of(waiting.id) == "active"
    assert effects_of(stage, waiting) == [("completed", False, None)]


def test_a_retry_withdraws_the_dead_call_and_sends_it_under_its_first_id(
    stage: WorkflowStage, waiting: Made
) -> None:
    instances, olga = operating_on(stage)
    (first,) = stage.standing.row(
        "SELECT id FROM workflow_side_effects_outbox WHERE instance_id = %s", waiting.instance_id
    )
    for _ in range(2):
        stage.answer(waiting.instance_id, error="gone")
        stage.drain()
        instances.retry(olga, waiting.instance_id, version(stage, waiting), "it is back")
        stage.drain()
    assert effects_of(stage, waiting) == [
        ("withdrawn", True, None),
        ("withdrawn", True, first),
        ("pending", False, first),
    ]
    assert instances.requeue(olga, [first]).triggers == frozenset()


@pytest.mark.parametrize("is_delivered", [True, False])
def test_what_is_on_its_way_is_not_tried_again(
    stage: WorkflowStage, waiting: Made, is_delivered: bool
) -> None:
    """Withdraw it between its claim and its end; one that is delivered all the same is on record as that."""
    claim_id = make_id()
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET due_at = '2000-01-01' WHERE status = 'pending'"
    )
    with stage.database.transaction(stage.tenant_id) as connection:
        claimed = claim(connection, EFFECTS, at_most=9, lease_seconds=60, claim_id=claim_id)
    stage.ask(waiting.id, "cancel")
    stage.drain()
    assert effects_of(stage, waiting) == [("processing", True, None)]
    with stage.database.transaction(stage.tenant_id) as connection:
        if is_delivered:
            complete(connection, EFFECTS, stage.tenant_id, claimed, claim_id)
        else:
            fail(connection, EFFECTS, stage.tenant_id, [(row, "503") for row in claimed], claim_id)
    assert effects_of(stage, waiting) == [("completed" if is_delivered else "withdrawn", True, None)]
