"""Timers that are all due at one moment, beside the same workflow without the wait; and how late each is."""

import threading
from collections.abc import Iterator
from contextlib import closing
from statistics import median, quantiles
from time import perf_counter, sleep
from typing import Any

import psycopg

from bench.company import durable_server, open_database
from bench.counting import Admin
from bench.engine import worker
from bench.engine.processes import ChildProcess, ask_all, child_processes
from bench.time.company import NO_OP, create_documents, install_waiting, let_come_due, make_wait
from signet.core.tenants.caller import Caller
from signet.engine.integrations.effects import Effects
from signet.engine.telemetry import Silent, WaveReport
from signet.local.worker_loop import running_worker
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import act_as
from signet.wiring.engine import make_worker

TIMERS, REPETITIONS = 10_000, 3
LEAST_RATIO, MOST_MILLISECONDS = 0.8, 150
# One after another, each waits for so long.
SINGLES, PAUSE_SECONDS, WAIT_SECONDS = 100, 0.06, 2
MAX_DRAINS = 20


def measure(timers: int = TIMERS, repetitions: int = REPETITIONS, singles: int = SINGLES) -> Iterator[str]:
    with durable_server() as url, psycopg.connect(url, autocommit=True) as admin:
        with closing(open_database(url, 1)) as database:
            yield from _measure_drains(url, admin, database, timers, repetitions)
        yield _measure_lags(url, singles)


def _measure_drains(
    url: str, admin: Admin, database: Database, timers: int, repetitions: int
) -> Iterator[str]:
    waiting = install_waiting(database, 1, make_wait("P1D"))
    passing = install_waiting(database, 2, NO_OP)
    ratios, waits, passes, steps = [], [], [], []
    with child_processes(worker.MODULE, url, 1) as children:
        for repetition in range(-1, repetitions):
            # The first run fills the caches, and is not counted.
            count = timers if repetition >= 0 else min(timers, 200)
            numbers = range((repetition + 1) * timers, (repetition + 1) * timers + count)
            create_documents(database, passing, numbers)
            done = _drain(admin, children, passing)
            create_documents(database, waiting, numbers)
            _drain(admin, children, waiting, leaves=count)
            let_come_due(admin, waiting)
            fired = _drain(admin, children, waiting)
            if repetition >= 0:
                waits.append(count / fired["seconds"])
                passes.append(count / done["seconds"])
                ratios.append(waits[-1] / passes[-1])
                steps.append(fired["steps"] / fired["seconds"] / (done["steps"] / done["seconds"]))
    yield (
        f"{timers:,} documents without a wait: {median(passes):,.0f} documents/s from created to completed"
    )
    yield (
        f"{timers:,} timers due at one moment: {median(waits):,.0f} documents/s from due to completed, "
        f"{median(ratios):.2f} of those without (at least {LEAST_RATIO}); in steps/s {median(steps):.2f}"
    )


def _drain(admin: Admin, children: list[ChildProcess], caller: Caller, leaves: int = 0) -> dict[str, Any]:
    """Drain the tenant, until no more than those that wait are left. Return the seconds and the steps."""
    admin.execute("CHECKPOINT")
    admin.execute("VACUUM ANALYZE")
    tenant, seconds, steps = caller.principal.tenant_id, 0.0, 0
    for _ in range(MAX_DRAINS):
        (answer,) = ask_all(children, "drain", tenant_ids=[str(tenant)])
        seconds, steps = seconds + answer["seconds"], steps + answer["steps"]
        row = admin.execute(
            "SELECT count(*) FILTER (WHERE status = 'running'),"
            " (SELECT count(*) FROM workflow_events_outbox WHERE tenant_id = %(tenant)s AND due_at <= now()"
            " AND status IN ('pending', 'failed'))"
            " FROM workflow_instances WHERE tenant_id = %(tenant)s",
            {"tenant": tenant},
        ).fetchone()
        if row == (leaves, 0):
            return {"seconds": seconds, "steps": steps}
    raise RuntimeError(f"the work was not done: {row} still run and are due, and not {leaves}")


class _Lags(Silent):
    """The milliseconds from the moment of each wait until its wave was written."""

    def __init__(self) -> None:
        self.milliseconds: list[float] = []

    def wave_ended(self, report: WaveReport) -> None:
        self.milliseconds += [(lag + report.seconds) * 1_000 for lag in report.due_lags]


def _measure_lags(url: str, singles: int) -> str:
    """Let the loop of the local runner run, and make documents that each wait for a moment of their own."""
    bell, lags = threading.Event(), _Lags()
    database = Database(act_as(url, "signet_worker"), PoolSettings(size=1))
    api = Database(act_as(url, "signet_api"), PoolSettings(), wake=lambda wake_ups: bell.set())
    with closing(database), closing(api):
        caller = install_waiting(api, 3, make_wait(f"PT{WAIT_SECONDS}S"))
        running = make_worker(database, lags)
        with running_worker(database, running, Effects(database, {}), lags, bell):
            for number in range(singles):
                create_documents(api, caller, [number])
                sleep(PAUSE_SECONDS)
            began = perf_counter()
            while len(lags.milliseconds) < singles and perf_counter() - began < 60:
                sleep(0.05)
    middle, most = median(lags.milliseconds), quantiles(lags.milliseconds, n=20)[-1]
    return (
        f"{len(lags.milliseconds)} of {singles} waits of {WAIT_SECONDS} s on the local runner, from due to "
        f"written: p50 {middle:.0f} ms, p95 {most:.0f} ms (at most {MOST_MILLISECONDS})"
    )
