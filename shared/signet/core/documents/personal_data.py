"""Personal values of documents.

They are in one table; everywhere else there is a reference and a salted commitment.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from signet.core.contracts.fields import Field, Fields, ObjectField
from signet.core.expressions import Expression, list_variables

REFERENCE = "$personal"
# Shown in place of a personal value.
MASK = "(personal)"
READS_ERASED = "READS_ERASED"
# Stands for each field, where the whole document is read.
_EVERY = "*"


def make_reference(value_id: str, commitment: str) -> dict[str, str]:
    return {REFERENCE: value_id, "commitment": commitment}


def is_reference(value: Any) -> TypeGuard[dict[str, str]]:
    return isinstance(value, dict) and REFERENCE in value


def resolve_personal(data: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Replace references by values; an erased value is null."""
    return {name: values.get(v[REFERENCE]) if is_reference(v) else v for name, v in data.items()}


def mask_variables(variables: Mapping[str, Any], personal_fields: Sequence[str]) -> dict[str, Any]:
    """Mask the values of personal fields in evidence, but keep the names of what was read."""
    masked = {("entity", name) for name in personal_fields}
    return {
        name: MASK if tuple(name.split(".")[:2]) in masked else value for name, value in variables.items()
    }


def mask_fields(fields: Fields, values: Mapping[str, Any]) -> dict[str, Any]:
    """Mask personal fields, also absent ones, for texts that nothing can be erased from."""
    masked = {name: _mask(field) for name, field in fields.items() if field.personal}
    return {**values, **masked}


def _mask(field: Field) -> Any:
    if isinstance(field, ObjectField):
        return {name: _mask(inner) for name, inner in field.fields.items()}
    return MASK


def mask_text(text: str, values: Iterable[Any]) -> str:
    """Mask the values, and texts and numbers within them, wherever the text repeats them."""
    leaves = {leaf for value in values for leaf in _list_leaves(value) if leaf}
    if not leaves:
        return text
    # The longest first, since a name may be part of another one.
    longest_first = sorted(leaves, key=lambda leaf: (-len(leaf), leaf))
    return re.sub("|".join(map(re.escape, longest_first)), MASK, text)


def mask_said(result: Any, values: Iterable[Any]) -> Any:
    """Mask the values wherever the result of an expression or a template repeats them."""
    if isinstance(result, Mapping):
        return {name: mask_said(inner, values) for name, inner in result.items()}
    if isinstance(result, list | tuple):
        return [mask_said(inner, values) for inner in result]
    if result is None or isinstance(result, bool):
        return result
    if isinstance(result, str):
        return mask_text(result, values)
    return MASK if str(result) in {leaf for value in values for leaf in _list_leaves(value)} else result


def _list_leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _list_leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


# --- gaps that an erasure has left ---


def list_own_fields(expressions: Iterable[Expression]) -> frozenset[str]:
    """List the fields of the own document that the expressions read; who reads the whole reads each."""
    paths = (name.path for expression in expressions for name in list_variables(expression))
    return frozenset(path[1] if len(path) > 1 else _EVERY for path in paths if path[0] == "entity")


def list_gaps(read: Collection[str], personal: Collection[str], data: Mapping[str, Any]) -> frozenset[str]:
    """List the personal fields among these that hold nothing.

    People saw the document when a value was there. A condition that reads its gap would go another way.
    """
    wanted = personal if _EVERY in read else frozenset(read).intersection(personal)
    return frozenset(name for name in wanted if data.get(name) is None)


def describe_erased(reader: str, fields: Collection[str]) -> str:
    erased = ", ".join(sorted(fields))
    return f"{reader} reads {erased}, which was erased after people were asked or decided about the document"
