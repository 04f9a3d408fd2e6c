"""Each row of the table of repairs: the document is stranded, every act is tried, and the way on leads on.

The outcome of every act is kept in `golden/rows.json`, from which docs/operating.md has its table. An act is
tried on a document of its own. At each moment of the way on, the explanation names the act that is next.
"""

import pytest

from tests.support.repair.acts import ACTS
from tests.support.repair.outcomes import keep_outcomes, read_outcomes
from tests.support.repair.rows import ALL_ACTS, ROWS, Row
from tests.support.repair.scene import RepairScene
from tests.support.workflow_stage import Made, WorkflowStage

MAX_ACTS = 3
# The name of an act in explanations, where the table has another.
NAMES = {"deliver": "try_now"}


def strand(scene: RepairScene, row: Row, count: int) -> list[Made]:
    scene.hire()
    scene.publish(row.contract, row.slots)
    row.prepare(scene)
    made = [scene.stage.create(scene.entity_type) for _ in range(count)]
    scene.stage.drain()
    for number, transition in enumerate(row.asks):
        for document in made:
            scene.stage.ask(document.id, transition, *(row.submitter if number == 0 else ("carl",)))
        scene.stage.drain()
    row.strikes(scene)
    for document in made:
        if row.strikes_each is not None:
            row.strikes_each(scene, document)
    scene.settle()
    scene.publish_repaired()
    return made


@pytest.mark.parametrize("number", sorted(ROWS))
def test_every_act_leads_on_or_says_why_not(stage: WorkflowStage, number: int) -> None:
    row, scene = ROWS[number], RepairScene(stage)
    *tried, stranded = strand(scene, row, len(ACTS) + 1)
    assert {scene.describe(document) for document in [*tried, stranded]} == {row.rests}
    outcomes = {name: scene.attempt(document, ACTS[name]) for name, document in zip(ACTS, tried, strict=True)}
    assert outcomes == keep_outcomes(number, outcomes)
    for document in tried:
        stage.check_rebuild(scene.row_of(document)["id"])
    # The acts on the others have left the stranded document where it stood.
    assert scene.describe(stranded) == row.rests
    row.mends(scene)
    for act in row.way_on:
        assert NAMES.get(act, act) in scene.list_named(stranded)
        last = scene.attempt(stranded, ALL_ACTS[act])
    assert last == row.ends
    stage.check_rebuild(scene.row_of(stranded)["id"])


def test_no_row_is_without_a_way_on() -> None:
    assert all(1 <= len(row.way_on) <= MAX_ACTS for row in ROWS.values())
    assert sum(len(row.way_on) for row in ROWS.values()) / len(ROWS) <= MAX_ACTS
    assert set(read_outcomes()) == {str(number) for number in ROWS}
