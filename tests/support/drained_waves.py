"""Waves of a worker until nothing is due, and what they did."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch
from uuid import UUID

from signet.engine.execution.claim import Claim, WaveResult
from signet.engine.execution.worker import Worker


@dataclass(slots=True)
class Drained:
    """Sums over the waves that a worker ran."""

    waves: int = 0
    rounds: int = 0
    instances: int = 0
    steps: int = 0

    def add(self, result: WaveResult) -> None:
        self.waves += 1
        self.rounds += result.rounds
        self.instances += result.instances
        self.steps += result.steps


def drain(worker: Worker, tenant_ids: Sequence[UUID]) -> Drained:
    """Work for the tenants in turn until nothing is due."""
    with _counting(worker) as drained:
        waiting = list(tenant_ids)
        while waiting:
            waiting = [tenant_id for tenant_id in waiting if worker.work(tenant_id)]
    return drained


def work_once(worker: Worker, tenant_id: UUID) -> Drained:
    """Run one claim, which must be there."""
    with _counting(worker) as drained:
        assert worker.work(tenant_id), "nothing was due"
    return drained


@contextmanager
def _counting(worker: Worker) -> Iterator[Drained]:
    drained, waves = Drained(), worker._waves
    run = waves.run

    def run_and_add(claim: Claim, failures: Mapping[UUID, BaseException] | None = None) -> WaveResult:
        result = run(claim, failures)
        drained.add(result)
        return result

    with patch.object(waves, "run", run_and_add):
        yield drained
