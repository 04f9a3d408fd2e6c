"""Random workflows whose steps and instances are the same in the simulator and on Postgres.

mutate(), queues and waves publish, create, ask, answer and move, as in production.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.waves.random_lives import Life, begin, compare, live, prepare, workflows
from tests.engine.waves.stage import WorkflowStage
from tests.unit.workflow.strategies import fuzz, numbers


@pytest.fixture(scope="module", autouse=True)
def prepared(stage: WorkflowStage) -> None:
    prepare(stage)


@fuzz(25, shrinks=False)
@given(workflows, numbers)
def test_one_document_lives_as_its_simulation(stage: WorkflowStage, seed: int, number: int) -> None:
    life = begin(stage, seed, number)
    live(stage, [life])
    compare(stage, life)
    stage.check_rebuild(life.instance_id)


@fuzz(5, shrinks=False)
@given(st.lists(workflows, min_size=3, max_size=3), st.lists(numbers, min_size=12, max_size=12))
def test_many_documents_of_several_workflows_live_in_the_same_waves(
    stage: WorkflowStage, seeds: list[int], documents: list[int]
) -> None:
    lives: list[Life] = [
        begin(stage, seeds[index % len(seeds)], number) for index, number in enumerate(documents)
    ]
    live(stage, lives)
    for life in lives:
        compare(stage, life)
        stage.check_rebuild(life.instance_id)
