"""WF-16: a join fires once for each execution of its split, however its branches arrive.

`tests/unit/core/runtime/test_tokens.py` has the rules of ALL and ANY; in this module tokens arrive in waves.
"""

from typing import Any

import pytest

from signet.core.runtime.idempotency_keys import join_key
from signet.engine.cache import CompiledCache
from signet.engine.execution.claim import Claim, LostReceipt
from signet.engine.execution.wave import Waves
from signet.ids import make_id
from signet.store.outbox.queue import EVENTS, claim
from tests.support.workflow_stage import CALL, CallAnswer, Made, WorkflowStage, stopped

JOIN = "usr:checks:met"


def fork(mode: str, *branches: dict[str, Any]) -> dict[str, Any]:
    """Return a slot with parallel branches, and a call after their join."""
    names = [branch["id"] for branch in branches]
    return {
        "nodes": [
            {"id": "fork", "type": "parallel_split"},
            *branches,
            {"id": "met", "type": "parallel_join", "config": {"mode": mode}},
            {**CALL, "id": "after"},
        ],
        "edges": [
            *({"id": f"to_{name}", "source": "fork", "target": name} for name in names),
            *({"source": name, "target": "met"} for name in names),
            {"source": "met", "target": "after"},
        ],
    }


def call(name: str) -> dict[str, Any]:
    return {**CALL, "id": name}


def script(name: str) -> dict[str, Any]:
    return {"id": name, "type": "script", "config": {"set": {name: "true"}}}


def parted(stage: WorkflowStage, mode: str, *branches: dict[str, Any]) -> Made:
    document = stage.create(stage.publish(checks=fork(mode, *branches)))
    stage.ask(document.id, "submit")
    stage.drain()
    return document


def answer(stage: WorkflowStage, document: Made, *names: str) -> None:
    """Deliver the calls of these branches, then wake the instance."""
    steps = dict(
        stage.standing.rows(
            "SELECT node_id, id FROM workflow_step_executions WHERE instance_id = %s AND status = 'running'",
            document.instance_id,
        )
    )
    stage.answer_steps({steps[f"usr:checks:{name}"]: CallAnswer() for name in names})


def joins(stage: WorkflowStage, document: Made) -> list[dict[str, Any]]:
    return [step for step in stage.whole_steps(document.instance_id) if step["node_id"] == JOIN]


def check_fired_once(stage: WorkflowStage, document: Made) -> None:
    """Expect one step at the join with the receipt of its split's step, and one token after it."""
    (join,) = joins(stage, document)
    steps = stage.whole_steps(document.instance_id)
    (split,) = (step["seq"] for step in steps if step["node_id"] == "usr:checks:fork")
    key = join_key(document.instance_id, JOIN, split)
    assert join["idempotency_key"] == "\\x" + key.hex()
    receipts = "SELECT count(*) FROM workflow_step_receipts WHERE instance_id = %s AND idempotency_key = %s"
    assert stage.standing.row(receipts, document.instance_id, key) == (1,)
    after = [step for step in steps if step["node_id"] == "usr:checks:after"]
    assert [(step["token_id"], step["status"]) for step in after] == [("T", "running")]
    stage.check_rebuild(document.instance_id)


def test_wf_16_all_of_them_in_the_same_wave(stage: WorkflowStage) -> None:
    document = parted(stage, "all", call("one"), call("two"), call("three"))
    answer(stage, document, "one", "two", "three")
    stage.drain()
    check_fired_once(stage, document)


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_wf_16_the_last_of_them_fires_it(stage: WorkflowStage, order: tuple[str, str]) -> None:
    document = parted(stage, "all", call("one"), call("two"))
    answer(stage, document, order[0])
    stage.drain()
    assert joins(stage, document) == []
    answer(stage, document, order[1])
    stage.drain()
    check_fired_once(stage, document)


def test_wf_16_any_of_them_and_the_others_are_cancelled(stage: WorkflowStage) -> None:
    """Cancel each loser by a step of its own; its late answer moves nothing."""
    document = parted(stage, "any", call("one"), call("two"), call("three"))
    answer(stage, document, "two")
    stage.drain()
    check_fired_once(stage, document)
    ends = {node: status for node, _, status in stage.steps(document.instance_id)}
    assert (ends["usr:checks:one"], ends["usr:checks:two"]) == ("cancelled", "completed")
    assert ends["usr:checks:three"] == "cancelled"
    before = stage.steps(document.instance_id)
    stage.wake(document.instance_id)
    stage.drain()
    assert stage.steps(document.instance_id) == before


def test_wf_16_two_that_arrive_at_an_any_join_in_the_same_wave(stage: WorkflowStage) -> None:
    """Let both calls come back: the first in order wins, the other is cancelled."""
    document = parted(stage, "any", call("one"), call("two"))
    answer(stage, document, "one", "two")
    stage.drain()
    check_fired_once(stage, document)
    ends = {node: status for node, _, status in stage.steps(document.instance_id)}
    assert (ends["usr:checks:one"], ends["usr:checks:two"]) == ("completed", "cancelled")


def test_wf_16_a_loser_that_had_not_begun_has_its_row_too(stage: WorkflowStage) -> None:
    """End the first branch in the round in which the others would begin."""
    document = parted(stage, "any", script("quick"), script("second"), call("third"))
    check_fired_once(stage, document)
    ends = {node: status for node, _, status in stage.steps(document.instance_id)}
    assert ends["usr:checks:quick"] == "completed"
    assert ends["usr:checks:second"] == ends["usr:checks:third"] == "cancelled"
    effects = stage.standing.rows(
        "SELECT s.node_id FROM workflow_side_effects_outbox e"
        " JOIN workflow_step_executions s ON s.id = e.step_execution_id WHERE e.instance_id = %s",
        document.instance_id,
    )
    assert effects == [("usr:checks:after",)]


def test_wf_16_a_join_that_has_fired_cannot_fire_again(stage: WorkflowStage) -> None:
    """Refuse a second winner, which finds the receipt of the first."""
    document = parted(stage, "any", call("one"), call("two"))
    (split,) = (
        step["seq"]
        for step in stage.whole_steps(document.instance_id)
        if step["node_id"] == "usr:checks:fork"
    )
    stage.standing.run(
        "INSERT INTO workflow_step_receipts (tenant_id, instance_id, idempotency_key, step_execution_id,"
        " created_at) VALUES (%s, %s, %s, %s, now())",
        stage.tenant_id,
        document.instance_id,
        join_key(document.instance_id, JOIN, split),
        make_id(),
    )
    answer(stage, document, "one")
    before = stage.instance(document.instance_id), stage.steps(document.instance_id)
    claim_id = make_id()
    with stage.database.transaction(stage.tenant_id) as connection:
        due = claim(connection, EVENTS, at_most=100, lease_seconds=60, claim_id=claim_id)
    waves = Waves(stage.database, stage.caches(), CompiledCache(), stopped)
    with pytest.raises(LostReceipt):
        waves.run(Claim(claim_id, stage.tenant_id, due))
    assert (stage.instance(document.instance_id), stage.steps(document.instance_id)) == before


def test_wf_16_when_the_split_parts_again_its_join_fires_again(stage: WorkflowStage) -> None:
    """Start again from the state: another split, another epoch of the join."""
    document = parted(stage, "all", call("one"), call("two"))
    stage.edit(document.id, amount=9)
    stage.ask(document.id, "submit")
    stage.drain()
    answer(stage, document, "one", "two")
    stage.drain()
    assert len(joins(stage, document)) == 1
    stage.edit(document.id, amount=10)
    stage.ask(document.id, "submit")
    stage.drain()
    answer(stage, document, "two", "one")
    stage.drain()
    fired = joins(stage, document)
    assert len({join["idempotency_key"] for join in fired}) == len(fired) == 2
    splits = [n for n in stage.nodes(document.instance_id) if n == "usr:checks:fork"]
    assert len(splits) == 3
