"""WF-02: a node is executed once for an instance, a token and a version of the document.

The steps decide what has happened, even where the row of the instance says otherwise. An owner or a restore
may put an older row back.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest

from signet.authoring.actions import ActionInput, ActionResult
from tests.engine.waves.stage import CALL, Hurried, Made, WorkflowStage

Row = dict[str, Any]
RUN = {"id": "run", "type": "action", "config": {"action": "run", "save_as": "sum"}}


@dataclass
class DoubleLife:
    """A document on its way to the end, with the instance's row after each wave."""

    document: Made
    rows: list[Row] = field(default_factory=list)


@pytest.fixture(scope="module")
def entity_type(stage: WorkflowStage) -> str:
    """Publish a call beside a function, and a call after the gate."""

    def run(given: ActionInput) -> ActionResult:
        return ActionResult(changes={"amount": given.document.data["amount"] + 1}, output={"total": 1})

    forked = {
        "nodes": [
            {"id": "fork", "type": "parallel_split"},
            CALL,
            {"id": "tell", "type": "script", "config": {"set": {"told": "entity.amount > 0"}}},
            {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
            RUN,
        ],
        "edges": [
            {"id": "a", "source": "fork", "target": "call"},
            {"id": "b", "source": "fork", "target": "tell"},
            {"source": "call", "target": "both"},
            {"source": "tell", "target": "both"},
            {"source": "both", "target": "run"},
        ],
    }
    name = stage.publish(checks=forked, posting={"nodes": [CALL]})
    stage.registry.action(name, "run")(run)
    return name


def go_on(stage: WorkflowStage, life: DoubleLife) -> None:
    """Run one wave after the other until nothing is due, and keep each row."""
    worker = stage.worker(Hurried())
    life.rows.append(stage.instance(life.document.instance_id))
    while worker.work(stage.tenant_id):
        life.rows.append(stage.instance(life.document.instance_id))


def stimuli(stage: WorkflowStage, life: DoubleLife) -> Sequence[Any]:
    """Return the events of the document's life, in order."""
    document = life.document
    return (
        lambda: None,
        lambda: stage.ask(document.id, "submit"),
        lambda: stage.answer(document.instance_id),
        lambda: stage.answer(document.instance_id),
    )


def live(stage: WorkflowStage, entity_type: str) -> DoubleLife:
    life = DoubleLife(stage.create(entity_type))
    for happen in stimuli(stage, life):
        happen()
        go_on(stage, life)
    assert life.rows[-1]["status"] == "completed"
    return life


def footprint(stage: WorkflowStage, document: Made) -> Row:
    """Return everything that the document's workflow has written."""
    standing, instance_id = stage.standing, document.instance_id
    return {
        "steps": stage.whole_steps(instance_id),
        "effects": standing.rows(
            "SELECT to_jsonb(e) FROM workflow_side_effects_outbox e WHERE instance_id = %s ORDER BY id",
            instance_id,
        ),
        "document": standing.rows("SELECT to_jsonb(d) FROM documents d WHERE id = %s", document.id),
        "audit": standing.rows("SELECT id FROM audit_log WHERE subject_id = %s", str(document.id)),
        "history": standing.rows("SELECT id FROM workflow_event WHERE subject_id = %s", instance_id),
    }


def key_of(*parts: object) -> str:
    text = "".join(f"{len(str(part))}:{part}" for part in parts)
    return "\\x" + hashlib.sha256(text.encode()).hexdigest()


def test_wf_02_the_key_of_a_step_is_its_instance_node_token_and_version(
    stage: WorkflowStage, entity_type: str
) -> None:
    document = live(stage, entity_type).document
    steps = stage.whole_steps(document.instance_id)
    for step in steps:
        if step["node_id"] != "usr:checks:both":  # the key of a join comes from its split (WF-16)
            parts = [document.instance_id, step["node_id"], step["token_id"], step["entity_version"]]
            assert step["idempotency_key"] == key_of(*parts)
    receipts = stage.standing.rows(
        "SELECT step_execution_id FROM workflow_step_receipts WHERE instance_id = %s", document.instance_id
    )
    assert sorted(UUID(step["id"]) for step in steps) == sorted(receipt for (receipt,) in receipts)


def test_wf_02_a_wave_on_any_row_of_the_past_repeats_nothing(stage: WorkflowStage, entity_type: str) -> None:
    life = live(stage, entity_type)
    done, row = footprint(stage, life.document), stage.instance(life.document.instance_id)
    assert len({past["version"] for past in life.rows}) == 8
    for past in life.rows:
        stage.put_back(past)
        stage.wake(life.document.instance_id)
        stage.drain()
        assert footprint(stage, life.document) == done, f"of version {past['version']}"
        if past["status"] == "running":
            assert stage.instance(life.document.instance_id) == row, f"of version {past['version']}"


@pytest.mark.parametrize("happened", [1, 2, 3])
def test_wf_02_an_instance_whose_row_lagged_goes_on_where_its_steps_are(
    stage: WorkflowStage, entity_type: str, happened: int
) -> None:
    """Put back every earlier row in turn, and expect the same end."""
    expected = [step[:3] for step in stage.steps(live(stage, entity_type).document.instance_id)]
    pasts = 1
    for number in range(100):
        if number == pasts:
            return
        life = DoubleLife(stage.create(entity_type))
        happenings = stimuli(stage, life)
        for happen in happenings[:happened]:
            happen()
            go_on(stage, life)
        pasts = len(life.rows)
        stage.put_back(life.rows[number])
        for happen in happenings[happened:]:
            happen()
            go_on(stage, life)
        assert stage.steps(life.document.instance_id) == expected, f"from row {number}"
        assert stage.status_of(life.document.id) == "active"
        stage.check_rebuild(life.document.instance_id)


def test_wf_02_what_people_did_is_taken_in_once(stage: WorkflowStage, entity_type: str) -> None:
    """Process an edit once. It moves no token, so that only its number, given once, proves it."""
    document = stage.create(entity_type)
    stage.drain()
    before = stage.instance(document.instance_id)
    stage.edit(document.id, amount=5)
    stage.drain()
    done, row = footprint(stage, document), stage.instance(document.instance_id)
    stage.put_back(before)
    stage.wake(document.instance_id)
    stage.drain()
    assert footprint(stage, document) == done
    assert stage.instance(document.instance_id) == row


def test_wf_02_another_version_is_another_step(stage: WorkflowStage, entity_type: str) -> None:
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    stage.drain()
    stage.edit(document.id, amount=5)
    stage.ask(document.id, "submit")
    stage.drain()
    calls = [
        (step["entity_version"], step["status"])
        for step in stage.whole_steps(document.instance_id)
        if step["node_id"] == "usr:checks:call"
    ]
    assert calls == [(1, "cancelled"), (2, "running")]
