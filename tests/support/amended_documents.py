"""Documents of types that may be amended, and what people do to them and to their amendments."""

from collections.abc import Mapping
from typing import Any, LiteralString
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.engine.documents.commands import Amend, Applied, Delete, Operation
from signet.engine.documents.read import DocumentAtWork, DocumentsRead
from tests.support.operated_instances import operating_on
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage

NUMBER = {"type": "string", "unique": True, "required": True, "max_length": 60}
AMENDABLE: Mapping[str, Any] = {
    **CONTRACT,
    "fields": {**CONTRACT["fields"], "number": NUMBER},
    "transitions": {
        **CONTRACT["transitions"],
        "renew": {"from": ["active"], "to": "active", "kind": "requested"},
        "reopen": {"from": ["active"], "to": "draft", "kind": "requested"},
    },
    "slots": {**CONTRACT["slots"], "renewal": {"transition": "renew"}},
    "amendment": {"from": ["active"]},
}
SUSPENDING = {**AMENDABLE, "amendment": {"from": ["active"], "while_open": "suspended"}}
BY_EDIT = {
    **AMENDABLE,
    "states": {**CONTRACT["states"], "active": {"edit": "amend_only", "settled": True}},
    "amendment": {},
}
STRICT = {
    **AMENDABLE,
    "states": {**CONTRACT["states"], "submitted": {"edit": "amend_only"}},
}
APPROVAL = {"nodes": [CALL]}
OPEN, MOVED_ON, GONE = "AMENDMENT_OPEN", "ORIGINAL_MOVED_ON", "ORIGINAL_GONE"
INCIDENTS: LiteralString = "SELECT code, kind, closing FROM incidents WHERE instance_id = %s ORDER BY id"
KEYS: LiteralString = "SELECT value, document_id FROM document_keys WHERE entity_type = %s ORDER BY value"
AUDIT: LiteralString = (
    "SELECT action, content::jsonb -> 'detail' FROM audit_log WHERE subject_id = %s"
    " AND action IN ('amendment_opened', 'amended') ORDER BY seq"
)


def settled(stage: WorkflowStage, contract: Mapping[str, Any] = AMENDABLE, **slots: Any) -> Made:
    """Return a document that is active; its approval is a call, which the world outside has answered."""
    document = stage.create(stage.publish(contract, **({"approval": APPROVAL} | slots)), number="R-1")
    settle(stage, document)
    return document


def settle(stage: WorkflowStage, document: Made) -> None:
    submit(stage, document)
    answer(stage, document)


def submit(stage: WorkflowStage, document: Made) -> None:
    stage.ask(document.id, "submit")
    stage.drain()


def answer(stage: WorkflowStage, document: Made) -> None:
    stage.answer(stage.instance_of(document.id))
    stage.drain()


def move_on(stage: WorkflowStage, original: Made) -> None:
    """Take the original up again and settle it: it is active as before, and at another version."""
    stage.ask(original.id, "reopen")
    stage.drain()
    settle(stage, original)
    assert stage.status_of(original.id) == "active"


def amend(stage: WorkflowStage, original: Made, **patch: Any) -> Made:
    applied = stage.mutate(Amend(original.id, stage.version_of(original.id), patch, "a reason"))
    return of(applied)


def of(applied: Applied) -> Made:
    assert applied.instance_id is not None and applied.original_id is not None
    return Made(applied.document_id, applied.instance_id)


def refusal(stage: WorkflowStage, operation: Operation) -> Rejected:
    with pytest.raises(Rejected) as caught:
        stage.mutate(operation)
    return caught.value


def read(stage: WorkflowStage, document: Made) -> DocumentAtWork:
    company = stage.standing.company
    return DocumentsRead(company.database).read(company.principal(), document.id)


def line(stage: WorkflowStage, document: Made) -> tuple[UUID | None, UUID | None, UUID | None]:
    """Return which amendment is open, which one took the document's place, and what is in force."""
    shown = read(stage, document)
    return shown.amendment_open, shown.amended_by, shown.current_id


def keys(stage: WorkflowStage, document: Made) -> list[tuple[str, UUID]]:
    return stage.standing.rows(KEYS, read(stage, document).entity_type)


def incidents(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    return stage.standing.rows(INCIDENTS, stage.instance_of(document.id))


def delete(stage: WorkflowStage, amendment: Made) -> None:
    stage.mutate(Delete(amendment.id, stage.version_of(amendment.id)))


def withdraw(stage: WorkflowStage, amendment: Made) -> None:
    stage.ask(amendment.id, "cancel")
    stage.drain()


def end(stage: WorkflowStage, amendment: Made) -> None:
    instances, olga = operating_on(stage)
    version = stage.instance(amendment.instance_id)["version"]
    instances.cancel(olga, amendment.instance_id, version, "entered in error")


def fail(stage: WorkflowStage, amendment: Made) -> None:
    instances, olga = operating_on(stage)
    version = stage.instance(amendment.instance_id)["version"]
    instances.fail(olga, amendment.instance_id, version, "entered in error")
