"""Examples of values that people replace, each of the form that its field wants."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from signet.core.contracts.fields import (
    BoolField,
    DateField,
    DecimalField,
    EnumField,
    Field,
    IntField,
    ListField,
    ObjectField,
    RefField,
    TimestampField,
)

PLACEHOLDER = "…"


def make_example(field: Field) -> Any:
    """Make a value of the form that the field wants."""
    match field:
        case IntField() | DecimalField():
            return min(max(0, field.minimum), field.maximum)
        case BoolField():
            return False
        case DateField():
            return "2026-01-31"
        case TimestampField():
            return "2026-01-31T00:00:00Z"
        case EnumField():
            return field.values[0]
        case RefField():
            return str(UUID(int=0))
        case ListField():
            return [make_example(field.of)]
        case ObjectField():
            return make_examples(field.fields)
        case _:
            return PLACEHOLDER


def make_examples(fields: Mapping[str, Field]) -> dict[str, Any]:
    """Make a value for each of these fields that is required."""
    return {name: make_example(one) for name, one in fields.items() if one.required}
