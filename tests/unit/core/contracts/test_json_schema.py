"""Typed fields as JSON Schema: the schema accepts what the contract accepts."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from signet.core.contracts.fields import Field, Fields
from signet.core.contracts.json_schema import schema_of_field, schema_of_fields

FIELD: TypeAdapter[Any] = TypeAdapter(Field)


@pytest.mark.parametrize(
    ("declared", "schema"),
    [
        (
            {"type": "string", "max_length": 9},
            {"type": "string", "minLength": 0, "maxLength": 9},
        ),
        ({"type": "int", "minimum": 1, "maximum": 2}, {"type": "integer", "minimum": 1, "maximum": 2}),
        (
            {"type": "decimal", "minimum": 1, "maximum": 2},
            {
                "type": "integer",
                "minimum": 1,
                "maximum": 2,
                "description": "In its smallest units: 1 is 0.01.",
            },
        ),
        (
            {"type": "decimal", "scale": 0, "minimum": 1, "maximum": 2},
            {"type": "integer", "minimum": 1, "maximum": 2, "description": "In its smallest units: 1 is 1."},
        ),
        ({"type": "bool"}, {"type": "boolean"}),
        ({"type": "date"}, {"type": "string", "format": "date"}),
        ({"type": "timestamp"}, {"type": "string", "format": "date-time"}),
        ({"type": "enum", "values": ["a", "b"]}, {"type": "string", "enum": ["a", "b"]}),
        (
            {"type": "ref", "entity_type": "vendor"},
            {"type": "string", "format": "uuid", "description": "The id of a document 'vendor'."},
        ),
        (
            {"type": "list", "of": {"type": "bool", "required": True}, "max_items": 3},
            {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
        ),
        (
            {"type": "object", "fields": {"x": {"type": "bool", "required": True}}},
            {
                "type": "object",
                "properties": {"x": {"type": "boolean"}},
                "additionalProperties": False,
                "required": ["x"],
            },
        ),
    ],
)
def test_a_required_field(declared: dict[str, Any], schema: dict[str, Any]) -> None:
    assert schema_of_field(FIELD.validate_json(_write({**declared, "required": True}))) == schema


def test_what_is_not_required_may_be_null_and_be_absent() -> None:
    fields: Any = TypeAdapter(Fields).validate_json(
        _write({"a": {"type": "bool", "label": "Ah", "default": False}, "b": {"type": "bool"}})
    )
    nullable = {"anyOf": [{"type": "boolean"}, {"type": "null"}]}
    assert schema_of_fields(fields) == {
        "type": "object",
        "properties": {"a": {**nullable, "title": "Ah", "default": False}, "b": nullable},
        "additionalProperties": False,
    }


def _write(document: Any) -> bytes:
    return TypeAdapter(Any).dump_json(document)
