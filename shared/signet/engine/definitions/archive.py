"""Archiving of a definition: it is said what new documents run instead, and accepted by name."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.compiler.artifact import Artifact, parse_artifact
from signet.core.control.change import ControlKind
from signet.core.errors import Rejected
from signet.core.previews.placed_findings import PlacedFinding, place_findings
from signet.core.validation.finding import Finding, make_finding
from signet.engine.access.admin import AdminTransaction
from signet.engine.automations.publication import put_out_of_force
from signet.engine.control.changes import change_is_stale
from signet.engine.control.proposals import ControlChange, ControlProposal, propose
from signet.store.database import Connection
from signet.store.definitions import write as store
from signet.store.definitions.write import DefinitionRow
from signet.store.documents.write import WorkflowOfType, find_workflow

KIND: ControlKind = "definition"
PUBLISH = "definition:publish"


@dataclass(frozen=True, slots=True)
class Archived:
    """A definition that new documents do not run any more, with what that changed."""

    definition_id: UUID
    name: str
    version: int
    findings: tuple[PlacedFinding, ...]


def archive(
    act: AdminTransaction, definition: DefinitionRow, accepted: Collection[str], reason: str | None
) -> Archived:
    """Archive a definition whose effects the caller has accepted by their codes."""
    findings = find_effects(act.connection, act.caller.principal.tenant_id, definition)
    require_accepted(findings, accepted)
    _archive(act, definition, reason)
    return Archived(definition.id, definition.name, definition.version, findings)


def propose_archive(
    act: AdminTransaction, definition: DefinitionRow, accepted: Collection[str], reason: str | None
) -> ControlChange:
    """Propose it; what follows from it is part of what is confirmed."""
    if definition.status != "published" or definition.is_default:
        raise _not_archivable()
    findings = find_effects(act.connection, act.caller.principal.tenant_id, definition)
    require_accepted(findings, accepted)
    body = {**describe(definition), "status": "archived", "findings": _to_json(findings)}
    change = ControlProposal(
        KIND, str(definition.id), "archive", body, definition.revision, PUBLISH, reason=reason
    )
    return propose(act, change)


def apply_archive(act: AdminTransaction, definition: DefinitionRow, change: ControlChange) -> None:
    """Archive it where the same follows from it as when it was proposed."""
    if definition.revision != change.base_version:
        raise change_is_stale(change, definition.revision)
    findings = find_effects(act.connection, act.caller.principal.tenant_id, definition)
    if _to_json(findings) != change.body["findings"]:
        raise Rejected(
            "CONTROL_CHANGE_VERSION_CONFLICT",
            "something else follows from this change by now than when it was proposed",
            remedy="Reject or withdraw it, and propose it again.",
        )
    _archive(act, definition, change.reason)


def describe(definition: DefinitionRow) -> dict[str, Any]:
    return {
        "definition_kind": definition.definition_kind,
        "entity_type": definition.entity_type,
        "name": definition.name,
        "version": definition.version,
    }


def find_effects(
    connection: Connection, tenant_id: UUID, definition: DefinitionRow
) -> tuple[PlacedFinding, ...]:
    """Find what new documents of its type run instead; nothing where they do not run it now."""
    return place_findings(_find_effects(connection, tenant_id, definition))


def _find_effects(connection: Connection, tenant_id: UUID, definition: DefinitionRow) -> Iterator[Finding]:
    archived = _list_archived(connection, tenant_id, definition)
    present = find_workflow(connection, tenant_id, definition.entity_type, None)
    if present is None or present.id not in archived:
        return
    following = find_workflow(connection, tenant_id, definition.entity_type, None, other_than=archived)
    if following is None:
        return
    row = store.find_definition(connection, tenant_id, following.id)
    named = {
        "entity_type": definition.entity_type,
        "name": row.name if row else "",
        "version": following.version,
    }
    yield make_finding("FALLS_BACK", "/", **named)
    if has_approvals(connection, tenant_id, present) and not has_approvals(connection, tenant_id, following):
        yield make_finding("ASKS_NOBODY", "/", entity_type=definition.entity_type)


def has_approvals(connection: Connection, tenant_id: UUID, workflow: WorkflowOfType) -> bool:
    """Return whether a workflow has an approval anywhere."""
    compiled = store.read_compiled(connection, tenant_id, workflow.id, workflow.version)
    return compiled is not None and holds_approvals(parse_artifact(*compiled))


def holds_approvals(artifact: Artifact) -> bool:
    return any(node["type"] == "approval" for node in artifact.content["nodes"].values())


def _list_archived(connection: Connection, tenant_id: UUID, definition: DefinitionRow) -> list[UUID]:
    """List what is archived; a patch takes its effective workflows with it."""
    if definition.definition_kind != "org_patch":
        return [definition.id]
    return [definition.id, *store.list_effective_of_patch(connection, tenant_id, definition.id)]


def _archive(act: AdminTransaction, definition: DefinitionRow, reason: str | None) -> None:
    tenant_id = act.caller.principal.tenant_id
    if definition.status != "published" or definition.is_default:
        raise _not_archivable()
    for definition_id in _list_archived(act.connection, tenant_id, definition):
        store.archive_definition(act.connection, tenant_id, definition_id)
    if definition.definition_kind == "automation":
        put_out_of_force(act.connection, tenant_id, definition.id)
    act.note(("definition", str(definition.id)), "archive", {}, reason=reason)


def require_accepted(findings: Sequence[PlacedFinding], accepted: Collection[str]) -> None:
    missing = [finding for finding in findings if finding.code not in accepted]
    if missing:
        codes = ", ".join(finding.code for finding in findings)
        raise Rejected(
            "FINDINGS_NOT_ACCEPTED",
            " ".join(finding.sentence for finding in missing),
            remedy=f"Send these codes as 'accept', if that is wanted: {codes}.",
            details={"findings": _to_json(missing)},
        )


def _to_json(findings: Sequence[PlacedFinding]) -> list[dict[str, Any]]:
    return [
        {
            "code": finding.code,
            "severity": finding.severity,
            "sentence": finding.sentence,
            "parameters": dict(finding.parameters),
        }
        for finding in findings
    ]


def _not_archivable() -> Rejected:
    return Rejected("VERSION_FROZEN", "only a published definition that is no default can be archived")
