"""Examples of values: each type of field has one that the field takes."""

import json
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter

from signet.core.contracts.examples import make_example
from signet.core.contracts.field_values import check_value
from signet.core.contracts.fields import Field

FIELDS: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "int", "minimum": 3},
    {"type": "int", "maximum": -2},
    {"type": "decimal", "scale": 2},
    {"type": "bool"},
    {"type": "date"},
    {"type": "timestamp"},
    {"type": "enum", "values": ["a", "b"]},
    {"type": "ref", "entity_type": "vendor"},
    {"type": "list", "of": {"type": "object", "fields": {"a": {"type": "int", "required": True}}}},
    {"type": "object", "fields": {"a": {"type": "date", "required": True}, "b": {"type": "bool"}}},
]


def parse(field: dict[str, Any]) -> Any:
    return TypeAdapter(Field).validate_json(json.dumps(field))


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: str(field["type"]))
def test_an_example_is_what_its_field_takes(field: dict[str, Any]) -> None:
    found = parse(field)
    assert check_value(found, make_example(found)) == ()


def test_each_type_of_field_has_an_example() -> None:
    types = {member.model_fields["type"].annotation for member in get_args(get_args(Field)[0])}
    assert {name for kind in types for name in get_args(kind)} == {field["type"] for field in FIELDS}
