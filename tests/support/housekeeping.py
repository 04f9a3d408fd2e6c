"""A company for housekeeping tests: events of long ago, and single runs of one task."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString
from uuid import UUID

import psycopg

from signet.core.tenants.retention import Retentions
from signet.engine.housekeeping.runner import Housekeeping, Ran
from signet.engine.housekeeping.sealing import Anchors
from signet.engine.housekeeping.task import Task
from signet.engine.housekeeping.task_run import TaskLimits
from signet.engine.housekeeping.tasks import list_tasks
from signet.engine.telemetry import HousekeepingReport, Silent, StuckInstance
from signet.store.database import Database
from tests.support.audited_tenant import Audited
from tests.support.company import Company

Admin = psycopg.Connection[tuple[Any, ...]]
KEPT = Retentions(history_days=365)


class KeptTelemetry(Silent):
    """Telemetry that keeps its reports."""

    def __init__(self) -> None:
        self.reports: list[HousekeepingReport] = []
        self.stuck: list[tuple[UUID, int, Sequence[StuckInstance]]] = []
        self.expired: list[tuple[UUID, int, int]] = []
        self.incidents: list[tuple[Mapping[str, int], int]] = []

    def housekeeping_ended(self, report: HousekeepingReport) -> None:
        self.reports.append(report)

    def stuck_found(self, tenant_id: UUID, count: int, named: Sequence[StuckInstance]) -> None:
        self.stuck.append((tenant_id, count, named))

    def incidents_counted(self, open_by_code: Mapping[str, int], unattended: int) -> None:
        self.incidents.append((open_by_code, unattended))

    def leases_expired(self, tenant_id: UUID, again: int, dead: int) -> None:
        self.expired.append((tenant_id, again, dead))


@dataclass
class House:
    company: Company
    janitor: Database
    admin: Admin
    told: KeptTelemetry = field(default_factory=KeptTelemetry)

    @property
    def tenant_id(self) -> UUID:
        return self.company.tenant_id

    def keep(
        self,
        name: str,
        *,
        limits: TaskLimits | None = None,
        anchors: Anchors | None = None,
        clock: Callable[[], float] = lambda: 0.0,
    ) -> Ran:
        """Run a task once, as if it were due."""
        (task,) = [task for task in list_tasks(KEPT, anchors) if task.name == name]
        runner = self.runner(Task(name, task.every_seconds, task.run, limits or task.limits), clock=clock)
        self.run("UPDATE housekeeping_tasks SET next_due_at = now() WHERE task = %s", name)
        runner.run(0)
        claimed = runner.claim()
        assert claimed is not None
        ran = runner.work(claimed)
        assert ran is not None
        return ran

    def seal(self) -> int:
        """Seal the audit trail once no parallel test holds the horizon back."""
        Audited(self.tenant_id, self.company.database, self.janitor).settle()
        return self.keep("seal_audit").rows

    def runner(self, *tasks: Task, clock: Callable[[], float] = lambda: 0.0) -> Housekeeping:
        return Housekeeping(self.janitor, tasks, self.told, clock)

    def run(self, statement: LiteralString, *values: Any) -> int:
        return self.admin.execute(statement, values).rowcount

    def rows(self, query: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
        return self.admin.execute(query, values).fetchall()

    def count(self, table: LiteralString, condition: LiteralString = "true") -> int:
        query = psycopg.sql.SQL("SELECT count(*) FROM {} WHERE {}")
        found = self.admin.execute(
            query.format(psycopg.sql.Identifier(table), psycopg.sql.SQL(condition))
        ).fetchone()
        return int(found[0]) if found else -1
