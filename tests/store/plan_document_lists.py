"""Lists of documents: each index, with the lists that are filtered or sorted by it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from signet.core.documents.list_filter import Scalar
from signet.store.documents.lists import ColumnTerm, CursorPosition, Slice, write_list
from tests.store.probes import API, LARGE, NUMBER, ROW, Probe

# A time close to the creation of the wanted row.
AT = datetime.now(UTC) - timedelta(days=80) * (1 - NUMBER / 200_000)


def list_probes_of_documents() -> Iterator[Probe]:
    # lists, all and of one status, page by page
    draft = ColumnTerm("status", "==", "draft")
    for is_descending in (True, False):
        yield listing("documents_by_creation", is_descending=is_descending)
        yield listing("documents_by_status_and_creation", draft, is_descending=is_descending)
    for column, value in fast_values():
        index = f"documents_by_{column}"
        # by value, by several, in a range with another condition, and in its order from a cursor on
        yield listing(index, ColumnTerm(column, "==", value))
        yield listing(index, ColumnTerm(column, "in", (value,)), draft)
        since, until = ColumnTerm(column, ">=", value), ColumnTerm(column, "<", following(value))
        yield listing(index, since, until)
        for term in (since, until):
            yield listing(index, term, draft, column=column)
        for is_descending in (True, False):
            yield listing(index, column=column, value=value, is_descending=is_descending)


def listing(
    index: str,
    *terms: ColumnTerm,
    column: str | None = None,
    value: Scalar | None = None,
    is_descending: bool = False,
) -> Probe:
    after = None if terms else CursorPosition(value, AT, ROW)
    statement = write_list(LARGE, Slice("invoice", terms, None, column, is_descending), after, 51)
    return Probe(index, statement.text, statement.values, API)


def fast_values() -> Iterator[tuple[str, Scalar]]:
    """Yield the indexed columns of the wanted row, and their values."""
    for number, letter in enumerate("abcd", start=1):
        yield f"t{number}", f"{letter}{NUMBER}"
        yield f"n{number}", NUMBER
    yield "d1", AT
    yield "d2", AT


def following(value: Scalar) -> Scalar:
    match value:
        case str():
            return f"{value}~"
        case int():
            return value + 100
        case datetime():
            return value + timedelta(hours=1)
