"""One janitor for each task: claims, leases, takeovers and failures.

Two janitors are two connections, used step by step.
"""

from collections.abc import Iterator
from uuid import UUID

import pytest

from signet.core.errors import Defect, Superseded
from signet.core.tenants.retention import Retentions
from signet.engine.housekeeping.task import Task
from signet.engine.housekeeping.task_run import LEASE_SECONDS, TaskLimits, TaskRun
from signet.engine.housekeeping.tasks import list_tasks
from signet.store.database import Database, PoolSettings
from signet.store.operations.housekeeping import claim_task, ensure_tasks, hold_task
from tests.support.database.queue_rows import put
from tests.support.database.runtime_roles import as_role
from tests.support.housekeeping import House

DONE = TaskLimits(rows=2, batch_rows=1)


@pytest.fixture
def other(owner_url: str) -> Iterator[Database]:
    database = Database(as_role(owner_url, "signet_janitor"), PoolSettings(size=1, lock_seconds=0.2))
    yield database
    database.close()


def note(turn: TaskRun) -> None:
    with turn.batch() as connection:
        turn.keep(connection, {"n": turn.cursor.get("n", 0) + 1})
    turn.rows += 1


def fail(turn: TaskRun) -> None:
    with turn.batch() as connection:
        turn.keep(connection, {"never": "kept"})
        raise Defect("BROKEN", "hunter2")


def test_what_is_under_way_is_nobody_elses_and_the_next_task_is(house: House, other: Database) -> None:
    tasks = [Task("a", 60.0, note), Task("b", 60.0, note)]
    one, two = house.runner(*tasks), House(house.company, other, house.admin).runner(*tasks)
    one.run(0)
    first, second = one.claim(), two.claim()
    assert first is not None and second is not None
    assert {first.task, second.task} == {"a", "b"}
    assert one.claim() is None and two.claim() is None
    assert one.work(first) is not None and two.work(second) is not None
    assert one.claim() is None, "not due before a minute is over"


def test_whoever_died_is_taken_over_where_he_was_and_can_do_no_more(house: House, other: Database) -> None:
    task = Task("a", 60.0, note)
    dead, heir = house.runner(task), House(house.company, other, house.admin).runner(task)
    dead.run(0)
    lost = dead.claim()
    assert lost is not None
    with house.janitor.tenantless_transaction() as connection:
        assert hold_task(connection, lost, LEASE_SECONDS)
    turn = TaskRun(house.janitor, house.told, lost, TaskLimits())
    note(turn)
    assert heir.claim() is None, "its lease runs"
    house.run("UPDATE housekeeping_tasks SET lease_until = now()")
    taken = heir.claim()
    assert taken is not None and taken.cursor == {"n": 1}
    with pytest.raises(Superseded):
        note(turn)
    assert dead.work(lost) is None, "nor does it end what is not its own"
    assert house.rows("SELECT cursor, claim_id FROM housekeeping_tasks") == [({"n": 1}, taken.claim_id)]
    assert heir.work(taken) is not None
    assert house.rows("SELECT last_outcome, run_count FROM housekeeping_tasks") == [("done", 1)]


def test_a_batch_under_way_outlives_its_lease(house: House, other: Database) -> None:
    """Keep the row locked by the batch: another janitor skips it and does not wait."""
    runner = house.runner(Task("a", 60.0, note))
    runner.run(0)
    claimed = runner.claim()
    assert claimed is not None
    turn = TaskRun(house.janitor, house.told, claimed, TaskLimits())
    house.run("UPDATE housekeeping_tasks SET lease_until = now() - interval '1 hour'")
    with turn.batch(), other.tenantless_transaction() as connection:
        assert claim_task(connection, ["a"], claim_id=claimed.claim_id, lease_seconds=1) is None


def test_a_task_that_raises_stops_no_other_and_is_told(house: House) -> None:
    runner = house.runner(Task("bad", 3_600.0, fail), Task("good", 60.0, note))
    now = iter(range(1_000))
    runner = house.runner(Task("bad", 3_600.0, fail), Task("good", 60.0, note), clock=lambda: next(now))
    ran = runner.run(500)
    assert {(one.task, one.outcome) for one in ran} == {("bad", "failed"), ("good", "done")}
    told = {report.task: report for report in house.told.reports}
    assert isinstance(told["bad"].error, Defect) and told["good"].error is None
    rows = house.rows(
        "SELECT task, last_error, failure_count, cursor, claim_id, "
        " next_due_at <= now() + interval '5 minutes' FROM housekeeping_tasks ORDER BY task"
    )
    assert rows == [("bad", "BROKEN", 1, None, None, True), ("good", None, 0, None, None, True)]


def test_a_tenant_at_whom_a_task_always_breaks_off_holds_up_no_other(house: House) -> None:
    before, after = UUID(int=1), UUID(int=2**128 - 1)
    for tenant_id in (before, after):
        house.run("INSERT INTO tenants (tenant_id, name, settings) VALUES (%s, 'another', '{}')", tenant_id)
    for tenant_id in (before, house.tenant_id, after):
        put(house.admin, "events", tenant_id, "1 hour", status="completed")
    house.run("UPDATE workflow_events_outbox SET completed_at = now() - interval '1 hour'")
    served: list[UUID] = []

    def work(turn: TaskRun) -> None:
        for tenant_id in turn.walk_tenants("done_events"):
            if tenant_id == house.tenant_id:
                raise Defect("BROKEN", "whatever it is")
            served.append(tenant_id)

    runner = house.runner(Task("a", 86_400.0, work))
    runner.run(0)
    outcomes = []
    for _ in range(3):
        # The next try is minutes away, so that the tenant that failed does not wait for another day.
        assert house.rows("SELECT next_due_at < now() + interval '6 minutes' FROM housekeeping_tasks") == [
            (True,)
        ]
        house.run("UPDATE housekeeping_tasks SET next_due_at = now()")
        claimed = runner.claim()
        assert claimed is not None
        ran = runner.work(claimed)
        assert ran is not None
        outcomes.append(ran.outcome)
    assert outcomes == ["failed", "done", "failed"], "the next turn begins with the first tenant again"
    assert served == [before, after, before]


def test_what_is_left_comes_after_what_has_waited(house: House) -> None:
    put(house.admin, "effects", house.tenant_id, status="completed", count=3)
    house.run(
        "UPDATE workflow_side_effects_outbox SET completed_at = now() - interval '1 year'"
        " WHERE status = 'completed'"
    )
    (prune,) = [task for task in list_tasks(Retentions()) if task.name == "prune_effects"]
    runner = house.runner(Task(prune.name, 60.0, prune.run, DONE), Task("zz_other", 60.0, note))
    now = iter(range(100_000))
    runner = house.runner(
        Task(prune.name, 60.0, prune.run, TaskLimits(rows=2, seconds=1e9, batch_rows=1)),
        Task("zz_other", 60.0, note),
        clock=lambda: next(now),
    )
    assert [(one.task, one.outcome) for one in runner.run(5_000)] == [
        ("prune_effects", "more"),
        ("zz_other", "done"),
        ("prune_effects", "done"),
    ]


def test_no_task_is_begun_when_the_time_is_up(house: House) -> None:
    assert house.runner(Task("a", 60.0, note)).run(0) == []
    assert house.rows("SELECT run_count FROM housekeeping_tasks") == [(0,)]


def test_every_task_of_the_table_runs_on_what_is_there(house: House) -> None:
    tasks = list_tasks(Retentions(history_days=365))
    assert len({task.name for task in tasks}) == len(tasks)
    now = iter(range(100_000_000))
    ran = house.runner(*tasks, clock=lambda: next(now) / 1_000).run(60)
    assert {one.task for one in ran} == {task.name for task in tasks}
    assert {one.outcome for one in ran} == {"done"}, house.told.reports


def test_a_task_that_another_release_has_is_left_alone(house: House) -> None:
    with house.janitor.tenantless_transaction() as connection:
        ensure_tasks(connection, ["of_another_release"])
    runner = house.runner(Task("a", 60.0, note))
    runner.run(0)
    claimed = runner.claim()
    assert claimed is not None and claimed.task == "a"
