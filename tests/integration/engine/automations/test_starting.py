"""What a change starts: the instance, for whom it acts, and what it reads."""

import pytest

from tests.support.automated_documents import POST, automate, list_entries, list_started
from tests.support.workflow_stage import WorkflowStage


@pytest.fixture(scope="module")
def entity_type(stage: WorkflowStage) -> str:
    return stage.publish()


def test_a_new_document_starts_it(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {"on": "create"})
    made = stage.create(entity_type, amount=7)
    stage.drain()
    (started,) = list_started(stage, name)
    assert (started["status"], started["entity_id"]) == ("completed", str(made.id))
    assert started["context_json"] == {"seen": 7}
    assert list_entries(stage, name) == [("started", None)]
    stage.check_rebuild(started["id"])


def test_a_step_acts_for_the_person_of_the_change(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {"on": "create"}, POST)
    made = stage.create(entity_type)
    stage.drain()
    (started,) = list_started(stage, name)
    assert (started["reason"], started["status"], started["actor_id"]) == (None, "completed", "carl")
    (data,) = stage.standing.row("SELECT data FROM documents WHERE id = %s", made.id)
    assert data["is_posted"] is True
