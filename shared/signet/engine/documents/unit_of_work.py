"""The documents that one transaction holds locked, as they become: each change sees the ones before it.

Decided and kept in memory, written once at the end: a wave that passes a document through several gates sends
its row once and every version of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from signet.authoring.actions import REGISTRY, ActionRegistry
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import Contract
from signet.core.documents.personal_data import resolve_personal
from signet.core.documents.rules import CompiledRule
from signet.core.errors import FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.engine.cache import ContractCache
from signet.engine.documents.actions import ChangeOrRefusal
from signet.engine.documents.change import (
    DocumentChange,
    MutationContext,
    audit_only_change,
    read_org,
    refuse_created,
)
from signet.engine.documents.command_checks import check_operation, check_size, content_of
from signet.engine.documents.commands import Applied, ConcludeTransition, Create, Operation, Outcome
from signet.engine.documents.decide import decide_operation, find_followed, make_document
from signet.engine.documents.references import RefQuery, Refs
from signet.engine.documents.rows import RowMaker, list_keys
from signet.engine.documents.rules import (
    RuleBook,
    apply_after_rules,
    apply_before_rules,
    followed_by_rules,
    kind_of,
    operation_of,
)
from signet.ids import make_id
from signet.store.database import Connection
from signet.store.documents.write import (
    DocumentRow,
    TransactionContext,
    WorkflowOfType,
    WriteBatch,
    find_workflow,
    reserve_business_keys,
    write_batch,
)
from signet.store.pipeline import PipelinedTransaction


@dataclass(frozen=True, slots=True)
class DocumentCaches:
    """What a process knows of contracts, rules and users' Python between transactions."""

    contracts: ContractCache
    rules: RuleBook
    actions: ActionRegistry = REGISTRY


class DocumentUnitOfWork:
    def __init__(
        self,
        caches: DocumentCaches,
        connection: Connection,
        tenant_id: UUID,
        transaction: TransactionContext,
        rows: Mapping[UUID, DocumentRow],
    ) -> None:
        self._caches = caches
        self._connection = connection
        self._tenant_id = tenant_id
        self._rows = dict(rows)
        self._workflows: dict[tuple[str, int | None], WorkflowOfType | None] = {}
        self._maker = RowMaker(transaction, self._workflows, make_id)
        self.transaction = transaction
        self._org = read_org(tenant_id, transaction)
        self._refs = Refs(connection, tenant_id, self._rows)

    @property
    def batch(self) -> WriteBatch:
        return self._maker.batch

    def row(self, document_id: UUID) -> DocumentRow:
        return self._rows[document_id]

    def contract_of(self, row: DocumentRow) -> CompiledContract:
        contract = self._caches.contracts.read(
            self._connection, self._tenant_id, row.entity_type, row.contract_version
        )
        if contract is None:
            raise Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{row.entity_type}'")
        return contract

    def facts_of(
        self,
        caller: Caller,
        contract: CompiledContract,
        row: DocumentRow | None,
        followed: frozenset[str] = frozenset(),
    ) -> MutationContext:
        """`followed` are the ref fields that the expressions follow which are to be evaluated."""
        data = resolve_personal(row.data, row.personal or {}) if row else {}
        permissions = self.transaction.permissions_of(caller.principal.roles)
        return MutationContext(
            caller, self.transaction, contract, row, data, permissions, self._org, self._refs, followed
        )

    def read_refs(self, queries: Iterable[RefQuery]) -> None:
        """What many documents refer to, in one statement, before they are looked at one by one."""
        self._refs.load(queries)

    def read_refs_for(self, caller: Caller, operations: Iterable[Operation]) -> None:
        """What deciding on them will ask for; nothing where neither contracts nor rules follow a ref."""
        self.read_refs(query for operation in operations for query in self._list_followers(caller, operation))

    def rules_of(self, contract: CompiledContract) -> Sequence[CompiledRule]:
        return self._caches.rules.read(self._connection, self._tenant_id, contract, self.transaction)

    def decide(self, caller: Caller, operation: Operation) -> ChangeOrRefusal:
        rejected = check_operation(operation)
        if rejected is not None:
            return rejected
        row = self._row_of(operation)
        if isinstance(operation, Create) and row is not None:
            return Rejected("DOCUMENT_EXISTS", f"there is a document {operation.id} already")
        contract = self._find_contract(operation, row)
        if contract is None:
            return _unknown(operation)
        context = self.facts_of(caller, contract, row, find_followed(caller, operation, contract))
        decided = decide_operation(operation, context, make_id, self._caches.actions)
        if not isinstance(decided, DocumentChange):
            return decided
        if decided.begins_at is not None and not self._has_workflow(contract):
            return _unknown(operation)
        if _is_refusal(operation, decided):
            return decided
        return self._make_documents(decided) or self._judge(context, decided) or decided

    def _make_documents(self, change: DocumentChange) -> Rejected | None:
        """What an action makes, each under its own contract and rules; none is made when one cannot be."""
        for index, operation in enumerate(change.creates):
            made = self._make_document(change, operation)
            if isinstance(made, Rejected):
                return refuse_created(index, operation.entity_type, made)
            change.further.append(made)
        return None

    def _make_document(self, change: DocumentChange, operation: Create) -> DocumentChange | Rejected:
        rejected = check_operation(operation)
        if rejected is not None:
            return rejected
        contract = self._find_contract(operation, None)
        if contract is None or not self._has_workflow(contract):
            return _unknown(operation)
        context = self.facts_of(change.caller, contract, None)
        made = make_document(operation, context, operation.id or make_id())
        if isinstance(made, Rejected):
            return made
        made.made_by = {"document_id": str(change.document_id), "action": change.action}
        return self._judge(context, made) or made

    def _judge(self, context: MutationContext, change: DocumentChange) -> Rejected | None:
        """By the tenant's rules, which may change it, and by its size in the end."""
        rules = self._find_rules(change.contract)
        if isinstance(rules, Rejected):
            return rules
        context = replace(context, followed=context.followed | followed_by_rules(rules, operation_of(change)))
        return (
            apply_before_rules(rules, context, change)
            or apply_after_rules(rules, context, change)
            or check_size(change)
        )

    def reserve_business_keys(self, changes: list[DocumentChange], *, undo: bool) -> dict[UUID, Rejected]:
        """By document: whose business key another one holds. With `undo` nothing was taken then."""
        released, wanted = list_keys(one for change in changes for one in change.whole)
        if not released and not wanted:
            return {}
        lost = reserve_business_keys(self._connection, self._tenant_id, released, wanted, undo=undo)
        if not lost:
            return {}
        found = ((change.document_id, _find_lost_key(change, lost)) for change in changes)
        return {document_id: rejected for document_id, rejected in found if rejected is not None}

    def apply(self, change: DocumentChange) -> Applied:
        """The change is decided: whatever follows in this transaction sees it."""
        self._rows |= self._maker.add(change)
        for one in change.whole:
            if one.row is None:
                self._refs.add_made(one.contract, one.document_id, one.status, one.data)
        return _to_applied(change)

    def adopt_contract(
        self, caller: Caller, row: DocumentRow, contract: Contract, reason: str | None
    ) -> None:
        """The document is checked against this version from now on; what it holds, and its version, stay."""
        if row.contract_version == contract.version:
            return
        change = audit_only_change(
            self.facts_of(caller, self.contract_of(row), row), row, "adopt_contract", reason
        )
        change.audit_detail = {"contract_version": {"from": row.contract_version, "to": contract.version}}
        self.apply(change)
        self.batch.adopted_contracts.append({"id": row.id, "contract_version": contract.version})
        self._rows[row.id] = replace(self._rows[row.id], contract_version=contract.version)

    def execute(self, caller: Caller, operation: Operation) -> Outcome:
        """Decided and kept at once: what a workflow's step does."""
        change = self.decide(caller, operation)
        if not isinstance(change, DocumentChange):
            return change
        lost = self.reserve_business_keys([change], undo=True)
        return lost.get(change.document_id) or self.apply(change)

    @property
    def org(self) -> Mapping[str, Any]:
        return self._org

    def write(self, pipeline: PipelinedTransaction | None = None) -> None:
        if self.batch.is_empty:
            return
        write_batch(
            self._connection, self._tenant_id, self.batch, now=self.transaction.now, pipeline=pipeline
        )

    def _find_contract(self, operation: Operation, row: DocumentRow | None) -> CompiledContract | None:
        contracts = self._caches.contracts
        if row is not None:
            return contracts.read(self._connection, self._tenant_id, row.entity_type, row.contract_version)
        if not isinstance(operation, Create):
            return None
        workflow = self._find_workflow(operation.entity_type)
        if workflow is None:
            return None
        return contracts.read(
            self._connection, self._tenant_id, operation.entity_type, workflow.contract_version
        )

    def _row_of(self, operation: Operation) -> DocumentRow | None:
        return self._rows.get(operation.id) if operation.id else None

    def _list_followers(self, caller: Caller, operation: Operation) -> Iterator[RefQuery]:
        """The document as it is, and as it would be."""
        row = self._row_of(operation)
        if row is None and check_operation(operation) is not None:
            return
        contract = self._find_contract(operation, row)
        if contract is None or not contract.has_readable_refs or check_operation(operation) is not None:
            return
        rules = self._find_rules(contract)
        followed = find_followed(caller, operation, contract)
        if not isinstance(rules, Rejected):
            followed |= followed_by_rules(rules, kind_of(operation))
        if followed:
            yield RefQuery(contract, followed, row.data if row else {})
            yield RefQuery(contract, followed, content_of(operation))

    def _find_rules(self, contract: CompiledContract) -> Sequence[CompiledRule] | Rejected:
        try:
            return self.rules_of(contract)
        except Rejected as rejected:  # one of them no longer fits: nothing of this type is done
            return rejected

    def _has_workflow(self, contract: CompiledContract) -> bool:
        """An instance of it can begin; the rows are made from what is found here."""
        return self._find_workflow(contract.contract.contract, contract.contract.version) is not None

    def _find_workflow(self, entity_type: str, contract_version: int | None = None) -> WorkflowOfType | None:
        key = (entity_type, contract_version)
        if key not in self._workflows:
            found = find_workflow(self._connection, self._tenant_id, entity_type, contract_version)
            self._workflows[key] = found
            if found is not None:
                self._workflows[(entity_type, found.contract_version)] = found
        return self._workflows[key]


def _unknown(operation: Operation) -> Rejected:
    if isinstance(operation, Create):
        return Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{operation.entity_type}'")
    return Rejected("DOCUMENT_NOT_FOUND", f"there is no document {operation.id}")


def _is_refusal(operation: Operation, change: DocumentChange) -> bool:
    """A request ends, and nothing happens to its document: no rule can be against that."""
    is_refused = isinstance(operation, ConcludeTransition) and operation.request_status == "refused"
    return is_refused and not change.writes_document


def _find_lost_key(change: DocumentChange, lost: Mapping[UUID, str]) -> Rejected | None:
    for index, one in enumerate(change.whole):
        field = lost.get(one.document_id)
        if field is not None:
            taken = _key_taken(field)
            own = one is change
            return taken if own else refuse_created(index, one.contract.contract.contract, taken)
    return None


def _key_taken(field: str) -> Rejected:
    mistake = FieldError(f"/{field}", "KEY_TAKEN", f"another document has this {field}")
    return Rejected("KEY_TAKEN", f"another document has this {field}", fields=(mistake,))


def _to_applied(change: DocumentChange) -> Applied:
    live = change.row.instance_id if change.row else None
    output = change.output
    if change.output_fields is not None:
        output = {name: change.data.get(name) for name in change.output_fields}
    return Applied(
        document_id=change.document_id,
        version=change.version,
        status=change.status,
        original_id=change.amended_from.id if change.amended_from else None,
        request_id=change.request_id,
        instance_id=change.instance_id or live,
        output=output,
    )
