"""Triggers that have just come behind a backlog have every second claim, and the backlog has the others."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg

from signet.engine.dispatch.arrival_turns import MARGIN, ArrivalTurns
from signet.engine.documents.commands import Applied, Create
from signet.engine.execution.wave import MAX_INSTANCES
from signet.store.database import Database
from signet.wiring.engine import make_worker
from tests.support.company import INVOICE, Company

Admin = psycopg.Connection[tuple[Any, ...]]
TENANT = uuid4()
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def make(company: Company, person: str, count: int) -> list[UUID]:
    operations = [Create("invoice", {**INVOICE, "number": f"{person}-{number}"}) for number in range(count)]
    outcomes = company.documents.mutate_many(company.caller(person), operations)
    return [outcome.document_id for outcome in outcomes if isinstance(outcome, Applied)]


def count_done(admin: Admin, document_ids: list[UUID]) -> int:
    (row,) = admin.execute(
        "SELECT count(*) FROM workflow_events_outbox q JOIN workflow_instances i ON i.id = q.instance_id"
        " WHERE i.entity_id = ANY (%s) AND q.status = 'completed'",
        (document_ids,),
    ).fetchall()
    return int(row[0])


def test_another_persons_document_waits_for_one_wave_and_not_for_all(
    company: Company, worker: Database, admin: Admin
) -> None:
    bulk = make(company, "carl", 3 * MAX_INSTANCES + 1)
    admin.execute("UPDATE workflow_events_outbox SET due_at = due_at - interval '1 minute'")
    other = make(company, "fiona", 1)
    working = make_worker(worker)
    assert working.work(company.tenant_id)
    assert (count_done(admin, bulk), count_done(admin, other)) == (MAX_INSTANCES, 0)
    assert working.work(company.tenant_id)
    assert (count_done(admin, bulk), count_done(admin, other)) == (MAX_INSTANCES, 1)
    # The backlog has its own turns, though more comes.
    for more in range(2):
        make(company, f"mona{more}", 1)
        working.work(company.tenant_id)
    assert count_done(admin, bulk) == 2 * MAX_INSTANCES
    while working.work(company.tenant_id):
        pass
    assert count_done(admin, bulk) == len(bulk)


def test_without_a_backlog_the_oldest_have_every_turn() -> None:
    turns = ArrivalTurns(lambda: NOON)
    assert turns.take(TENANT) is None
    turns.note(TENANT, is_full=False)
    assert turns.take(TENANT) is None


def test_turns_alternate_and_look_from_the_last_look_on() -> None:
    moments = [NOON]
    turns = ArrivalTurns(lambda: moments[-1])
    turns.note(TENANT, is_full=True)
    taken = []
    for _ in range(4):
        moments.append(moments[-1] + timedelta(seconds=1))
        taken.append(turns.take(TENANT))
        if taken[-1] is None:
            turns.note(TENANT, is_full=True)
    later = NOON + timedelta(seconds=1)
    assert taken == [NOON - MARGIN, None, later - MARGIN, None]
    turns.note(TENANT, is_full=False)
    assert turns.take(TENANT) is None
