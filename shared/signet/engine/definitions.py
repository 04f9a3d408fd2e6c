"""Contracts, patches and automations from draft to published; publishing compiles and freezes at once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.artifact import COMPILER_VERSION, Artifact
from signet.core.audit import AuditEntry
from signet.core.canonical import canonical_bytes, hash_bytes
from signet.core.compiler import Compilation, compile_automation, compile_effective
from signet.core.contract import Contract
from signet.core.contract_checks import read_contract
from signet.core.envelope import Envelope, make_envelope
from signet.core.errors import FieldError, Rejected
from signet.core.findings import Finding, has_errors
from signet.core.loaded_contract import check_contract_expressions
from signet.core.patch import Automation, Patch
from signet.core.principal import Principal
from signet.core.strict import read_strictly
from signet.core.tenancy import TenantSettings
from signet.engine.audit import append_administration
from signet.engine.documents.contracts import load_contract
from signet.ids import make_id
from signet.store import definitions as store
from signet.store.database import Connection, Database
from signet.store.definitions import DefinitionRow, NewDefinition
from signet.store.tenants import find_tenant, read_now


@dataclass(frozen=True)
class Published:
    definition_id: UUID
    version: int
    compiled_hash: str
    findings: tuple[Finding, ...]


class Definitions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def save_contract(self, principal: Principal, document: Any) -> Contract:
        """A draft of the version that the document names; a published version is frozen."""
        contract, findings = read_contract(document)
        if contract is None:
            raise reject_findings(findings)
        body = canonical_bytes(contract.to_json())
        with self._database.transaction(principal.tenant_id) as connection:
            saved = store.save_contract_draft(
                connection,
                principal.tenant_id,
                contract.contract,
                contract.version,
                body.decode(),
                hash_bytes(body),
                principal.subject,
            )
            if not saved:
                raise Rejected(
                    "VERSION_FROZEN",
                    f"version {contract.version} of '{contract.contract}' is published",
                    remedy=f"Save it as version {contract.version + 1}.",
                )
            _note(
                connection,
                principal,
                "contract",
                contract.contract,
                "save_contract",
                {"version": contract.version},
            )
        return contract

    def publish_contract(self, principal: Principal, entity_type: str, version: int) -> Published:
        """Freezes the contract and stores its envelope, compiled."""
        tenant_id = principal.tenant_id
        with self._database.transaction(tenant_id) as connection:
            store.lock_contracts_of_type(connection, tenant_id, entity_type)
            contract = _load(connection, tenant_id, entity_type, version)
            settings = _read_settings(connection, tenant_id)
            mistakes = tuple(check_contract_expressions(contract, settings))
            if has_errors(mistakes):
                raise reject_findings(mistakes)
            envelope = make_envelope(contract)
            artifact = _require(compile_effective(envelope, None, settings))
            store.set_contract_status(connection, tenant_id, entity_type, version, "published")
            new = _describe_envelope(envelope, artifact)
            store.insert_definition(connection, tenant_id, new, principal.subject)
            detail = {"version": version, "compiled_hash": artifact.hash}
            _note(connection, principal, "contract", entity_type, "publish_contract", detail)
        return Published(new.id, version, artifact.hash, mistakes)

    def save_patch(
        self, principal: Principal, document: Any, canvas: Mapping[str, Any] | None = None
    ) -> UUID:
        """A new draft of the next version. It may still be wrong: only publishing insists."""
        patch = _read(Patch, document)
        with self._database.transaction(principal.tenant_id) as connection:
            return _insert_draft(
                connection, principal, "org_patch", patch.base.entity_type, patch.patch, patch, canvas
            )

    def save_automation(
        self, principal: Principal, document: Any, canvas: Mapping[str, Any] | None = None
    ) -> UUID:
        automation = _read(Automation, document)
        with self._database.transaction(principal.tenant_id) as connection:
            entity_type = automation.entity_type or ""
            return _insert_draft(
                connection, principal, "automation", entity_type, automation.automation, automation, canvas
            )

    def compile_draft(self, principal: Principal, definition_id: UUID) -> Compilation:
        """All findings of a definition as it stands, published or not; nothing is written."""
        with self._database.transaction(principal.tenant_id) as connection:
            return _compile(connection, principal.tenant_id, _find(connection, principal, definition_id))

    def publish(self, principal: Principal, definition_id: UUID) -> Published:
        tenant_id = principal.tenant_id
        with self._database.transaction(tenant_id) as connection:
            draft = _find(connection, principal, definition_id)
            store.lock_contracts_of_type(connection, tenant_id, draft.entity_type)
            compilation = _compile(connection, tenant_id, draft)
            artifact = _require(compilation)
            compiled = (artifact.text, artifact.hash, COMPILER_VERSION)
            is_patch = draft.definition_kind == "org_patch"
            published = store.publish_definition(
                connection, tenant_id, draft.id, *(() if is_patch else compiled)
            )
            if not published:
                raise Rejected(
                    "VERSION_FROZEN", f"'{draft.name}' version {draft.version} is not a draft any more"
                )
            effective_id, version = draft.id, draft.version
            if is_patch:
                effective_id, version = _insert_effective(connection, principal, draft, artifact)
            _note(
                connection,
                principal,
                "definition",
                str(draft.id),
                "publish",
                {"compiled_hash": artifact.hash},
            )
        return Published(effective_id, version, artifact.hash, compilation.findings)

    def archive(self, principal: Principal, definition_id: UUID) -> None:
        """No new document runs under it; what runs goes on. A patch takes its effective workflows with it."""
        with self._database.transaction(principal.tenant_id) as connection:
            definition = _find(connection, principal, definition_id)
            if not store.archive_definition(connection, principal.tenant_id, definition_id):
                raise Rejected(
                    "VERSION_FROZEN", "only a published definition that is no default can be archived"
                )
            if definition.definition_kind == "org_patch":
                for effective in store.list_effective_of_patch(
                    connection, principal.tenant_id, definition_id
                ):
                    store.archive_definition(connection, principal.tenant_id, effective)
            _note(connection, principal, "definition", str(definition_id), "archive", {})

    def roll_back(self, principal: Principal, definition_id: UUID) -> Published:
        """An older body, published again as a new version: history only grows."""
        with self._database.transaction(principal.tenant_id) as connection:
            older = _find(connection, principal, definition_id)
            if older.definition_kind not in ("org_patch", "automation") or older.status == "draft":
                raise Rejected(
                    "DEFINITION_INVALID", "only a published patch or automation can be rolled back to"
                )
            body = older.body_patches_json or {}
        save = self.save_patch if older.definition_kind == "org_patch" else self.save_automation
        return self.publish(principal, save(principal, body, older.canvas_json))

    def move_canvas(self, principal: Principal, definition_id: UUID, canvas: Mapping[str, Any]) -> None:
        """Positions are outside of every hash: they may change on published definitions too."""
        with self._database.transaction(principal.tenant_id) as connection:
            if not store.set_canvas(connection, principal.tenant_id, definition_id, canvas):
                raise _not_found(definition_id)

    def recompile(self, principal: Principal, definition_id: UUID) -> Published:
        """After a new compiler: the same patch as a new effective row; the old one stays as it ran."""
        with self._database.transaction(principal.tenant_id) as connection:
            effective = _find(connection, principal, definition_id)
            if effective.definition_kind != "effective" or effective.source_id is None:
                raise Rejected("DEFINITION_INVALID", "only an effective workflow is recompiled")
            patch = _find(connection, principal, effective.source_id)
            compilation = _compile(connection, principal.tenant_id, patch)
            artifact = _require(compilation)
            new_id, version = _insert_effective(connection, principal, patch, artifact)
            store.archive_definition(connection, principal.tenant_id, definition_id)
            _note(
                connection,
                principal,
                "definition",
                str(definition_id),
                "recompile",
                {"compiled_hash": artifact.hash},
            )
        return Published(new_id, version, artifact.hash, compilation.findings)


def reject_findings(findings: tuple[Finding, ...]) -> Rejected:
    errors = [finding for finding in findings if finding.severity == "error"]
    first = errors[0].sentence if errors else "it has findings"
    return Rejected(
        "DEFINITION_INVALID",
        f"{len(errors)} error(s), the first: {first}",
        fields=tuple(FieldError(one.place, one.code, f"{one.sentence} {one.remedy}") for one in errors),
        details={"findings": [finding.to_json() for finding in findings]},
    )


def _not_found(definition_id: UUID) -> Rejected:
    return Rejected("DEFINITION_NOT_FOUND", f"there is no definition {definition_id}")


def _find(connection: Connection, principal: Principal, definition_id: UUID) -> DefinitionRow:
    definition = store.find_definition(connection, principal.tenant_id, definition_id)
    if definition is None:
        raise _not_found(definition_id)
    return definition


def _load(connection: Connection, tenant_id: UUID, entity_type: str, version: int) -> Contract:
    row = store.read_contract_row(connection, tenant_id, entity_type, version)
    if row is None:
        raise Rejected(
            "ENTITY_TYPE_UNKNOWN", f"there is no version {version} of the contract '{entity_type}'"
        )
    return load_contract(row.body, row.hash).contract


def _read_settings(connection: Connection, tenant_id: UUID) -> TenantSettings:
    tenant = find_tenant(connection, tenant_id)
    if tenant is None:
        raise Rejected("TENANT_INACTIVE", "this tenant does not exist")
    return TenantSettings.model_validate_json(json.dumps(tenant.settings))


def _read(model: Any, document: Any) -> Any:
    read, findings = read_strictly(model, document)
    if read is None:
        raise reject_findings(findings)
    return read


def _compile(connection: Connection, tenant_id: UUID, definition: DefinitionRow) -> Compilation:
    settings = _read_settings(connection, tenant_id)
    body = definition.body_patches_json or {}
    if definition.definition_kind == "automation":
        automation = _read(Automation, body)
        contract = _newest_contract(connection, tenant_id, automation.entity_type)
        return compile_automation(automation, contract, settings)
    if definition.definition_kind != "org_patch":
        raise Rejected(
            "DEFINITION_INVALID", f"a definition of kind {definition.definition_kind} is not compiled anew"
        )
    patch = _read(Patch, body)
    contract = _newest_contract(connection, tenant_id, patch.base.entity_type)
    if contract is None:
        raise Rejected("ENTITY_TYPE_UNKNOWN", f"there is no published contract of '{patch.base.entity_type}'")
    return compile_effective(make_envelope(contract), patch, settings)


def _newest_contract(connection: Connection, tenant_id: UUID, entity_type: str | None) -> Contract | None:
    if not entity_type:
        return None
    rows = store.list_contracts(connection, tenant_id, entity_type)
    published = [row for row in rows if row.status == "published"]
    return load_contract(published[0].body, published[0].hash).contract if published else None


def _require(compilation: Compilation) -> Artifact:
    if compilation.artifact is None:
        raise reject_findings(compilation.findings)
    return compilation.artifact


def _describe_envelope(envelope: Envelope, artifact: Artifact) -> NewDefinition:
    return NewDefinition(
        id=make_id(),
        definition_kind="envelope",
        entity_type=envelope.entity_type,
        name=envelope.entity_type,
        version=envelope.version,
        status="published",
        is_default=True,
        contract_version=envelope.version,
        nodes=artifact.content["nodes"],
        edges=artifact.content["edges"],
        slots={slot.id: slot.to_json() for slot in envelope.slots.values()},
        compiled=artifact.text,
        compiled_hash=artifact.hash,
        compiler_version=COMPILER_VERSION,
    )


def _insert_draft(
    connection: Connection,
    principal: Principal,
    kind: str,
    entity_type: str,
    name: str,
    body: Patch | Automation,
    canvas: Mapping[str, Any] | None,
) -> UUID:
    new = NewDefinition(
        id=make_id(),
        definition_kind=kind,
        entity_type=entity_type,
        name=name,
        version=store.next_definition_version(connection, principal.tenant_id, kind, entity_type, name),
        base_ref=body.base.model_dump(mode="json") if isinstance(body, Patch) else None,
        body_patches=body.model_dump(mode="json", by_alias=True),
        canvas=canvas,
    )
    store.insert_definition(connection, principal.tenant_id, new, principal.subject)
    _note(
        connection, principal, "definition", str(new.id), "save_draft", {"name": name, "version": new.version}
    )
    return new.id


def _insert_effective(
    connection: Connection, principal: Principal, patch: DefinitionRow, artifact: Artifact
) -> tuple[UUID, int]:
    tenant_id = principal.tenant_id
    version = store.next_definition_version(connection, tenant_id, "effective", patch.entity_type, patch.name)
    new = NewDefinition(
        id=make_id(),
        definition_kind="effective",
        entity_type=patch.entity_type,
        name=patch.name,
        version=version,
        status="published",
        contract_version=artifact.content["contract"]["version"],
        nodes=artifact.content["nodes"],
        edges=artifact.content["edges"],
        compiled=artifact.text,
        compiled_hash=artifact.hash,
        compiler_version=COMPILER_VERSION,
        source_id=patch.id,
    )
    store.insert_definition(connection, tenant_id, new, principal.subject)
    return new.id, version


def _note(
    connection: Connection,
    principal: Principal,
    subject_type: str,
    subject_id: str,
    action: str,
    detail: Mapping[str, Any],
) -> None:
    entry = AuditEntry(
        id=make_id(),
        tenant_id=principal.tenant_id,
        subject_type=subject_type,
        subject_id=subject_id,
        action=action,
        actor_id=principal.subject,
        via="api",
        at=read_now(connection),
        detail=detail,
    )
    append_administration(connection, principal.tenant_id, [entry])
