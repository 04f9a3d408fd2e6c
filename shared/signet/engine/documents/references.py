"""Documents that other documents refer to, as they are at this moment: the `refs` of an environment.

Of a document that an amendment has taken the place of, what is in force is read.
They are read in one statement for all documents of a batch or a wave, and only where an expression follows a
ref. Changes of the transaction itself are seen.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from signet.core.approvals.pins import Pins, point_refs
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.contracts.contract import AMENDED
from signet.core.contracts.fields import RefField
from signet.core.documents.personal_data import is_reference
from signet.core.errors import Rejected
from signet.core.expressions import FollowedField
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons
from signet.engine.documents.commands import Operation, RunAction
from signet.store.database import Connection
from signet.store.definitions.read import list_readers
from signet.store.documents.referenced import STATUS, ReferencedDocument, read_referenced
from signet.store.documents.write import DocumentRow, read_last_pins

FindContract = Callable[[Operation, DocumentRow], CompiledContract | None]


@dataclass(frozen=True, slots=True)
class RefQuery:
    """A document, and what its expressions read behind refs."""

    contract: CompiledContract
    followed: frozenset[FollowedField]
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Wanted:
    document_id: UUID
    entity_type: str
    reads: tuple[str, ...]


class Refs:
    """The referenced documents of one transaction, each read once."""

    def __init__(self, connection: Connection, tenant_id: UUID, held: Mapping[UUID, DocumentRow]) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        # The documents that this transaction holds and changes, and those that it makes.
        self._held = held
        self._made: dict[UUID, ReferencedDocument] = {}
        self._read: dict[_Wanted, ReferencedDocument | None] = {}
        # Who wrote what refusals of this transaction have read, by the document that each left as it was.
        self.hindered: dict[UUID, ResponsiblePersons] = {}

    def load(self, queries: Sequence[RefQuery]) -> None:
        """Read all that the queries ask for in one statement, or in none when it is known."""
        wanted = {
            document
            for query in queries
            for document in _list_wanted(query).values()
            if document not in self._read and not self._is_own(document.document_id)
        }
        if not wanted:
            return
        ids, fields = (
            {document.document_id for document in wanted},
            {name for document in wanted for name in document.reads},
        )
        read = read_referenced(self._connection, self._tenant_id, ids, fields)
        self._read |= {document: read.get(document.document_id) for document in wanted}

    def add_made(
        self,
        contract: CompiledContract,
        document_id: UUID,
        status: str,
        data: Mapping[str, Any],
        responsible: ResponsiblePersons,
    ) -> None:
        """Add a document that this transaction makes: it is written at the end, and seen from now on."""
        values = {name: value for name, value in data.items() if name not in contract.personal_fields}
        self._made[document_id] = ReferencedDocument(
            contract.contract.contract, status, 1, False, None, values, {}, responsible
        )

    def list_made(self) -> Mapping[UUID, ReferencedDocument]:
        """Return the documents that this transaction has made until now."""
        return dict(self._made)

    def forget_made(self, before: Mapping[UUID, ReferencedDocument]) -> None:
        """Forget the documents that were made since then."""
        self._made = dict(before)

    def persons_of(self, query: RefQuery) -> ResponsiblePersons:
        """Return who stands behind what the query reads."""
        self.load([query])
        return frozenset().union(*(self._find_persons(wanted) for wanted in _list_wanted(query).values()))

    def persons_of_fields(self, row: DocumentRow, fields: Collection[str]) -> ResponsiblePersons:
        """Return who stands behind these fields of a document that this transaction holds.

        What the transaction has changed is not written yet: all of its authors are behind that.
        """
        if not fields:
            return NOBODY
        stored = read_referenced(self._connection, self._tenant_id, [row.id], fields).get(row.id)
        writers = (
            stored.list_writers(name)
            if stored is not None and stored.values.get(name) == row.data.get(name)
            else _list_authors(row)
            for name in fields
        )
        return NOBODY.union(*writers)

    def pins_of(self, query: RefQuery) -> dict[str, dict[str, Any]]:
        """Return what the query reads as an approval pins it.

        A ref whose document is not there has a pin without a version: it may appear later.
        """
        self.load([query])
        return {ref: self._make_pin(wanted) for ref, wanted in sorted(_list_wanted(query).items())}

    def of(self, query: RefQuery) -> dict[str, Mapping[str, Any]]:
        """Return the readable values by ref field.

        A field is left out where its document does not exist or is of another type.
        """
        self.load([query])
        wanted = _list_wanted(query)
        return {
            field: values
            for field, document in wanted.items()
            if (values := self._find(document)) is not None
        }

    def is_read(self, entity_type: str) -> bool:
        """Return whether a contract lets documents read those of this type."""
        return bool(list_readers(self._connection, self._tenant_id, entity_type, 1))

    def _make_pin(self, wanted: _Wanted) -> dict[str, Any]:
        found, values = self._find_document(wanted), self._find(wanted)
        shown = found if values is not None else None
        read_from = shown.read_from if shown is not None else None
        replaced = {} if read_from is None else {"read_from": str(read_from)}
        return {
            **replaced,
            "document_id": str(wanted.document_id),
            "entity_type": wanted.entity_type,
            "version": shown.version if shown is not None else None,
            "hash": shown.snapshot_hash if shown is not None else None,
            "values": values or {},
            "responsible": sorted(self._find_persons(wanted)),
        }

    def _is_own(self, document_id: UUID) -> bool:
        return self._hold(document_id) is not None or document_id in self._made

    def _hold(self, document_id: UUID) -> DocumentRow | None:
        """Return the document as this transaction holds it; None for one that was replaced."""
        row = self._held.get(document_id)
        return row if row is not None and row.status != AMENDED else None

    def _find_persons(self, wanted: _Wanted) -> ResponsiblePersons:
        """Return who stands behind these fields; of a document that this transaction changes, its authors.

        Everybody who wrote it is behind what its steps may write. Who deletes a document changes what is read
        of it too.
        """
        referenced, held = self._find_document(wanted), self._hold(wanted.document_id)
        if held is not None and wanted not in self._read:
            read = read_referenced(self._connection, self._tenant_id, [wanted.document_id], wanted.reads)
            self._read[wanted] = read.get(wanted.document_id)
        stored = self._read.get(wanted)
        if held is not None and stored is not None and stored.version == held.version:
            referenced = replace(stored, wrote=stored.wrote | _list_authors(held))
        if referenced is None:
            return NOBODY
        hinderers = self.hindered.get(wanted.document_id, NOBODY)
        if stored is not None:
            hinderers |= stored.hinderers
        return hinderers.union(*(referenced.persons_of(name) for name in wanted.reads))

    def _find_document(self, wanted: _Wanted) -> ReferencedDocument | None:
        row, new = self._hold(wanted.document_id), self._made.get(wanted.document_id)
        referenced = _make_referenced(row) if row is not None else new or self._read.get(wanted)
        if referenced is not None and referenced.is_past_bound:
            sentence = f"the document {wanted.document_id} was amended too often to find the one in force"
            remedy = "Point the ref to the document that is in force now."
            raise Rejected("AMENDMENTS_TOO_MANY", sentence, remedy=remedy)
        return referenced if referenced is not None and referenced.entity_type == wanted.entity_type else None

    def _find(self, wanted: _Wanted) -> dict[str, Any] | None:
        referenced = self._find_document(wanted)
        if referenced is None or referenced.is_deleted:
            return None
        values = {**referenced.values, STATUS: referenced.status}
        return {name: value for name in wanted.reads if not is_reference(value := values.get(name))}


class PinsInForce:
    """The pins by document. A wave gives those of its instances; for actions of people they are read."""

    def __init__(self, connection: Connection, tenant_id: UUID) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._pins: dict[UUID, Pins] = {}

    def use(self, document_id: UUID, pins: Pins) -> None:
        self._pins[document_id] = pins

    def of(self, document_id: UUID) -> Pins:
        return self._pins.get(document_id, {})

    def point(
        self,
        contract: CompiledContract,
        before: DocumentRow,
        after: Mapping[str, Any],
        *,
        is_approved: Callable[[], bool] | Literal[False],
    ) -> None:
        """Keep where a step points refs behind a gate: nobody has approved what else is read there."""
        pins = self.of(before.id)
        pointed = point_refs(pins, contract, before.data, after)
        if pointed != pins and (pins or (is_approved and is_approved())):
            self.use(before.id, pointed)

    def read_for(
        self, operations: Iterable[Operation], rows: Mapping[UUID, DocumentRow], find_contract: FindContract
    ) -> None:
        """Read the pins of documents whose actions read other documents, or hand refs on to new ones."""
        types = {
            row.id: row.entity_type
            for operation in operations
            if isinstance(operation, RunAction) and (row := rows.get(operation.id)) is not None
            if _reads_others(find_contract(operation, row), operation.action)
        }
        if types:
            self._pins |= read_last_pins(self._connection, self._tenant_id, types)


def _reads_others(contract: CompiledContract | None, name: str) -> bool:
    action = contract.contract.actions.get(name) if contract is not None else None
    if contract is None or action is None:
        return False
    return action.kind != "update" or bool(contract.refs_of_actions[name])


def _list_wanted(query: RefQuery) -> dict[str, _Wanted]:
    wanted: dict[str, _Wanted] = {}
    for ref in {ref for ref, _ in query.followed}:
        field, document_id = query.contract.contract.fields[ref], _parse_id(query.data.get(ref))
        if isinstance(field, RefField) and document_id is not None:
            reads = tuple(sorted(name for followed, name in query.followed if followed == ref))
            wanted[ref] = _Wanted(document_id, field.entity_type, reads)
    return wanted


def _parse_id(value: Any) -> UUID | None:
    """Parse an id, or return None for other values: a patch is looked at before it is checked."""
    try:
        return UUID(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _make_referenced(row: DocumentRow) -> ReferencedDocument:
    """Make it of a locked document. Its versions are not read, so that all who wrote it count."""
    return ReferencedDocument(
        row.entity_type,
        row.status,
        row.version,
        row.deleted_at is not None,
        row.snapshot_hash,
        row.data,
        {},
        _list_authors(row),
    )


def _list_authors(row: DocumentRow) -> ResponsiblePersons:
    return row.creator_responsible | row.editor_responsible
