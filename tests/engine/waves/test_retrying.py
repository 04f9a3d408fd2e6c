"""Retries by a person: only for instances that the engine had to pause."""

from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from tests.engine.waves.operated import DETAILS, check, operating_on, status_of, submitted, version
from tests.engine.waves.stage import CALL, WorkflowStage


def triggers_of(stage: WorkflowStage, instance_id: UUID) -> list[tuple[Any, ...]]:
    return stage.standing.rows(
        "SELECT status, attempts FROM workflow_events_outbox"
        " WHERE instance_id = %s AND status <> 'completed' ORDER BY id",
        instance_id,
    )


def test_what_used_up_its_attempts_gets_as_many_again(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    rule = {"id": "checks", "type": "rule", "config": {"rules": ["credit"]}}
    entity_type = stage.publish(checks={"nodes": [rule]})
    document = stage.create(entity_type)
    stage.drain()
    stage.ask(document.id, "submit")
    stage.standing.run("UPDATE workflow_events_outbox SET max_attempts = 1 WHERE status = 'pending'")
    stage.drain()
    assert triggers_of(stage, document.instance_id) == [("dead_letter", 1)]
    reason = "RULE_UNKNOWN: the tenant has no rule 'credit'"
    assert status_of(stage, document) == ("paused", ["sys:state:draft"], reason)
    stage.add_rule(entity_type, "credit", "entity.amount < 0", on="delete")
    state = instances.retry(olga, document.instance_id, version(stage, document), "there is a rule now")
    assert (state.status, triggers_of(stage, document.instance_id)) == ("running", [("pending", 0)])
    check(stage, document)
    (retried,) = stage.standing.rows(DETAILS, str(document.instance_id))
    (trigger_id,) = stage.standing.row(
        "SELECT id::text FROM workflow_events_outbox WHERE instance_id = %s AND status = 'pending'",
        document.instance_id,
    )
    assert retried == ("retry", "olga", "there is a rule now", {"triggers": [trigger_id]})
    stage.drain()
    assert stage.status_of(document.id) == "active"
    assert stage.nodes(document.instance_id)[2:4] == ["sys:control:paused", "sys:control:retried"]


def test_a_gate_that_holds_is_tried_again_without_a_dead_trigger(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    entity_type = stage.publish()
    stage.add_rule(entity_type, "closed", "entity.status == 'active'", on="transition")
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    stage.drain()
    held = ("paused", ["sys:gate:approve"], "closed is against it")
    assert status_of(stage, document) == held
    instances.retry(olga, document.instance_id, version(stage, document), "perhaps now")
    stage.drain()
    assert status_of(stage, document) == held
    stage.standing.run("DELETE FROM rules WHERE name = 'closed'")
    instances.retry(olga, document.instance_id, version(stage, document), "the books are open")
    stage.drain()
    assert stage.status_of(document.id) == "active"
    check(stage, document)


def test_what_a_person_has_paused_is_not_retried(stage: WorkflowStage) -> None:
    instances, olga = operating_on(stage)
    document = submitted(stage, checks={"nodes": [CALL]})
    paused = instances.pause(olga, document.instance_id, version(stage, document), "under inquiry")
    with pytest.raises(Rejected) as caught:
        instances.retry(olga, document.instance_id, paused.version, "please")
    assert (caught.value.code, caught.value.remedy) == ("INSTANCE_PAUSED_BY_PERSON", "Resume it.")
    assert status_of(stage, document)[0] == "paused"
