"""Published contracts and compiled workflows in memory. Loading verifies the hash (WF-07)."""

import json
import time
from collections import OrderedDict
from collections.abc import Callable
from uuid import UUID

from signet.core.canonical_json import hash_bytes
from signet.core.compiler.artifact import parse_artifact
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import Contract
from signet.core.errors import Defect, Rejected
from signet.core.explain.vocabulary import Vocabulary
from signet.core.runtime.workflow import Workflow
from signet.core.validation.strict_model import parse_strictly
from signet.store.database import Connection
from signet.store.definitions.write import read_compiled, read_contract_row
from signet.store.documents.write import WorkflowOfType, find_workflow

MAX_CACHED_CONTRACTS = 500
_ContractKey = tuple[UUID, str, int]


class ContractCache:
    def __init__(self) -> None:
        self._loaded: OrderedDict[_ContractKey, CompiledContract] = OrderedDict()

    def read(
        self, connection: Connection, tenant_id: UUID, entity_type: str, version: int
    ) -> CompiledContract | None:
        key = (tenant_id, entity_type, version)
        loaded = self._loaded.get(key)
        if loaded is not None:
            return loaded
        row = read_contract_row(connection, tenant_id, entity_type, version)
        if row is None or row.status == "draft":
            return None
        loaded = load_contract(row.body, row.hash)
        self._loaded[key] = loaded
        while len(self._loaded) > MAX_CACHED_CONTRACTS:
            self._loaded.popitem(last=False)
        return loaded


def load_contract(body: str, expected_hash: str) -> CompiledContract:
    if hash_bytes(body.encode()) != expected_hash:
        raise Defect("CONTRACT_HASH_MISMATCH", "a stored contract does not match its hash")
    contract, findings = parse_strictly(Contract, json.loads(body))
    if contract is None:
        raise Defect("CONTRACT_UNREADABLE", f"a stored contract cannot be read: {findings[0].sentence}")
    words = Vocabulary(contract.contract, contract)
    return CompiledContract(contract, expected_hash, words.describe_condition)


class TypeDefinitions:
    """The contracts and workflows of the entity types that one transaction meets, each looked up once."""

    def __init__(self, contracts: ContractCache, connection: Connection, tenant_id: UUID) -> None:
        self._contracts = contracts
        self._connection = connection
        self._tenant_id = tenant_id
        self._workflows: dict[tuple[str, int | None], WorkflowOfType | None] = {}
        self._met: dict[tuple[str, int], CompiledContract] = {}

    def find_contract(self, entity_type: str, version: int) -> CompiledContract | None:
        met = self._met.get((entity_type, version))
        if met is None:
            met = self._contracts.read(self._connection, self._tenant_id, entity_type, version)
            if met is not None:
                self._met[entity_type, version] = met
        return met

    def find_newest_contract(self, entity_type: str) -> CompiledContract | None:
        """Find the contract of new documents: the one that the workflow of their type names."""
        workflow = self._find_workflow(entity_type, None)
        return None if workflow is None else self.find_contract(entity_type, workflow.contract_version)

    def workflow_of(self, contract: CompiledContract) -> WorkflowOfType | None:
        """Return the workflow of new instances under this contract; without one, none can begin."""
        return self._find_workflow(contract.contract.contract, contract.contract.version)

    def _find_workflow(self, entity_type: str, contract_version: int | None) -> WorkflowOfType | None:
        key = (entity_type, contract_version)
        if key not in self._workflows:
            workflow = find_workflow(self._connection, self._tenant_id, entity_type, contract_version)
            self._workflows[key] = workflow
            if workflow is not None:
                self._workflows[(entity_type, workflow.contract_version)] = workflow
        return self._workflows[key]


MAX_CACHED_WORKFLOWS = 200
TTL_SECONDS = 300.0
_WorkflowKey = tuple[UUID, UUID, int]


class CompiledCache:
    """The compiled workflows of a process; tenants whose workflows have one hash share one copy."""

    def __init__(self, read_seconds: Callable[[], float] = time.monotonic) -> None:
        # The age of a cache entry is no fact of the domain, so the clock of the process serves.
        self._read_seconds = read_seconds
        self._found: OrderedDict[_WorkflowKey, tuple[float, str]] = OrderedDict()
        self._loaded: OrderedDict[str, Workflow] = OrderedDict()

    def read(self, connection: Connection, tenant_id: UUID, definition_id: UUID, version: int) -> Workflow:
        key, moment = (tenant_id, definition_id, version), self._read_seconds()
        held = self._found.get(key)
        if held is not None and moment - held[0] < TTL_SECONDS and held[1] in self._loaded:
            self._loaded.move_to_end(held[1])
            return self._loaded[held[1]]
        stored = read_compiled(connection, tenant_id, definition_id, version)
        if stored is None:
            raise Rejected(
                "DEFINITION_NOT_FOUND", f"there is no compiled definition {definition_id} version {version}"
            )
        # Verified before the cache is asked: a changed row must not hide behind the workflow of its old hash.
        artifact = parse_artifact(*stored)
        workflow = self._loaded.get(artifact.hash) or Workflow(artifact)
        self._keep(key, moment, workflow)
        return workflow

    def _keep(self, key: _WorkflowKey, moment: float, workflow: Workflow) -> None:
        self._found[key] = (moment, workflow.hash)
        self._found.move_to_end(key)
        self._loaded[workflow.hash] = workflow
        self._loaded.move_to_end(workflow.hash)
        while len(self._loaded) > MAX_CACHED_WORKFLOWS:
            self._loaded.popitem(last=False)
        while len(self._found) > MAX_CACHED_WORKFLOWS * 10:
            self._found.popitem(last=False)
