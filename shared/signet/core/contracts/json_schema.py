"""Typed fields as JSON Schema (2020-12), from which forms and programs outside are made."""

from collections.abc import Callable, Mapping
from typing import Any

from signet.core.contracts.fields import (
    AnyField,
    BoolField,
    DateField,
    DecimalField,
    EnumField,
    IntField,
    ListField,
    ObjectField,
    RefField,
    StringField,
    TimestampField,
)

Schema = dict[str, Any]


def schema_of_fields(fields: Mapping[str, AnyField]) -> Schema:
    """Return the schema of an object that has these fields and no others."""
    schema: Schema = {
        "type": "object",
        "properties": {name: schema_of_field(field) for name, field in fields.items()},
        "additionalProperties": False,
    }
    required = [name for name, field in fields.items() if field.required and field.default is None]
    return {**schema, "required": required} if required else schema


def schema_of_field(field: AnyField) -> Schema:
    """Return the schema of a field, which may be null unless it is required."""
    schema: Schema = _WRITERS[type(field)](field)
    if not field.required:
        schema = {"anyOf": [schema, {"type": "null"}]}
    if field.label:
        schema["title"] = field.label
    if field.default is not None:
        schema["default"] = field.default
    return schema


def _of_string(field: StringField) -> Schema:
    return {"type": "string", "minLength": field.min_length, "maxLength": field.max_length}


def _of_number(field: IntField | DecimalField) -> Schema:
    return {"type": "integer", "minimum": field.minimum, "maximum": field.maximum}


def _of_decimal(field: DecimalField) -> Schema:
    return {**_of_number(field), "description": f"In its smallest units: 1 is {_smallest(field.scale)}."}


def _smallest(scale: int) -> str:
    return f"0.{'0' * (scale - 1)}1" if scale else "1"


def _of_ref(field: RefField) -> Schema:
    return {"type": "string", "format": "uuid", "description": f"The id of a document '{field.entity_type}'."}


def _of_list(field: ListField) -> Schema:
    return {"type": "array", "items": schema_of_field(field.of), "maxItems": field.max_items}


_WRITERS: Mapping[type[AnyField], Callable[[Any], Schema]] = {
    StringField: _of_string,
    IntField: _of_number,
    DecimalField: _of_decimal,
    BoolField: lambda field: {"type": "boolean"},
    DateField: lambda field: {"type": "string", "format": "date"},
    TimestampField: lambda field: {"type": "string", "format": "date-time"},
    EnumField: lambda field: {"type": "string", "enum": list(field.values)},
    RefField: _of_ref,
    ListField: _of_list,
    ObjectField: lambda field: schema_of_fields(field.fields),
}
