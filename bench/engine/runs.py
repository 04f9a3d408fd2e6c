"""One server with tenants, and the timed runs over documents that wait there."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import psycopg

from bench.company import let_references_write, open_database
from bench.counting import Admin, read_wal
from bench.engine import plain_client, worker
from bench.engine.company import BenchCompany
from bench.engine.processes import ChildProcess, ask_all, child_processes
from bench.engine.workflow import STEPS

# A worker may leave rows that another held; that must end soon.
MAX_DRAINS = 20


@dataclass(frozen=True, slots=True)
class Load:
    waiting: int
    tenants: int
    repetitions: int


@dataclass(frozen=True, slots=True)
class BenchSide:
    """Processes of one kind, and the task that they time."""

    name: str
    module: str
    task: str
    processes: int


# On two cores two plain clients write the most.
LIMIT = BenchSide("limit", plain_client.MODULE, "write", 2)
ENGINES = (BenchSide("engine", worker.MODULE, "drain", 1), BenchSide("engine", worker.MODULE, "drain", 2))


@dataclass(frozen=True, slots=True)
class EngineRun:
    steps: int
    creating: float
    seconds: float
    wal: int
    # The most that one of the processes held.
    memory: int

    @property
    def steps_per_second(self) -> float:
        return self.steps / self.seconds

    @property
    def documents_per_second(self) -> float:
        """Return the documents a second, counted from before their creation until they are completed."""
        return self.steps / STEPS / (self.creating + self.seconds)

    @property
    def wal_per_step(self) -> float:
        return self.wal / self.steps


@contextmanager
def opened_arena(url: str, tenants: int) -> Iterator["Arena"]:
    """Open an arena on a superuser's server, with so many tenants beside the first."""
    with psycopg.connect(url, autocommit=True) as admin, closing(open_database(url, 1)) as database:
        let_references_write(admin)
        yield Arena(url, admin, BenchCompany(database), tenants)


class Arena:
    """A server with tenants: the first for loads of one tenant, all others for loads of many."""

    def __init__(self, url: str, admin: Admin, company: BenchCompany, tenants: int) -> None:
        self.url = url
        self.admin = admin
        self._company = company
        self._authors = company.install_tenants(1 + tenants)

    def create(self, waiting: int, tenants: int = 1) -> tuple[list[str], float]:
        """Create waiting documents in so many tenants, and return the tenants and the seconds it took."""
        callers = self._authors[:1] if tenants == 1 else self._authors[1 : 1 + tenants]
        begin = perf_counter()
        self._company.create_documents(callers, waiting)
        return [str(caller.principal.tenant_id) for caller in callers], perf_counter() - begin

    def run(self, load: Load, children: Sequence[ChildProcess], task: str) -> EngineRun:
        # Every run begins just after a checkpoint, so that none falls into the measured time.
        self.admin.execute("CHECKPOINT")
        tenant_ids, creating = self.create(load.waiting, load.tenants)
        self.admin.execute("VACUUM ANALYZE")
        self._prepare(children, task, tenant_ids)
        before, steps = read_wal(self.admin), self._count_steps()
        seconds, memory = 0.0, 0
        for _ in range(MAX_DRAINS):
            begin = perf_counter()
            answers = ask_all(children, task, tenant_ids=tenant_ids)
            seconds += perf_counter() - begin
            memory = max(memory, *(answer["memory"] for answer in answers))
            if not self._count_running():
                break
        wal = read_wal(self.admin) - before
        self._check(steps + load.waiting * STEPS)
        return EngineRun(load.waiting * STEPS, creating, seconds, wal, memory)

    def time_single(self, child: ChildProcess, task: str) -> float:
        """Return the milliseconds for ten steps of one document on an idle system, inside the process."""
        tenant_ids, _ = self.create(1)
        self._prepare([child], task, tenant_ids)
        (answer,) = ask_all([child], task, tenant_ids=tenant_ids)
        return float(answer["seconds"]) * 1_000

    def trace(self, waiting: int) -> Mapping[str, Any]:
        """Return what one worker sends to the server for these documents."""
        with child_processes(worker.MODULE, self.url, 1) as children:
            for task in ("drain", "drain_traced"):  # the first fills the caches
                tenant_ids, _ = self.create(waiting)
                (answer,) = ask_all(children, task, tenant_ids=tenant_ids)
        return answer

    def _prepare(self, children: Sequence[ChildProcess], task: str, tenant_ids: Sequence[str]) -> None:
        if task == LIMIT.task:
            ask_all(children, "prepare", tenant_ids=tenant_ids)

    def _check(self, steps: int) -> None:
        """Refuse a measurement whose work was not done."""
        running, written = self._count_running(), self._count_steps()
        if running or written != steps:
            raise RuntimeError(f"{running} instances still run; {written} steps were written, not {steps}")

    def _count_running(self) -> int:
        return self._count("workflow_instances WHERE status = 'running'")

    def _count_steps(self) -> int:
        return self._count("workflow_step_executions")

    def _count(self, rows: str) -> int:
        row = self.admin.execute(f"SELECT count(*) FROM {rows}").fetchone()
        return int(str(row[0])) if row else 0
