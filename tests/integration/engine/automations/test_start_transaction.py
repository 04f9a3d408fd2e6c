"""Starts by changes: the automations that listen, the person that they act for, and what they read."""

from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.engine.documents.commands import RunAction
from tests.support.automated_documents import POST, automate, list_entries, list_started, read_chain
from tests.support.workflow_stage import WorkflowStage


@pytest.fixture
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
    assert read_chain(stage, started["id"]) == [[name, str(made.id)]]
    stage.check_rebuild(started["id"])


@pytest.mark.parametrize(
    ("trigger", "fires"),
    [
        ({"on": "mutation"}, {"edit", "run"}),
        ({"on": "mutation", "fields": ["number"]}, {"edit"}),
        ({"on": "mutation", "fields": ["contact", "is_posted"]}, {"run"}),
        ({"on": "mutation", "action": "post"}, {"run"}),
        ({"on": "mutation", "action": "update", "fields": ["number"]}, {"edit"}),
        ({"on": "mutation", "action": "update", "fields": ["amount"]}, set()),
        ({"on": "mutation", "action": "delete"}, {"delete"}),
        ({"on": "transition"}, {"submit", "approve"}),
        ({"on": "transition", "from": "draft"}, {"submit"}),
        ({"on": "transition", "to": "active"}, {"approve"}),
        ({"on": "transition", "from": "draft", "to": "active"}, set()),
        ({"on": "create"}, {"create", "create another"}),
    ],
)
def test_each_kind_of_change_starts_what_listens_to_it(
    stage: WorkflowStage, entity_type: str, trigger: dict[str, Any], fires: set[str]
) -> None:
    name, fired = automate(stage, entity_type, trigger), set[str]()

    def look(what: str) -> None:
        known = len(list_entries(stage, name))
        stage.drain()
        for _ in list_entries(stage, name)[known:]:
            fired.add(what)

    document = stage.create(entity_type)
    look("create")
    stage.edit(document.id, number="N-1")
    look("edit")
    stage.edit(document.id, number="N-1")  # a version that says the same
    look("nothing")
    stage.mutate(RunAction(document.id, stage.version_of(document.id), "post", {}))
    look("run")
    stage.ask(document.id, "submit")
    (begun,) = stage.standing.row("SELECT version FROM documents WHERE id = %s", document.id)
    assert begun
    stage.drain()
    statuses = stage.standing.rows(
        "SELECT data ->> 'act' FROM workflow_event e JOIN automations a ON a.id = e.subject_id"
        " WHERE a.name = %s AND e.data ->> 'act' LIKE 'transition:%%'",
        name,
    )
    fired |= {str(act).partition(":")[2] for (act,) in statuses}
    another = stage.create(entity_type)
    look("create another")
    stage.delete(another.id)
    look("delete")
    assert fired == fires


def test_only_the_type_that_is_named_starts_it(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {"on": "create"})
    stage.create(stage.publish())
    stage.drain()
    assert list_started(stage, name) == []


def test_a_step_acts_for_the_person_of_the_change(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {"on": "create"}, POST)
    made = stage.create(entity_type)
    stage.drain()
    (started,) = list_started(stage, name)
    assert (started["reason"], started["status"], started["actor_id"]) == (None, "completed", "carl")
    (data,) = stage.standing.row("SELECT data FROM documents WHERE id = %s", made.id)
    assert data["is_posted"] is True


def test_a_step_is_asked_for_its_permission_when_it_acts(stage: WorkflowStage, entity_type: str) -> None:
    """Let a clerk create a document: they may not run the action, and an administrator who published may."""
    stage.add_member("clara")
    stage.standing.run(
        "UPDATE roles SET permissions = permissions || ARRAY[%s] WHERE role = 'clerk'",
        f"{entity_type}:create",
    )
    name = automate(stage, entity_type, {"on": "create"}, POST)
    stage.create(entity_type, "clara", "clerk")
    stage.drain()
    (started,) = list_started(stage, name)
    assert started["status"] == "paused"
    assert started["reason"].startswith("PERMISSION_DENIED")


def test_who_published_answers_with_who_made_the_change(stage: WorkflowStage, entity_type: str) -> None:
    stage.add_member("dora")
    name = automate(stage, entity_type, {"on": "create"})
    stage.create(entity_type, "dora", "admin")
    stage.drain()
    (started,) = list_started(stage, name)
    (persons,) = stage.standing.row(
        "SELECT s.persons FROM workflow_instances i JOIN responsible_sets s"
        " ON s.tenant_id = i.tenant_id AND s.hash = i.responsible WHERE i.id = %s",
        started["id"],
    )
    assert sorted(persons) == ["carl", "dora"]


@pytest.mark.parametrize(
    ("condition", "starts"),
    [
        ("after.amount > before.amount", True),
        ("before.amount > after.amount", False),
        ("entity.amount == 9 && actor.user_id == 'carl'", True),
        ("org.currency == 'XXX'", False),
        ("before.status == 'draft' && after.version == 2", True),
    ],
)
def test_a_condition_reads_both_sides_of_the_change(
    stage: WorkflowStage, entity_type: str, condition: str, starts: bool
) -> None:
    """Ask it about the change that fired, also where another has followed before the worker came."""
    name = automate(stage, entity_type, {"on": "mutation", "fields": ["amount"], "condition": condition})
    document = stage.create(entity_type, amount=5)
    stage.edit(document.id, amount=9)
    stage.edit(document.id, number="later")
    stage.drain()
    entries = list_entries(stage, name)
    assert entries == ([("started", None)] if starts else [("not_started", "CONDITION_FALSE")])
    assert len(list_started(stage, name)) == int(starts)


def test_before_is_empty_of_a_new_document(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {"on": "create", "condition": "before.amount == null"})
    stage.create(entity_type)
    stage.drain()
    assert list_entries(stage, name) == [("started", None)]


def test_a_newer_version_takes_the_place_of_the_older(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {"on": "create"})
    automate(stage, entity_type, {"on": "transition", "to": "submitted"}, name=name)
    stage.create(entity_type)
    stage.drain()
    assert list_started(stage, name) == []


def test_what_is_archived_starts_no_more(stage: WorkflowStage, entity_type: str) -> None:
    """Archive it between a change and the worker: the firing says that it did not start."""
    name = automate(stage, entity_type, {"on": "create"})
    stage.create(entity_type)
    (definition_id,) = stage.standing.row("SELECT definition_id FROM automations WHERE name = %s", name)
    company = stage.standing.company
    company.definitions.archive(company.caller(), definition_id)
    stage.create(entity_type)
    stage.drain()
    assert list_entries(stage, name) == [("not_started", "AUTOMATION_ARCHIVED")]
    assert (
        stage.standing.rows(
            "SELECT FROM workflow_triggers t JOIN automations a ON a.id = t.automation_id WHERE a.name = %s",
            name,
        )
        == []
    )


def test_a_start_that_comes_twice_starts_once(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {"on": "create"})
    stage.create(entity_type)
    stage.drain()
    stage.standing.run("ALTER TABLE workflow_events_outbox DISABLE TRIGGER USER")
    stage.standing.run(
        "UPDATE workflow_events_outbox SET status = 'pending' WHERE event_type = 'start_automation'"
    )
    stage.standing.run("ALTER TABLE workflow_events_outbox ENABLE TRIGGER USER")
    stage.drain()
    assert len(list_started(stage, name)) == 1
    assert list_entries(stage, name) == [("started", None)]


def test_nothing_starts_where_the_change_is_rolled_back(stage: WorkflowStage, entity_type: str) -> None:
    """Let a rule stop the change: its start was never written."""
    name = automate(stage, entity_type, {"on": "create"})
    stage.add_rule(entity_type, "stop", "entity.amount == 13", on="create")
    with pytest.raises(Rejected):
        stage.create(entity_type, amount=13)
    stage.drain()
    assert list_entries(stage, name) == []


def test_a_deleted_document_starts_nothing_more(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {"on": "create"})
    document = stage.create(entity_type)
    stage.delete(document.id)
    stage.drain()
    assert list_entries(stage, name) == [("not_started", "DOCUMENT_GONE")]


def test_a_name_belongs_to_one_automation(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, {"on": "create"})
    with pytest.raises(Rejected) as caught:
        automate(stage, stage.publish(), {"on": "create"}, name=name)
    assert caught.value.code == "AUTOMATION_NAME_TAKEN"
