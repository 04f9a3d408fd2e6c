"""People who make documents, ask for them and decide, in a process that may be killed at any moment.

    python -m tests.chaos.writer URL TENANT ENTITY_TYPE

It prints a line for what was acknowledged (`made ID`, `voted ID`), and `failed CODE` for what was not.
"""

import sys
import time
from collections.abc import Callable, Sequence
from uuid import UUID, uuid4

from signet.core.errors import Rejected, SignetError, Transient
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.engine.approvals.inbox import Approvals
from signet.engine.documents.commands import Applied, Create, Operation, RequestTransition
from signet.engine.documents.mutate import Documents
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import act_as
from signet.wiring.engine import make_caches

PAUSE_SECONDS, BUSY_SECONDS = 0.02, 0.2
AT_ONCE = 5
OPEN = "SELECT id FROM approval_requests WHERE tenant_id = %s AND status = 'open' ORDER BY id LIMIT %s"


class Writer:
    def __init__(
        self, database: Database, tenant_id: UUID, entity_type: str, say: Callable[[str, str], None]
    ) -> None:
        self._database, self._tenant_id, self._entity_type = database, tenant_id, entity_type
        self._say = say
        self._documents = Documents(database)
        self._approvals = Approvals(database, make_caches())

    def make(self) -> None:
        """Create a document and submit it; what is not known to be done is sent again with its key."""
        document_id = uuid4()
        number = str(document_id)
        create = Create(self._entity_type, {"number": number, "amount": 1}, id=document_id)
        self._until_known(lambda: self._mutate(create, f"make-{number}"))
        self._say("made", str(document_id))
        submit = RequestTransition(document_id, 1, "submit")
        self._until_known(lambda: self._mutate(submit, f"submit-{number}"))

    def vote(self, at_once: int = AT_ONCE) -> None:
        with self._database.transaction(self._tenant_id) as connection:
            found = connection.execute(OPEN, (self._tenant_id, at_once)).fetchall()
        for (request_id,) in found:
            try:
                self._approvals.decide(
                    self._caller("anna", "voter"), UUID(str(request_id)), "approved", "seen"
                )
            except Rejected:
                continue  # another one was faster
            self._say("voted", str(request_id))

    def _mutate(self, operation: Operation, key: str) -> None:
        (outcome,) = self._documents.mutate_many(
            self._caller("carl", "admin"), [operation], idempotency_key=key
        )
        if not isinstance(outcome, Applied):
            raise outcome

    def _until_known(self, act: Callable[[], None]) -> None:
        while True:
            try:
                act()
                return
            except Transient as error:
                self._say("failed", error.code)
                time.sleep(BUSY_SECONDS)

    def _caller(self, user_id: str, *roles: str) -> Caller:
        return Caller(Principal(self._tenant_id, user_id, roles), via="chaos")


def say(kind: str, what: str) -> None:
    print(kind, what, flush=True)


def main(arguments: Sequence[str]) -> None:
    url, tenant_id, entity_type = arguments
    writer = Writer(Database(act_as(url, "signet_api"), PoolSettings()), UUID(tenant_id), entity_type, say)
    while True:
        for act in (writer.make, writer.vote):
            try:
                act()
            except SignetError as error:
                say("failed", error.code)
                time.sleep(BUSY_SECONDS)
        time.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    main(sys.argv[1:])
