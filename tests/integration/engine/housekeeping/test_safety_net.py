"""The safety net: leases, deadlines, stuck instances; seals and their anchors; months."""

from collections.abc import Sequence
from uuid import UUID

import pytest

from signet.core.errors import Transient
from signet.core.tenants.retention import Retentions
from signet.engine.audit.verify import verify_tenant
from signet.engine.documents.commands import Create, RequestTransition
from signet.engine.execution.worker import Worker
from signet.engine.housekeeping.task import Task
from signet.engine.housekeeping.tasks import list_tasks
from signet.store.operations.housekeeping import RUNS_TO_LOOK_AT_ALL
from tests.support.company import INVOICE
from tests.support.database.queue_rows import put, put_one, read_one
from tests.support.drained_waves import drain
from tests.support.housekeeping import House


def begin(house: House, moving: Worker) -> UUID:
    """Create an invoice that waits in its first state."""
    made = house.company.documents.mutate(house.company.caller(), Create("invoice", INVOICE))
    drain(moving, [house.tenant_id])
    assert made.instance_id is not None
    return made.instance_id


def test_rows_whose_worker_died_are_free_again(house: House) -> None:
    for queue in ("events", "effects"):
        expired = put_one(house.admin, queue, house.tenant_id, "1 hour", status="processing", attempts=1)
        under_way = put_one(house.admin, queue, house.tenant_id, "-1 hour", status="processing", attempts=1)
        assert house.keep(f"free_{queue}").rows == 1
        assert read_one(house.admin, queue, "status, attempts, claim_id", expired) == ("pending", 1, None)
        assert read_one(house.admin, queue, "status", under_way) == ("processing",)


def test_a_run_looks_at_what_is_new_and_each_tenth_at_everything(house: House) -> None:
    """Look for what has expired since the last run; what came late with an earlier time is found later."""
    assert house.keep("free_events").rows == 0
    new = put_one(house.admin, "events", house.tenant_id, "0", status="processing", attempts=1)
    old = put_one(house.admin, "events", house.tenant_id, "1 hour", status="processing", attempts=1)
    assert house.keep("free_events").rows == 1
    assert read_one(house.admin, "events", "status", new) == ("pending",)
    freed = [house.keep("free_events").rows for _ in range(2, RUNS_TO_LOOK_AT_ALL)]
    assert freed == [0] * len(freed)
    assert read_one(house.admin, "events", "status", old) == ("processing",)
    assert house.keep("free_events").rows == 1
    assert read_one(house.admin, "events", "status", old) == ("pending",)


def test_a_run_after_one_that_failed_looks_at_everything(house: House) -> None:
    assert house.keep("free_events").rows == 0
    house.run("UPDATE housekeeping_tasks SET last_outcome = 'failed'")
    put(house.admin, "events", house.tenant_id, "1 hour", status="processing", attempts=1)
    assert house.keep("free_events").rows == 1


def test_the_last_attempt_is_answered_for_as_a_worker_would(house: House, moving: Worker) -> None:
    instance_id = begin(house, moving)
    (event,) = put(house.admin, "events", house.tenant_id, "1 hour", status="processing", attempts=5)
    (effect,) = put(house.admin, "effects", house.tenant_id, "1 hour", status="processing", attempts=5)
    house.run("SET session_replication_role = replica")
    house.run("UPDATE workflow_events_outbox SET instance_id = %s WHERE id = %s", instance_id, event)
    house.run("UPDATE workflow_side_effects_outbox SET instance_id = %s WHERE id = %s", instance_id, effect)
    house.run("SET session_replication_role = origin")
    assert house.keep("free_events").rows == house.keep("free_effects").rows == 1
    assert house.told.expired == [(house.tenant_id, 0, 1)]
    assert read_one(house.admin, "events", "status", event) == ("dead_letter",)
    assert read_one(house.admin, "effects", "status", effect) == ("dead_letter",)
    paused = house.rows("SELECT status, version FROM workflow_instances WHERE id = %s", instance_id)
    steps = house.rows("SELECT max(seq) FROM workflow_step_executions WHERE instance_id = %s", instance_id)
    assert paused == [("paused", steps[0][0])]
    assert house.count("workflow_events_outbox", "event_type = 'effect_ended' AND status = 'pending'") == 1


def test_a_deadline_without_a_wake_up_gets_one(house: House, moving: Worker) -> None:
    instance_id = begin(house, moving)
    late = "UPDATE workflow_instances SET timeout_at = now() - interval '3 minutes' WHERE id = %s"
    house.run(late, instance_id)
    put_later = "SELECT count(*) FROM workflow_events_outbox WHERE event_type = 'overdue'"
    assert house.keep("wake_overdue").rows == 1
    assert house.keep("wake_overdue").rows == 0, "it is on its way"
    drain(moving, [house.tenant_id])
    house.run(late, instance_id)
    assert house.keep("wake_overdue").rows == 0, "and not each minute"
    assert house.rows(put_later) == [(1,)]
    house.run("DELETE FROM workflow_events_outbox WHERE event_type = 'overdue'")
    house.run("UPDATE workflow_instances SET timeout_at = now() - interval '1 minute'")
    assert house.keep("wake_overdue").rows == 0, "its own trigger gets a chance"
    house.run(late, instance_id)
    house.run("UPDATE workflow_instances SET status = 'paused'")
    assert house.keep("wake_overdue").rows == 0, "who is paused is woken by nobody"


def test_stuck_instances_are_counted_and_named_with_what_helps(house: House, moving: Worker) -> None:
    instance_id = begin(house, moving)
    assert house.keep("find_stuck").rows == 0
    made = house.rows("SELECT entity_id FROM workflow_instances")
    house.company.documents.mutate(house.company.caller(), RequestTransition(made[0][0], 1, "submit"))
    house.run("DELETE FROM workflow_events_outbox")
    house.run("UPDATE workflow_instances SET updated_at = now() - interval '1 hour'")
    assert house.keep("find_stuck").rows == 1
    ((tenant_id, count, named),) = house.told.stuck
    assert (tenant_id, count) == (house.tenant_id, 1)
    assert [(one.id, one.why, one.remedy) for one in named] == [(instance_id, "asked", "wake")]


class KeptAnchors:
    """A store for anchors; the next `fails` writes fail."""

    def __init__(self) -> None:
        self.lines: dict[tuple[UUID, int, int], Sequence[str]] = {}
        self.fails = 0

    def write(self, tenant_id: UUID, first: int, last: int, lines: Sequence[str]) -> None:
        if self.fails:
            self.fails -= 1
            raise Transient("ANCHOR_NOT_WRITTEN", "no")
        self.lines[tenant_id, first, last] = lines


def test_seals_are_made_and_kept_outside_once(house: House, moving: Worker) -> None:
    begin(house, moving)
    anchors = KeptAnchors()
    assert house.seal() > 0
    assert house.seal() == 0
    anchors.fails = 1
    assert house.keep("anchor_seals", anchors=anchors).outcome == "failed"
    # Tenants after the failed one would come first; here there are none.
    assert [house.keep("anchor_seals", anchors=anchors).rows for _ in range(2)] == [0, 1]
    assert house.keep("anchor_seals", anchors=anchors).rows == 0
    assert list(anchors.lines) == [(house.tenant_id, 1, 1)]
    house.company.documents.mutate(house.company.caller(), Create("invoice", {**INVOICE, "number": "R-2"}))
    house.seal()
    assert house.keep("anchor_seals", anchors=anchors).rows == 1
    lines = [line for written in anchors.lines.values() for line in written]
    found = verify_tenant(house.company.database, house.tenant_id, lines)
    assert found.is_sound and (found.seal_count, found.tail_count) == (2, 0)


def test_months_are_made_ahead(house: House) -> None:
    house.keep("make_partitions")
    ahead = (
        "SELECT count(*) FROM pg_class WHERE relname ="
        " 'workflow_event_' || to_char(now() AT TIME ZONE 'UTC' + interval '3 months', 'YYYY_MM')"
    )
    assert house.rows(ahead) == [(1,)]
    assert house.keep("make_partitions").rows == 0


def test_a_past_month_goes_when_nothing_is_left_in_it(house: House) -> None:
    with house.janitor.tenantless_transaction() as connection:
        connection.execute("SELECT create_month_partitions('2001-02-01', 3)")
    dead = put_one(house.admin, "events", house.tenant_id, status="dead_letter", created_at="2001-03-05")
    put_one(house.admin, "effects", house.tenant_id, status="completed", created_at="2001-04-05")
    house.run("UPDATE workflow_side_effects_outbox SET completed_at = '2001-04-06'")
    while house.keep("drop_months").outcome == "more":
        pass
    left = "SELECT relname::text FROM pg_class WHERE relname ~ 'outbox_2001_0.$' AND relkind = 'r' ORDER BY 1"
    assert house.rows(left) == [
        ("workflow_events_outbox_2001_03",),
        ("workflow_side_effects_outbox_2001_04",),
    ]
    house.keep("prune_effects")
    house.keep("drop_months")
    assert house.rows(left) == [("workflow_events_outbox_2001_03",)]
    assert read_one(house.admin, "events", "status", dead) == ("dead_letter",)


def test_history_goes_by_the_month_and_only_where_that_is_wanted(house: House, moving: Worker) -> None:
    with house.janitor.tenantless_transaction() as connection:
        connection.execute("SELECT create_month_partitions('2001-02-01', 1)")
    begin(house, moving)
    house.run(
        "INSERT INTO workflow_event (tenant_id, created_at, id, subject_kind, subject_id, entry, actor_id)"
        " SELECT tenant_id, '2001-02-05', id, 'instance', id, 'started', 'carl' FROM workflow_instances"
    )
    count = house.count("workflow_event")
    assert "drop_history" not in {task.name for task in list_tasks(Retentions())}
    assert house.keep("drop_history").rows == 1
    assert house.count("workflow_event") == count - 1
    assert house.count("workflow_step_executions") > 0


@pytest.mark.parametrize("name", ["drop_months", "make_partitions"])
def test_work_under_way_is_not_held_up(house: House, name: str, owner_url: str) -> None:
    """Give up while work holds the lock, and try again soon."""
    import psycopg

    with house.janitor.tenantless_transaction() as connection:
        connection.execute("SELECT create_month_partitions('2001-02-01', 1)")
    house.run("UPDATE housekeeping_tasks SET next_due_at = now()")
    tasks: list[Task] = [task for task in list_tasks(Retentions(history_days=365)) if task.name == name]
    with psycopg.connect(owner_url) as busy:
        busy.execute("LOCK TABLE workflow_events_outbox IN ROW EXCLUSIVE MODE")
        ran = house.keep(name)
    assert tasks and (ran.outcome, house.rows("SELECT last_error FROM housekeeping_tasks")) == (
        "failed",
        [("DATABASE_CONTENDED",)],
    )
