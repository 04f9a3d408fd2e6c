"""Contracts and definitions read from their rows and compiled; nothing is written."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar
from uuid import UUID

from signet.authoring.actions import REGISTRY
from signet.core.compiler.artifact import Artifact, parse_artifact
from signet.core.compiler.compiler import Compilation, compile_body
from signet.core.compiler.finding_locations import FindingLocations
from signet.core.compiler.patch import Automation, Patch
from signet.core.contracts.contract import Contract
from signet.core.errors import FieldError, Rejected
from signet.core.expressions.byte_budget import fits
from signet.core.tenants.tenant_file import TenantSettings
from signet.core.validation.finding import Finding, Severity, has_errors, make_finding, sort_findings
from signet.core.validation.model_errors import MAX_MISTAKES
from signet.core.validation.strict_model import Strict, parse_strictly
from signet.core.validation.text_checks import check_texts
from signet.engine.access.named_things import check_compilation
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
from signet.store.definitions.write import DefinitionRow
from signet.store.tenants.tenants import find_tenant

T = TypeVar("T", bound=Strict)


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A finding in an author's document.

    `place` names a node, an edge or a slot; `pointer` leads to it in the document (RFC 6901).
    """

    code: str
    severity: Literal["error", "warning"]
    place: str
    pointer: str
    sentence: str
    remedy: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Subject:
    """A patch or an automation, with everything that it is compiled with."""

    body: Patch | Automation
    contract: Contract | None
    settings: TenantSettings
    # Where it is compiled: here, or where heavy calls run.
    place: HeavyCalls

    def compile(self) -> Compilation:
        """Compile it by itself."""
        if isinstance(self.body, Patch) and self.contract is None:
            name = self.body.base.entity_type
            raise Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{name}'")
        return self.place.call(compile_body, self.body, self.contract, self.settings)

    def compile_for(self, connection: Connection, tenant_id: UUID) -> Compilation:
        """Compile it as it would be published: what it names must exist in the tenant."""
        compilation = check_compilation(connection, tenant_id, self.compile())
        compilation = check_accounts(connection, tenant_id, compilation)
        beside = (*self._check_replaced(connection, tenant_id), *self._check_loaded(compilation))
        return Compilation(compilation.artifact, sort_findings((*compilation.findings, *beside)))

    def _check_loaded(self, compilation: Compilation) -> Iterator[Finding]:
        """Name the Python actions that this process cannot run; a worker with other modules may."""
        if compilation.artifact is None or self.contract is None:
            return
        for node_id, node in compilation.artifact.content["nodes"].items():
            name = str(node["config"].get("action"))
            declared = self.contract.actions.get(name) if node["type"] == "action" else None
            is_python = declared is not None and declared.kind == "python"
            if is_python and REGISTRY.find(self.contract.contract, name) is None:
                yield make_finding("ACTION_NOT_LOADED_HERE", node_id, name=name)

    def _check_replaced(self, connection: Connection, tenant_id: UUID) -> Iterator[Finding]:
        """Name the other patch that goes out of force: new documents of a type run one."""
        if not isinstance(self.body, Patch):
            return
        entity_type = self.body.base.entity_type
        old = find_patch_in_force(connection, tenant_id, entity_type)
        if old is not None and old.name != self.body.patch:
            yield make_finding(
                "PATCH_OUT_OF_FORCE", "/", entity_type=entity_type, name=old.name, version=old.version
            )

    def require_artifact(self, compilation: Compilation) -> tuple[Artifact, tuple[PlacedFinding, ...]]:
        """Return the artifact and its warnings, or raise every error."""
        placed = place_findings(compilation.findings, self.body)
        if compilation.artifact is None:
            raise reject_findings(placed)
        return compilation.artifact, placed


def read_subject(
    connection: Connection, tenant_id: UUID, definition: DefinitionRow, calls: HeavyCalls = IN_PLACE
) -> Subject:
    if definition.definition_kind not in ("org_patch", "automation"):
        raise Rejected(
            "DEFINITION_INVALID",
            f"a definition of kind {definition.definition_kind} is not compiled again",
            remedy="Compile the patch that it was made from.",
        )
    settings = read_settings(connection, tenant_id)
    document = definition.body_patches_json or {}
    # Before anything is made of the text, so that a call that is refused costs little.
    is_large = not fits(document, LARGE_DOCUMENT_BYTES)
    place = choose_place(calls, connection, tenant_id, is_large=is_large)
    if definition.definition_kind == "automation":
        automation = parse_body(Automation, document)
        contract = find_newest_contract(connection, tenant_id, automation.entity_type)
        return Subject(automation, contract, settings, place)
    patch = parse_body(Patch, document)
    contract = find_newest_contract(connection, tenant_id, patch.base.entity_type)
    if not is_large and contract is not None and is_large_contract(contract):
        place = choose_place(calls, connection, tenant_id, is_large=True)
    return Subject(patch, contract, settings, place)


def is_large_contract(contract: Contract) -> bool:
    parts = (contract.fields, contract.states, contract.transitions, contract.slots, contract.actions)
    return sum(map(len, parts)) > LARGE_CONTRACT_PARTS


def read_stored(connection: Connection, tenant_id: UUID, definition: DefinitionRow) -> Artifact | None:
    """Read the artifact that was published, verified; a draft and a patch have None."""
    stored = store.read_compiled(connection, tenant_id, definition.id, definition.version)
    return None if stored is None else parse_artifact(*stored)


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


def parse_body(model: type[T], document: Any) -> T:
    """Parse an author's document, or raise every mistake that shows before anything is compiled."""
    read, findings = parse_strictly(model, document)
    findings = findings or tuple(check_texts(document))[:MAX_MISTAKES]
    if read is None or has_errors(findings):
        raise reject_findings(place_findings(findings))
    return read


def place_findings(
    findings: Iterable[Finding], body: Patch | Automation | None = None
) -> tuple[PlacedFinding, ...]:
    """Give findings their pointers. Places are pointers already in a document without a `body`."""
    places = FindingLocations(body) if body is not None else None
    return tuple(
        PlacedFinding(
            finding.code,
            finding.severity.value,
            finding.place,
            places.point(finding) if places is not None else finding.place.removesuffix("/"),
            finding.sentence,
            finding.remedy,
            finding.parameters,
        )
        for finding in findings
    )


def reject_findings(findings: Iterable[PlacedFinding]) -> Rejected:
    errors = [finding for finding in findings if finding.severity == Severity.ERROR.value]
    first = errors[0].sentence if errors else "it has findings"
    return Rejected(
        "DEFINITION_INVALID",
        f"{len(errors)} error(s), the first: {first}",
        fields=tuple(FieldError(error.pointer, error.code, error.sentence, error.remedy) for error in errors),
    )


def definition_not_found(definition_id: UUID) -> Rejected:
    return Rejected("DEFINITION_NOT_FOUND", f"there is no definition {definition_id}")


def contract_not_found(entity_type: str, version: int | None = None) -> Rejected:
    which = f"version {version}" if version is not None else "published version"
    return Rejected("ENTITY_TYPE_UNKNOWN", f"there is no {which} of the contract '{entity_type}'")
