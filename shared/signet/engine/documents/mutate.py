"""`mutate()`: the one write path to documents. A mutation is one transaction, whole or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID

from signet.authoring.actions import REGISTRY, ActionRegistry
from signet.core.tenants.caller import Caller
from signet.core.tenants.responsible import ResponsiblePersons
from signet.engine.cache import ContractCache
from signet.engine.documents.change import DocumentChange
from signet.engine.documents.command_checks import list_ids, require_batch
from signet.engine.documents.commands import Applied, Mode, Operation, Outcome
from signet.engine.documents.idempotency import apply_once, hash_request, require_key
from signet.engine.documents.persons.hinderers import keep_hinderers
from signet.engine.documents.rules import RuleBook, keep_rejections
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
            outcomes = self._mutate(_Mutation(caller, operations, mode), idempotency_key)
            if span.traceparent is not None:
                refused = sum(not isinstance(outcome, Applied) for outcome in outcomes)
                span.describe("mutate", {"signet.refused": refused})
            return outcomes

    def apply(
        self, connection: Connection, caller: Caller, operations: Sequence[Operation], mode: Mode = "all"
    ) -> list[Outcome]:
        """Perform operations in a transaction that the caller holds, and leaves on RolledBack."""
        return self._apply_in(connection, _Mutation(caller, operations, mode))

    def _mutate(self, mutation: "_Mutation", idempotency_key: str | None) -> list[Outcome]:
        try:
            if idempotency_key is None:
                outcomes = self._apply_pipelined(mutation)
            else:
                outcomes = self._apply_once(mutation, idempotency_key)
        except RolledBack as rolled_back:
            outcomes = rolled_back.outcomes
        keep_rejections(self._database, mutation.tenant_id, mutation.rejected)
        keep_hinderers(self._database, mutation.tenant_id, mutation.hindered)
        return outcomes

    def _apply_pipelined(self, mutation: "_Mutation") -> list[Outcome]:
        require_batch(mutation.operations)
        opening = lock_statement(list_ids(mutation.operations), mutation.caller.principal.roles)
        with self._database.pipelined(mutation.tenant_id, opening) as pipeline:
            locked = require_locked(pipeline.first_row)
            return self._run(pipeline.connection, mutation, locked, pipeline)

    def _apply_once(self, mutation: "_Mutation", idempotency_key: str) -> list[Outcome]:
        caller, tenant_id = mutation.caller, mutation.tenant_id
        request_hash = hash_request(caller, mutation.operations, mutation.mode)
        key = require_key(idempotency_key)
        with self._database.transaction(tenant_id) as connection:
            act = partial(self._apply_in, connection, mutation)
            outcomes = apply_once(connection, tenant_id, key, request_hash, act)
            if not any(isinstance(outcome, Applied) for outcome in outcomes):
                # Nothing is worth keeping, and the key stays free.
                raise RolledBack(outcomes)
            return outcomes

    def _apply_in(self, connection: Connection, mutation: "_Mutation") -> list[Outcome]:
        require_batch(mutation.operations)
        locked = lock_documents(connection, list_ids(mutation.operations), mutation.caller.principal.roles)
        return self._run(connection, mutation, locked, None)

    def _run(
        self,
        connection: Connection,
        mutation: "_Mutation",
        locked: LockedDocuments,
        pipeline: PipelinedTransaction | None,
    ) -> list[Outcome]:
        documents = DocumentUnitOfWork(
            self.caches, connection, mutation.tenant_id, locked.transaction, locked.rows
        )
        outcomes = documents.run(mutation.caller, mutation.operations, mutation.mode, pipeline)
        mutation.rejected.extend(documents.rejected)
        mutation.hindered.update(documents.hinderers.of_documents)
        if documents.must_roll_back:
            raise RolledBack(outcomes)
        return outcomes


@dataclass(frozen=True, slots=True)
class _Mutation:
    """The operations of one transaction, what rules have stopped in it, and who is behind refusals."""

    caller: Caller
    operations: Sequence[Operation]
    mode: Mode
    rejected: list[DocumentChange] = field(default_factory=list)
    hindered: dict[UUID, ResponsiblePersons] = field(default_factory=dict)

    @property
    def tenant_id(self) -> UUID:
        return self.caller.principal.tenant_id
