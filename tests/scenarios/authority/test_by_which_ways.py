"""Everybody who has to do with a document, by every way in which they may want it approved by their own will.

Each scene ends in the refusals that docs/approvals.md lists, and a lawful person approves in the same scene.
"""

from collections.abc import Iterator

import pytest

from tests.support.ways.cells import NotPossible, Played, Way, find_gaps
from tests.support.ways.involvements import WHO
from tests.support.ways.scene import AuthorityScene
from tests.support.ways.table import WAYS
from tests.support.workflow_stage import WorkflowStage, standing_stage

SCENES = [
    (person, name, cell)
    for name, way in WAYS.items()
    for person, cell in way.cells.items()
    if isinstance(cell, Played)
]


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.mark.parametrize(
    ("person", "cell"),
    [(who, cell) for who, _, cell in SCENES],
    ids=[f"{who}-{way}" for who, way, _ in SCENES],
)
def test_nobody_has_a_document_approved_by_their_own_will(
    stage: WorkflowStage, person: str, cell: Played
) -> None:
    scene = AuthorityScene(stage, WHO[person])
    assert tuple(cell.play(scene)) == cell.codes
    assert scene.status == "submitted"
    # Nothing else keeps the gate shut: the vote of a lawful person opens it.
    assert cell.lawful(scene) == "approved"
    assert scene.status == "active"
    assert scene.person not in scene.list_voices() or person == "delegator"


def test_the_table_has_a_cell_for_everybody_by_each_way() -> None:
    assert list(find_gaps(WAYS, WHO)) == []
    assert len(SCENES) > 100


def test_a_gap_is_found() -> None:
    none = NotPossible("it is a test")
    table = {"walk": Way("They walk.", {"creator": none, "stranger": none})}
    found = list(find_gaps(table, {"creator": None, "editor": None}))
    assert found == ["walk: there is no cell for the editor", "walk: there is no stranger"]
