"""One call of a working function: every tenant in turn, and one tenant's failure stops no other."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from signet.aws.wake_ups import MAX_DELAY_SECONDS
from signet.core.errors import Defect, Transient
from signet.engine.dispatch.consumer import AGAIN_SECONDS, BatchedWakeUps, QueueConsumer
from signet.engine.dispatch.relay import Relay
from signet.engine.execution.worker import LEASE_SECONDS as EVENTS_LEASE_SECONDS
from signet.engine.integrations.effects import LEASE_SECONDS as EFFECTS_LEASE_SECONDS
from signet.engine.telemetry import Silent, SweptQueue
from signet.store.database import Database, PoolSettings
from signet.store.wake_ups import WakeUp
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain
from tests.support.moved_clock import Moved
from tests.support.workflow_stage import CALL, WorkflowStage, standing_stage

A, B, C = (UUID(int=number) for number in (1, 2, 3))


@dataclass
class KeptWakeUps:
    wake_ups: list[WakeUp] = field(default_factory=list)

    def __call__(self, wake_ups: Collection[WakeUp]) -> None:
        self.wake_ups.extend(sorted(wake_ups, key=repr))


@dataclass
class Backlog:
    """A number of claims for each tenant; an exception breaks off instead."""

    claims: dict[UUID, int | Exception]
    worked: list[UUID] = field(default_factory=list)

    def work(self, tenant_id: UUID) -> bool:
        self.worked.append(tenant_id)
        left = self.claims.get(tenant_id, 0)
        if isinstance(left, Exception):
            raise left
        self.claims[tenant_id] = max(left - 1, 0)
        return left > 0


def never() -> bool:
    return False


def test_no_tenant_waits_for_anothers_thousands() -> None:
    backlog, told = Backlog({A: 50, B: 1}), KeptWakeUps()
    run = QueueConsumer(backlog.work, BatchedWakeUps("events", told)).run([A, B], never)
    assert backlog.worked.index(B) <= 1
    assert (list(run.left), run.failed, told.wake_ups) == ([], {}, [])
    assert (backlog.worked.count(A), backlog.worked.count(B)) == (51, 2)


def test_what_is_left_when_time_is_up_wakes_somebody() -> None:
    backlog, told = Backlog({A: 100, B: 100, C: 0}), KeptWakeUps()
    moments = iter([False] * 9 + [True] * 100)
    run = QueueConsumer(backlog.work, BatchedWakeUps("events", told)).run([A, B, C], lambda: next(moments))
    assert len(backlog.worked) < 10
    assert set(run.left) <= {A, B}
    assert set(told.wake_ups) == {WakeUp(tenant_id, "events") for tenant_id in run.left}


def test_a_tenant_whose_work_breaks_off_holds_up_no_other() -> None:
    broken = Defect("BROKEN", "an invariant")
    backlog = Backlog({A: broken, B: Transient("DATABASE_UNAVAILABLE", "gone"), C: 3})
    run = QueueConsumer(backlog.work, BatchedWakeUps("events", KeptWakeUps())).run([A, B, C], never)
    # The relay finds a tenant again after a transient error; only a defect counts as a failure.
    assert run.failed == {A: broken}
    assert backlog.worked.count(C) == 4


def test_what_was_interrupted_is_looked_for_again_also_where_the_relay_comes_once_an_hour() -> None:
    told = KeptWakeUps()
    backlog = Backlog({A: Transient("DATABASE_UNAVAILABLE", "asleep"), B: 1})
    QueueConsumer(backlog.work, BatchedWakeUps("effects", told)).run([A, B], never)
    assert told.wake_ups == [WakeUp(A, "effects", AGAIN_SECONDS)]
    # The delay outlasts every sweep of the relay: repeated messages would multiply.
    assert AGAIN_SECONDS > max(MAX_DELAY_SECONDS, EVENTS_LEASE_SECONDS, EFFECTS_LEASE_SECONDS)


def test_each_tenant_once_however_often_it_was_named() -> None:
    backlog = Backlog({A: 0})
    QueueConsumer(backlog.work, BatchedWakeUps("events", KeptWakeUps())).run([A, A, A], never)
    assert backlog.worked == [A]


def test_a_shift_does_not_wake_itself() -> None:
    told = KeptWakeUps()
    wake_ups = BatchedWakeUps("events", told)
    wake_ups([WakeUp(A, "events"), WakeUp(A, "effects"), WakeUp(A, "events", 5)])
    assert told.wake_ups == [WakeUp(A, "effects"), WakeUp(A, "events", 5)]


def test_what_is_said_again_is_told_once_more_at_the_end() -> None:
    """Repeat a wake-up at the end: the woken worker may have ended before the last effect was written."""
    told = KeptWakeUps()
    wake_ups = BatchedWakeUps("events", told)
    for _ in range(3):
        wake_ups([WakeUp(A, "effects")])
    assert told.wake_ups == [WakeUp(A, "effects")]
    wake_ups.end([])
    assert told.wake_ups == [WakeUp(A, "effects")] * 2
    # The next run of the process starts without old wake-ups.
    wake_ups([WakeUp(A, "effects")])
    assert len(told.wake_ups) == 3


def test_those_who_come_at_one_moment_are_one_and_none_comes_before_it() -> None:
    told, clock = KeptWakeUps(), Moved()
    wake_ups = BatchedWakeUps("events", told, clock)
    wake_ups([WakeUp(A, "events", 30)])
    clock.seconds += 0.5
    wake_ups([WakeUp(A, "events", 30)])
    assert told.wake_ups == [WakeUp(A, "events", 30)] * 2, "the first one comes before it"
    clock.seconds += 9.5
    wake_ups([WakeUp(A, "events", 20), WakeUp(A, "events", 19), WakeUp(B, "events", 20)])
    assert told.wake_ups[2:] == [WakeUp(A, "events", 19), WakeUp(B, "events", 20)]
    wake_ups.end([])
    wake_ups([WakeUp(A, "events", 20)])
    assert told.wake_ups[4:] == [WakeUp(A, "events", 20)]


def test_the_relay_wakes_for_what_comes_soon_once_and_at_its_moment(stage: WorkflowStage) -> None:
    told, tenant_id = KeptWakeUps(), stage.tenant_id
    stage.drain()
    made = [stage.create(stage.publish()) for _ in range(3)]
    for document, seconds in zip(made, (60, 140, 200), strict=True):
        stage.standing.run(
            "UPDATE workflow_events_outbox SET due_at = now() + %s * interval '1 second'"
            " WHERE instance_id = %s",
            seconds,
            document.instance_id,
        )
    relay = Relay(stage.database, told)
    assert relay.sweep() == {"events": 0, "effects": 0}
    soon, later = sorted(told.wake_ups, key=lambda one: one.delay_seconds)
    assert (soon.tenant_id, soon.queue, later.queue) == (tenant_id, "events", "events")
    assert 0 < soon.delay_seconds <= 60 < later.delay_seconds <= 140
    relay.sweep()
    assert len(told.wake_ups) == 2
    stage.make_due()
    stage.drain()


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        yield made


def test_the_relay_finds_who_has_work_in_either_queue(stage: WorkflowStage) -> None:
    told = KeptWakeUps()
    relay = Relay(stage.database, told)
    stage.drain()
    assert relay.sweep() == {"events": 0, "effects": 0}
    contract = stage.publish(checks={"nodes": [CALL]})
    made = stage.create(contract)
    stage.ask(made.id, "submit")
    assert relay.sweep() == {"events": 1, "effects": 0}
    stage.drain()
    assert relay.sweep() == {"events": 0, "effects": 1}
    assert told.wake_ups == [WakeUp(stage.tenant_id, "events"), WakeUp(stage.tenant_id, "effects")]


class Watcher(Silent):
    def __init__(self) -> None:
        self.sweeps: list[Mapping[str, SweptQueue]] = []

    def swept(self, queues: Mapping[str, SweptQueue]) -> None:
        self.sweeps.append(queues)


def test_the_relay_tells_how_long_the_oldest_has_been_due_also_where_nobody_can_be_woken(
    stage: WorkflowStage,
) -> None:
    def fail(wake_ups: Collection[WakeUp]) -> None:
        raise Transient("WAKE_UPS_REFUSED", "the queue is away")

    watcher = Watcher()
    stage.create(stage.publish())
    stage.standing.run("UPDATE workflow_events_outbox SET due_at = now() - interval '1 hour'")
    with pytest.raises(Transient):
        Relay(stage.database, fail, watcher).sweep()
    (swept,) = watcher.sweeps
    assert (swept["events"].tenants, swept["effects"]) == (1, SweptQueue(0, 0.0))
    assert 3_600 <= swept["events"].oldest_seconds < 3_700


def test_the_relay_finds_whose_worker_died(stage: WorkflowStage) -> None:
    told = KeptWakeUps()
    made = stage.create(stage.publish())
    with stage.database.transaction(stage.tenant_id) as connection:
        connection.execute(
            "UPDATE workflow_events_outbox SET status = 'processing', claim_id = gen_random_uuid(),"
            " lease_until = now() - interval '1 second' WHERE instance_id = %s",
            (made.instance_id,),
        )
    assert Relay(stage.database, told).sweep()["events"] == 1
    assert WakeUp(stage.tenant_id, "events") in told.wake_ups
    stage.drain()


def test_a_transaction_tells_after_its_commit_and_only_then(stage: WorkflowStage) -> None:
    told = KeptWakeUps()
    database = Database(as_role(stage.standing.admin_url, "signet_worker"), PoolSettings(), wake=told)
    worker = stage.worker(database=database)
    made = stage.create(stage.publish(checks={"nodes": [CALL]}))
    stage.ask(made.id, "submit")
    try:
        drain(worker, [stage.tenant_id])
    finally:
        database.close()
    assert told.wake_ups == [WakeUp(stage.tenant_id, "effects")]
