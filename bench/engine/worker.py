"""The engine's side: a process with one worker, as in Lambda, that drains tenants on request."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from time import perf_counter
from typing import Any
from uuid import UUID

from bench.company import open_database
from bench.counting import count_wire, read_peak_memory
from bench.engine.processes import Task, serve
from signet.wiring.engine import make_worker

MODULE = "bench.engine.worker"


class WorkerProcess:
    def __init__(self, url: str) -> None:
        self._database = open_database(url, 1, "signet_worker")
        with self._database.tenantless_transaction():
            pass  # connects
        self._worker = make_worker(self._database)

    def drain(self, index: int, count: int, tenant_ids: Sequence[str]) -> Mapping[str, Any]:
        ids = [UUID(tenant_id) for tenant_id in tenant_ids]
        begin = perf_counter()
        drained = self._worker.drain(ids)
        return {
            "seconds": perf_counter() - begin,
            "instances": drained.instances,
            "steps": drained.steps,
            "rounds": drained.rounds,
            "waves": drained.waves,
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
