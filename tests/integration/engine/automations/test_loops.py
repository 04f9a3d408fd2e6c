"""The loop guard: what goes round in a circle is stopped, and what goes on for too long is a dead letter."""

from typing import Any

import pytest

from signet.core.automations.chain import MAX_DEPTH
from tests.support.automated_documents import POST, automate, end_wait, list_entries, list_started, read_chain
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

COUNTING: dict[str, Any] = {
    **CONTRACT,
    "actions": {
        "post": {"kind": "update", "set": {"is_posted": True}},
        "unpost": {"kind": "update", "set": {"is_posted": False}},
        "another": {"kind": "create", "entity_type": "{self}", "set": {"amount": 1}},
    },
}
UNPOST = {"id": "unpost", "type": "action", "config": {"action": "unpost"}}
ANOTHER = {"id": "another", "type": "action", "config": {"action": "another"}}
CHANGED = {"on": "mutation", "fields": ["is_posted"]}
STARTED = ("started", None)
LOOP = ("not_started", "AUTOMATION_LOOP")


@pytest.fixture
def entity_type(stage: WorkflowStage) -> str:
    actions = {name: COUNTING["actions"][name] for name in ("post", "unpost")}
    return stage.publish({**COUNTING, "actions": actions})


def change(stage: WorkflowStage, entity_type: str) -> Made:
    document = stage.create(entity_type, is_posted=False)
    stage.drain()
    stage.edit(document.id, is_posted=True)
    stage.drain()
    return document


def test_one_that_starts_itself_is_stopped(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, CHANGED, UNPOST)
    change(stage, entity_type)
    assert list_entries(stage, name) == [STARTED, LOOP]


def test_two_that_start_each_other_are_stopped(stage: WorkflowStage, entity_type: str) -> None:
    """Let one post what the other takes back: each starts once for the edit of a person."""
    unposts = automate(stage, entity_type, {**CHANGED, "condition": "entity.is_posted == true"}, UNPOST)
    posts = automate(stage, entity_type, {**CHANGED, "condition": "entity.is_posted == false"}, POST)
    document = change(stage, entity_type)
    assert [list_entries(stage, name).count(STARTED) for name in (unposts, posts)] == [1, 1]
    assert LOOP in list_entries(stage, unposts)
    (started,) = list_started(stage, posts)
    assert read_chain(stage, started["id"]) == [[unposts, str(document.id)], [posts, str(document.id)]]


def test_a_person_begins_anew(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {**CHANGED, "condition": "entity.is_posted == true"}, UNPOST)
    document = change(stage, entity_type)
    stage.edit(document.id, is_posted=True)
    stage.drain()
    assert list_entries(stage, name).count(STARTED) == 2


def test_a_repetition_can_be_left_out_in_silence(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {**CHANGED, "repeat": "ignore"}, UNPOST)
    change(stage, entity_type)
    assert list_entries(stage, name) == [STARTED]


def test_one_that_may_repeat_ends_as_a_dead_letter(stage: WorkflowStage, entity_type: str) -> None:
    """Let two start each other for ever: the one too many is a dead letter that names them all."""
    allowed = {**CHANGED, "repeat": "allow"}
    unposts = automate(stage, entity_type, {**allowed, "condition": "entity.is_posted == true"}, UNPOST)
    posts = automate(stage, entity_type, {**allowed, "condition": "entity.is_posted == false"}, POST)
    change(stage, entity_type)
    entries = [*list_entries(stage, unposts), *list_entries(stage, posts)]
    assert entries.count(STARTED) == MAX_DEPTH
    assert entries.count(("too_deep", "AUTOMATION_TOO_DEEP")) == 1
    dead = stage.standing.rows("SELECT error FROM workflow_events_outbox WHERE status = 'dead_letter'")
    assert len(dead) == 1 and dead[0][0].count(" → ") == MAX_DEPTH
    stage.standing.run("ALTER TABLE workflow_events_outbox DISABLE TRIGGER USER")
    stage.standing.run("DELETE FROM workflow_events_outbox WHERE status = 'dead_letter'")
    stage.standing.run("ALTER TABLE workflow_events_outbox ENABLE TRIGGER USER")


def test_the_chain_goes_on_through_a_wait(stage: WorkflowStage, entity_type: str) -> None:
    """Let an automation wait before it changes what it listens to."""
    wait = {"id": "wait", "type": "wait_timer", "config": {"for": "P30D"}}
    name = automate(stage, entity_type, CHANGED, wait, UNPOST)
    change(stage, entity_type)
    (started,) = list_started(stage, name)
    end_wait(stage, started["id"])
    assert list_entries(stage, name) == [STARTED, LOOP]


def test_the_chain_goes_on_through_the_workflow_of_the_document(stage: WorkflowStage) -> None:
    """Let an automation start another by what the document's own workflow does for it."""
    mark = {"id": "mark", "type": "action", "config": {"action": "post"}}
    entity_type = stage.publish(
        {
            **COUNTING,
            "actions": {
                "post": {"kind": "update", "set": {"is_posted": True}},
                "number": {"kind": "update", "set": {"number": "given"}},
            },
        },
        checks={"nodes": [mark]},
    )
    number = {"id": "number", "type": "action", "config": {"action": "number"}}
    name = automate(stage, entity_type, {"on": "create"}, number)
    document = stage.create(entity_type)
    stage.drain()
    chain = stage.standing.rows(
        "SELECT chain FROM instance_causes WHERE instance_id = %s", document.instance_id
    )
    assert chain == [([[name, str(document.id)]],)]
    stage.ask(document.id, "submit")
    stage.drain()
    chain = stage.standing.rows(
        "SELECT chain FROM instance_causes WHERE instance_id = %s", document.instance_id
    )
    assert chain == [([],)]


def test_a_publication_warns_of_a_circle(stage: WorkflowStage, entity_type: str) -> None:
    """Publish two that listen to what the other does: the second closes the circle."""
    company, names = stage.standing.company, ("first_of_circle", "second_of_circle")
    found = []
    for name, action, other in zip(names, ("post", "unpost"), ("unpost", "post"), strict=True):
        body = {
            "automation": name,
            "entity_type": entity_type,
            "trigger": {"on": "mutation", "action": other},
            "nodes": [{"id": "act", "type": "action", "config": {"action": action}}],
        }
        draft = company.definitions.create(company.caller(), "automation", body)
        published = company.definitions.publish(company.caller(), draft.id)
        found.append([one for one in published.findings if one.code == "AUTOMATIONS_IN_CIRCLE"])
    assert found[0] == []
    (warned,) = found[1]
    assert warned.parameters == {"names": " → ".join((names[1], names[0], names[1]))}
