"""Variables that a slot has left unset before a person changed the document: that was its outcome, too."""

from collections.abc import Iterator

import pytest

from tests.scenarios.authority.acts import edit
from tests.scenarios.authority.variables import HELD, choosing, incidents, paid, stage_of_variables, submitted
from tests.support.workflow_stage import WorkflowStage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with stage_of_variables(server_url) as made:
        yield made


def test_a_variable_that_the_small_amount_left_unset_is_older_too(stage: WorkflowStage) -> None:
    large = {"id": "large", "type": "script", "config": {"set": {"is_large": "true"}}}
    edges = [
        {"source": "size", "target": "large", "condition": "entity.amount > 1000"},
        {"source": "size", "target": "out"},
        {"source": "large", "target": "out"},
    ]
    sizes = {"nodes": [{"id": "size", "type": "condition"}, large], "edges": edges, "exit": "join"}
    made = submitted(stage, 10, checks=sizes, approval=choosing("context.is_large == true"))
    for changed, held in (({"number": "N-9"}, []), ({"amount": 999_999}, HELD), ({"amount": 10}, [])):
        edit(stage, made, "carl", **changed)
        stage.drain()
        assert (incidents(stage, made), paid(stage, made)) == (held, [])
    stage.check_rebuild(made.instance_id)
