"""Contracts, rules and workflows of the documents of one transaction, each looked up once."""

from collections.abc import Sequence
from uuid import UUID

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.documents.rules import CompiledRule
from signet.core.errors import Rejected
from signet.engine.cache import ContractCache
from signet.engine.documents.commands import Create, Operation
from signet.engine.documents.rules import RuleBook
from signet.store.database import Connection
from signet.store.documents.write import DocumentRow, TransactionContext, WorkflowOfType, find_workflow


class DocumentDefinitions:
    """The definitions that the documents of one transaction are under."""

    def __init__(
        self,
        contracts: ContractCache,
        rules: RuleBook,
        connection: Connection,
        tenant_id: UUID,
        transaction: TransactionContext,
    ) -> None:
        self._contracts = contracts
        self._rules = rules
        self._connection = connection
        self._tenant_id = tenant_id
        self._transaction = transaction
        self._workflows: dict[tuple[str, int | None], WorkflowOfType | None] = {}

    def contract_of(self, row: DocumentRow) -> CompiledContract:
        contract = self._contracts.read(
            self._connection, self._tenant_id, row.entity_type, row.contract_version
        )
        if contract is None:
            raise Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{row.entity_type}'")
        return contract

    def find_contract(self, operation: Operation, row: DocumentRow | None) -> CompiledContract | None:
        """Find the document's contract, or for a new document the one that its type's workflow names."""
        if row is not None:
            entity_type, version = row.entity_type, row.contract_version
        elif isinstance(operation, Create):
            workflow = self._find_workflow(operation.entity_type)
            if workflow is None:
                return None
            entity_type, version = operation.entity_type, workflow.contract_version
        else:
            return None
        return self._contracts.read(self._connection, self._tenant_id, entity_type, version)

    def rules_of(self, contract: CompiledContract) -> Sequence[CompiledRule]:
        return self._rules.read(self._connection, self._tenant_id, contract, self._transaction)

    def find_rules(self, contract: CompiledContract) -> Sequence[CompiledRule] | Rejected:
        """Find the rules, or the rejection of every change because one rule no longer fits the contract."""
        try:
            return self.rules_of(contract)
        except Rejected as rejected:
            return rejected

    def workflow_of(self, contract: CompiledContract) -> WorkflowOfType | None:
        """Return the workflow of new instances under this contract; without one, none can begin."""
        return self._find_workflow(contract.contract.contract, contract.contract.version)

    def _find_workflow(self, entity_type: str, contract_version: int | None = None) -> WorkflowOfType | None:
        key = (entity_type, contract_version)
        if key not in self._workflows:
            workflow = find_workflow(self._connection, self._tenant_id, entity_type, contract_version)
            self._workflows[key] = workflow
            if workflow is not None:
                self._workflows[(entity_type, workflow.contract_version)] = workflow
        return self._workflows[key]
