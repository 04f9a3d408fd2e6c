"""The documents that documents refer to, as they are at this moment: what an environment's `refs` hold.

Read in one statement for all documents of a batch or a wave, and only where an expression follows a ref. What
the transaction has changed itself is seen as it has become.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.fields import RefField
from signet.core.documents.personal_data import is_reference
from signet.store.database import Connection
from signet.store.documents.write import DocumentRow, ReferencedDocument, read_referenced

STATUS = "status"


@dataclass(frozen=True, slots=True)
class RefQuery:
    """A document whose expressions follow these ref fields."""

    contract: CompiledContract
    followed: frozenset[str]
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Wanted:
    document_id: UUID
    entity_type: str
    reads: tuple[str, ...]


class Refs:
    """Those of one transaction; what was read once is read no more."""

    def __init__(self, connection: Connection, tenant_id: UUID, held: Mapping[UUID, DocumentRow]) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        # The documents that this transaction holds and changes, and those that it makes.
        self._held = held
        self._made: dict[UUID, ReferencedDocument] = {}
        self._read: dict[_Wanted, ReferencedDocument | None] = {}

    def load(self, queries: Iterable[RefQuery]) -> None:
        """All that they will ask for, in one statement; in none when it is known."""
        wanted = {
            one
            for query in queries
            for one in _list_wanted(query).values()
            if one not in self._read and not self._is_own(one.document_id)
        }
        if not wanted:
            return
        ids, fields = {one.document_id for one in wanted}, {name for one in wanted for name in one.reads}
        found = read_referenced(self._connection, self._tenant_id, ids, fields)
        self._read |= {one: found.get(one.document_id) for one in wanted}

    def add_made(
        self, contract: CompiledContract, document_id: UUID, status: str, data: Mapping[str, Any]
    ) -> None:
        """Written at the end of the transaction, and there from now on."""
        values = {name: value for name, value in data.items() if name not in contract.personal_fields}
        self._made[document_id] = ReferencedDocument(contract.contract.contract, status, values)

    def of(self, query: RefQuery) -> dict[str, Mapping[str, Any]]:
        """By ref field, what expressions read; nothing of a document that is not there or of another type."""
        self.load([query])
        wanted = _list_wanted(query)
        return {field: found for field, one in wanted.items() if (found := self._find(one)) is not None}

    def _is_own(self, document_id: UUID) -> bool:
        return document_id in self._held or document_id in self._made

    def _find(self, wanted: _Wanted) -> dict[str, Any] | None:
        row, made = self._held.get(wanted.document_id), self._made.get(wanted.document_id)
        found = _read_held(row) if row is not None else made or self._read.get(wanted)
        if found is None or found.entity_type != wanted.entity_type:
            return None
        values = {**found.values, STATUS: found.status}
        return {name: value for name in wanted.reads if not is_reference(value := values.get(name))}


def _list_wanted(query: RefQuery) -> dict[str, _Wanted]:
    wanted: dict[str, _Wanted] = {}
    for name in query.followed:
        field, value = query.contract.contract.fields[name], query.data.get(name)
        document_id = _read_id(value)
        if isinstance(field, RefField) and document_id is not None:
            wanted[name] = _Wanted(document_id, field.entity_type, tuple(field.reads))
    return wanted


def _read_id(value: Any) -> UUID | None:
    """None of what no document can hold: a patch is looked at before it is checked."""
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _read_held(row: DocumentRow) -> ReferencedDocument | None:
    return None if row.deleted_at is not None else ReferencedDocument(row.entity_type, row.status, row.data)
