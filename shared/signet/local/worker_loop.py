"""The engine on one machine: a thread that looks for tenants with work, as relay and queue do on AWS."""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from uuid import UUID

from signet.engine.dispatch.due_looks import DueLooks
from signet.engine.execution.worker import Worker
from signet.engine.integrations.effects import Effects
from signet.engine.telemetry import SILENT, Telemetry
from signet.local.background import Background, in_background
from signet.store.database import Database
from signet.store.outbox.queue import EFFECTS, EVENTS

NAME = "signet-worker"
POLL_SECONDS = 0.1
MAX_TENANTS_A_LOOK = 100


def running_worker(
    database: Database, worker: Worker, effects: Effects, telemetry: Telemetry = SILENT
) -> AbstractContextManager[threading.Event]:
    looks = (DueLooks(EVENTS), DueLooks(EFFECTS))

    def leave() -> None:
        worker.settle()
        effects.settle()

    def take_a_turn(stop: threading.Event) -> float:
        leave()
        return 0.0 if work_once(database, looks, (worker.work, effects.work), stop) else POLL_SECONDS

    return in_background(Background(NAME, take_a_turn, leave, telemetry), NAME, database)


def work_once(
    database: Database,
    looks: Sequence[DueLooks],
    works: Sequence[Callable[[UUID], int]],
    stop: threading.Event,
) -> bool:
    """Run one wave and one claim of effects for each tenant with work; return whether there was any.

    What fails for one tenant is raised when the others have had their turn.
    """
    with database.tenantless_transaction() as connection:
        due = [look.list_tenants(connection, at_most=MAX_TENANTS_A_LOOK) for look in looks]
    turns = [(work, tenant.tenant_id) for work, tenants in zip(works, due, strict=True) for tenant in tenants]
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
