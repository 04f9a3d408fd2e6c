"""Starts that changes have written: a worker claims them with its triggers, and makes instances of them."""

from collections.abc import Sequence
from uuid import UUID

from signet.core.automations.start_decision import StartRefusal
from signet.core.errors import SignetError, Transient
from signet.engine.automations.start_transaction import StartTransaction, parse_start
from signet.engine.cache import CompiledCache
from signet.store.database import Connection, Database
from signet.store.documents.write import lock_statement, parse_locked_documents
from signet.store.outbox.queue import EVENTS, ClaimedTrigger, complete, fail, release, relock

START_AUTOMATION = "start_automation"
SUSPENDED_DELAY_SECONDS = 60.0


class ClaimedStarts:
    """The use case with its cache; one a process."""

    def __init__(self, database: Database, compiled: CompiledCache) -> None:
        self._database = database
        self._compiled = compiled

    def run(self, tenant_id: UUID, triggers: Sequence[ClaimedTrigger], claim_id: UUID) -> None:
        """Start all of them in one transaction. If it fails, each has one of its own."""
        try:
            self._run(tenant_id, triggers, claim_id)
        except Transient:
            raise
        except Exception as error:
            if len(triggers) == 1:
                self._fail(tenant_id, triggers[0], claim_id, error)
                return
            for trigger in triggers:
                self.run(tenant_id, [trigger], claim_id)

    def _run(self, tenant_id: UUID, triggers: Sequence[ClaimedTrigger], claim_id: UUID) -> None:
        with self._database.pipelined(tenant_id, lock_statement([], ())) as pipeline:
            connection = pipeline.connection
            _, transaction = parse_locked_documents(pipeline.first_row)
            if transaction is None:
                wait = SUSPENDED_DELAY_SECONDS
                release(connection, EVENTS, tenant_id, triggers, claim_id, delay_seconds=wait)
                return
            held = relock(connection, EVENTS, tenant_id, triggers, claim_id)
            own = sorted((one for one in triggers if one.id in held), key=lambda one: one.id)
            starts = [parse_start(one.instance_id, one.payload_json, one.trace_id) for one in own]
            if not starts:
                return
            started = StartTransaction(connection, tenant_id, transaction, self._compiled, starts)
            done = list[ClaimedTrigger]()
            for trigger, start in zip(own, starts, strict=True):
                refusal = started.start(start)
                started.release_after(refusal, trigger.payload_json.get("released_key"))
                if not _is_left(connection, tenant_id, trigger, claim_id, refusal):
                    done.append(trigger)
            started.write()
            complete(connection, EVENTS, tenant_id, done, claim_id)

    def _fail(self, tenant_id: UUID, trigger: ClaimedTrigger, claim_id: UUID, error: Exception) -> None:
        said = f"{error.code}: {error.message}" if isinstance(error, SignetError) else type(error).__name__
        with self._database.transaction(tenant_id) as connection:
            fail(connection, EVENTS, tenant_id, [(trigger, said)], claim_id)


def _is_left(
    connection: Connection,
    tenant_id: UUID,
    trigger: ClaimedTrigger,
    claim_id: UUID,
    refusal: StartRefusal | None,
) -> bool:
    """Leave the trigger for later, or as a dead letter, where its start is delayed or too deep."""
    if refusal is None or refusal.verdict not in ("delayed", "too_deep"):
        return False
    if refusal.verdict == "delayed":
        release(connection, EVENTS, tenant_id, [trigger], claim_id, delay_seconds=refusal.delay_seconds)
    else:
        failure = trigger, f"{refusal.code}: {refusal.sentence}"
        fail(connection, EVENTS, tenant_id, [failure], claim_id, final=[trigger.id])
    return True
