"""The engine on one machine: a thread that looks for tenants with work, as relay and queue do on AWS."""

import sys
import threading
from contextlib import AbstractContextManager

from signet.core.errors import SignetError
from signet.engine.execution.worker import Worker
from signet.engine.integrations.effects import Effects
from signet.local.background import in_background
from signet.store.database import Database
from signet.store.outbox.queue import EFFECTS, EVENTS, due_tenants

POLL_SECONDS = 0.1
RETRY_SECONDS = 1.0
MAX_TENANTS_A_LOOK = 100


def running_worker(database: Database, worker: Worker, effects: Effects) -> AbstractContextManager[None]:
    return in_background("signet-worker", lambda stop: _work_until(stop, database, worker, effects))


def work_once(database: Database, worker: Worker, effects: Effects, stop: threading.Event) -> bool:
    """Run one wave and one claim of effects for each tenant with work; return whether there was any."""
    with database.tenantless_transaction() as connection:
        due = due_tenants(connection, EVENTS, at_most=MAX_TENANTS_A_LOOK)
        leaving = due_tenants(connection, EFFECTS, at_most=MAX_TENANTS_A_LOOK)
    has_worked = False
    for tenant in due:
        if stop.is_set():
            return has_worked
        has_worked = worker.work(tenant.tenant_id) or has_worked
    for tenant in leaving:
        if stop.is_set():
            break
        has_worked = effects.work(tenant.tenant_id) > 0 or has_worked
    return has_worked


def _work_until(stop: threading.Event, database: Database, worker: Worker, effects: Effects) -> None:
    pause = 0.0
    while not stop.wait(pause):
        try:
            pause = 0.0 if work_once(database, worker, effects, stop) else POLL_SECONDS
        except SignetError as error:
            # The triggers come back by themselves, and so does this loop.
            print(f"worker: {error.code}: {error}", file=sys.stderr, flush=True)
            pause = RETRY_SECONDS
