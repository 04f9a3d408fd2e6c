"""Contracts, patches and automations from draft to published; publishing compiles and freezes at once."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from signet.core.control.authorship import make_control
from signet.core.errors import Rejected
from signet.core.previews.compile_report import MODELS
from signet.core.previews.placed_findings import parse_body
from signet.core.tenants.caller import Caller
from signet.engine.access.admin import AdminTransaction, administering, require_revision
from signet.engine.cache import CompiledCache
from signet.engine.control.drafts import PutForward, put_forward, take_back
from signet.engine.control.four_eyes import join_authors, wants_two_people
from signet.engine.control.proposals import ControlChange
from signet.engine.definitions import publication
from signet.engine.definitions.archive import PUBLISH, Archived, archive, propose_archive
from signet.engine.definitions.canvas import make_canvas_version
from signet.engine.definitions.compilation import require_definition
from signet.engine.definitions.contracts import EDIT_CONTRACT as EDIT_CONTRACT
from signet.engine.definitions.contracts import (
    PUBLISH_CONTRACT,
    ContractDraft,
    delete_contract,
    find_contract_row,
    freeze_contract,
    list_weakened,
    parse_contract_document,
    put_contract_forward,
    require_contract_draft,
    write_contract,
)
from signet.engine.definitions.heavy_calls import IN_PLACE, HeavyCalls
from signet.engine.definitions.publication import Draft as Draft
from signet.engine.definitions.publication import Published as Published
from signet.engine.definitions.publication import (
    base_ref_of,
    entity_type_of,
    name_of,
    note,
    to_json,
)
from signet.engine.definitions.publication import insert_draft as insert_draft
from signet.engine.documents.command_checks import check_reason
from signet.store.audit.write import lock_administration
from signet.store.control.authorship import DraftName
from signet.store.database import Connection, Database
from signet.store.definitions import write as store
from signet.store.definitions.write import DefinitionRow

# Permissions to read, to write, and to answer for the definitions that run.
READ, EDIT = "definition:read", "definition:edit"


class Definitions:
    """Drafts and published versions of patches and automations. One in each process."""

    def __init__(
        self, database: Database, calls: HeavyCalls = IN_PLACE, compiled: CompiledCache | None = None
    ) -> None:
        self._database = database
        self._calls = calls
        self._compiled = CompiledCache() if compiled is None else compiled

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
            findings = (*findings, *list_weakened(act, contract))
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
            findings = (*findings, *list_weakened(act, contract))
        return ContractDraft(entity_type, version, revision, digest, findings)

    def delete_contract(self, caller: Caller, entity_type: str, version: int, expected_revision: int) -> None:
        with self._acting(caller, EDIT_CONTRACT) as act:
            delete_contract(act, require_contract_draft(act, entity_type, version, expected_revision))

    def put_contract_forward(
        self, caller: Caller, entity_type: str, version: int, expected_revision: int
    ) -> PutForward:
        """Put a draft forward, as one of its authors: another person may publish exactly this text."""
        with self._acting(caller, EDIT_CONTRACT) as act:
            return put_contract_forward(
                act, require_contract_draft(act, entity_type, version, expected_revision)
            )

    def publish_contract(
        self, caller: Caller, entity_type: str, version: int, expected_revision: int | None = None
    ) -> Published:
        """Freeze the contract and store its compiled envelope."""
        with self._acting(caller, PUBLISH_CONTRACT) as act:
            if expected_revision is not None:
                require_contract_draft(act, entity_type, version, expected_revision)
            new, findings = freeze_contract(act, entity_type, version, self._compiled, self._calls)
            authors = new.authorship
        control = make_control(authors, authors, {})
        return Published(new.id, version, new.compiled_hash or "", findings, control)

    # --- patches and automations ---

    def create(
        self, caller: Caller, kind: str, document: Any, canvas: Mapping[str, Any] | None = None
    ) -> Draft:
        with self._acting(caller, EDIT) as act:
            return insert_draft(act, kind, parse_body(MODELS[kind], document), canvas)

    def replace(self, caller: Caller, definition_id: UUID, expected_revision: int, document: Any) -> Draft:
        with self._acting(caller, EDIT) as act:
            draft = _require_draft(act, definition_id, expected_revision)
            body = parse_body(MODELS[draft.definition_kind], document)
            if (name_of(body), entity_type_of(body)) != (draft.name, draft.entity_type):
                raise Rejected(
                    "DEFINITION_INVALID",
                    f"the draft is '{draft.name}' of '{draft.entity_type}', which cannot change",
                    remedy="Save it as a draft of its own.",
                )
            drafts = DraftName(draft.definition_kind, draft.entity_type, draft.name)
            authors = join_authors(act, drafts, draft.list_known_authors())
            revision = store.update_definition_draft(
                act.connection,
                caller.principal.tenant_id,
                draft.id,
                base_ref_of(body),
                to_json(body),
                authors,
            )
            note(act, draft.id, "replace_draft", name=draft.name, version=draft.version)
        return Draft(draft.id, draft.name, draft.version, revision)

    def delete(self, caller: Caller, definition_id: UUID, expected_revision: int) -> None:
        with self._acting(caller, EDIT) as act:
            draft = _require_draft(act, definition_id, expected_revision)
            take_back(act, DraftName(draft.definition_kind, draft.entity_type, draft.name))
            store.delete_definition_draft(act.connection, caller.principal.tenant_id, draft.id)
            note(act, draft.id, "delete_draft", name=draft.name, version=draft.version)

    def move_canvas(
        self,
        caller: Caller,
        definition_id: UUID,
        canvas: Mapping[str, Any],
        expected_version: int | None = None,
    ) -> int:
        """Move nodes on the canvas, and return its version.

        No hash covers positions, so they may change after publication too.
        """
        with self._acting(caller, EDIT) as act:
            definition = _require(act, definition_id)
            if expected_version is not None:
                require_revision(make_canvas_version(definition.canvas_json), expected_version)
            if not store.set_canvas(act.connection, caller.principal.tenant_id, definition_id, canvas):
                raise Rejected("VERSION_FROZEN", f"'{definition.name}' is a default, which never changes")
        return make_canvas_version(canvas)

    def put_forward(self, caller: Caller, definition_id: UUID, expected_revision: int) -> PutForward:
        """Put a draft forward, as one of its authors: another person may publish exactly this text."""
        with self._acting(caller, EDIT) as act:
            draft = _require_draft(act, definition_id, expected_revision)
            return put_forward(act, publication.describe_draft(draft), ("definition", str(draft.id)))

    def publish(
        self,
        caller: Caller,
        definition_id: UUID,
        expected_revision: int | None = None,
        *,
        replaces: str | None = None,
        accepted: Collection[str] = (),
    ) -> Published:
        """Publish a draft; `replaces` names the patch that new documents of its type run until now.

        `accepted` are the codes of findings that a publication must accept.
        """
        with self._acting(caller, PUBLISH) as act:
            draft = _require(act, definition_id)
            if expected_revision is not None:
                require_revision(draft.revision, expected_revision)
            return publication.publish_draft(
                act, draft, compiled=self._compiled, calls=self._calls, replaces=replaces, accepted=accepted
            )

    def archive(
        self,
        caller: Caller,
        definition_id: UUID,
        expected_revision: int | None = None,
        *,
        accepted: Collection[str] = (),
        reason: str | None = None,
    ) -> Archived | ControlChange:
        """Keep new documents from a definition; running instances go on.

        A patch takes its effective workflows with it. Where the tenant wants two people, this proposes it.
        `accepted` are the codes of what follows from it.
        """
        rejected = check_reason(reason)
        if rejected is not None:
            raise rejected
        with self._acting(caller, PUBLISH) as act:
            definition = _require(act, definition_id)
            if expected_revision is not None:
                require_revision(definition.revision, expected_revision)
            if wants_two_people(act):
                return propose_archive(act, definition, accepted, reason)
            return archive(act, definition, accepted, reason)

    def roll_back(self, caller: Caller, definition_id: UUID) -> Published | ControlChange:
        """Publish an older body again as a new version, so that history only grows."""
        with self._acting(caller, EDIT, PUBLISH) as act:
            older = _require(act, definition_id)
            if wants_two_people(act):
                return publication.propose_roll_back(act, older)
            return publication.roll_back(act, older, compiled=self._compiled, calls=self._calls)

    def recompile(self, caller: Caller, definition_id: UUID) -> Published | ControlChange:
        """Compile a patch with the present compiler, as a new effective row; the old row stays as it ran."""
        with self._acting(caller, PUBLISH) as act:
            effective = _require(act, definition_id)
            if wants_two_people(act):
                return publication.propose_recompile(act, effective, self._calls)
            return publication.recompile(act, effective, compiled=self._compiled, calls=self._calls)

    # --- changes that wait for another person ---

    read_control_permission, change_control_permission = READ, PUBLISH

    def read_in_force(self, connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
        return publication.read_in_force(connection, tenant_id, change)

    def apply_change(self, act: AdminTransaction, change: ControlChange) -> None:
        act.require(PUBLISH)
        publication.apply_change(act, change, self._compiled, self._calls)


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
