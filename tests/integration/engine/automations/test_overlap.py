"""Firings while an instance is open, and over the limits: none is lost in silence."""

from typing import Any
from uuid import UUID

import pytest

from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Delete
from signet.engine.instances.actions import Instances
from tests.support.automated_documents import automate, end_wait, list_entries, list_started
from tests.support.workflow_stage import WorkflowStage

WAIT = {"id": "wait", "type": "wait_timer", "config": {"for": "P30D"}}
CREATED = {"on": "create"}
STARTED = ("started", None)


@pytest.fixture
def entity_type(stage: WorkflowStage) -> str:
    return stage.publish()


def create(stage: WorkflowStage, entity_type: str, count: int) -> None:
    for _ in range(count):
        stage.create(entity_type)
        stage.drain()


def end_oldest(stage: WorkflowStage, name: str) -> None:
    """End the wait of the oldest open instance, as its timer does."""
    oldest = next(one for one in list_started(stage, name) if one["status"] == "running")
    end_wait(stage, oldest["id"])


def statuses(stage: WorkflowStage, name: str) -> list[str]:
    return [str(one["status"]) for one in list_started(stage, name)]


def test_all_of_them_run_beside_each_other(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, CREATED, WAIT)
    create(stage, entity_type, 3)
    assert statuses(stage, name) == ["running"] * 3


def test_while_one_is_open_the_others_are_skipped(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, CREATED, WAIT, overlap={"mode": "skip"})
    create(stage, entity_type, 2)
    assert list_entries(stage, name) == [STARTED, ("not_started", "OVERLAP_SKIPPED")]
    end_oldest(stage, name)
    create(stage, entity_type, 1)
    assert statuses(stage, name) == ["completed", "running"]


def test_each_document_counts_for_itself(stage: WorkflowStage, entity_type: str) -> None:
    trigger, overlap = {"on": "mutation"}, {"mode": "skip", "per": "document"}
    name = automate(stage, entity_type, trigger, WAIT, overlap=overlap)
    first, second = stage.create(entity_type), stage.create(entity_type)
    for document in (first, second, first):
        stage.edit(document.id, number=str(stage.version_of(document.id)))
        stage.drain()
    assert list_entries(stage, name) == [STARTED, STARTED, ("not_started", "OVERLAP_SKIPPED")]


def test_a_queue_is_served_in_order_and_has_an_end(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, CREATED, WAIT, overlap={"mode": "queue", "at_most": 2})
    create(stage, entity_type, 4)
    queued, full = ("queued", "OVERLAP_QUEUED"), ("not_started", "OVERLAP_QUEUE_FULL")
    assert list_entries(stage, name) == [STARTED, queued, queued, full]
    for done in (1, 2, 3):
        end_oldest(stage, name)
        assert statuses(stage, name) == ["completed"] * done + ["running"] * (done < 3)
    assert stage.standing.rows("SELECT FROM queued_starts") == []


def test_what_was_deleted_while_it_waited_lets_the_next_one_start(
    stage: WorkflowStage, entity_type: str
) -> None:
    name = automate(stage, entity_type, CREATED, WAIT, overlap={"mode": "queue"})
    create(stage, entity_type, 1)
    gone = stage.create(entity_type)
    stage.drain()
    create(stage, entity_type, 1)
    stage.mutate(Delete(gone.id, stage.version_of(gone.id)))
    stage.drain()
    end_oldest(stage, name)
    assert statuses(stage, name) == ["completed", "running"]
    assert ("not_started", "DOCUMENT_GONE") in list_entries(stage, name)


def test_what_waits_starts_also_where_an_operator_ends_the_open_one(
    stage: WorkflowStage, entity_type: str
) -> None:
    name = automate(stage, entity_type, CREATED, WAIT, overlap={"mode": "queue"})
    create(stage, entity_type, 2)
    (first,) = list_started(stage, name)
    company = stage.standing.company
    instances = Instances(company.database, stage.caches(), CompiledCache())
    instances.cancel(company.caller("olga"), UUID(first["id"]), first["version"], "not needed")
    stage.drain()
    assert statuses(stage, name) == ["cancelled", "running"]


def test_the_newest_replaces_what_is_open(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, CREATED, WAIT, overlap={"mode": "replace"})
    create(stage, entity_type, 3)
    started = list_started(stage, name)
    assert [one["status"] for one in started] == ["cancelled", "cancelled", "running"]
    assert started[0]["reason"].startswith("OVERLAP_REPLACED")
    for one in started:
        stage.check_rebuild(one["id"])


def test_of_those_that_wait_to_replace_the_newest_is_left(stage: WorkflowStage, entity_type: str) -> None:
    name = automate(stage, entity_type, CREATED, WAIT, overlap={"mode": "replace"})
    create(stage, entity_type, 1)
    for _ in range(3):
        stage.create(entity_type)
    stage.drain()
    assert statuses(stage, name) == ["cancelled", "running"]
    assert [entry for entry in list_entries(stage, name) if entry[0] == "not_started"] == [
        ("not_started", "OVERLAP_REPLACED")
    ] * 2


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"starts_per_minute": 2}, "STARTS_OVER_LIMIT"),
        ({"open_instances": 2}, "OPEN_OVER_LIMIT"),
    ],
)
def test_what_is_over_a_limit_is_delayed_and_not_lost(
    stage: WorkflowStage, entity_type: str, limits: dict[str, Any], code: str
) -> None:
    """Make due what is delayed, once as long as the limit lasts, and once behind it."""
    name = automate(stage, entity_type, CREATED, WAIT, limits=limits)
    for _ in range(3):
        stage.create(entity_type)
    stage.standing.run("UPDATE automations SET started_minute = date_trunc('minute', now())")
    stage.drain()
    assert sorted(list_entries(stage, name)) == [("delayed", code), STARTED, STARTED]
    stage.standing.run(
        "UPDATE automations SET started_minute = date_trunc('minute', now()) - interval '1 hour'"
    )
    if code == "OPEN_OVER_LIMIT":
        stage.make_due()
        stage.drain()
        assert statuses(stage, name) == ["running", "running"]
        end_oldest(stage, name)
    stage.make_due()
    stage.drain()
    assert statuses(stage, name).count("running") == (3 if code == "STARTS_OVER_LIMIT" else 2)
    assert sorted(list_entries(stage, name)) == [("delayed", code), STARTED, STARTED, STARTED]
