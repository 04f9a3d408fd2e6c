"""The engine's side: a process with one worker, as in Lambda, that drains tenants on request."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Any
from uuid import UUID

from bench.company import open_database
from bench.counting import count_wire, read_peak_memory
from bench.engine.processes import Task, serve
from signet.engine.dispatch.consumer import BatchedWakeUps, QueueConsumer
from signet.engine.telemetry import Silent, WaveReport
from signet.store.wake_ups import no_wake_up
from signet.wiring.engine import make_worker
from signet.wiring.process import spare_what_is_loaded

MODULE = "bench.engine.worker"


class CountedWaves(Silent):
    """A telemetry that keeps the report of each wave."""

    def __init__(self) -> None:
        self.reports: list[WaveReport] = []

    def wave_ended(self, report: WaveReport) -> None:
        self.reports.append(report)


class WorkerProcess:
    def __init__(self, url: str) -> None:
        self._database = open_database(url, 1, "signet_worker")
        with self._database.tenantless_transaction():
            pass  # connects
        self._waves = CountedWaves()
        worker = make_worker(self._database, self._waves)
        self._consumer = QueueConsumer(worker.has_more_after, BatchedWakeUps("events", no_wake_up))
        spare_what_is_loaded()

    def drain(self, index: int, count: int, tenant_ids: Sequence[str]) -> Mapping[str, Any]:
        ids = [UUID(tenant_id) for tenant_id in tenant_ids]
        self._waves.reports.clear()
        begin = perf_counter()
        run = self._consumer.run(ids, lambda: False)
        seconds, reports = perf_counter() - begin, self._waves.reports
        assert not run.failed and not run.interrupted, run
        return {
            "seconds": seconds,
            "instances": sum(report.instances for report in reports),
            "steps": sum(sum(report.steps.values()) for report in reports),
            "rounds": sum(report.rounds for report in reports),
            "waves": len(reports),
            "memory": read_peak_memory(),
        }

    def drain_traced(self, index: int, count: int, tenant_ids: Sequence[str]) -> Mapping[str, Any]:
        """Drain more slowly, and also return the counts of messages on the wire."""
        answers: list[Mapping[str, Any]] = []
        wire = count_wire(self._database, lambda: answers.append(self.drain(index, count, tenant_ids)))
        return {**answers[0], **asdict(wire)}


def _open_tasks(url: str) -> Mapping[str, Task]:
    process = WorkerProcess(url)
    return {"drain": process.drain, "drain_traced": process.drain_traced}


if __name__ == "__main__":
    serve(_open_tasks)
