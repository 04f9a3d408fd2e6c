"""Documents of a type as a list, filtered and sorted by the indexed fields of its newest contract.

A document stays under the version of the contract that it was checked against, and versions may index a field
in different columns. One list is therefore read in slices, one for each layout; nearly always there is one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from signet.core.contracts.contract import Contract
from signet.core.documents.list_filter import (
    CREATED_AT,
    Scalar,
    Sort,
    Term,
    parse_filter,
    parse_sort,
    place_fields,
)
from signet.core.errors import Rejected
from signet.core.tenants.principal import Principal
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.cache import ContractCache
from signet.engine.documents.read import resolve_all
from signet.store.database import Database
from signet.store.documents.lists import (
    ColumnTerm,
    CursorPosition,
    ListedDocument,
    Slice,
    list_contract_versions,
    list_documents,
)

# The end of a page, with the sorted value as text.
PlaceText = tuple[str | None, datetime, UUID]
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class WantedDocuments:
    entity_type: str
    status: str | None
    filter: str | None
    sort: str


@dataclass(frozen=True, slots=True)
class _Parts:
    """The slices of documents that have the sorted value, and of those without it, which come last."""

    valued: Sequence[Slice]
    rest: Sequence[Slice]


@dataclass(frozen=True, slots=True)
class DocumentLists:
    database: Database
    contracts: ContractCache

    def list(
        self, principal: Principal, wanted: WantedDocuments, after: PlaceText | None, limit: int
    ) -> Sequence[ListedDocument]:
        """List at most `limit` documents after a position, with their personal values."""
        with reading(self.database, principal) as read:
            read.require(f"{wanted.entity_type}:read")
            contracts = self._load(read, wanted.entity_type)
            terms = parse_filter(wanted.filter, contracts[0]) if wanted.filter is not None else ()
            if wanted.status is not None:
                terms = (Term("status", "==", wanted.status), *terms)
            sort = parse_sort(wanted.sort, contracts[0])
            parts = _divide(wanted.entity_type, terms, sort, contracts)
            page = _read_page(read, parts, sort, _parse_position(after, sort), limit)
            shown = resolve_all(read.connection, principal.tenant_id, [listed.record.data for listed in page])
            return [
                replace(listed, record=replace(listed.record, data=data))
                for listed, data in zip(page, shown, strict=True)
            ]

    def _load(self, read: ReadTransaction, entity_type: str) -> Sequence[Contract]:
        tenant_id = read.principal.tenant_id
        versions = list_contract_versions(read.connection, tenant_id, entity_type)
        loaded = (
            self.contracts.read(read.connection, tenant_id, entity_type, version) for version in versions
        )
        contracts = [contract.contract for contract in loaded if contract is not None]
        if not contracts:
            raise Rejected("ENTITY_TYPE_UNKNOWN", f"there is no contract for '{entity_type}'")
        return contracts


def write_place(place: CursorPosition) -> PlaceText:
    value = place.value
    text = value.isoformat() if isinstance(value, datetime) else None if value is None else str(value)
    return text, place.created_at, place.id


def _parse_position(after: PlaceText | None, sort: Sort) -> CursorPosition | None:
    if after is None:
        return None
    try:
        return CursorPosition(_parse_value(after[0], sort), after[1], after[2])
    except ValueError:
        raise Rejected("CURSOR_INVALID", "the cursor does not belong to this list") from None


def _parse_value(text: str | None, sort: Sort) -> Scalar | None:
    if text is None:
        return None
    if sort.field == CREATED_AT:
        raise ValueError
    match sort.kind:
        case "text":
            return text
        case "time":
            return datetime.fromisoformat(text)
        case "number":
            number = int(text)
            if abs(number) > _LARGEST:
                raise ValueError
            return number


def _divide(entity_type: str, terms: Sequence[Term], sort: Sort, contracts: Sequence[Contract]) -> _Parts:
    """Divide the list by the columns in which versions of the contract index the fields.

    A version that does not index a filtered field has no document here. One that does not index the sorted
    field has none with a value.
    """
    newest, names = contracts[0], sorted({term.field for term in terms})
    versions: dict[tuple[tuple[tuple[str, str], ...], str | None], list[int]] = {}
    for contract in contracts:
        placed = place_fields(names, contract, newest)
        if placed is not None:
            by = place_fields([sort.field], contract, newest) if sort.field != CREATED_AT else None
            key = tuple(placed.items()), by[sort.field] if by else None
            versions.setdefault(key, []).append(contract.version)
    has_value = any(term.field == sort.field and term.operator != "null" for term in terms)
    is_whole = [len(numbers) for numbers in versions.values()] == [len(contracts)]
    valued, rest = [], []
    for (placed_items, column), numbers in versions.items():
        columns = dict(placed_items)
        asked = [ColumnTerm(columns[term.field], term.operator, term.value) for term in terms]
        of_versions = None if is_whole else numbers
        if column is not None:
            valued.append(Slice(entity_type, asked, of_versions, column, sort.is_descending))
            asked = [*asked, ColumnTerm(column, "null", None)]
        if column is None or not has_value:
            rest.append(Slice(entity_type, asked, of_versions, None, sort.is_descending))
    return _Parts(valued, rest)


def _read_page(
    read: ReadTransaction, parts: _Parts, sort: Sort, after: CursorPosition | None, limit: int
) -> list[ListedDocument]:
    page: list[ListedDocument] = []
    if after is None or after.value is not None:
        page += _merge(_ask(read, parts.valued, after, limit), sort, limit)
        after = None
    if len(page) < limit:
        page += _merge(_ask(read, parts.rest, after, limit), sort, limit - len(page))
    return page


def _ask(
    read: ReadTransaction, slices: Sequence[Slice], after: CursorPosition | None, limit: int
) -> Iterator[ListedDocument]:
    for part in slices:
        yield from list_documents(read.connection, read.principal.tenant_id, part, after, limit)


def _merge(listed: Iterator[ListedDocument], sort: Sort, limit: int) -> list[ListedDocument]:
    """Merge the slices: Python orders texts as the index does, by their bytes."""
    return sorted(listed, key=lambda document: document.place, reverse=sort.is_descending)[:limit]
