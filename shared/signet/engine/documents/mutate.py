"""`mutate()`: the one write path to documents. One transaction, few round trips, whole or not at all."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from signet.authoring.actions import REGISTRY, ActionRegistry
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.engine.cache import ContractCache
from signet.engine.documents.actions import ChangeOrRefusal
from signet.engine.documents.change import DocumentChange
from signet.engine.documents.command_checks import check_batch
from signet.engine.documents.commands import Applied, Operation, Outcome, Refused
from signet.engine.documents.idempotency import NothingDone, apply_once, check_key, hash_request
from signet.engine.documents.rules import RuleBook
from signet.engine.documents.unit_of_work import DocumentCaches, DocumentUnitOfWork
from signet.engine.telemetry import SILENT, Telemetry
from signet.store.database import Connection, Database
from signet.store.documents.write import lock_documents, parse_locked_documents
from signet.store.pipeline import PipelinedTransaction, PreparedText

Mode = Literal["all", "each"]


class Documents:
    """The use case with its caches; one a process."""

    def __init__(
        self, database: Database, actions: ActionRegistry = REGISTRY, telemetry: Telemetry = SILENT
    ) -> None:
        self._database = database
        self._telemetry = telemetry
        self.caches = DocumentCaches(ContractCache(), RuleBook(), actions)

    def mutate(self, caller: Caller, operation: Operation, *, idempotency_key: str | None = None) -> Applied:
        """One operation of a person, in a transaction of its own. Raises what rejects it."""
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
        """`all`: one rejection and nothing is written; `each`: what can be done is done."""
        causes = [caller.trace_id] if caller.trace_id else []
        with self._telemetry.span("mutate", causes, {"operations": len(operations)}) as span:
            outcomes = self._mutate(caller, operations, mode, idempotency_key)
            if span.traceparent is not None:
                refused = sum(not isinstance(outcome, Applied) for outcome in outcomes)
                span.describe("mutate", {"signet.refused": refused})
            return outcomes

    def _mutate(
        self, caller: Caller, operations: Sequence[Operation], mode: Mode, idempotency_key: str | None
    ) -> list[Outcome]:
        tenant_id = caller.principal.tenant_id
        try:
            if idempotency_key is None:
                opening = _open(caller, operations)
                with self._database.pipelined(tenant_id, opening) as pipeline:
                    row, connection = pipeline.first_row, pipeline.connection
                    return self._apply(connection, caller, operations, mode, row, pipeline)
            key, request_hash = check_key(idempotency_key), hash_request(caller, operations, mode)
            with self._database.transaction(tenant_id) as connection:
                act = partial(self.apply, connection, caller, operations, mode)
                return apply_once(connection, tenant_id, key, request_hash, act)
        except NothingDone as rejected:
            return rejected.outcomes

    def apply(
        self, connection: Connection, caller: Caller, operations: Sequence[Operation], mode: Mode = "all"
    ) -> list[Outcome]:
        """Inside the caller's transaction. Raises NothingDone where only a rollback undoes what was begun."""
        opening = _open(caller, operations)
        row = connection.execute(opening.text, opening.values).fetchone()
        return self._apply(connection, caller, operations, mode, row, None)

    def _apply(
        self,
        connection: Connection,
        caller: Caller,
        operations: Sequence[Operation],
        mode: Mode,
        row: tuple[Any, ...] | None,
        pipeline: PipelinedTransaction | None,
    ) -> list[Outcome]:
        rows, transaction = parse_locked_documents(row)
        if transaction is None:
            raise Rejected("TENANT_INACTIVE", "this tenant does not exist or is suspended")
        documents = DocumentUnitOfWork(self.caches, connection, caller.principal.tenant_id, transaction, rows)
        documents.read_refs_for(caller, operations)
        decided = [documents.decide(caller, operation) for operation in operations]
        if mode == "all" and (refused := _find_refused(decided)):
            return _refuse_all(decided, refused)
        decided = _take_keys(documents, decided, mode)
        if mode == "all" and (refused := _find_refused(decided)):
            # Keys were taken: only a rollback gives them back.
            raise NothingDone(_refuse_all(decided, refused))
        outcomes: list[Outcome] = [
            documents.apply(one) if isinstance(one, DocumentChange) else one for one in decided
        ]
        documents.write(pipeline)
        return outcomes


def _open(caller: Caller, operations: Sequence[Operation]) -> PreparedText:
    check_batch(operations)
    ids = sorted(operation.id for operation in operations if operation.id is not None)
    return lock_documents(ids, caller.principal.roles)


def _take_keys(
    documents: DocumentUnitOfWork, decided: Sequence[ChangeOrRefusal], mode: Mode
) -> list[ChangeOrRefusal]:
    """With `each`, until all that are left got theirs: who is rejected keeps the keys that it has."""
    left = list(decided)
    while True:
        lost = documents.reserve_business_keys(
            [one for one in left if isinstance(one, DocumentChange)], undo=mode == "each"
        )
        if not lost:
            return left
        left = [lost.get(one.document_id, one) if isinstance(one, DocumentChange) else one for one in left]
        if mode == "all":
            return left


def _find_refused(decided: Sequence[ChangeOrRefusal]) -> Refused | None:
    return next((one for one in decided if not isinstance(one, DocumentChange)), None)


def _refuse_all(decided: Sequence[ChangeOrRefusal], first: Refused) -> list[Outcome]:
    """Those that could have been done say which one held them up."""
    return [
        type(first)(first.code, f"not done: {first.message}") if isinstance(one, DocumentChange) else one
        for one in decided
    ]
