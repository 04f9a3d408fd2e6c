"""The relay: finds what is due and nobody was woken for, and wakes somebody. It changes no row.

So a wake-up that was lost, late or never sent costs a minute, and nothing else. A worker that died is found
the same way, when its lease has ended.
"""

from signet.store.database import Database
from signet.store.queue import MAX_TENANTS, QUEUES, due_tenants
from signet.store.wake_ups import QueueName, Wake, WakeUp


class Relay:
    def __init__(self, database: Database, wake: Wake) -> None:
        self._database = database
        self._wake = wake

    def sweep(self) -> dict[QueueName, int]:
        """How many tenants have work, by queue; those that have waited longest where they are too many."""
        with self._database.tenantless_transaction() as connection:
            due = {
                queue.name: [row.tenant_id for row in due_tenants(connection, queue, at_most=MAX_TENANTS)]
                for queue in QUEUES
            }
        self._wake([WakeUp(tenant_id, name) for name, ids in due.items() for tenant_id in ids])
        return {name: len(ids) for name, ids in due.items()}
