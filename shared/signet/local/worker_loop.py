"""The engine on one machine: a thread that looks for tenants with work, as relay and queue do on AWS."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from uuid import UUID

from signet.engine.execution.worker import Worker
from signet.engine.integrations.effects import Effects
from signet.engine.telemetry import SILENT, Telemetry
from signet.local.background import Background, in_background
from signet.store.database import Database
from signet.store.outbox.queue import EFFECTS, EVENTS, due_tenants

NAME = "signet-worker"
POLL_SECONDS = 0.1
MAX_TENANTS_A_LOOK = 100


def running_worker(
    database: Database, worker: Worker, effects: Effects, telemetry: Telemetry = SILENT
) -> AbstractContextManager[threading.Event]:
    def leave() -> None:
        worker.settle()
        effects.settle()

    def take_a_turn(stop: threading.Event) -> float:
        leave()
        return 0.0 if work_once(database, worker, effects, stop) else POLL_SECONDS

    return in_background(Background(NAME, take_a_turn, leave, telemetry), NAME, database)


def work_once(database: Database, worker: Worker, effects: Effects, stop: threading.Event) -> bool:
    """Run one wave and one claim of effects for each tenant with work; return whether there was any.

    What fails for one tenant is raised when the others have had their turn.
    """
    with database.tenantless_transaction() as connection:
        due = due_tenants(connection, EVENTS, at_most=MAX_TENANTS_A_LOOK)
        leaving = due_tenants(connection, EFFECTS, at_most=MAX_TENANTS_A_LOOK)
    turns: list[tuple[Callable[[UUID], int], UUID]] = [
        *((worker.work, tenant.tenant_id) for tenant in due),
        *((effects.work, tenant.tenant_id) for tenant in leaving),
    ]
    has_worked, failed = False, list[Exception]()
    for work, tenant_id in turns:
        if stop.is_set():
            break
        try:
            has_worked = work(tenant_id) > 0 or has_worked
        except Exception as error:
            failed.append(error)
    if failed:
        raise failed[0]
    return has_worked
