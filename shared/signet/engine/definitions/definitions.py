"""Contracts, patches and automations from draft to published; publishing compiles and freezes at once."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.compiler.artifact import COMPILER_VERSION, Artifact
from signet.core.compiler.patch import Automation, Patch
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.definitions.compilation import PlacedFinding, parse_body, read_subject, require_definition
from signet.engine.definitions.contracts import (
    ContractDraft,
    delete_contract,
    find_contract_row,
    freeze_contract,
    parse_contract_document,
    require_contract_draft,
    require_revision,
    write_contract,
)
from signet.ids import make_id
from signet.store.audit.write import lock_administration
from signet.store.database import Database
from signet.store.definitions import write as store
from signet.store.definitions.write import DefinitionRow, NewDefinition

# Permissions to read, to write, and to answer for the definitions that run.
READ, EDIT, PUBLISH = "definition:read", "definition:edit", "definition:publish"
EDIT_CONTRACT, PUBLISH_CONTRACT = "contract:edit", "contract:publish"
_MODELS: Mapping[str, type[Patch] | type[Automation]] = {"org_patch": Patch, "automation": Automation}


@dataclass(frozen=True, slots=True)
class Published:
    """The workflow that new documents run from now on, with its warnings."""

    definition_id: UUID
    version: int
    compiled_hash: str
    findings: tuple[PlacedFinding, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft as it was saved; its next change must name this `revision`."""

    id: UUID
    name: str
    version: int
    revision: int


class Definitions:
    """Drafts and published versions of patches and automations. One in each process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def _acting(self, caller: Caller, *permissions: str) -> Iterator[AdminTransaction]:
        with administering(self._database, caller) as act:
            for permission in permissions:
                act.require(permission)
            # The first lock of every such act. Two people who save at once take two numbers. A revision that
            # was compared stays as it is until the end.
            lock_administration(act.connection, caller.principal.tenant_id)
            yield act

    # --- contracts ---

    def create_contract(self, caller: Caller, document: Any) -> ContractDraft:
        with self._acting(caller, EDIT_CONTRACT) as act:
            contract, findings = parse_contract_document(document)
            row = find_contract_row(act, contract.contract, contract.version)
            if row is not None and row.status == "draft":
                raise Rejected(
                    "DRAFT_EXISTS",
                    f"there is a draft of version {contract.version} of '{contract.contract}'",
                    remedy="Replace it, with the ETag that it has, or save this as another version.",
                )
            revision, digest = write_contract(act, contract)
        return ContractDraft(contract.contract, contract.version, revision, digest, findings)

    def replace_contract(
        self, caller: Caller, entity_type: str, version: int, expected_revision: int, document: Any
    ) -> ContractDraft:
        with self._acting(caller, EDIT_CONTRACT) as act:
            require_contract_draft(act, entity_type, version, expected_revision)
            contract, findings = parse_contract_document(document)
            if (contract.contract, contract.version) != (entity_type, version):
                sentence = f"the text is '{contract.contract}' version {contract.version}, not the draft's"
                raise Rejected("DEFINITION_INVALID", sentence, remedy="Save it as a draft of its own.")
            revision, digest = write_contract(act, contract)
        return ContractDraft(entity_type, version, revision, digest, findings)

    def delete_contract(self, caller: Caller, entity_type: str, version: int, expected_revision: int) -> None:
        with self._acting(caller, EDIT_CONTRACT) as act:
            require_contract_draft(act, entity_type, version, expected_revision)
            delete_contract(act, entity_type, version)

    def publish_contract(
        self, caller: Caller, entity_type: str, version: int, expected_revision: int | None = None
    ) -> Published:
        """Freeze the contract and store its compiled envelope."""
        with self._acting(caller, PUBLISH_CONTRACT) as act:
            if expected_revision is not None:
                require_contract_draft(act, entity_type, version, expected_revision)
            new, findings = freeze_contract(act, entity_type, version)
        return Published(new.id, version, new.compiled_hash or "", findings)

    # --- patches and automations ---

    def create(
        self, caller: Caller, kind: str, document: Any, canvas: Mapping[str, Any] | None = None
    ) -> Draft:
        with self._acting(caller, EDIT) as act:
            return insert_draft(act, kind, parse_body(_MODELS[kind], document), canvas)

    def replace(self, caller: Caller, definition_id: UUID, expected_revision: int, document: Any) -> Draft:
        with self._acting(caller, EDIT) as act:
            draft = _require_draft(act, definition_id, expected_revision)
            body = parse_body(_MODELS[draft.definition_kind], document)
            if (_name(body), _entity_type(body)) != (draft.name, draft.entity_type):
                raise Rejected(
                    "DEFINITION_INVALID",
                    f"the draft is '{draft.name}' of '{draft.entity_type}', which cannot change",
                    remedy="Save it as a draft of its own.",
                )
            revision = store.update_definition_draft(
                act.connection, caller.principal.tenant_id, draft.id, _base_ref(body), _to_json(body)
            )
            _note(act, draft.id, "replace_draft", name=draft.name, version=draft.version)
        return Draft(draft.id, draft.name, draft.version, revision)

    def delete(self, caller: Caller, definition_id: UUID, expected_revision: int) -> None:
        with self._acting(caller, EDIT) as act:
            draft = _require_draft(act, definition_id, expected_revision)
            store.delete_definition_draft(act.connection, caller.principal.tenant_id, draft.id)
            _note(act, draft.id, "delete_draft", name=draft.name, version=draft.version)

    def move_canvas(self, caller: Caller, definition_id: UUID, canvas: Mapping[str, Any]) -> None:
        """Move nodes on the canvas. No hash covers positions, so they may change after publication too."""
        with self._acting(caller, EDIT) as act:
            definition = _require(act, definition_id)
            if not store.set_canvas(act.connection, caller.principal.tenant_id, definition_id, canvas):
                raise Rejected("VERSION_FROZEN", f"'{definition.name}' is a default, which never changes")

    def publish(self, caller: Caller, definition_id: UUID, expected_revision: int | None = None) -> Published:
        with self._acting(caller, PUBLISH) as act:
            draft = _require(act, definition_id)
            if expected_revision is not None:
                require_revision(draft.revision, expected_revision)
            return _publish(act, draft)

    def archive(self, caller: Caller, definition_id: UUID) -> None:
        """Keep new documents from a definition; running instances go on.

        A patch takes its effective workflows with it.
        """
        tenant_id = caller.principal.tenant_id
        with self._acting(caller, PUBLISH) as act:
            definition = _require(act, definition_id)
            if not store.archive_definition(act.connection, tenant_id, definition_id):
                raise Rejected(
                    "VERSION_FROZEN", "only a published definition that is no default can be archived"
                )
            if definition.definition_kind == "org_patch":
                for effective in store.list_effective_of_patch(act.connection, tenant_id, definition_id):
                    store.archive_definition(act.connection, tenant_id, effective)
            _note(act, definition_id, "archive")

    def roll_back(self, caller: Caller, definition_id: UUID) -> Published:
        """Publish an older body again as a new version, so that history only grows."""
        with self._acting(caller, EDIT, PUBLISH) as act:
            older = _require(act, definition_id)
            if older.definition_kind not in _MODELS or older.status == "draft":
                raise Rejected(
                    "DEFINITION_INVALID", "only a published patch or automation can be rolled back to"
                )
            body = parse_body(_MODELS[older.definition_kind], older.body_patches_json)
            draft = insert_draft(act, older.definition_kind, body, older.canvas_json)
            return _publish(act, _require(act, draft.id))

    def recompile(self, caller: Caller, definition_id: UUID) -> Published:
        """Compile a patch with the present compiler, as a new effective row; the old row stays as it ran."""
        tenant_id = caller.principal.tenant_id
        with self._acting(caller, PUBLISH) as act:
            effective = _require(act, definition_id)
            if effective.definition_kind != "effective" or effective.source_id is None:
                raise Rejected("DEFINITION_INVALID", "only an effective workflow can be recompiled")
            patch = _require(act, effective.source_id)
            subject = read_subject(act.connection, tenant_id, patch)
            artifact, findings = subject.require_artifact(subject.compile_for(act.connection, tenant_id))
            new_id, version = _insert_effective(act, patch, artifact)
            store.archive_definition(act.connection, tenant_id, definition_id)
            _note(act, definition_id, "recompile", compiled_hash=artifact.hash)
        return Published(new_id, version, artifact.hash, findings)


def insert_draft(
    act: AdminTransaction, kind: str, body: Patch | Automation, canvas: Mapping[str, Any] | None = None
) -> Draft:
    """Insert a draft of the next version of its name."""
    connection, author = act.connection, act.caller.principal
    name, entity_type = _name(body), _entity_type(body)
    version = store.next_definition_version(connection, author.tenant_id, kind, entity_type, name)
    new = NewDefinition(
        id=make_id(),
        definition_kind=kind,
        entity_type=entity_type,
        name=name,
        version=version,
        base_ref=_base_ref(body),
        body_patches=_to_json(body),
        canvas=canvas,
    )
    store.insert_definition(connection, author.tenant_id, new, author.subject)
    _note(act, new.id, "save_draft", name=name, version=version)
    return Draft(new.id, name, version, 1)


def _publish(act: AdminTransaction, draft: DefinitionRow) -> Published:
    connection, tenant_id = act.connection, act.caller.principal.tenant_id
    if draft.status != "draft":
        raise Rejected("VERSION_FROZEN", f"'{draft.name}' version {draft.version} is not a draft any more")
    store.lock_contracts_of_type(connection, tenant_id, draft.entity_type)
    subject = read_subject(connection, tenant_id, draft)
    artifact, findings = subject.require_artifact(subject.compile_for(connection, tenant_id))
    compiled = (artifact.text, artifact.hash, COMPILER_VERSION)
    is_patch = draft.definition_kind == "org_patch"
    store.publish_definition(connection, tenant_id, draft.id, *(() if is_patch else compiled))
    effective_id, version = draft.id, draft.version
    if is_patch:
        effective_id, version = _insert_effective(act, draft, artifact)
    _note(act, draft.id, "publish", compiled_hash=artifact.hash)
    return Published(effective_id, version, artifact.hash, findings)


def _insert_effective(act: AdminTransaction, patch: DefinitionRow, artifact: Artifact) -> tuple[UUID, int]:
    connection, author = act.connection, act.caller.principal
    version = store.next_definition_version(
        connection, author.tenant_id, "effective", patch.entity_type, patch.name
    )
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
    store.insert_definition(connection, author.tenant_id, new, author.subject)
    return new.id, version


def _require(act: AdminTransaction, definition_id: UUID) -> DefinitionRow:
    return require_definition(act.connection, act.caller.principal.tenant_id, definition_id)


def _require_draft(act: AdminTransaction, definition_id: UUID, expected_revision: int) -> DefinitionRow:
    definition = _require(act, definition_id)
    if definition.status != "draft":
        raise Rejected(
            "VERSION_FROZEN",
            f"'{definition.name}' version {definition.version} is {definition.status}",
            remedy="Save the change as a new draft.",
        )
    require_revision(definition.revision, expected_revision)
    return definition


def _name(body: Patch | Automation) -> str:
    return body.patch if isinstance(body, Patch) else body.automation


def _entity_type(body: Patch | Automation) -> str:
    """Return the entity type, which is '' for an automation that belongs to none."""
    return body.base.entity_type if isinstance(body, Patch) else body.entity_type or ""


def _base_ref(body: Patch | Automation) -> dict[str, Any] | None:
    return body.base.model_dump(mode="json") if isinstance(body, Patch) else None


def _to_json(body: Patch | Automation) -> dict[str, Any]:
    return body.model_dump(mode="json", by_alias=True)


def _note(act: AdminTransaction, definition_id: UUID, action: str, **detail: str | int) -> None:
    act.note(("definition", str(definition_id)), action, detail)
