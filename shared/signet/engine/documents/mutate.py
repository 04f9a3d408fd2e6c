"""`mutate()`: the one write path to documents. A mutation is one transaction, whole or not at all."""

from collections.abc import Sequence
from functools import partial

from signet.authoring.actions import REGISTRY, ActionRegistry
from signet.core.tenants.caller import Caller
from signet.engine.cache import ContractCache
from signet.engine.documents.command_checks import list_ids, require_batch
from signet.engine.documents.commands import Applied, Mode, Operation, Outcome
from signet.engine.documents.idempotency import apply_once, hash_request, require_key
from signet.engine.documents.rules import RuleBook
from signet.engine.documents.unit_of_work import DocumentCaches, DocumentUnitOfWork
from signet.engine.telemetry import SILENT, Telemetry
from signet.store.database import Connection, Database
from signet.store.documents.write import LockedDocuments, lock_documents, lock_statement, require_locked
from signet.store.pipeline import PipelinedTransaction


class RolledBack(Exception):
    """The outcomes of a mutation that must not commit: only leaving its block rolls it back."""

    def __init__(self, outcomes: list[Outcome]) -> None:
        super().__init__()
        self.outcomes = outcomes


class Documents:
    """The use case with the caches of a process."""

    def __init__(
        self, database: Database, actions: ActionRegistry = REGISTRY, telemetry: Telemetry = SILENT
    ) -> None:
        self._database = database
        self._telemetry = telemetry
        self.caches = DocumentCaches(ContractCache(), RuleBook(), actions)

    def mutate(self, caller: Caller, operation: Operation, *, idempotency_key: str | None = None) -> Applied:
        """Perform one operation in a transaction of its own, and raise its refusal."""
        outcome = self.mutate_many(caller, [operation], idempotency_key=idempotency_key)[0]
        if not isinstance(outcome, Applied):
            raise outcome
        return outcome

    def mutate_many(
        self,
        caller: Caller,
        operations: Sequence[Operation],
        mode: Mode = "all",
        *,
        idempotency_key: str | None = None,
    ) -> list[Outcome]:
        """Perform operations: with `all` one refusal refuses all, with `each` the others are done."""
        causes = [caller.trace_id] if caller.trace_id else []
        with self._telemetry.span("mutate", causes, {"operations": len(operations)}) as span:
            outcomes = self._mutate(caller, operations, mode, idempotency_key)
            if span.traceparent is not None:
                refused = sum(not isinstance(outcome, Applied) for outcome in outcomes)
                span.describe("mutate", {"signet.refused": refused})
            return outcomes

    def apply(
        self, connection: Connection, caller: Caller, operations: Sequence[Operation], mode: Mode = "all"
    ) -> list[Outcome]:
        """Perform operations in a transaction that the caller holds, and leaves on RolledBack."""
        require_batch(operations)
        locked = lock_documents(connection, list_ids(operations), caller.principal.roles)
        return self._run(connection, caller, operations, mode, locked, None)

    def _mutate(
        self, caller: Caller, operations: Sequence[Operation], mode: Mode, idempotency_key: str | None
    ) -> list[Outcome]:
        try:
            if idempotency_key is None:
                return self._apply_pipelined(caller, operations, mode)
            return self._apply_once(caller, operations, mode, idempotency_key)
        except RolledBack as rejected:
            return rejected.outcomes

    def _apply_pipelined(self, caller: Caller, operations: Sequence[Operation], mode: Mode) -> list[Outcome]:
        require_batch(operations)
        principal, ids = caller.principal, list_ids(operations)
        opening = lock_statement(ids, principal.roles)
        with self._database.pipelined(principal.tenant_id, opening) as pipeline:
            locked = require_locked(pipeline.first_row)
            return self._run(pipeline.connection, caller, operations, mode, locked, pipeline)

    def _apply_once(
        self, caller: Caller, operations: Sequence[Operation], mode: Mode, idempotency_key: str
    ) -> list[Outcome]:
        tenant_id = caller.principal.tenant_id
        key, request_hash = require_key(idempotency_key), hash_request(caller, operations, mode)
        with self._database.transaction(tenant_id) as connection:
            act = partial(self.apply, connection, caller, operations, mode)
            outcomes = apply_once(connection, tenant_id, key, request_hash, act)
            if not any(isinstance(outcome, Applied) for outcome in outcomes):
                # Nothing is worth keeping, and the key stays free.
                raise RolledBack(outcomes)
            return outcomes

    def _run(
        self,
        connection: Connection,
        caller: Caller,
        operations: Sequence[Operation],
        mode: Mode,
        locked: LockedDocuments,
        pipeline: PipelinedTransaction | None,
    ) -> list[Outcome]:
        documents = DocumentUnitOfWork(
            self.caches, connection, caller.principal.tenant_id, locked.transaction, locked.rows
        )
        outcomes = documents.run(caller, operations, mode, pipeline)
        if documents.must_roll_back:
            raise RolledBack(outcomes)
        return outcomes
