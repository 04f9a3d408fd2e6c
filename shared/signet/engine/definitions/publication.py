"""Publication of patches and automations, and the other acts that change which definition is in force.

Each runs inside a transaction that `definitions` opens. Where the tenant wants two people, archiving, rolling
back and recompiling are proposed by one and confirmed by another.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.canonical_json import content_hash
from signet.core.compiler.artifact import COMPILER_VERSION, Artifact
from signet.core.compiler.patch import Automation, Patch
from signet.core.control.authorship import Authorship, ControlAuthors
from signet.core.errors import Rejected
from signet.core.previews.compile_report import MODELS
from signet.core.previews.placed_findings import PlacedFinding, parse_body, place_findings
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.responsible import join_responsible
from signet.core.validation.finding import Finding, make_finding
from signet.engine.access.admin import AdminTransaction
from signet.engine.automations.publication import find_circles, put_in_force
from signet.engine.cache import CompiledCache
from signet.engine.control.authorship import read_control_of_artifact
from signet.engine.control.changes import change_is_stale
from signet.engine.control.drafts import WrittenDraft, require_another_publisher, require_other_person
from signet.engine.control.four_eyes import join_authors, make_authorship, wants_two_people
from signet.engine.control.proposals import ControlChange, ControlProposal, propose
from signet.engine.definitions.archive import (
    KIND,
    PUBLISH,
    apply_archive,
    describe,
    has_approvals,
    holds_approvals,
    require_accepted,
)
from signet.engine.definitions.compilation import read_subject, require_definition
from signet.engine.definitions.heavy_calls import IN_PLACE, HeavyCalls
from signet.engine.definitions.made_documents import find_editable_when_made
from signet.engine.definitions.older_definitions import (
    find_differences,
    find_older_running,
    read_contract_of,
)
from signet.engine.definitions.replacement import put_out_of_force, require_replaced
from signet.engine.definitions.run_as import require_run_as
from signet.ids import make_id
from signet.store.control.authorship import DraftName
from signet.store.database import Connection
from signet.store.definitions import write as store
from signet.store.definitions.write import DefinitionRow, NewDefinition
from signet.store.documents.write import find_workflow


@dataclass(frozen=True, slots=True)
class Published:
    """The workflow that new documents run from now on, with its warnings and the authors of its control."""

    definition_id: UUID
    version: int
    compiled_hash: str
    findings: tuple[PlacedFinding, ...]
    control: ControlAuthors


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft as it was saved; its next change must name this `revision`."""

    id: UUID
    name: str
    version: int
    revision: int


def insert_draft(
    act: AdminTransaction,
    kind: str,
    body: Patch | Automation,
    canvas: Mapping[str, Any] | None = None,
    proposal: ControlChange | None = None,
    *,
    wrote: Sequence[str] = (),
) -> Draft:
    """Insert a draft of the next version of its name, by the caller or by those who proposed it.

    `wrote` are the authors of a text that is taken over.
    """
    connection, author = act.connection, act.caller.principal
    name, entity_type = name_of(body), entity_type_of(body)
    version = store.next_definition_version(connection, author.tenant_id, kind, entity_type, name)
    if proposal is None:
        authors = join_authors(act, DraftName(kind, entity_type, name), wrote)
    else:
        authors = sorted(join_responsible(wrote, proposal.responsible))
    new = NewDefinition(
        id=make_id(),
        definition_kind=kind,
        entity_type=entity_type,
        name=name,
        version=version,
        base_ref=base_ref_of(body),
        body_patches=to_json(body),
        canvas=canvas,
        authorship=Authorship(authors, None, None),
    )
    created_by = author.subject if proposal is None else proposal.proposed_by
    store.insert_definition(connection, author.tenant_id, new, created_by)
    note(act, new.id, "save_draft", name=name, version=version)
    return Draft(new.id, name, version, 1)


def describe_draft(draft: DefinitionRow) -> WrittenDraft:
    return WrittenDraft(
        DraftName(draft.definition_kind, draft.entity_type, draft.name),
        f"version {draft.version} of '{draft.name}'",
        content_hash(json.loads(draft.body_text or "null")),
        draft.list_known_authors(),
        PUBLISH,
    )


def publish_draft(
    act: AdminTransaction,
    draft: DefinitionRow,
    *,
    compiled: CompiledCache,
    calls: HeavyCalls = IN_PLACE,
    barred: Sequence[str] | None = None,
    replaces: str | None = None,
    accepted: Collection[str] | None = None,
) -> Published:
    """Publish a draft that an author put forward, or what was proposed: `barred` may not confirm that.

    `replaces` names the patch of the type that goes out of force by it. `accepted` are the codes of findings
    that must be accepted; None accepts them all.
    """
    connection, tenant_id = act.connection, act.caller.principal.tenant_id
    if draft.status != "draft":
        raise Rejected("VERSION_FROZEN", f"'{draft.name}' version {draft.version} is not a draft any more")
    written = describe_draft(draft)
    if barred is None:
        require_another_publisher(act, written)
    elif wants_two_people(act):
        require_other_person(act, barred, written)
    authorship = make_authorship(act, draft.list_known_authors())
    store.lock_contracts_of_type(connection, tenant_id, draft.entity_type)
    subject = read_subject(connection, tenant_id, draft, calls)
    artifact, findings = subject.require_artifact(subject.compile_for(connection, tenant_id))
    require_run_as(act, artifact)
    text = (artifact.text, artifact.hash, COMPILER_VERSION)
    is_patch = draft.definition_kind == "org_patch"
    replaced = require_replaced(act, draft, replaces) if is_patch else None
    dropped = place_findings(_find_dropped(connection, tenant_id, draft, artifact))
    if accepted is not None:
        require_accepted([*_list_unclear(findings), *dropped], accepted)
    store.publish_definition(connection, tenant_id, draft.id, authorship, *(() if is_patch else text))
    effective_id, version = draft.id, draft.version
    if draft.definition_kind == "automation":
        put_in_force(connection, tenant_id, (draft.id, draft.version), artifact.content)
    if is_patch:
        effective_id, version = _insert_effective(act, draft, artifact, authorship)
    detail: dict[str, str | int] = {}
    if replaced is not None:
        detail = {"replaces": replaced.name, "replaced_version": replaced.version}
        put_out_of_force(act, replaced, draft, artifact.content["contract"]["version"])
    note(act, draft.id, "publish", compiled_hash=artifact.hash, **detail)
    return _show(act, effective_id, version, artifact, (*findings, *dropped), compiled)


def roll_back(
    act: AdminTransaction,
    older: DefinitionRow,
    proposal: ControlChange | None = None,
    *,
    compiled: CompiledCache,
    calls: HeavyCalls = IN_PLACE,
) -> Published:
    """Publish an older body again as a new version, so that history only grows.

    Who wrote the older text stays its author. They may confirm it, for it was published before.
    """
    body = _parse_older(older)
    wrote = older.list_known_authors()
    draft = insert_draft(act, older.definition_kind, body, older.canvas_json, proposal, wrote=wrote)
    row = require_definition(act.connection, act.caller.principal.tenant_id, draft.id)
    barred = () if proposal is None else proposal.responsible
    return publish_draft(act, row, compiled=compiled, calls=calls, barred=barred)


def recompile(
    act: AdminTransaction,
    effective: DefinitionRow,
    proposal: ControlChange | None = None,
    *,
    compiled: CompiledCache,
    calls: HeavyCalls = IN_PLACE,
) -> Published:
    """Compile a patch with the present compiler, as a new effective row; the old row stays as it ran."""
    connection, tenant_id = act.connection, act.caller.principal.tenant_id
    patch, artifact, findings = _compile_again(act, effective, calls)
    require_replaced(act, patch, None)
    if proposal is not None and artifact.hash != proposal.body["compiled_hash"]:
        raise change_is_stale(proposal, proposal.base_version)
    # Only the act is new. Who wrote the patch and who has it compiled again may be one person.
    authors = sorted(join_responsible(patch.list_known_authors(), proposal.responsible if proposal else ()))
    new_id, version = _insert_effective(act, patch, artifact, make_authorship(act, authors))
    store.archive_definition(connection, tenant_id, effective.id)
    note(act, effective.id, "recompile", compiled_hash=artifact.hash)
    return _show(act, new_id, version, artifact, findings, compiled)


# --- changes that wait for another person ---


def propose_roll_back(act: AdminTransaction, older: DefinitionRow) -> ControlChange:
    _parse_older(older)
    if older.definition_kind == "org_patch":
        require_replaced(act, older, None)
    body = {**describe(older), "document": older.parse_document()}
    return _propose(act, older, "roll_back", body, _newest_version(act, older))


def propose_recompile(
    act: AdminTransaction, effective: DefinitionRow, calls: HeavyCalls = IN_PLACE
) -> ControlChange:
    patch, artifact, _ = _compile_again(act, effective, calls)
    require_replaced(act, patch, None)
    body = {**describe(effective), "compiled_hash": artifact.hash}
    return _propose(act, effective, "recompile", body, _newest_version(act, effective))


def read_in_force(connection: Connection, tenant_id: UUID, change: ControlChange) -> dict[str, Any]:
    definition = store.find_definition(connection, tenant_id, UUID(change.name))
    if definition is None:
        return {}
    if change.act == "archive":
        return {**describe(definition), "status": definition.status, "findings": []}
    if change.act == "recompile":
        return {**describe(definition), "compiled_hash": definition.compiled_hash}
    newest = store.find_newest_published(connection, tenant_id, definition)
    return {} if newest is None else {**describe(newest), "document": newest.parse_document()}


def apply_change(
    act: AdminTransaction, change: ControlChange, compiled: CompiledCache, calls: HeavyCalls = IN_PLACE
) -> None:
    definition = require_definition(act.connection, act.caller.principal.tenant_id, UUID(change.name))
    if change.act == "archive":
        apply_archive(act, definition, change)
        return
    version = _newest_version(act, definition)
    if version != change.base_version:
        raise change_is_stale(change, version)
    if change.act == "roll_back":
        roll_back(act, definition, change, compiled=compiled, calls=calls)
    else:
        recompile(act, definition, change, compiled=compiled, calls=calls)


def _propose(
    act: AdminTransaction, definition: DefinitionRow, what: str, body: Mapping[str, Any], version: int
) -> ControlChange:
    return propose(act, ControlProposal(KIND, str(definition.id), what, body, version, PUBLISH))


def _newest_version(act: AdminTransaction, definition: DefinitionRow) -> int:
    following = store.next_definition_version(
        act.connection,
        act.caller.principal.tenant_id,
        definition.definition_kind,
        definition.entity_type,
        definition.name,
    )
    return following - 1


# --- what publishing is made of ---


def _find_dropped(
    connection: Connection, tenant_id: UUID, draft: DefinitionRow, artifact: Artifact
) -> Iterator[Finding]:
    """Find that a patch asks nobody, where new documents of its type ask people until now."""
    if draft.definition_kind != "org_patch" or holds_approvals(artifact):
        return
    present = find_workflow(connection, tenant_id, draft.entity_type, None)
    if present is not None and has_approvals(connection, tenant_id, present):
        yield make_finding("ASKS_NOBODY", "/", entity_type=draft.entity_type)


def _list_unclear(findings: Sequence[PlacedFinding]) -> list[PlacedFinding]:
    return [finding for finding in findings if finding.code == "TEXT_UNCLEAR"]


def _compile_again(
    act: AdminTransaction, effective: DefinitionRow, calls: HeavyCalls
) -> tuple[DefinitionRow, Artifact, tuple[PlacedFinding, ...]]:
    if effective.definition_kind != "effective" or effective.source_id is None:
        raise Rejected("DEFINITION_INVALID", "only an effective workflow can be recompiled")
    tenant_id = act.caller.principal.tenant_id
    patch = require_definition(act.connection, tenant_id, effective.source_id)
    subject = read_subject(act.connection, tenant_id, patch, calls)
    artifact, findings = subject.require_artifact(subject.compile_for(act.connection, tenant_id))
    require_run_as(act, artifact)
    return patch, artifact, findings


def _parse_older(older: DefinitionRow) -> Patch | Automation:
    if older.definition_kind not in MODELS or older.status == "draft":
        raise Rejected("DEFINITION_INVALID", "only a published patch or automation can be rolled back to")
    return parse_body(MODELS[older.definition_kind], older.parse_document())


def _insert_effective(
    act: AdminTransaction, patch: DefinitionRow, artifact: Artifact, authorship: Authorship
) -> tuple[UUID, int]:
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
        authorship=authorship,
    )
    store.insert_definition(connection, author.tenant_id, new, author.subject)
    return new.id, version


def _show(
    act: AdminTransaction,
    definition_id: UUID,
    version: int,
    artifact: Artifact,
    findings: tuple[PlacedFinding, ...],
    compiled: CompiledCache,
) -> Published:
    tenant_id = act.caller.principal.tenant_id
    control = read_control_of_artifact(act.connection, tenant_id, definition_id, artifact)
    around = place_findings(_find_around(act, definition_id, artifact, compiled))
    return Published(definition_id, version, artifact.hash, (*findings, *around), control)


def _find_around(
    act: AdminTransaction, definition_id: UUID, artifact: Artifact, compiled: CompiledCache
) -> Iterator[Finding]:
    """Find what the definition means beside the others of its tenant."""
    connection, tenant_id = act.connection, act.caller.principal.tenant_id
    if artifact.content["kind"] == "automation":
        yield from find_circles(connection, tenant_id, artifact.content, compiled)
        return
    workflow = Workflow(artifact)
    contract = read_contract_of(connection, tenant_id, workflow)
    if contract is None:
        return
    new = workflow, contract
    yield from find_older_running(compiled, connection, tenant_id, definition_id, new)
    yield from find_differences(compiled, connection, tenant_id, definition_id, new)
    yield from find_editable_when_made(compiled, connection, tenant_id, new)


def name_of(body: Patch | Automation) -> str:
    return body.patch if isinstance(body, Patch) else body.automation


def entity_type_of(body: Patch | Automation) -> str:
    """Return the entity type, which is '' for an automation that belongs to none."""
    return body.base.entity_type if isinstance(body, Patch) else body.entity_type or ""


def base_ref_of(body: Patch | Automation) -> dict[str, Any] | None:
    return body.base.model_dump(mode="json") if isinstance(body, Patch) else None


def to_json(body: Patch | Automation) -> dict[str, Any]:
    return body.model_dump(mode="json", by_alias=True)


def note(act: AdminTransaction, definition_id: UUID, action: str, **detail: str | int) -> None:
    act.note(("definition", str(definition_id)), action, detail)
