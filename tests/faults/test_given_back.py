"""Triggers that are given back again and again: one that only itself is kept from being done comes to light.

An outage that all meet counts nothing, no attempt and no pause. What stands in the way of one document alone
is no outage. After a bound its instance is paused, with an incident that a retry ends.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import pytest

from signet.core.errors import Transient
from signet.core.explain.instance import write_instance
from signet.engine.instances.explain import explain
from signet.engine.instances.lists import list_stuck
from signet.store.database import Database
from signet.store.outbox import given_back
from signet.store.outbox.given_back import (
    DONE_LATELY_SECONDS,
    GAP_SECONDS,
    LEAST_GIVEN_BACK,
    STRANDED_AFTER_SECONDS,
    STRANDED_AT_LAST_SECONDS,
)
from signet.store.outbox.queue import EVENTS, claim
from tests.support.workflow_stage import Made, WorkflowStage, standing_stage

MINUTE = 60.0
GIVEN_BACK: LiteralString = (
    "SELECT status, attempts, given_back, given_back_code FROM workflow_events_outbox"
    " WHERE instance_id = %s AND status <> 'completed' ORDER BY id"
)
STRANDED: LiteralString = (
    "SELECT (SELECT count(*) FROM workflow_events_outbox WHERE status <> 'completed'),"
    " (SELECT count(*) FROM workflow_instances WHERE status = 'paused'),"
    " (SELECT count(*) FROM incidents WHERE closed_at IS NULL)"
)


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.fixture
def entity_type(stage: WorkflowStage) -> str:
    return stage.publish()


@pytest.fixture
def hasty(stage: WorkflowStage) -> Iterator[Database]:
    """Yield a database whose transactions hardly wait for a lock."""
    with stage.another_database(lock_seconds=0.01) as made:
        yield made


def submit(stage: WorkflowStage, entity_type: str) -> Made:
    (document,) = submit_several(stage, entity_type, 1)
    return document


def submit_several(stage: WorkflowStage, entity_type: str, count: int) -> Sequence[Made]:
    documents = [stage.create(entity_type) for _ in range(count)]
    stage.drain()
    for document in documents:
        stage.ask(document.id, "submit")
    return documents


@contextmanager
def locked(stage: WorkflowStage, document: Made) -> Iterator[None]:
    """Hold the row of this document, as a forgotten tool does."""
    with psycopg.connect(stage.standing.admin_url) as other:
        other.execute("SELECT FROM transition_requests WHERE document_id = %s FOR UPDATE", (document.id,))
        yield
        other.rollback()


@contextmanager
def all_locked(stage: WorkflowStage) -> Iterator[None]:
    with psycopg.connect(stage.standing.admin_url) as other:
        # What holds an instance does not need it.
        other.execute("LOCK TABLE transition_requests IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


def look(stage: WorkflowStage, database: Database, times: int = 1) -> set[str]:
    """Let a worker do what it can, so often, and return the codes of what it met."""
    worker, met = stage.worker(database=database), set[str]()
    for _ in range(times):
        stage.make_due()
        is_busy = True
        while is_busy:
            try:
                is_busy = bool(worker.work(stage.tenant_id))
            except Transient as error:
                met.add(error.code)
    return met


def move_back(stage: WorkflowStage, seconds: float) -> None:
    """Let so much time have passed since triggers were first given back, and others were done."""
    stage.standing.run(
        "UPDATE workflow_events_outbox SET given_back_since = given_back_since - make_interval(secs => %s),"
        " completed_at = completed_at - make_interval(secs => %s)",
        seconds,
        seconds,
    )


def incidents(stage: WorkflowStage) -> Sequence[tuple[Any, ...]]:
    return stage.standing.rows("SELECT instance_id, code, kind FROM incidents WHERE closed_at IS NULL")


def test_a_trigger_keeps_how_often_it_was_given_back_since_when_and_why(
    stage: WorkflowStage, entity_type: str, hasty: Database
) -> None:
    document = submit(stage, entity_type)
    with locked(stage, document):
        assert look(stage, hasty, times=3) == {"DATABASE_CONTENDED"}
    assert stage.standing.rows(GIVEN_BACK, document.instance_id) == [("pending", 0, 3, "DATABASE_CONTENDED")]
    stage.make_due()
    stage.drain()
    assert stage.status_of(document.id) == "active"
    assert stage.standing.row(STRANDED) == (0, 0, 0)


def test_what_only_one_document_meets_becomes_an_incident_that_a_retry_ends(
    stage: WorkflowStage, entity_type: str, hasty: Database
) -> None:
    document = submit(stage, entity_type)
    with locked(stage, document):
        look(stage, hasty, times=LEAST_GIVEN_BACK)
        other = submit(stage, entity_type)
        look(stage, hasty)
        move_back(stage, STRANDED_AFTER_SECONDS - MINUTE)
        other = submit(stage, entity_type)
        look(stage, hasty, times=2)
        assert incidents(stage) == [], "it is not for long yet"
        move_back(stage, MINUTE + 1)
        look(stage, hasty)
        assert incidents(stage) == [(document.instance_id, "GIVEN_BACK", "outside")]
    assert stage.status_of(other.id) == "active"
    reason = str(stage.instance(document.instance_id)["reason"])
    assert reason.startswith(f"GIVEN_BACK: given back {LEAST_GIVEN_BACK + 4} times since ")
    assert reason.endswith("because of DATABASE_CONTENDED")
    stage.retry(document, stage.standing.company.caller())
    assert stage.status_of(document.id) == "active"
    assert stage.standing.row(STRANDED) == (0, 0, 0)


def test_an_outage_that_all_meet_counts_nothing(
    stage: WorkflowStage, entity_type: str, hasty: Database
) -> None:
    """Ten minutes, and then so long that each trigger goes alone: nothing is held while none is done."""
    documents = submit_several(stage, entity_type, 3)
    with all_locked(stage):
        look(stage, hasty, times=LEAST_GIVEN_BACK)
        move_back(stage, 10 * MINUTE)
        look(stage, hasty, times=2)
        move_back(stage, STRANDED_AFTER_SECONDS)
        look(stage, hasty, times=2)
        assert stage.standing.row(STRANDED) == (3, 0, 0)
    stage.make_due()
    stage.drain()
    for document in documents:
        assert stage.status_of(document.id) == "active"
        assert set(stage.triggers(document.instance_id)) == {("completed", 1)}
    assert stage.standing.row(STRANDED) == (0, 0, 0)


def test_nobodys_document_waits_for_ever(stage: WorkflowStage, entity_type: str, hasty: Database) -> None:
    """Wait for longer where the tenant has no other document: nothing shows that it is no outage."""
    document = submit(stage, entity_type)
    with locked(stage, document):
        look(stage, hasty, times=LEAST_GIVEN_BACK)
        move_back(stage, STRANDED_AT_LAST_SECONDS - MINUTE)
        look(stage, hasty, times=2)
        assert incidents(stage) == []
        move_back(stage, MINUTE + 1)
        look(stage, hasty)
    assert incidents(stage) == [(document.instance_id, "GIVEN_BACK", "outside")]


def test_what_was_given_back_for_long_goes_alone(
    stage: WorkflowStage, entity_type: str, hasty: Database
) -> None:
    """Hold no other with it, and hold it for no other."""
    documents = submit_several(stage, entity_type, 3)
    with all_locked(stage):
        look(stage, hasty, times=LEAST_GIVEN_BACK)
    stage.make_due()
    assert claimed_together(stage) == 3
    move_back(stage, STRANDED_AFTER_SECONDS - MINUTE)
    assert claimed_together(stage) == 3
    move_back(stage, MINUTE + 1)
    assert claimed_together(stage) == 1
    keep = "UPDATE workflow_events_outbox SET given_back = 0 WHERE instance_id = %s AND status = 'pending'"
    first, *others = documents
    for other in others:
        stage.standing.run(keep, other.instance_id)
    stage.standing.run(
        "UPDATE workflow_events_outbox SET due_at = due_at - interval '1 second' WHERE instance_id = %s",
        first.instance_id,
    )
    assert claimed_together(stage) == 1, "it takes none of the others along"
    stage.standing.run(
        "UPDATE workflow_events_outbox SET due_at = due_at + interval '1 second' WHERE instance_id = %s",
        first.instance_id,
    )
    stage.standing.run(
        "UPDATE workflow_events_outbox SET due_at = due_at - interval '1 second' WHERE instance_id <> %s",
        first.instance_id,
    )
    assert claimed_together(stage) == 2, "none of the others takes it along"
    stage.standing.run("UPDATE workflow_events_outbox SET given_back = given_back - 1 WHERE given_back > 0")
    assert claimed_together(stage) == 3
    stage.drain()
    assert {stage.status_of(document.id) for document in documents} == {"active"}


def claimed_together(stage: WorkflowStage) -> int:
    with stage.database.transaction(stage.tenant_id) as connection:
        with connection.transaction(force_rollback=True):
            return len(claim(connection, EVENTS, at_most=50, lease_seconds=60, claim_id=UUID(int=1)))


def test_two_outages_are_not_one(stage: WorkflowStage, entity_type: str, hasty: Database) -> None:
    """Begin the count again where nobody tried for long: the worker was away, and no outage kept it."""
    document = submit(stage, entity_type)
    with locked(stage, document):
        look(stage, hasty, times=2)
        stage.standing.run(
            "UPDATE workflow_events_outbox SET due_at = now() - make_interval(secs => %s)"
            " WHERE status = 'pending'",
            GAP_SECONDS + 1,
        )
        with pytest.raises(Transient):
            stage.worker(database=hasty).work(stage.tenant_id)
    assert stage.standing.rows(GIVEN_BACK, document.instance_id) == [("pending", 0, 1, "DATABASE_CONTENDED")]


def test_an_incident_that_cannot_be_written_is_given_back_too(
    stage: WorkflowStage, entity_type: str, hasty: Database
) -> None:
    document = submit(stage, entity_type)
    with locked(stage, document):
        look(stage, hasty, times=LEAST_GIVEN_BACK)
        move_back(stage, STRANDED_AT_LAST_SECONDS + 1)
        with psycopg.connect(stage.standing.admin_url) as other:
            other.execute("LOCK TABLE incidents IN ACCESS EXCLUSIVE MODE")
            assert look(stage, hasty) == {"DATABASE_CONTENDED"}
            other.rollback()
        (found,) = stage.standing.rows(GIVEN_BACK, document.instance_id)
        assert found == ("pending", 0, LEAST_GIVEN_BACK + 1, "DATABASE_CONTENDED")


def test_the_stuck_list_and_the_explanation_say_it(
    stage: WorkflowStage, entity_type: str, hasty: Database
) -> None:
    document = submit(stage, entity_type)
    with locked(stage, document):
        look(stage, hasty, times=2)
    database, tenant_id = stage.standing.company.database, stage.tenant_id
    stage.standing.run("UPDATE workflow_instances SET updated_at = now() - interval '11 minutes'")
    assert list_stuck(database, tenant_id) == [], "it was given back only now"
    since = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    stage.standing.run(
        "UPDATE workflow_events_outbox SET given_back_since = %s WHERE status = 'pending'", since
    )
    (stuck,) = list_stuck(database, tenant_id)
    sentence = "given back 2 times since 2026-01-02 03:04:05 UTC because of DATABASE_CONTENDED"
    assert (stuck.id, stuck.why, stuck.reason) == (document.instance_id, "given_back", sentence)
    explained = explain(database, stage.caches().contracts, tenant_id, document.instance_id)
    assert f"It was {sentence}." in "\n".join(write_instance(explained))
    stage.make_due()
    stage.drain()
    assert list_stuck(database, tenant_id) == []


def test_the_bounds_fit_each_other() -> None:
    assert DONE_LATELY_SECONDS < STRANDED_AFTER_SECONDS < STRANDED_AT_LAST_SECONDS
    # An outage of ten minutes is no reason for anything.
    assert STRANDED_AFTER_SECONDS > 10 * MINUTE
    assert given_back.GAP_SECONDS >= STRANDED_AFTER_SECONDS
