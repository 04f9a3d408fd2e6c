"""`mutate()`: the one write path to documents. One transaction, few round trips, whole or not at all."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

from signet.authoring.actions import REGISTRY, ActionRegistry
from signet.core.errors import Rejected
from signet.engine.cache import ContractCache
from signet.engine.documents.actions import Decided
from signet.engine.documents.change import Change
from signet.engine.documents.command_checks import check_batch
from signet.engine.documents.commands import Applied, Author, Operation, Outcome, Refused
from signet.engine.documents.idempotency import NothingDone, apply_once, check_key, hash_request
from signet.engine.documents.rules import RuleBook
from signet.engine.documents.unit_of_work import DocumentCaches, OpenDocuments
from signet.engine.telemetry import SILENT, Telemetry
from signet.store.database import Connection, Database, Exchange, Statement
from signet.store.documents.write import lock_and_read, read_locked

Mode = Literal["all", "each"]


class Documents:
    """The use case with its caches; one a process."""

    def __init__(
        self, database: Database, actions: ActionRegistry = REGISTRY, telemetry: Telemetry = SILENT
    ) -> None:
        self._database = database
        self._telemetry = telemetry
        self.caches = DocumentCaches(ContractCache(), RuleBook(), actions)

    def mutate(self, author: Author, operation: Operation, *, idempotency_key: str | None = None) -> Applied:
        """One operation of a person, in a transaction of its own. Raises what rejects it."""
        outcome = self.mutate_many(author, [operation], idempotency_key=idempotency_key)[0]
        if not isinstance(outcome, Applied):
            raise outcome
        return outcome

    def mutate_many(
        self,
        author: Author,
        operations: Sequence[Operation],
        mode: Mode = "all",
        *,
        idempotency_key: str | None = None,
    ) -> list[Outcome]:
        """`all`: one rejection and nothing is written; `each`: what can be done is done."""
        causes = [author.trace_id] if author.trace_id else []
        with self._telemetry.span("mutate", causes, {"operations": len(operations)}) as span:
            outcomes = self._mutate(author, operations, mode, idempotency_key)
            if span.traceparent is not None:
                refused = sum(not isinstance(outcome, Applied) for outcome in outcomes)
                span.describe("mutate", {"signet.refused": refused})
            return outcomes

    def _mutate(
        self, author: Author, operations: Sequence[Operation], mode: Mode, idempotency_key: str | None
    ) -> list[Outcome]:
        tenant_id = author.principal.tenant_id
        try:
            if idempotency_key is None:
                opening = _open(author, operations)
                with self._database.exchange(tenant_id, opening) as exchange:
                    row, connection = exchange.opening_row, exchange.connection
                    return self._apply(connection, author, operations, mode, row, exchange)
            key, request_hash = check_key(idempotency_key), hash_request(author, operations, mode)
            with self._database.transaction(tenant_id) as connection:
                act = partial(self.apply, connection, author, operations, mode)
                return apply_once(connection, tenant_id, key, request_hash, act)
        except NothingDone as rejected:
            return rejected.outcomes

    def apply(
        self, connection: Connection, author: Author, operations: Sequence[Operation], mode: Mode = "all"
    ) -> list[Outcome]:
        """Inside the caller's transaction. Raises NothingDone where only a rollback undoes what was begun."""
        opening = _open(author, operations)
        row = connection.execute(opening.text, opening.values).fetchone()
        return self._apply(connection, author, operations, mode, row, None)

    def _apply(
        self,
        connection: Connection,
        author: Author,
        operations: Sequence[Operation],
        mode: Mode,
        row: tuple[Any, ...] | None,
        exchange: Exchange | None,
    ) -> list[Outcome]:
        rows, setting = read_locked(row)
        if setting is None:
            raise Rejected("TENANT_INACTIVE", "this tenant does not exist or is suspended")
        opened = OpenDocuments(self.caches, connection, author.principal.tenant_id, setting, rows)
        opened.read_refs_for(author, operations)
        decided = [opened.decide(author, operation) for operation in operations]
        if mode == "all" and (refused := _find_refused(decided)):
            return _refuse_all(decided, refused)
        decided = _take_keys(opened, decided, mode)
        if mode == "all" and (refused := _find_refused(decided)):
            # Keys were taken: only a rollback gives them back.
            raise NothingDone(_refuse_all(decided, refused))
        outcomes: list[Outcome] = [opened.keep(one) if isinstance(one, Change) else one for one in decided]
        opened.write(exchange)
        return outcomes


def _open(author: Author, operations: Sequence[Operation]) -> Statement:
    check_batch(operations)
    ids = sorted(operation.id for operation in operations if operation.id is not None)
    return lock_and_read(ids, author.principal.roles)


def _take_keys(opened: OpenDocuments, decided: Sequence[Decided], mode: Mode) -> list[Decided]:
    """With `each`, until all that are left got theirs: who is rejected keeps the keys that it has."""
    left = list(decided)
    while True:
        lost = opened.take_keys([one for one in left if isinstance(one, Change)], undo=mode == "each")
        if not lost:
            return left
        left = [lost.get(one.document_id, one) if isinstance(one, Change) else one for one in left]
        if mode == "all":
            return left


def _find_refused(decided: Sequence[Decided]) -> Refused | None:
    return next((one for one in decided if not isinstance(one, Change)), None)


def _refuse_all(decided: Sequence[Decided], first: Refused) -> list[Outcome]:
    """Those that could have been done say which one held them up."""
    return [
        type(first)(first.code, f"not done: {first.message}") if isinstance(one, Change) else one
        for one in decided
    ]
