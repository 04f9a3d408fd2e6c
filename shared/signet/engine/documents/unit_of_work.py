"""The documents that one transaction holds locked, as they become: each change sees the ones before it.

Decided and kept in memory, written once at the end: a wave that passes a document through several gates sends
its row once and every version of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from signet.authoring.actions import REGISTRY, ActionRegistry
from signet.core.contracts.compiled_contract import LoadedContract
from signet.core.contracts.contract import Contract
from signet.core.documents.personal_data import resolve_personal
from signet.core.documents.rules import CompiledRule
from signet.core.errors import FieldError, Rejected
from signet.engine.cache import ContractCache
from signet.engine.documents.actions import Decided
from signet.engine.documents.change import Change, Facts, make_note, read_org, refuse_created
from signet.engine.documents.command_checks import check_operation, check_size, content_of
from signet.engine.documents.commands import Applied, Author, ConcludeTransition, Create, Operation, Outcome
from signet.engine.documents.decide import decide_operation, find_followed, make_document
from signet.engine.documents.references import Follower, Refs
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
from signet.store.database import Connection, Exchange
from signet.store.documents.write import (
    DocumentRow,
    Setting,
    WorkflowOfType,
    WriteBatch,
    find_workflow,
    take_keys,
    write_batch,
)


@dataclass(frozen=True, slots=True)
class DocumentCaches:
    """What a process knows of contracts, rules and users' Python between transactions."""

    contracts: ContractCache
    rules: RuleBook
    actions: ActionRegistry = REGISTRY


class OpenDocuments:
    def __init__(
        self,
        caches: DocumentCaches,
        connection: Connection,
        tenant_id: UUID,
        setting: Setting,
        rows: Mapping[UUID, DocumentRow],
    ) -> None:
        self._caches = caches
        self._connection = connection
        self._tenant_id = tenant_id
        self._rows = dict(rows)
        self._workflows: dict[tuple[str, int | None], WorkflowOfType | None] = {}
        self._maker = RowMaker(setting, self._workflows, make_id)
        self.setting = setting
        self._org = read_org(tenant_id, setting)
        self._refs = Refs(connection, tenant_id, self._rows)

    @property
    def batch(self) -> WriteBatch:
        return self._maker.batch

    def row(self, document_id: UUID) -> DocumentRow:
        return self._rows[document_id]

    def contract_of(self, row: DocumentRow) -> LoadedContract:
        contract = self._caches.contracts.read(
            self._connection, self._tenant_id, row.entity_type, row.contract_version
        )
        if contract is None:
            raise Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{row.entity_type}'")
        return contract

    def facts_of(
        self,
        author: Author,
        contract: LoadedContract,
        row: DocumentRow | None,
        followed: frozenset[str] = frozenset(),
    ) -> Facts:
        """`followed` are the ref fields that the expressions follow which are to be evaluated."""
        data = resolve_personal(row.data, row.personal or {}) if row else {}
        permissions = self.setting.permissions_of(author.principal.roles)
        return Facts(author, self.setting, contract, row, data, permissions, self._org, self._refs, followed)

    def read_refs(self, followers: Iterable[Follower]) -> None:
        """What many documents refer to, in one statement, before they are looked at one by one."""
        self._refs.load(followers)

    def read_refs_for(self, author: Author, operations: Iterable[Operation]) -> None:
        """What deciding on them will ask for; nothing where neither contracts nor rules follow a ref."""
        self.read_refs(
            follower for operation in operations for follower in self._list_followers(author, operation)
        )

    def rules_of(self, contract: LoadedContract) -> Sequence[CompiledRule]:
        return self._caches.rules.read(self._connection, self._tenant_id, contract, self.setting)

    def decide(self, author: Author, operation: Operation) -> Decided:
        rejected = check_operation(operation)
        if rejected is not None:
            return rejected
        row = self._row_of(operation)
        if isinstance(operation, Create) and row is not None:
            return Rejected("DOCUMENT_EXISTS", f"there is a document {operation.id} already")
        contract = self._find_contract(operation, row)
        if contract is None:
            return _unknown(operation)
        facts = self.facts_of(author, contract, row, find_followed(author, operation, contract))
        decided = decide_operation(operation, facts, make_id, self._caches.actions)
        if not isinstance(decided, Change):
            return decided
        if decided.begins_at is not None and not self._has_workflow(contract):
            return _unknown(operation)
        if _is_refusal(operation, decided):
            return decided
        return self._make_documents(decided) or self._judge(facts, decided) or decided

    def _make_documents(self, change: Change) -> Rejected | None:
        """What an action makes, each under its own contract and rules; none is made when one cannot be."""
        for index, operation in enumerate(change.creates):
            made = self._make_document(change, operation)
            if isinstance(made, Rejected):
                return refuse_created(index, operation.entity_type, made)
            change.further.append(made)
        return None

    def _make_document(self, change: Change, operation: Create) -> Change | Rejected:
        rejected = check_operation(operation)
        if rejected is not None:
            return rejected
        contract = self._find_contract(operation, None)
        if contract is None or not self._has_workflow(contract):
            return _unknown(operation)
        facts = self.facts_of(change.author, contract, None)
        made = make_document(operation, facts, operation.id or make_id())
        if isinstance(made, Rejected):
            return made
        made.made_by = {"document_id": str(change.document_id), "action": change.action}
        return self._judge(facts, made) or made

    def _judge(self, facts: Facts, change: Change) -> Rejected | None:
        """By the tenant's rules, which may change it, and by its size in the end."""
        rules = self._find_rules(change.contract)
        if isinstance(rules, Rejected):
            return rules
        facts = replace(facts, followed=facts.followed | followed_by_rules(rules, operation_of(change)))
        return (
            apply_before_rules(rules, facts, change)
            or apply_after_rules(rules, facts, change)
            or check_size(change)
        )

    def take_keys(self, changes: list[Change], *, undo: bool) -> dict[UUID, Rejected]:
        """By document: whose business key another one holds. With `undo` nothing was taken then."""
        released, wanted = list_keys(one for change in changes for one in change.whole)
        if not released and not wanted:
            return {}
        lost = take_keys(self._connection, self._tenant_id, released, wanted, undo=undo)
        if not lost:
            return {}
        found = ((change.document_id, _find_lost_key(change, lost)) for change in changes)
        return {document_id: rejected for document_id, rejected in found if rejected is not None}

    def keep(self, change: Change) -> Applied:
        """The change is decided: whatever follows in this transaction sees it."""
        self._rows |= self._maker.add(change)
        for one in change.whole:
            if one.row is None:
                self._refs.add_made(one.contract, one.document_id, one.status, one.data)
        return _to_applied(change)

    def adopt_contract(
        self, author: Author, row: DocumentRow, contract: Contract, reason: str | None
    ) -> None:
        """The document is checked against this version from now on; what it holds, and its version, stay."""
        if row.contract_version == contract.version:
            return
        change = make_note(self.facts_of(author, self.contract_of(row), row), row, "adopt_contract", reason)
        change.noted = {"contract_version": {"from": row.contract_version, "to": contract.version}}
        self.keep(change)
        self.batch.adopted_contracts.append({"id": row.id, "contract_version": contract.version})
        self._rows[row.id] = replace(self._rows[row.id], contract_version=contract.version)

    def perform(self, author: Author, operation: Operation) -> Outcome:
        """Decided and kept at once: what a workflow's step does."""
        change = self.decide(author, operation)
        if not isinstance(change, Change):
            return change
        lost = self.take_keys([change], undo=True)
        return lost.get(change.document_id) or self.keep(change)

    @property
    def org(self) -> Mapping[str, Any]:
        return self._org

    def write(self, exchange: Exchange | None = None) -> None:
        if self.batch.is_empty:
            return
        write_batch(self._connection, self._tenant_id, self.batch, now=self.setting.now, exchange=exchange)

    def _find_contract(self, operation: Operation, row: DocumentRow | None) -> LoadedContract | None:
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

    def _list_followers(self, author: Author, operation: Operation) -> Iterator[Follower]:
        """The document as it is, and as it would be."""
        row = self._row_of(operation)
        if row is None and check_operation(operation) is not None:
            return
        contract = self._find_contract(operation, row)
        if contract is None or not contract.has_readable_refs or check_operation(operation) is not None:
            return
        rules = self._find_rules(contract)
        followed = find_followed(author, operation, contract)
        if not isinstance(rules, Rejected):
            followed |= followed_by_rules(rules, kind_of(operation))
        if followed:
            yield Follower(contract, followed, row.data if row else {})
            yield Follower(contract, followed, content_of(operation))

    def _find_rules(self, contract: LoadedContract) -> Sequence[CompiledRule] | Rejected:
        try:
            return self.rules_of(contract)
        except Rejected as rejected:  # one of them no longer fits: nothing of this type is done
            return rejected

    def _has_workflow(self, contract: LoadedContract) -> bool:
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


def _is_refusal(operation: Operation, change: Change) -> bool:
    """A request ends, and nothing happens to its document: no rule can be against that."""
    is_refused = isinstance(operation, ConcludeTransition) and operation.request_status == "refused"
    return is_refused and not change.writes_document


def _find_lost_key(change: Change, lost: Mapping[UUID, str]) -> Rejected | None:
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


def _to_applied(change: Change) -> Applied:
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
