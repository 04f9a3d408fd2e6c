"""WF-15: an instance's row follows from its steps alone, at every moment of its life.

`tests/unit/core/runtime/test_projection.py` checks every prefix of a history. This module checks the rows of
Postgres, all columns but `updated_at`.
"""

from random import Random
from typing import LiteralString

import pytest
from hypothesis import given

from signet.core.errors import Rejected
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Amend, Delete, Update
from signet.engine.execution.rebuild import rebuild_instance
from signet.engine.instances.moves import InstanceMoves, MoveTarget
from tests.support.generated.lives import (
    Life,
    begin,
    find_answer,
    give,
    live,
    prepare,
    publish_next,
    workflows,
)
from tests.support.generated.strategies import fuzz, numbers
from tests.support.workflow_stage import CALL, CONTRACT, Hurried, Made, WorkflowStage

# Columns that a rebuild restores, each with a wrong value.
WRONG: dict[str, LiteralString] = {
    "status": "status = 'paused', reason = 'no idea'",
    "version": "version = version + 5",
    "entity_version": "entity_version = 40",
    "active_tokens": "active_tokens = '[]'",
    "current_nodes": "current_nodes = '{sys:end}'",
    "edit_window": "edit_window = 'locked', edit_window_node = 'sys:end'",
    "context_json": "context_json = '{\"a\": 1}'",
    "timeout_at": "timeout_at = now()",
    "last_step_execution_id": "last_step_execution_id = id",
    "actor_id": "actor_id = 'eve', actor_roles = '{admin}'",
    "responsible": "responsible = sha256('eve')",
    "pins": "pins = '{\"vendor\": {}}'",
    "request_id": "request_id = id",
}


@pytest.fixture(scope="module", autouse=True)
def prepared(stage: WorkflowStage) -> None:
    prepare(stage)


@fuzz(15, shrinks=False)
@given(workflows, numbers)
def test_wf_15_after_every_wave_of_a_random_life_a_rebuild_finds_the_same_row(
    stage: WorkflowStage, seed: int, number: int
) -> None:
    """Make every round a wave of its own, so that each state in between is a row."""
    lives = [begin(stage, seed, number), begin(stage, seed, number + 1)]

    def check() -> None:
        for life in lives:
            stage.check_rebuild(life.instance_id)

    live(stage, lives, clock=Hurried(), after_wave=check)


@fuzz(15, shrinks=False)
@given(workflows, numbers)
def test_wf_15_also_when_people_interfere(stage: WorkflowStage, seed: int, number: int) -> None:
    """Edit, amend and delete at any time, as far as mutate() allows it."""
    life, rng = begin(stage, seed, number), Random(number)
    worker = stage.worker(Hurried())
    for _ in range(12):
        for _ in range(rng.randint(0, 3)):
            worker.work(stage.tenant_id)
            stage.check_rebuild(life.instance_id)
        interfere(stage, life, rng)
        stage.check_rebuild(life.instance_id)


def interfere(stage: WorkflowStage, life: Life, rng: Random) -> None:
    version = stage.version_of(life.document_id)
    wanted = life.script.requests[rng.randrange(len(life.script.requests))]
    chance = rng.random()
    try:
        if chance < 0.3:
            stage.mutate(Update(life.document_id, version, {"count": rng.randint(0, 9)}), "ann", "boss")
        elif chance < 0.7:
            stage.ask(life.document_id, wanted, "ann", "boss")
        elif chance < 0.75:
            stage.mutate(Amend(life.document_id, version, {"count": 3}), "ann", "boss")
        elif answer := find_answer(stage, life):
            give(stage, [answer])
    except Rejected:
        pass


def test_wf_15_of_a_document_that_was_deleted(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish())
    stage.drain()
    stage.mutate(Delete(document.id, 1))
    instance = stage.instance(document.instance_id)
    assert (instance["status"], instance["reason"], instance["active_tokens"]) == ("cancelled", "deleted", [])
    stage.check_rebuild(document.instance_id)
    stage.wake(document.instance_id)
    stage.drain()
    assert stage.instance(document.instance_id) == instance


def test_wf_15_of_a_document_that_was_amended(stage: WorkflowStage) -> None:
    """Check both instances: the one that ended and the one that began."""
    contract = {
        **CONTRACT,
        "amendment": {},
        "states": {**CONTRACT["states"], "submitted": {"edit": "amend_only"}},
    }
    document = stage.create(stage.publish(contract, approval={"nodes": [CALL]}))
    stage.ask(document.id, "submit")
    stage.drain()
    made = stage.edit(document.id, amount=9)
    assert made.original_id == document.id and made.instance_id is not None
    stage.check_rebuild(document.instance_id)
    stage.drain()
    for instance_id in (document.instance_id, made.instance_id):
        stage.check_rebuild(instance_id)
    assert stage.steps(document.instance_id)[-2:] == [
        ("usr:approval:call", "T", "cancelled"),
        ("sys:control:amended", "", "completed"),
    ]
    assert stage.nodes(made.instance_id) == ["sys:start", "sys:state:amended"]


@fuzz(15, shrinks=False)
@given(workflows, numbers)
def test_wf_15_of_one_that_was_moved_to_another_workflow(
    stage: WorkflowStage, seed: int, number: int
) -> None:
    """Read each step with the workflow it was made under, before the move and after it."""
    life, rng = begin(stage, seed, number), Random(number)
    began_with = stage.instance(life.instance_id)
    worker = stage.worker(Hurried())
    for _ in range(rng.randint(1, 12)):
        worker.work(stage.tenant_id)
        if rng.random() < 0.5:
            interfere(stage, life, rng)
    workflow, version = publish_next(stage, seed, rng)
    moves = InstanceMoves(stage.standing.company.database, stage.caches(), CompiledCache())
    caller = stage.standing.company.caller("olga")
    row = stage.instance(life.instance_id)
    if row["status"] not in ("running", "paused"):
        return
    outcome = moves.move(caller, life.instance_id, row["version"], MoveTarget(version))
    stage.check_rebuild(life.instance_id)
    if outcome.outcome != "moved":
        return
    life.moved_to = workflow
    moved = stage.instance(life.instance_id)
    assert (moved["active_tokens"], moved["status"]) == (row["active_tokens"], row["status"])
    live(stage, [life], clock=Hurried(), after_wave=lambda: stage.check_rebuild(life.instance_id))
    last = stage.instance(life.instance_id)
    # No step of the new workflow repeats a receipt of the old one.
    assert "STEP_DONE_BEFORE" not in (last["reason"] or "")
    stage.put_back(began_with)
    rebuild_instance(stage.database, CompiledCache(), stage.tenant_id, life.instance_id)
    assert stage.instance(life.instance_id) == last


def test_wf_15_of_one_whose_first_steps_are_of_nodes_that_are_gone(stage: WorkflowStage) -> None:
    note = {"id": "note", "type": "script", "config": {"set": {"noted": "1"}}}
    entity_type = stage.publish(checks={"nodes": [note]}, approval={"nodes": [CALL]})
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    stage.drain()
    version = stage.publish_next(entity_type, approval={"nodes": [CALL]})
    moves = InstanceMoves(stage.standing.company.database, stage.caches(), CompiledCache())
    seen = stage.instance(document.instance_id)["version"]
    caller = stage.standing.company.caller("olga")
    assert moves.move(caller, document.instance_id, seen, MoveTarget(version)).outcome == "moved"
    stage.check_rebuild(document.instance_id)
    stage.answer(document.instance_id)
    stage.drain()
    assert stage.instance(document.instance_id)["status"] == "completed"
    stage.check_rebuild(document.instance_id)


def in_a_slot(stage: WorkflowStage) -> Made:
    script = {"id": "keep", "type": "script", "config": {"set": {"kept": "entity.amount"}}}
    edges = [{"source": "keep", "target": "call"}]
    document = stage.create(stage.publish(checks={"nodes": [script, CALL], "edges": edges}))
    stage.ask(document.id, "submit", "mona", "admin")
    stage.drain()
    return document


@pytest.mark.parametrize("column", WRONG)
def test_wf_15_whatever_the_row_says_wrongly_its_steps_put_right(stage: WorkflowStage, column: str) -> None:
    document = in_a_slot(stage)
    right = stage.instance(document.instance_id)
    stage.standing.run("ALTER TABLE workflow_instances DISABLE TRIGGER USER")
    stage.standing.admin.execute(
        f"UPDATE workflow_instances SET {WRONG[column]} WHERE id = '{document.instance_id}'".encode()
    )
    stage.standing.run("ALTER TABLE workflow_instances ENABLE TRIGGER USER")
    assert stage.instance(document.instance_id) != right
    rebuild_instance(stage.database, CompiledCache(), stage.tenant_id, document.instance_id)
    assert stage.instance(document.instance_id) == right


def test_wf_15_every_column_is_known_to_follow_or_to_stay(stage: WorkflowStage) -> None:
    """Require that each column either never changes or is restored by a rebuild.

    The definition changes only by the instance's own step that moved it; the trigger and the rebuild both
    read that step.
    """
    made = {*WRONG, "reason", "edit_window_node", "actor_roles", "completed_at", "updated_at"}
    stays = {
        *("tenant_id", "id", "kind", "definition_id", "definition_version", "entity_type", "entity_id"),
        *("subject_id", "partition_id", "overlap_key", "begin_node", "begin_version", "birth", "depth"),
        *("begin_actor_id", "begin_actor_roles", "begin_responsible", "begin_pins", "begin_context"),
        *("trace_id", "started_at"),
    }
    columns = stage.standing.rows(
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'workflow_instances'"
    )
    assert {name for (name,) in columns} == made | stays
