"""Approvals of an older release, without pins: the janitor wakes them, and people are asked again."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from signet.engine.housekeeping.task_run import TaskLimits
from signet.store.database import Database, PoolSettings
from tests.scenarios.authority.acts import newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.database.runtime_roles import as_role
from tests.support.housekeeping import House
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        made.add_member("anna")
        yield made


@pytest.fixture
def keeping(stage: WorkflowStage) -> Iterator[House]:
    database = Database(as_role(stage.standing.admin_url, "signet_janitor"), PoolSettings(size=1))
    yield House(stage.standing.company, database, stage.standing.admin)
    database.close()


def ask(stage: WorkflowStage, entity_type: str) -> Made:
    document = stage.create(entity_type)
    submit(stage, document, "carl")
    return document


def forget_pins(stage: WorkflowStage) -> None:
    """Make every open request one of an older release."""
    stage.standing.run_unguarded(
        "UPDATE approval_requests SET pins = NULL, pins_hash = NULL, voter_permissions = NULL"
    )


def status_of(stage: WorkflowStage, request_id: UUID) -> str:
    (status,) = stage.standing.row("SELECT status FROM approval_requests WHERE id = %s", request_id)
    return str(status)


def test_people_are_asked_again_by_a_request_with_pins(stage: WorkflowStage, keeping: House) -> None:
    entity_type = stage.publish(approval={"nodes": [LOOK]})
    document, other = ask(stage, entity_type), ask(stage, entity_type)
    assert keeping.keep("wake_unpinned").rows == 0, "these have pins"
    forget_pins(stage)
    older = newest(stage, document.id)
    assert keeping.keep("wake_unpinned").rows == 2
    assert keeping.keep("wake_unpinned").rows == 0, "they are on their way"
    stage.drain()
    assert (status_of(stage, older), newest(stage, document.id) == older) == ("voided", False)
    assert keeping.keep("wake_unpinned").rows == 0
    for each in (document, other):
        assert vote(stage, each.id, "anna") == "approved"
        assert stage.status_of(each.id) == "active"
        stage.check_rebuild(each.instance_id)


def test_batches_come_to_all_of_them(stage: WorkflowStage, keeping: House) -> None:
    entity_type = stage.publish(approval={"nodes": [LOOK]})
    documents = [ask(stage, entity_type) for _ in range(5)]
    forget_pins(stage)
    assert keeping.keep("wake_unpinned", limits=TaskLimits(batch_rows=2)).rows == 5
    stage.drain()
    assert {vote(stage, each.id, "anna") for each in documents} == {"approved"}


def test_an_instance_that_stays_unpinned_is_woken_a_few_times_a_day(
    stage: WorkflowStage, keeping: House
) -> None:
    ask(stage, stage.publish(approval={"nodes": [LOOK]}))
    forget_pins(stage)
    assert keeping.keep("wake_unpinned").rows == 1
    done = "UPDATE workflow_events_outbox SET status = 'completed', completed_at = now()"
    stage.standing.run_unguarded(f"{done} WHERE event_type = 'unpinned'")
    assert keeping.keep("wake_unpinned").rows == 0
    stage.standing.run_unguarded(
        "UPDATE workflow_events_outbox SET created_at = created_at - interval '5 hours'"
        " WHERE event_type = 'unpinned'"
    )
    assert keeping.keep("wake_unpinned").rows == 1


def test_a_paused_instance_is_woken_by_nobody_and_asks_again_when_it_goes_on(
    stage: WorkflowStage, keeping: House
) -> None:
    document = ask(stage, stage.publish(approval={"nodes": [LOOK]}))
    forget_pins(stage)
    older = newest(stage, document.id)
    stage.standing.run("UPDATE workflow_instances SET status = 'paused' WHERE id = %s", document.instance_id)
    assert keeping.keep("wake_unpinned").rows == 0
    stage.standing.run_unguarded(
        "UPDATE workflow_instances SET status = 'running' WHERE id = %s", document.instance_id
    )
    stage.wake(document.instance_id)
    stage.drain()
    assert newest(stage, document.id) != older
