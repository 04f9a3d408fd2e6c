"""Two amendments of one original that end at once: the original is left with none that has no workflow."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.support.amended_documents import SUSPENDING, amend, end, line, settled
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

END = (
    "UPDATE workflow_instances SET status = 'cancelled', reason = 'x', completed_at = now(),"
    " updated_at = now() WHERE id = %s"
)


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def test_two_that_end_at_once_give_the_original_back(stage: WorkflowStage) -> None:
    """The second waits for the first, and then ends what that has opened."""
    original = settled(stage, SUSPENDING)
    other = amend(stage, original, amount=2)
    stage.drain()
    end(stage, other)
    stage.drain()
    opened = amend(stage, original, amount=3)
    stage.drain()
    stage.ask(other.id, "submit")
    stage.drain()
    assert line(stage, original)[0] == opened.id
    with psycopg.connect(stage.standing.admin_url) as first, ThreadPoolExecutor(1) as pool:
        first.execute(END, [stage.instance_of(opened.id)])
        second = pool.submit(end_workflow, stage, other)
        stage.standing.wait_until_blocked()
        first.commit()
        second.result()
    assert line(stage, original)[0] is None
    assert amend(stage, original, amount=4) is not None


def end_workflow(stage: WorkflowStage, document: Made) -> None:
    with psycopg.connect(stage.standing.admin_url) as connection:
        connection.execute(END, [stage.instance_of(document.id)])
