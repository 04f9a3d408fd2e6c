"""Contracts and definitions read from their rows and compiled; nothing is written."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from signet.authoring.actions import REGISTRY
from signet.core.compiler.artifact import Artifact
from signet.core.compiler.compiler import Compilation
from signet.core.contracts.contract import Contract
from signet.core.errors import Rejected
from signet.core.previews.compile_report import (
    MODELS,
    ArtifactNames,
    add_to_report,
    compile_text,
    list_names,
    place_in_text,
    write_compile_report,
)
from signet.core.previews.placed_findings import PlacedFinding, reject_findings
from signet.core.tenants.tenant_file import TenantSettings
from signet.core.validation.finding import Finding, has_errors, make_finding, sort_findings
from signet.engine.access.named_things import check_names
from signet.engine.cache import load_contract
from signet.engine.definitions.account_findings import check_accounts
from signet.engine.definitions.heavy_calls import (
    IN_PLACE,
    LARGE_CONTRACT_PARTS,
    LARGE_DOCUMENT_BYTES,
    HeavyCalls,
    choose_place,
)
from signet.store.database import Connection
from signet.store.definitions import write as store
from signet.store.definitions.names import find_patch_in_force
from signet.store.definitions.read import list_readers
from signet.store.definitions.write import DefinitionRow
from signet.store.tenants.tenants import find_tenant


@dataclass(frozen=True, slots=True)
class Subject:
    """The text of a patch or an automation, with everything that it is compiled with."""

    kind: str
    name: str
    entity_type: str
    text: str
    contract: Contract | None
    settings: TenantSettings
    # Where it is parsed and compiled: here, or where heavy calls run.
    place: HeavyCalls

    def compile(self) -> Compilation:
        """Compile it by itself."""
        self._require_contract()
        return self.place.call(compile_text, self.kind, self.text, self.contract, self.settings)

    def compile_for(self, connection: Connection, tenant_id: UUID) -> Compilation:
        """Compile it as it would be published: what it names must exist in the tenant."""
        compilation = self.compile()
        artifact = compilation.artifact
        beside = self._check_tenant(connection, tenant_id, list_names(artifact) if artifact else None)
        findings = sort_findings((*compilation.findings, *beside))
        return Compilation(None if has_errors(beside) else artifact, findings)

    def report(self, connection: Connection, tenant_id: UUID) -> str:
        """Compile it as it would be published, and return the report as JSON."""
        self._require_contract()
        written = self.place.call(write_compile_report, self.kind, self.text, self.contract, self.settings)
        beside = self._check_tenant(connection, tenant_id, written.names)
        if not beside:
            return written.text
        return self.place.call(add_to_report, written.text, self.kind, self.text, beside)

    def require_artifact(self, compilation: Compilation) -> tuple[Artifact, tuple[PlacedFinding, ...]]:
        """Return the artifact and its warnings, or raise every error."""
        findings = compilation.findings
        placed = self.place.call(place_in_text, self.kind, self.text, findings) if findings else ()
        if compilation.artifact is None:
            raise reject_findings(placed)
        return compilation.artifact, placed

    def _require_contract(self) -> None:
        if self.kind == "org_patch" and self.contract is None:
            name = self.entity_type
            raise Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{name}'")

    def _check_tenant(
        self, connection: Connection, tenant_id: UUID, names: ArtifactNames | None
    ) -> tuple[Finding, ...]:
        """Find what a workflow names and the tenant does not have; the first kind with errors ends it."""
        found = list(self._check_replaced(connection, tenant_id))
        if names is None:
            return tuple(found)
        found += check_names(connection, tenant_id, names)
        if not has_errors(found):
            found += check_accounts(connection, tenant_id, names.accounts)
        if not has_errors(found):
            found += self._check_loaded(names.actions)
            found += self._check_read(connection, tenant_id, names.error_edges)
        return tuple(found)

    def _check_loaded(self, actions: Mapping[str, str]) -> Iterator[Finding]:
        """Name the Python actions that this process cannot run; a worker with other modules may."""
        for node_id, name in actions.items():
            declared = self.contract.actions.get(name) if self.contract is not None else None
            if declared is None or declared.kind != "python":
                continue
            if REGISTRY.find(self.entity_type, name) is None:
                yield make_finding("ACTION_NOT_LOADED_HERE", node_id, name=name)

    def _check_read(
        self, connection: Connection, tenant_id: UUID, error_edges: Sequence[str]
    ) -> Iterator[Finding]:
        """Name the edges for errors that are not taken because other documents may read those of the type."""
        if not error_edges or self.contract is None or self.contract.separation_of_duties.deciding:
            return
        if list_readers(connection, tenant_id, self.entity_type, 1):
            yield from (make_finding("ERROR_EDGE_NOT_TAKEN", node_id) for node_id in error_edges)

    def _check_replaced(self, connection: Connection, tenant_id: UUID) -> Iterator[Finding]:
        """Name the other patch that goes out of force: new documents of a type run one."""
        if self.kind != "org_patch":
            return
        old = find_patch_in_force(connection, tenant_id, self.entity_type)
        if old is not None and old.name != self.name:
            yield make_finding(
                "PATCH_OUT_OF_FORCE", "/", entity_type=self.entity_type, name=old.name, version=old.version
            )


def read_subject(
    connection: Connection, tenant_id: UUID, definition: DefinitionRow, calls: HeavyCalls = IN_PLACE
) -> Subject:
    """Read what a definition is compiled with; its text is parsed where it is compiled."""
    kind, entity_type, text = definition.definition_kind, definition.entity_type, definition.body_text
    if kind not in MODELS or text is None:
        raise Rejected(
            "DEFINITION_INVALID",
            f"a definition of kind {kind} is not compiled again",
            remedy="Compile the patch that it was made from.",
        )
    is_large = len(text) > LARGE_DOCUMENT_BYTES
    place = choose_place(calls, connection, tenant_id, is_large=is_large)
    settings = read_settings(connection, tenant_id)
    contract = find_newest_contract(connection, tenant_id, entity_type)
    if kind == "org_patch" and not is_large and contract is not None and is_large_contract(contract):
        place = choose_place(calls, connection, tenant_id, is_large=True)
    return Subject(kind, definition.name, entity_type, text, contract, settings, place)


def is_large_contract(contract: Contract) -> bool:
    parts = (contract.fields, contract.states, contract.transitions, contract.slots, contract.actions)
    return sum(map(len, parts)) > LARGE_CONTRACT_PARTS


def require_definition(connection: Connection, tenant_id: UUID, definition_id: UUID) -> DefinitionRow:
    definition = store.find_definition(connection, tenant_id, definition_id)
    if definition is None:
        raise definition_not_found(definition_id)
    return definition


def require_contract(connection: Connection, tenant_id: UUID, entity_type: str, version: int) -> Contract:
    row = store.read_contract_row(connection, tenant_id, entity_type, version)
    if row is None:
        raise contract_not_found(entity_type, version)
    return load_contract(row.body, row.hash).contract


def find_newest_contract(connection: Connection, tenant_id: UUID, entity_type: str | None) -> Contract | None:
    """Find the newest published contract of the type."""
    row = store.read_newest_contract(connection, tenant_id, entity_type) if entity_type else None
    return None if row is None else load_contract(row.body, row.hash).contract


def read_settings(connection: Connection, tenant_id: UUID) -> TenantSettings:
    tenant = find_tenant(connection, tenant_id)
    if tenant is None:
        raise Rejected("TENANT_INACTIVE", "this tenant does not exist")
    return TenantSettings.model_validate_json(json.dumps(tenant.settings))


def definition_not_found(definition_id: UUID) -> Rejected:
    return Rejected("DEFINITION_NOT_FOUND", f"there is no definition {definition_id}")


def contract_not_found(entity_type: str, version: int | None = None) -> Rejected:
    which = f"version {version}" if version is not None else "published version"
    return Rejected("ENTITY_TYPE_UNKNOWN", f"there is no {which} of the contract '{entity_type}'")
