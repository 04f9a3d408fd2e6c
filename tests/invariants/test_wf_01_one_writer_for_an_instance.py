"""WF-01: one transaction at a time moves an instance; another one skips it, which costs no attempt."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import psycopg
import pytest

from signet.authoring.actions import ActionInput, ActionResult
from signet.engine.documents.commands import Update
from tests.concurrency.steps import holding
from tests.draining import work_once
from tests.engine.waves.stage import Made, WorkflowStage

RUN = {"id": "run", "type": "action", "config": {"action": "run"}}
Hold = Callable[[WorkflowStage, Made], Any]


@contextmanager
def locked(stage: WorkflowStage, statement: LiteralString, *values: Any) -> Iterator[None]:
    """Run the statement in another session, and keep its locks until the block ends."""
    with psycopg.connect(stage.standing.admin_url) as other:
        other.execute(statement, values)
        yield


# The possible holders: another wave, a person at the document, an operator at the instance.
HOLDERS: dict[str, Hold] = {
    "another wave": lambda stage, document: locked(
        stage, "SELECT pg_advisory_xact_lock(hashtextextended(%s::text, 0))", document.instance_id
    ),
    "mutate()": lambda stage, document: holding(
        stage.standing, [Update(document.id, 1, {"amount": 9})], commits=False
    ),
    "an operator": lambda stage, document: locked(
        stage, "SELECT FROM workflow_instances WHERE id = %s FOR NO KEY UPDATE", document.instance_id
    ),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_wf_01_an_instance_that_somebody_holds_is_passed_by(stage: WorkflowStage, holder: str) -> None:
    """Expect its trigger to return as if never claimed, and the others of its wave to move."""
    entity_type = stage.publish()
    documents = [stage.create(entity_type) for _ in range(3)]
    held = documents[1]
    with HOLDERS[holder](stage, held):
        drained = work_once(stage.worker(), stage.tenant_id)
        assert (drained.waves, drained.instances) == (1, 2)
        assert stage.triggers(held.instance_id) == [("pending", 0)]
        assert stage.steps(held.instance_id) == []
    for document in documents:
        if document is not held:
            assert stage.triggers(document.instance_id) == [("completed", 1)]
    stage.make_due()
    stage.drain()
    assert stage.triggers(held.instance_id) == [("completed", 1)]
    assert stage.nodes(held.instance_id) == ["sys:start", "sys:state:draft"]


def test_wf_01_a_worker_that_comes_while_another_is_at_it_does_nothing(stage: WorkflowStage) -> None:
    """Let the second worker come in the middle of the first one's wave, for the same instance."""
    met: list[tuple[int, int, list[tuple[Any, ...]]]] = []

    def meet(given: ActionInput) -> ActionResult:
        stage.wake(document.instance_id)
        drained = work_once(stage.worker(), stage.tenant_id)
        met.append((drained.instances, drained.steps, stage.triggers(document.instance_id)[2:]))
        return ActionResult(output={"total": 1})

    entity_type = stage.publish(checks={"nodes": [RUN]})
    stage.registry.action(entity_type, "run")(meet)
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    assert stage.worker().work(stage.tenant_id)
    assert met == [(0, 0, [("pending", 0)])]
    nodes = stage.nodes(document.instance_id)
    assert nodes[-1] == "sys:end" and len(nodes) == len(set(nodes))
    stage.make_due()
    stage.drain()
    assert stage.triggers(document.instance_id) == [("completed", 1)] * 3
    assert stage.nodes(document.instance_id) == nodes


def test_wf_01_two_of_one_instance_in_one_claim_are_one_wave(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish())
    for _ in range(3):
        stage.wake(document.instance_id)
    drained = stage.drain()
    assert (drained.waves, drained.instances, drained.steps) == (1, 1, 2)
    assert stage.triggers(document.instance_id) == [("completed", 1)] * 4
