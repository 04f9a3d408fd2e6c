"""Lists of documents: one statement for each filter and order, built from constant parts.

Columns, operators and types come from closed sets; a caller's text is only ever a value. Texts are compared
by their bytes, as in expressions and in the indexes (design: fast fields).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from signet.core.contracts.indexed_columns import INDEXED_COLUMN_NAMES
from signet.core.documents.list_filter import CREATED_AT, Operator, Scalar
from signet.store.database import Connection
from signet.store.documents.read import DocumentRecord
from signet.store.pipeline import DeferredStatement
from signet.store.statements import Statements

_SQL = Statements(__file__)
MAX_CONTRACT_VERSIONS = 200
_TYPES = {"t": "text", "n": "bigint", "d": "timestamptz"}
TYPE_OF: Mapping[str, str] = {
    **{column: _TYPES[column[0]] for column in INDEXED_COLUMN_NAMES},
    "status": "text",
    CREATED_AT: "timestamptz",
}
_OPERATORS = {"==": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_OF_TEXT = {"==": "=", "<": "~<~", "<=": "~<=~", ">": "~>~", ">=": "~>=~"}


@dataclass(frozen=True, slots=True)
class ColumnTerm:
    column: str
    operator: Operator
    value: Scalar | tuple[Scalar, ...] | None


class CursorPosition(NamedTuple):
    """The end of a page; `value` is None among documents without one."""

    value: Scalar | None
    created_at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a list that one statement finds, in its order.

    The documents are sorted by `column`, and have a value in it. Without a column they are sorted by
    creation.
    """

    entity_type: str
    terms: Sequence[ColumnTerm]
    # Only documents of these contract versions; None allows any.
    contract_versions: Sequence[int] | None
    column: str | None
    is_descending: bool


@dataclass(frozen=True, slots=True)
class ListedDocument:
    record: DocumentRecord
    place: CursorPosition


def list_documents(
    connection: Connection, tenant_id: UUID, part: Slice, after: CursorPosition | None, limit: int
) -> list[ListedDocument]:
    statement = write_list(tenant_id, part, after, limit)
    rows: list[Any] = connection.execute(statement.text, statement.values).fetchall()
    return [_make_listed(DocumentRecord(*row[:-1]), row[-1]) for row in rows]


def write_list(tenant_id: UUID, part: Slice, after: CursorPosition | None, limit: int) -> DeferredStatement:
    values: dict[str, Any] = {"tenant_id": tenant_id, "entity_type": part.entity_type, "limit": limit}
    conditions = [_write_term(index, term, values) for index, term in enumerate(part.terms)]
    if part.contract_versions is not None:
        values["contract_versions"] = list(part.contract_versions)
        conditions.append(_SQL.and_of_versions)
    conditions += _write_place(part, after, values)
    text = _SQL.list_documents.replace("{conditions}", "\n".join(conditions))
    text = text.replace("{value}", f"d.{_spell_column(part.column)}" if part.column else "NULL")
    return DeferredStatement(text.replace("{order}", ", ".join(_list_order(part))), values)


def list_contract_versions(connection: Connection, tenant_id: UUID, entity_type: str) -> list[int]:
    """List the versions that are or were published, the newest first."""
    values = {"tenant_id": tenant_id, "entity_type": entity_type, "limit": MAX_CONTRACT_VERSIONS}
    rows: list[Any] = connection.execute(_SQL.list_contract_versions, values).fetchall()
    return [version for (version,) in rows]


def _make_listed(record: DocumentRecord, value: Scalar | None) -> ListedDocument:
    return ListedDocument(record, CursorPosition(value, record.created_at, record.id))


def _write_term(index: int, term: ColumnTerm, values: dict[str, Any]) -> str:
    if term.operator == "null":
        return _fill(_SQL.and_null, term.column)
    if term.operator == "not null":
        return _fill(_SQL.and_not_null, term.column)
    name = f"value_{index}"
    if term.operator == "in":
        values[name] = list(term.value) if isinstance(term.value, tuple) else []
        return _fill(_SQL.and_one_of, term.column, name=name)
    values[name] = term.value
    return _fill(
        _SQL.and_compared, term.column, name=name, operator=_spell_operator(term.column, term.operator)
    )


def _write_place(part: Slice, after: CursorPosition | None, values: dict[str, Any]) -> Iterator[str]:
    if part.column is not None:
        yield _fill(_SQL.and_not_null, part.column)
    if after is None:
        return
    values |= {"after_created_at": after.created_at, "after_id": after.id}
    beyond = "<" if part.is_descending else ">"
    if part.column is None:
        yield _fill(_SQL.and_after, CREATED_AT, beyond=beyond)
        return
    values["after_value"] = after.value
    past = _spell_operator(part.column, beyond)
    yield _fill(
        _SQL.and_after_value,
        part.column,
        beyond=beyond,
        past=past,
        **{"from": _spell_operator(part.column, f"{beyond}=")},
    )


def _list_order(part: Slice) -> Iterator[str]:
    beyond = ">" if part.is_descending else "<"
    if part.column is not None:
        yield f"d.{_spell_column(part.column)} USING {_spell_operator(part.column, beyond)}"
    yield f"d.created_at USING {beyond}"
    yield f"d.id USING {beyond}"


def _fill(part: str, column: str, **words: str) -> str:
    for name, word in {"column": _spell_column(column), "type": TYPE_OF[column], **words}.items():
        part = part.replace(f"{{{name}}}", word)
    return part


def _spell_column(column: str) -> str:
    """Return the name as the closed set spells it."""
    return next(known for known in TYPE_OF if known == column)


def _spell_operator(column: str, operator: str) -> str:
    return (_OF_TEXT if TYPE_OF[column] == "text" else _OPERATORS)[operator]
