"""Business keys that changes release and take, and the refusal of changes that lost one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from signet.core.errors import FieldError, Rejected
from signet.engine.documents.actions import ChangeOrRefusal
from signet.engine.documents.change import DocumentChange, refuse_created
from signet.engine.documents.checkpoints import Checkpoint
from signet.engine.documents.commands import Mode
from signet.store.database import Connection
from signet.store.documents.write import reserve_business_keys

Row = dict[str, Any]
MAX_SHOWN_CHARACTERS = 100


def list_business_keys(changes: Iterable[DocumentChange]) -> tuple[list[Row], list[Row]]:
    """List the business keys to release and to take.

    Keys belong to a line of amendments. An original that stays in force keeps its own until the amendment
    settles, which holds what it changes beside them. One that ends hands them over at once. `heir_of` is the
    document that the new holder comes after.
    """
    released: list[Row] = []
    wanted: list[Row] = []
    for change in changes:
        holder = change.replaces or change.before or change.amended_from
        takes_over = change.replaces or (change.amended_from if not change.original_stays else None)
        old, after = holder.data if holder else {}, change.after
        for field in change.contract.unique_fields:
            old_value, new_value = old.get(field), None if after.is_deleted else after.data.get(field)
            if old_value == new_value and takes_over is None:
                continue
            entity_type = change.contract.contract.contract
            if old_value is not None and holder is not None and not change.original_stays:
                released.append(_make_key(entity_type, field, old_value, holder.id))
            if new_value is not None:
                key = _make_key(entity_type, field, new_value, change.document_id)
                of_line = change.replaces or change.amended_from
                wanted.append({**key, "heir_of": of_line.id if of_line is not None else None})
    return released, wanted


def _make_key(entity_type: str, field: str, value: Any, document_id: UUID) -> Row:
    return {"entity_type": entity_type, "field": field, "value": str(value), "document_id": document_id}


def find_lost_key(change: DocumentChange, lost: Mapping[UUID, str]) -> Rejected | None:
    for index, part in enumerate(change.parts):
        field = lost.get(part.document_id)
        if field is not None:
            if part is change:
                return _key_taken(field)
            # Nobody has typed the key of a document that an action makes. No personal field is one.
            shown = f": {str(part.after.data.get(field))[:MAX_SHOWN_CHARACTERS]}"
            return refuse_created(index, part.contract.contract.contract, _key_taken(field, shown))
    return None


def _key_taken(field: str, shown: str = "") -> Rejected:
    sentence = f"another document has this {field}{shown}"
    mistake = FieldError(f"/{field}", "KEY_TAKEN", sentence, within="document")
    return Rejected("KEY_TAKEN", sentence, fields=(mistake,))


def refuse_lost(change: ChangeOrRefusal, lost: Mapping[UUID, Rejected]) -> ChangeOrRefusal:
    return lost.get(change.document_id, change) if isinstance(change, DocumentChange) else change


def reserve_keys(
    connection: Connection, tenant_id: UUID, decided: Sequence[ChangeOrRefusal], mode: Mode
) -> list[ChangeOrRefusal]:
    """Reserve business keys and refuse the changes that lost one.

    With `each`, those that are left try again until all of them have theirs.
    """
    left = list(decided)
    while True:
        changes = [change for change in left if isinstance(change, DocumentChange)]
        lost = reserve(connection, tenant_id, changes, undo=mode == "each")
        if not lost:
            return left
        left = [refuse_lost(change, lost) for change in left]
        if mode == "all":
            return left


def reserve(
    connection: Connection,
    tenant_id: UUID,
    changes: Sequence[DocumentChange],
    *,
    undo: bool,
    checkpoint: Checkpoint | None = None,
) -> dict[UUID, Rejected]:
    """Return a rejection for each change that lost a key; with `undo` no key was then reserved."""
    released, wanted = list_business_keys([part for change in changes for part in change.parts])
    if not released and not wanted:
        return {}
    if checkpoint is not None:
        checkpoint.guard_keys(connection)
    lost = reserve_business_keys(connection, tenant_id, released, wanted, undo=undo)
    if not lost:
        return {}
    rejections = ((change.document_id, find_lost_key(change, lost)) for change in changes)
    return {document_id: rejected for document_id, rejected in rejections if rejected is not None}
