"""`mutate()`: the one write path to documents. One transaction, few round trips, whole or not at all."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal
from uuid import UUID

from signet.core.errors import FieldError, Rejected
from signet.core.loaded_contract import LoadedContract
from signet.core.personal import resolve_personal
from signet.engine.documents.contracts import ContractCache
from signet.engine.documents.deciding import decide_operation
from signet.engine.documents.facts import Change, Facts
from signet.engine.documents.intake import check_batch, check_operation, check_size
from signet.engine.documents.operations import Applied, Author, Create, Operation, Outcome
from signet.engine.documents.repetition import NothingDone, apply_once, check_key, hash_request
from signet.engine.documents.rows import RowMaker, list_keys
from signet.engine.documents.rules import RuleBook, apply_after_rules, apply_before_rules
from signet.ids import make_id
from signet.store.database import Connection, Database, Exchange, Statement
from signet.store.documents import (
    DocumentRow,
    Setting,
    WorkflowOfType,
    find_workflow,
    lock_and_read,
    read_locked,
    take_keys,
    write_batch,
)

Mode = Literal["all", "each"]


class Documents:
    """The use case with its caches; one a process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._contracts = ContractCache()
        self._rules = RuleBook()

    def mutate(self, author: Author, operation: Operation, *, idempotency_key: str | None = None) -> Applied:
        """One operation of a person, in a transaction of its own. Raises what rejects it."""
        outcome = self.mutate_many(author, [operation], idempotency_key=idempotency_key)[0]
        if isinstance(outcome, Rejected):
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
        tenant_id = author.principal.tenant_id
        if idempotency_key is None:
            opening = _open(author, operations)
            with self._database.exchange(tenant_id, opening) as exchange:
                row, connection = exchange.opening_row, exchange.connection
                return self._apply(connection, author, operations, mode, row, exchange)
        key, request_hash = check_key(idempotency_key), hash_request(author, operations, mode)
        try:
            with self._database.transaction(tenant_id) as connection:
                act = partial(self.apply, connection, author, operations, mode)
                return apply_once(connection, tenant_id, key, request_hash, act)
        except NothingDone as rejected:
            return rejected.outcomes

    def apply(
        self, connection: Connection, author: Author, operations: Sequence[Operation], mode: Mode = "all"
    ) -> list[Outcome]:
        """Inside the caller's transaction, as the engine's waves do."""
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
        work = _Work(self._contracts, self._rules, connection, author, setting, rows)
        decided = [work.decide(operation) for operation in operations]
        if mode == "all" and (rejected := next((d for d in decided if isinstance(d, Rejected)), None)):
            return _reject_all(decided, rejected)
        return work.write(decided, mode, exchange)


def _open(author: Author, operations: Sequence[Operation]) -> Statement:
    check_batch(operations)
    ids = sorted(operation.id for operation in operations if operation.id is not None)
    return lock_and_read(ids, author.principal.roles)


class _Work:
    """One batch under way."""

    def __init__(
        self,
        contracts: ContractCache,
        rules: RuleBook,
        connection: Connection,
        author: Author,
        setting: Setting,
        rows: Mapping[UUID, DocumentRow],
    ) -> None:
        self._contracts = contracts
        self._rules = rules
        self._connection = connection
        self._author = author
        self._setting = setting
        self._rows = rows
        self._workflows: dict[tuple[str, int | None], WorkflowOfType | None] = {}

    def decide(self, operation: Operation) -> Change | Rejected:
        rejected = check_operation(operation)
        if rejected is not None:
            return rejected
        row = self._rows.get(operation.id) if operation.id else None
        if isinstance(operation, Create) and row is not None:
            return Rejected("DOCUMENT_EXISTS", f"there is a document {operation.id} already")
        contract = self._find_contract(operation, row)
        if contract is None:
            return _unknown(operation)
        data = resolve_personal(row.data, row.personal or {}) if row else {}
        facts = Facts(self._author, self._setting, contract, row, data)
        decided = decide_operation(operation, facts, make_id)
        if isinstance(decided, Rejected):
            return decided
        named = (contract.contract.contract, contract.contract.version)
        if decided.begins_at is not None and self._find_workflow(*named) is None:
            return _unknown(operation)
        rules = self._rules.read(self._connection, self._author.principal.tenant_id, contract, self._setting)
        return (
            apply_before_rules(rules, facts, decided)
            or apply_after_rules(rules, facts, decided)
            or check_size(decided)
            or decided
        )

    def _find_contract(self, operation: Operation, row: DocumentRow | None) -> LoadedContract | None:
        tenant_id = self._author.principal.tenant_id
        if row is not None:
            return self._contracts.read(self._connection, tenant_id, row.entity_type, row.contract_version)
        if not isinstance(operation, Create):
            return None
        workflow = self._find_workflow(operation.entity_type)
        if workflow is None:
            return None
        return self._contracts.read(
            self._connection, tenant_id, operation.entity_type, workflow.contract_version
        )

    def _find_workflow(self, entity_type: str, contract_version: int | None = None) -> WorkflowOfType | None:
        key = (entity_type, contract_version)
        if key not in self._workflows:
            tenant_id = self._author.principal.tenant_id
            found = find_workflow(self._connection, tenant_id, entity_type, contract_version)
            self._workflows[key] = found
            if found is not None:
                self._workflows[(entity_type, found.contract_version)] = found
        return self._workflows[key]

    def write(
        self, decided: Sequence[Change | Rejected], mode: Mode, exchange: Exchange | None
    ) -> list[Outcome]:
        decided = self._take_keys(decided, mode)
        if mode == "all" and (rejected := next((d for d in decided if isinstance(d, Rejected)), None)):
            raise rejected  # keys were taken: only a rollback gives them back
        changes = [change for change in decided if isinstance(change, Change)]
        workflows = {name: found for name, found in self._workflows.items() if found is not None}
        rows = RowMaker(self._author, self._setting, workflows, make_id)
        for change in changes:
            rows.add(change)
        write_batch(
            self._connection,
            self._author.principal.tenant_id,
            rows.batch,
            now=self._setting.now,
            actor_id=self._author.principal.subject,
            trace_id=self._author.trace_id,
            exchange=exchange,
        )
        return [_to_outcome(one) for one in decided]

    def _take_keys(self, decided: Sequence[Change | Rejected], mode: Mode) -> list[Change | Rejected]:
        """With `each`, until all that are left got theirs: who is rejected keeps the keys that it has."""
        left = list(decided)
        while True:
            released, wanted = list_keys([change for change in left if isinstance(change, Change)])
            if not released and not wanted:
                return left
            tenant_id = self._author.principal.tenant_id
            lost = take_keys(self._connection, tenant_id, released, wanted, undo=mode == "each")
            left = [
                _key_taken(one, lost[one.document_id])
                if isinstance(one, Change) and one.document_id in lost
                else one
                for one in left
            ]
            if mode == "all" or not lost:
                return left


def _unknown(operation: Operation) -> Rejected:
    if isinstance(operation, Create):
        return Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{operation.entity_type}'")
    return Rejected("DOCUMENT_NOT_FOUND", f"there is no document {operation.id}")


def _key_taken(change: Change, field: str) -> Rejected:
    mistake = FieldError(f"/{field}", "KEY_TAKEN", f"another document has this {field}")
    return Rejected("KEY_TAKEN", f"another document has this {field}", fields=(mistake,))


def _reject_all(decided: Sequence[Change | Rejected], first: Rejected) -> list[Outcome]:
    """Those that could have been done say which one held them up."""
    return [
        one if isinstance(one, Rejected) else Rejected(first.code, f"not done: {first.message}")
        for one in decided
    ]


def _to_outcome(decided: Change | Rejected) -> Outcome:
    if isinstance(decided, Rejected):
        return decided
    instance_id = (decided.output or {}).get("instance_id")
    live = decided.row.instance_id if decided.row else None
    return Applied(
        document_id=decided.document_id,
        version=decided.version,
        status=decided.status,
        original_id=decided.amended_from.id if decided.amended_from else None,
        request_id=decided.request_id,
        instance_id=UUID(instance_id) if instance_id else live,
    )
