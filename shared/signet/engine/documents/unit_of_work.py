"""The documents that one transaction holds locked, as they become: each change sees the ones before it.

Changes stay in memory and are written once at the end. A wave that takes a document through several gates
sends its row once, and every version of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from signet.authoring.actions import REGISTRY, ActionRegistry
from signet.core.approvals.pins import inherit_pins, list_inherited_persons
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import Contract
from signet.core.documents.personal_data import resolve_personal
from signet.core.documents.rules import CompiledRule
from signet.core.errors import Rejected, Transient
from signet.core.expressions import FollowedField
from signet.core.tenants.caller import Caller
from signet.core.tenants.responsible import ResponsiblePersons
from signet.engine.access.persons_behind import PersonsBehindKeys
from signet.engine.cache import CompiledCache, ContractCache, TypeDefinitions
from signet.engine.documents.actions import ChangeOrRefusal
from signet.engine.documents.added_change import AddedChange, advance
from signet.engine.documents.amendments import Originals
from signet.engine.documents.business_keys import reserve, reserve_keys
from signet.engine.documents.change import (
    DocumentChange,
    InstanceStart,
    MutationContext,
    audit_only_change,
    make_org,
    refuse_created,
    to_applied,
)
from signet.engine.documents.checkpoints import Checkpoint
from signet.engine.documents.command_checks import (
    check_operation,
    check_size,
    find_refused,
    is_refusal,
    list_amendable,
    list_queries,
    refuse_all,
    refuse_unknown,
)
from signet.engine.documents.commands import Applied, ConcludeTransition, Create, Mode, Operation, Outcome
from signet.engine.documents.decide import decide_operation, list_followed, make_document
from signet.engine.documents.decisions.done_by_decision import refuse_by_hand
from signet.engine.documents.decisions.record import DocumentDecisions
from signet.engine.documents.persons.authorship import (
    derive_caller,
    find_responsible_overflow,
    find_sources,
    find_sources_of,
)
from signet.engine.documents.persons.hinderers import Hinderers
from signet.engine.documents.references import PinsInForce, RefQuery, Refs
from signet.engine.documents.rows import RowMaker
from signet.engine.documents.rules import (
    RuleBook,
    apply_rules,
    followed_by_rules,
    make_rejection_rows,
    operation_of,
)
from signet.ids import make_id
from signet.store.database import Connection
from signet.store.documents.amendments import StandingRow
from signet.store.documents.write import DocumentRow, TransactionContext, WriteBatch, write_batch
from signet.store.pipeline import PipelinedTransaction
from signet.store.responsible_sets import TransactionSets


@dataclass(frozen=True, slots=True)
class DocumentCaches:
    """The contracts, rules, users' Python and workflows that a process keeps between transactions."""

    contracts: ContractCache
    rules: RuleBook
    actions: ActionRegistry = REGISTRY
    # Votes read by it what asked for them.
    compiled: CompiledCache = field(default_factory=CompiledCache)


class DocumentUnitOfWork:
    """A unit of work over locked documents.

    A mutation calls `run`. A workflow's step calls `execute`, or `decide` and later `apply`; its wave calls
    `write` at the end.
    """

    def __init__(
        self,
        caches: DocumentCaches,
        connection: Connection,
        tenant_id: UUID,
        transaction: TransactionContext,
        rows: Mapping[UUID, DocumentRow],
    ) -> None:
        self._actions = caches.actions
        self._rules = caches.rules
        self.compiled = caches.compiled
        self.connection = connection
        self._tenant_id = tenant_id
        self._rows = dict(rows)
        # Grows with each change of a row, so that who has read one knows whether it still is the last.
        self.revision = 0
        self._definitions = TypeDefinitions(caches.contracts, connection, tenant_id)
        self.keep_responsible = TransactionSets(connection, tenant_id).keep
        self._maker = RowMaker(transaction, self.keep_responsible)
        self.refs = Refs(connection, tenant_id, self._rows)
        self.hinderers = Hinderers(connection, tenant_id, self.refs, self._rows)
        self.persons = PersonsBehindKeys(connection, tenant_id)
        self.pins = PinsInForce(connection, tenant_id)
        self._open_amendments: dict[UUID, UUID] = {}
        self.transaction = transaction
        self.org: Mapping[str, Any] = make_org(tenant_id, transaction)
        # Keys are reserved for changes that were then refused: only a rollback releases them.
        self.must_roll_back = False
        self._checkpoint: Checkpoint | None = None
        # What rules have stopped: a wave writes it, and a mutation behind its transaction.
        self.rejected: list[DocumentChange] = []

    @cached_property
    def originals(self) -> Originals:
        return Originals(self.connection, self._tenant_id, self._rows)

    @property
    def batch(self) -> WriteBatch:
        return self._maker.batch

    def row(self, document_id: UUID) -> DocumentRow:
        return self._rows[document_id]

    def contract_of(self, row: DocumentRow | StandingRow) -> CompiledContract:
        contract = self._definitions.find_contract(row.entity_type, row.contract_version)
        if contract is None:
            raise Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{row.entity_type}'")
        return contract

    def rules_of(self, contract: CompiledContract) -> Sequence[CompiledRule]:
        return self._rules.read(self.connection, self._tenant_id, contract, self.transaction)

    def make_context(
        self,
        caller: Caller,
        contract: CompiledContract,
        row: DocumentRow | None,
        followed: frozenset[FollowedField] = frozenset(),
    ) -> MutationContext:
        """Make the context of a decision; `followed` is what its expressions read behind refs."""
        principal = caller.principal
        return MutationContext(
            caller,
            self.transaction,
            contract,
            row,
            resolve_personal(row.data, row.personal or {}) if row else {},
            self.transaction.permissions_of(principal.roles),
            self.org,
            self.refs,
            followed,
            self.pins.of(row.id) if row else {},
            self.persons.behind(principal.behind) if principal.is_key else None,
            self._open_amendments.get(row.id) if row else None,
            DocumentDecisions(self.connection, self._tenant_id, row.id) if row else None,
        )

    def run(
        self,
        caller: Caller,
        operations: Sequence[Operation],
        mode: Mode,
        pipeline: PipelinedTransaction | None = None,
    ) -> list[Outcome]:
        """Decide on all operations, reserve their keys, apply the changes and write them."""
        self.refs.load([query for operation in operations for query in self._list_queries(caller, operation)])
        self.pins.read_for(operations, self._rows, self._find_contract)
        self._read_amendments(operations)
        decided = [self.decide(caller, operation) for operation in operations]
        if mode == "all" and (refused := find_refused(decided)):
            return refuse_all(decided, refused)
        before, decided = decided, reserve_keys(self.connection, self._tenant_id, decided, mode)
        self.hinderers.add_by_keys(before, decided)
        if mode == "all" and (refused := find_refused(decided)):
            self.must_roll_back = True
            return refuse_all(decided, refused)
        outcomes = [self._apply_last(one) if isinstance(one, DocumentChange) else one for one in decided]
        self._write(pipeline)
        return outcomes

    def execute(self, caller: Caller, operation: Operation) -> Outcome:
        """Decide on an operation and apply it at once, as a workflow's step does."""
        change = self.decide(caller, operation)
        if not isinstance(change, DocumentChange):
            return change
        lost = reserve(self.connection, self._tenant_id, [change], undo=True, checkpoint=self._checkpoint)
        self.hinderers.add_by_keys([change], [] if lost else [change])
        return lost.get(change.document_id) or self.apply(change)

    def begin_undoable(self) -> None:
        self._checkpoint = Checkpoint(self._rows, self.batch, self.refs)

    def end_undoable(self, *, undo: bool) -> None:
        checkpoint, self._checkpoint = self._checkpoint, None
        if undo and checkpoint is not None:
            checkpoint.restore(self.connection)
            self.revision += 1

    def decide(self, caller: Caller, operation: Operation) -> ChangeOrRefusal:
        if rejected := check_operation(operation):
            return rejected
        row = self._row_of(operation)
        if isinstance(operation, Create) and row is not None:
            return Rejected("DOCUMENT_EXISTS", f"there is a document {operation.id} already")
        contract = self._find_contract(operation, row)
        if contract is None:
            return refuse_unknown(operation)
        context = self.make_context(caller, contract, row, list_followed(caller, operation, contract))
        change = decide_operation(operation, context, make_id, self._actions)
        if not isinstance(change, DocumentChange):
            self.hinderers.add_by_permission(operation, context, change)
            return change
        if not self._pin_workflow(change):
            return refuse_unknown(operation)
        if is_refusal(operation, change):
            return change
        change.content_responsible |= find_sources_of(operation, context)
        return (
            self._replace_original(operation, row, change)
            or self._make_documents(operation, context, change)
            or self._apply_rules(context, change)
            or find_responsible_overflow(change)
            or change
        )

    def _read_amendments(self, operations: Sequence[Operation]) -> None:
        """Read which documents are amended, where an answer depends on it; for most operations nothing."""
        rows = [(operation, row) for operation in operations if (row := self._row_of(operation))]
        amendable = [(*pair, found) for pair in rows if (found := self._find_contract(*pair))]
        if met := list_amendable(amendable):
            self._open_amendments = self.originals.list_open(met)

    def _replace_original(
        self, operation: Operation, row: DocumentRow | None, change: DocumentChange
    ) -> Rejected | None:
        """Let an amendment that settles take the place of its original."""
        if row is None or row.amended_from_id is None or not isinstance(operation, ConcludeTransition):
            return None
        original = self.originals.find_replaced(operation, change.contract, row)
        if original is None:
            return None
        of_original = self.make_context(change.caller, self.contract_of(original), original)
        return self.originals.replace(original, of_original, change)

    def apply(self, change: DocumentChange) -> Applied:
        """Apply a decided change: the rest of this transaction sees it."""
        if change.replaces is not None and reserve(self.connection, self._tenant_id, [change], undo=True):
            raise Transient("DATABASE_CONTENDED", "another document has taken a key of the amendment")
        if change.before is not None and change.caller.instance_id is not None:
            self.pins.point(change.contract, change.before, change.after.data, is_approved=change.is_approved)
        self._take(advance(self._add(change), self.transaction.now))
        for part in change.parts:
            if part.before is None:
                after, made = part.after, (part.contract, part.document_id)
                self.refs.add_made(*made, after.status, after.data, part.responsible)
        return to_applied(change)

    def _add(self, change: DocumentChange) -> list[AddedChange]:
        """Add the rows of a change. A request makes no version that names who wrote what it has read."""
        if change.before is not None and not change.writes_document and change.content_responsible:
            self.widen_editors(change.document_id, change.content_responsible)
            change.before = self._rows[change.document_id]
        return self._maker.add(change)

    def _apply_last(self, change: DocumentChange) -> Applied:
        """Apply a change after which nothing of this transaction is decided."""
        self._add(change)
        return to_applied(change)

    def adopt_contract(
        self, caller: Caller, row: DocumentRow, contract: Contract, reason: str | None
    ) -> None:
        """Check the document against this version from now on; its content and its version stay."""
        if row.contract_version == contract.version:
            return
        context = self.make_context(caller, self.contract_of(row), row)
        detail = {"contract_version": {"from": row.contract_version, "to": contract.version}}
        self.apply(audit_only_change(context, row, "adopt_contract", reason, detail=detail))
        self.batch.adopted_contracts.append({"id": row.id, "contract_version": contract.version})
        self._take({row.id: replace(self._rows[row.id], contract_version=contract.version)})

    def widen_editors(self, document_id: UUID, persons: ResponsiblePersons) -> None:
        """Count persons as editors of a document whose workflow has read what they wrote."""
        row = self._rows[document_id]
        self._take({document_id: self._maker.widen_editors(self.connection, row, persons)})

    def _take(self, changed: Mapping[UUID, DocumentRow]) -> None:
        self._rows |= changed
        self.revision += 1

    def write(self, pipeline: PipelinedTransaction | None = None) -> None:
        """Write the changes, and what rules have stopped: a wave commits though a step is refused."""
        self.hinderers.write()
        self.batch.rule_executions.extend(make_rejection_rows(self.rejected, self.keep_responsible))
        self._write(pipeline)

    def _write(self, pipeline: PipelinedTransaction | None) -> None:
        if not self.batch.is_empty:
            known = self.connection, self._tenant_id, self.batch
            write_batch(*known, now=self.transaction.now, pipeline=pipeline)

    def _row_of(self, operation: Operation) -> DocumentRow | None:
        return self._rows.get(operation.id) if operation.id else None

    def _find_contract(self, operation: Operation, row: DocumentRow | None) -> CompiledContract | None:
        if row is not None:
            return self._definitions.find_contract(row.entity_type, row.contract_version)
        if isinstance(operation, Create):
            return self._definitions.find_newest_contract(operation.entity_type)
        return None

    def find_rules(self, contract: CompiledContract) -> Sequence[CompiledRule] | Rejected:
        """Find the rules, or the rejection of every change because one rule no longer fits the contract."""
        try:
            return self.rules_of(contract)
        except Rejected as rejected:
            return rejected

    def _list_queries(self, caller: Caller, operation: Operation) -> Sequence[RefQuery]:
        """List what deciding will read by refs."""
        if check_operation(operation) is not None:
            return ()
        row = self._row_of(operation)
        contract = self._find_contract(operation, row)
        if contract is None or not contract.has_readable_refs:
            return ()
        return list_queries(caller, operation, contract, row, self.find_rules(contract))

    def _pin_workflow(self, change: DocumentChange) -> bool:
        """Pin the workflow of the instance that begins, and return False where there is none."""
        if not isinstance(change.instance, InstanceStart):
            return True
        change.instance.workflow = self._definitions.workflow_of(change.contract)
        return change.instance.workflow is not None

    def _make_documents(
        self, operation: Operation, context: MutationContext, change: DocumentChange
    ) -> Rejected | None:
        """Make the documents of an action, each under its own contract and rules; one refusal refuses all."""
        if change.creates and (done := refuse_by_hand(self.connection, self.compiled, operation, context)):
            return done
        for index, create in enumerate(change.creates):
            new = self._make_document(change, create)
            if isinstance(new, Rejected):
                return refuse_created(index, create.entity_type, new)
            change.further.append(new)
        return None

    def _make_document(self, change: DocumentChange, operation: Create) -> DocumentChange | Rejected:
        if rejected := check_operation(operation):
            return rejected
        contract = self._definitions.find_newest_contract(operation.entity_type)
        if contract is None or self._definitions.workflow_of(contract) is None:
            return refuse_unknown(operation)
        context = self.make_context(derive_caller(change), contract, None)
        pins, origin = self.pins.of(change.document_id), str(change.document_id)
        context = replace(context, pins=inherit_pins(pins, origin, contract, operation.data))
        new = make_document(operation, context, operation.id or make_id())
        if isinstance(new, Rejected):
            return new
        self._pin_workflow(new)
        new.note.made_by = {"document_id": origin, "action": change.note.action}
        rejected = self._apply_rules(context, new)
        if isinstance(new.instance, InstanceStart):
            new.instance.pins = inherit_pins(pins, origin, contract, new.after.data)
            new.content_responsible |= list_inherited_persons(new.instance.pins)
        return rejected or new

    def _apply_rules(self, context: MutationContext, change: DocumentChange) -> Rejected | None:
        """Apply the tenant's rules, which may set values, and then check the size of the result."""
        rules = self.find_rules(change.contract)
        if isinstance(rules, Rejected):
            return rules
        followed = followed_by_rules(rules, operation_of(change))
        if not followed <= context.followed:
            context = replace(context, followed=context.followed | followed)
        refused = apply_rules(rules, context, change)
        if refused is not None:
            if refused.code == "RULE_REJECTED":
                self.rejected.append(change)
                self.hinderers.add_by_rule(rules, context, change)
            return refused
        if followed:  # by what they have read they set values, or let the change pass
            change.content_responsible |= find_sources(replace(context, data=change.after.data), followed)
        return check_size(change)
