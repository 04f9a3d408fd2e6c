"""A worker as `signet run` has it, in a process of its own that may be killed at any moment.

    python -m tests.chaos.worker URL FOLDER

What it delivers it appends to a file of the folder: the id of the message, and the hash of its body.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from signet.core.canonical_json import content_hash
from signet.core.tenants.retention import Retentions
from signet.engine.execution import worker as worker_module
from signet.engine.housekeeping.runner import Housekeeping
from signet.engine.housekeeping.tasks import list_tasks
from signet.engine.integrations import effects as effects_module
from signet.engine.integrations.effects import Effects
from signet.local.housekeeping_loop import running_housekeeping
from signet.local.worker_loop import running_worker
from signet.outbound.connector import Delivery, OutboundMessage
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import act_as
from signet.wiring.engine import make_worker

# Short, so that what a killed process held is met by another one while the chaos lasts.
LEASE_SECONDS = 3.0
DELIVERED = "delivered"


@dataclass(frozen=True)
class Note:
    """A receiver that writes down what has arrived."""

    path: Path

    def deliver(self, message: OutboundMessage) -> Delivery:
        line = f"{message.id} {content_hash(message.payload)}\n".encode()
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)
        return Delivery(200, None, {"ok": True})


def main(url: str, folder: Path) -> None:
    worker_module.LEASE_SECONDS = effects_module.LEASE_SECONDS = LEASE_SECONDS
    database = Database(act_as(url, "signet_worker"), PoolSettings())
    janitor = Database(act_as(url, "signet_janitor"), PoolSettings())
    effects = Effects(database, {"webhook": Note(folder / DELIVERED)})
    housekeeping = Housekeeping(janitor, list_tasks(Retentions()))
    with running_worker(database, make_worker(database), effects), running_housekeeping(housekeeping, 1.0):
        sys.stdin.read()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
