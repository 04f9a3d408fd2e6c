"""Acts of people on automations: a start by hand, a pause, the stop of all, and the question why."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.engine.automations.automations import Automations
from tests.support.automated_documents import automate, list_entries, list_started
from tests.support.shared_company import WAIT_SECONDS
from tests.support.workflow_stage import WorkflowStage

MANUAL = {"on": "manual"}
TAKE = {"id": "take", "type": "script", "config": {"set": {"seen": "payload.count"}}}
GIVEN: dict[str, Any] = {
    "payload": {"count": {"type": "int", "required": True}},
    "variables": {"seen": {"type": "int"}},
}


@pytest.fixture(scope="module")
def automations(stage: WorkflowStage) -> Automations:
    return Automations(stage.standing.company.database)


@pytest.fixture
def entity_type(stage: WorkflowStage) -> str:
    return stage.publish()


@pytest.fixture
def carl(stage: WorkflowStage) -> Caller:
    return stage.standing.company.caller()


def check_refused(code: str, act: Any, *given: Any, **named: Any) -> None:
    with pytest.raises(Rejected) as caught:
        act(*given, **named)
    assert caught.value.code == code


def test_a_person_starts_one_with_its_input(
    stage: WorkflowStage, automations: Automations, carl: Caller
) -> None:
    name = automate(stage, None, MANUAL, TAKE, **GIVEN)
    started = automations.start(carl, name, {"count": 3})
    stage.drain()
    (instance,) = list_started(stage, name)
    assert (instance["id"], instance["status"]) == (str(started.instance_id), "completed")
    assert (instance["entity_id"], instance["context_json"]) == (None, {"seen": 3})
    assert instance["actor_id"] == "carl"
    stage.check_rebuild(started.instance_id)


def test_a_person_starts_one_for_a_document(
    stage: WorkflowStage, automations: Automations, carl: Caller, entity_type: str
) -> None:
    name = automate(stage, entity_type, {**MANUAL, "condition": "entity.amount > 3"})
    small, large = stage.create(entity_type, amount=1), stage.create(entity_type, amount=5)
    automations.start(carl, name, {}, large.id)
    check_refused("CONDITION_FALSE", automations.start, carl, name, {}, small.id)
    check_refused("FIELDS_INVALID", automations.start, carl, name, {})
    check_refused("DOCUMENT_NOT_FOUND", automations.start, carl, name, {}, uuid4())
    stage.drain()
    assert [one["entity_id"] for one in list_started(stage, name)] == [str(large.id)]


def test_the_input_is_checked(stage: WorkflowStage, automations: Automations, carl: Caller) -> None:
    name = automate(stage, None, MANUAL, TAKE, **GIVEN)
    for payload in ({}, {"count": "3"}, {"count": 3, "more": 1}):
        check_refused("FIELDS_INVALID", automations.start, carl, name, payload)
    check_refused("FIELDS_INVALID", automations.start, carl, name, {"count": 3}, uuid4())
    assert list_started(stage, name) == []


def test_each_act_needs_its_permission(stage: WorkflowStage, automations: Automations) -> None:
    name = automate(stage, None, MANUAL)
    clerk = stage.standing.company.caller("clara", "clerk")
    for act in (
        lambda: automations.start(clerk, name, {}),
        lambda: automations.pause(clerk, name, "why"),
        lambda: automations.stop_all(clerk, "why"),
        lambda: automations.allow_all(clerk),
        lambda: automations.why(clerk.principal, name, limit=1),
        lambda: automations.list(clerk.principal, after="", limit=1),
    ):
        check_refused("PERMISSION_DENIED", act)


def test_only_what_says_so_is_started_by_hand(
    stage: WorkflowStage, automations: Automations, carl: Caller, entity_type: str
) -> None:
    name = automate(stage, entity_type, {"on": "create"})
    check_refused("AUTOMATION_NOT_MANUAL", automations.start, carl, name, {})
    check_refused("AUTOMATION_NOT_FOUND", automations.start, carl, "nothing", {})


def test_what_fires_while_it_is_paused_is_noted(
    stage: WorkflowStage, automations: Automations, carl: Caller, entity_type: str
) -> None:
    name = automate(stage, entity_type, {"on": "create"})
    paused = automations.pause(carl, name, "the ledger moves")
    assert (paused.paused_by, paused.pause_note) == ("carl", "the ledger moves")
    stage.create(entity_type)
    stage.drain()
    automations.resume(carl, name)
    stage.create(entity_type)
    stage.drain()
    assert list_entries(stage, name) == [("not_started", "AUTOMATION_PAUSED"), ("started", None)]
    newest, oldest = automations.why(carl.principal, name, limit=10)
    assert (newest.entry, oldest.data["reason"]) == ("started", "the automation is paused: the ledger moves")
    assert [
        one.id
        for one in automations.why(carl.principal, name, before=(newest.created_at, newest.id), limit=5)
    ] == [oldest.id]


def test_nothing_starts_while_all_are_stopped(
    stage: WorkflowStage, automations: Automations, carl: Caller, entity_type: str
) -> None:
    name, by_hand = automate(stage, entity_type, {"on": "create"}), automate(stage, None, MANUAL)
    assert automations.stop_all(carl, "a storm").is_stopped
    try:
        stage.create(entity_type)
        stage.drain()
        assert list_entries(stage, name) == [("not_started", "AUTOMATIONS_STOPPED")]
        check_refused("AUTOMATIONS_STOPPED", automations.start, carl, by_hand, {})
    finally:
        assert not automations.allow_all(carl).is_stopped
    acts = stage.standing.rows(
        "SELECT action FROM audit_log WHERE action IN ('stop_automations', 'allow_automations') ORDER BY id"
    )
    assert acts == [("stop_automations",), ("allow_automations",)]


def test_after_the_commit_that_stops_all_nothing_starts(
    stage: WorkflowStage, automations: Automations, carl: Caller, entity_type: str
) -> None:
    """Let the worker come to the switch while a person stops all: it waits, and starts nothing."""
    name = automate(stage, entity_type, {"on": "create"})
    stage.create(entity_type)
    with psycopg.connect(stage.standing.admin_url) as stopping, ThreadPoolExecutor(1) as pool:
        stopping.execute(
            "UPDATE automation_switches SET stopped_at = now(), stopped_by = 'carl', stop_note = 'a storm'"
        )
        worked = pool.submit(stage.drain)
        stage.standing.wait_until_blocked()
        stopping.commit()
        worked.result(WAIT_SECONDS)
    assert list_entries(stage, name) == [("not_started", "AUTOMATIONS_STOPPED")]
    automations.allow_all(carl)
