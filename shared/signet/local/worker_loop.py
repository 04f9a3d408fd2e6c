"""The engine on one machine: a thread that looks for tenants with work, as relay and queue do on AWS.

A commit of this process rings its bell. Otherwise it sleeps until the next row is due. What another process
has written, such as a command, it finds within a second.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from uuid import UUID

from signet.engine.dispatch.due_looks import DueLooks
from signet.engine.execution.worker import Worker
from signet.engine.integrations.effects import Effects
from signet.engine.telemetry import SILENT, Telemetry
from signet.local.background import Background, in_background
from signet.store.database import Connection, Database
from signet.store.outbox.due_tenants import seconds_to_next
from signet.store.outbox.queue import EFFECTS, EVENTS, QUEUES

NAME = "signet-worker"
MAX_SLEEP_SECONDS = 1.0
MAX_TENANTS_A_LOOK = 100


def running_worker(
    database: Database,
    worker: Worker,
    effects: Effects,
    telemetry: Telemetry = SILENT,
    bell: threading.Event | None = None,
) -> AbstractContextManager[threading.Event]:
    looks = (DueLooks(EVENTS), DueLooks(EFFECTS))

    def leave() -> None:
        worker.settle()
        effects.settle()

    def take_a_turn(stop: threading.Event) -> float:
        leave()
        return work_once(database, looks, (worker.work, effects.work), stop)

    return in_background(Background(NAME, take_a_turn, leave, telemetry, bell), NAME, database)


def work_once(
    database: Database,
    looks: Sequence[DueLooks],
    works: Sequence[Callable[[UUID], int]],
    stop: threading.Event,
) -> float:
    """Run a wave and a claim of effects for each tenant with work; return the seconds until the next look.

    What fails for one tenant is raised when the others have had their turn.
    """
    with database.tenantless_transaction() as connection:
        due = [look.list_tenants(connection, at_most=MAX_TENANTS_A_LOOK) for look in looks]
        # As of the same moment, so that nothing comes due between the two.
        sleep_seconds = _find_sleep(connection)
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
    return 0.0 if has_worked else sleep_seconds


def _find_sleep(connection: Connection) -> float:
    """Return the seconds until something comes due, or a lease ends; at most so many."""
    found = [seconds_to_next(connection, queue, within_seconds=MAX_SLEEP_SECONDS) for queue in QUEUES]
    return min((seconds for seconds in found if seconds is not None), default=MAX_SLEEP_SECONDS)
