"""Published definitions, loaded as moves and restarts compare them."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from signet.core.approvals.unpinned_reads import list_unpinned_reads
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.errors import Rejected
from signet.core.repair.move_check import Definition
from signet.core.runtime.workflow import Workflow
from signet.engine.cache import CompiledCache
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.store.database import Connection
from signet.store.definitions.write import DefinitionRow, find_definition
from signet.store.instances.moves import find_target


@dataclass(frozen=True, slots=True)
class LoadedDefinition:
    row: DefinitionRow
    definition: Definition
    contract: CompiledContract | None


def list_unpinned(
    old: LoadedDefinition, new: LoadedDefinition, status: str | None, *, is_decided: bool
) -> Sequence[str]:
    """List what the new definition reads of other documents behind a gate that no approval has pinned."""
    if status is None or old.contract is None or new.contract is None:
        return ()
    workflows = old.definition.workflow, old.contract, new.definition.workflow, new.contract
    return list_unpinned_reads(*workflows, status, is_decided=is_decided)


@dataclass(frozen=True, slots=True)
class DefinitionLoader:
    """The definitions of a tenant, for one transaction."""

    connection: Connection
    tenant_id: UUID
    caches: DocumentCaches
    compiled: CompiledCache

    def read(self, definition_id: UUID) -> LoadedDefinition:
        """Read a definition that was published, also one that is archived by now."""
        row = find_definition(self.connection, self.tenant_id, definition_id)
        assert row is not None and row.published_at is not None
        workflow = self.compiled.read(self.connection, self.tenant_id, row.id, row.version)
        contract = self._read_contract(workflow)
        own = contract.contract if contract is not None else None
        definition = Definition(str(row.id), row.name, row.version, row.published_at, workflow, own)
        return LoadedDefinition(row, definition, contract)

    def find(self, of: DefinitionRow, name: str | None, version: int) -> LoadedDefinition:
        """Find a published version of the workflow, or of another one for the same documents."""
        name = name or of.name
        target = find_target(
            self.connection, self.tenant_id, of.entity_type, name, version, of.definition_kind
        )
        if target is None:
            sentence = f"there is no published version {version} of the workflow '{name}'"
            raise Rejected("DEFINITION_NOT_FOUND", sentence)
        return self.read(target.id)

    def _read_contract(self, workflow: Workflow) -> CompiledContract | None:
        pinned = workflow.content.get("contract")
        if pinned is None:
            return None
        return self.caches.contracts.read(
            self.connection, self.tenant_id, workflow.content["entity_type"], pinned["version"]
        )
