"""The parts that changes are made of, and the rejections that several operations share. No SQL here."""

from collections.abc import Mapping
from typing import Any

from signet.core.editing import LiveInstance, Window, find_window
from signet.core.errors import FieldError, Rejected
from signet.core.loaded_contract import Denial
from signet.engine.documents.facts import Change, Facts
from signet.store.documents import DocumentRow


def make_version(
    facts: Facts,
    row: DocumentRow,
    action: str,
    data: Mapping[str, Any],
    reason: str | None,
    status: str | None = None,
) -> Change:
    version = row.version + 1
    return Change(
        row.id, facts.author, facts.contract, row, action, data, status or row.status, version, reason
    )


def make_note(facts: Facts, row: DocumentRow, action: str, reason: str | None) -> Change:
    """A request is on record without a new version of the document."""
    return Change(
        row.id, facts.author, facts.contract, row, action, facts.data, row.status, row.version, reason
    )


def tell_workflow(change: Change, row: DocumentRow, event_type: str, payload: dict[str, Any]) -> None:
    if row.instance_id is not None:
        change.event_type, change.event_payload = event_type, payload


def supersede_request(change: Change, row: DocumentRow, outcome: str) -> None:
    if row.request_id is not None:
        change.ends_requests.append((row.request_id, "superseded", outcome))


def window_of(facts: Facts, row: DocumentRow) -> Window:
    live = LiveInstance(row.edit_window, row.edit_window_node) if row.instance_id is not None else None
    return find_window(facts.contract.contract, row.status, live)


def authorize(facts: Facts, permission: str, env: Mapping[str, Any]) -> Rejected | None:
    if facts.author.instance_id is not None:
        return None  # the workflow's own policy gate has decided, with evidence
    return as_rejected(facts.contract.authorize(permission, facts.permissions, env))


def as_rejected(denial: Denial | None) -> Rejected | None:
    return None if denial is None else Rejected(denial.code, denial.sentence)


def reject_fields(mistakes: tuple[FieldError, ...]) -> Rejected:
    return Rejected(
        "FIELDS_INVALID", f"{len(mistakes)} field(s) are not as the contract says", fields=mistakes
    )


def refuse_created(index: int, entity_type: str, rejected: Rejected) -> Rejected:
    """What keeps a document that an action makes from being, and with it the action."""
    fields = tuple(
        FieldError(f"/created/{index}{each.pointer}", each.code, each.message) for each in rejected.fields
    )
    return Rejected(
        rejected.code,
        f"the new {entity_type}: {rejected.message}",
        remedy=rejected.remedy,
        fields=fields,
        details=rejected.details,
    )


def reject_locked(window: Window) -> Rejected:
    return Rejected(
        "WORKFLOW_EDIT_LOCKED",
        f"the document is {window.window.value} here: {window.held_by} holds it",
        details={"window": window.window.value, "held_by": window.held_by},
    )
