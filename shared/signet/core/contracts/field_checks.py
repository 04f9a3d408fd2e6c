"""Checks of a contract's fields: they can be stored, indexed and filled as declared."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from signet.core.contracts.contract import Contract
from signet.core.contracts.field_values import check_value
from signet.core.contracts.fields import (
    INDEXED_COLUMN_LIMITS,
    AnyField,
    DecimalField,
    EnumField,
    Field,
    IntField,
    ListField,
    ObjectField,
    RefField,
    StringField,
)
from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point

MAX_FIELD_DEPTH = 5
# Postgres refuses a larger entry in a btree (2,704 bytes); a character has up to four bytes.
MAX_INDEXED_CHARACTERS = 500
# Every document has these beside its fields.
RESERVED_FIELDS = frozenset(
    "id status version tenant_id amended_from_id contract_version created_at updated_at creator refs".split()
)
# The kind of fast column that keeps each type.
FAST_COLUMN_OF = {
    "string": "text",
    "enum": "text",
    "ref": "text",
    "int": "number",
    "decimal": "number",
    "bool": "number",
    "date": "time",
    "timestamp": "time",
}
_UNIQUE_TYPES = frozenset({"string", "int", "enum", "ref", "date"})
_DOCUMENT_FLAGS = ("indexed", "unique", "personal")
_ENTRY_FLAGS = ("required", "default", *_DOCUMENT_FLAGS)

_Path = tuple[str | int, ...]


def check_fields(contract: Contract) -> Iterator[Finding]:
    for name, field in contract.fields.items():
        path = ("fields", name)
        if name in RESERVED_FIELDS:
            yield make_finding("NAME_RESERVED", point(path), name=name, what="field")
        yield from _check_flags(name, field, path)
        yield from _check_field(name, field, path, depth=1)
    yield from _check_indexed_field_count(contract.fields)


def check_payload_fields(fields: Mapping[str, Field], path: _Path) -> Iterator[Finding]:
    """Check the fields of a payload or output.

    Flags of documents mean nothing there, as no document keeps them.
    """
    for name, field in fields.items():
        yield from _refuse_flags(name, field, (*path, name), _DOCUMENT_FLAGS)
        yield from _check_field(name, field, (*path, name), depth=1)


def _check_flags(name: str, field: Field, path: _Path) -> Iterator[Finding]:
    if field.indexed and field.type not in FAST_COLUMN_OF:
        allowed = ", ".join(FAST_COLUMN_OF)
        yield make_finding(
            "FIELD_INDEX_TYPE", point((*path, "indexed")), field=name, type=field.type, allowed=allowed
        )
    if field.unique and field.type not in _UNIQUE_TYPES:
        allowed = ", ".join(sorted(_UNIQUE_TYPES))
        yield make_finding(
            "FIELD_UNIQUE_TYPE", point((*path, "unique")), field=name, type=field.type, allowed=allowed
        )
    elif field.unique and not field.required:
        yield make_finding("FIELD_UNIQUE_OPTIONAL", point((*path, "unique")), field=name)
    if field.unique and field.default is not None:
        yield make_finding("FIELD_UNIQUE_DEFAULT", point((*path, "default")), field=name)
    if isinstance(field, StringField) and (field.indexed or field.unique):
        if field.max_length > MAX_INDEXED_CHARACTERS:
            place = point((*path, "max_length"))
            yield make_finding("FIELD_INDEX_TOO_LONG", place, field=name, limit=MAX_INDEXED_CHARACTERS)
    if field.personal:
        yield from _check_personal(name, field, path)


def _check_personal(name: str, field: Field, path: _Path) -> Iterator[Finding]:
    """Check that nothing else holds on to a personal value, which can be erased."""
    if isinstance(field, RefField):
        yield make_finding("FIELD_PERSONAL_REF", point((*path, "personal")), field=name)
    if field.indexed or field.unique:
        yield make_finding("FIELD_PERSONAL_INDEXED", point((*path, "personal")), field=name)


def _check_indexed_field_count(fields: Mapping[str, Field]) -> Iterator[Finding]:
    indexed = [field.type for field in fields.values() if field.indexed and field.type in FAST_COLUMN_OF]
    for column, count in Counter(FAST_COLUMN_OF[kind] for kind in indexed).items():
        if count > INDEXED_COLUMN_LIMITS[column]:
            types = ", ".join(kind for kind, name in FAST_COLUMN_OF.items() if name == column)
            limit = INDEXED_COLUMN_LIMITS[column]
            yield make_finding("FIELD_INDEX_TOO_MANY", "/fields", count=count, types=types, limit=limit)


def _check_field(name: str, field: Field, path: _Path, depth: int) -> Iterator[Finding]:
    yield from _check_limits(name, field, path)
    if isinstance(field, EnumField):
        yield from _check_enum(name, field, path)
    if field.default is not None:
        for mistake in check_value(field, field.default):
            place = point((*path, "default")) + mistake.pointer
            yield make_finding("FIELD_DEFAULT_INVALID", place, field=name, problem=mistake.message)
    yield from _check_inner_fields(name, field, path, depth)


def _check_limits(name: str, field: Field, path: _Path) -> Iterator[Finding]:
    if isinstance(field, StringField) and field.min_length > field.max_length:
        yield make_finding("FIELD_LIMITS_CROSSED", point((*path, "min_length")), field=name)
    if isinstance(field, IntField | DecimalField) and field.minimum > field.maximum:
        yield make_finding("FIELD_LIMITS_CROSSED", point((*path, "minimum")), field=name)


def _check_enum(name: str, field: EnumField, path: _Path) -> Iterator[Finding]:
    for index, value in enumerate(field.values):
        if not value or value != value.strip():
            yield make_finding("FIELD_ENUM_BLANK", point((*path, "values", index)), field=name)
    yield from check_distinct(field.values, (*path, "values"))


def check_distinct(entries: Sequence[str], path: _Path) -> Iterator[Finding]:
    seen = set[str]()
    for index, entry in enumerate(entries):
        if entry in seen:
            yield make_finding("ENTRY_TWICE", point((*path, index)), entry=entry)
        seen.add(entry)


def _check_inner_fields(name: str, field: Field, path: _Path, depth: int) -> Iterator[Finding]:
    inner: dict[_Path, Field] = {}
    useless: tuple[str, ...] = _ENTRY_FLAGS
    if isinstance(field, ListField):
        inner = {("of",): field.of}
    elif isinstance(field, RefField):
        inner = {("reads", key): read for key, read in field.reads.items()}
    elif isinstance(field, ObjectField):
        inner, useless = {("fields", key): part for key, part in field.fields.items()}, _DOCUMENT_FLAGS
    if inner and depth == MAX_FIELD_DEPTH:
        yield make_finding("FIELD_TOO_DEEP", point(path), field=name, limit=MAX_FIELD_DEPTH)
        return
    for steps, part in inner.items():
        yield from _refuse_flags(str(steps[-1]), part, (*path, *steps), useless)
        yield from _check_field(str(steps[-1]), part, (*path, *steps), depth + 1)


def _refuse_flags(name: str, field: AnyField, path: _Path, flags: tuple[str, ...]) -> Iterator[Finding]:
    for flag in flags:
        # Compared by identity, because `false` is a default too.
        if getattr(field, flag) is not type(field).model_fields[flag].default:
            yield make_finding("FIELD_FLAG_MEANINGLESS", point((*path, flag)), field=name, flag=flag)
