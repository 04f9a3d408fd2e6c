"""Schemas of payloads: each keyword by a value that fits and one that does not, and schemas that are none."""

from typing import Any

import pytest

from signet.core.integrations.payload_schema import (
    MAX_SCHEMA_MISTAKES,
    find_payload_mistakes,
    find_schema_problem,
)

ORDER = {
    "type": "object",
    "title": "An order",
    "required": ["lines"],
    "additionalProperties": False,
    "properties": {
        "lines": {
            "type": "array",
            "maxItems": 2,
            "items": {"type": "object", "properties": {"count": {"type": "integer", "minimum": 1}}},
        },
        "note": {"type": ["string", "null"], "maxLength": 3},
    },
}


def places(schema: Any, payload: Any) -> list[tuple[str, str]]:
    return [(each.pointer, each.code) for each in find_payload_mistakes(schema, payload, "/payload")]


@pytest.mark.parametrize(
    ("schema", "fits", "unfit", "code"),
    [
        ({}, None, None, None),
        ({"type": "object"}, {}, [], "FIELD_TYPE"),
        ({"type": "array"}, [], {}, "FIELD_TYPE"),
        ({"type": "string"}, "", 1, "FIELD_TYPE"),
        ({"type": "integer"}, 1.0, 1.5, "FIELD_TYPE"),
        ({"type": "integer"}, 1, True, "FIELD_TYPE"),
        ({"type": "number"}, 1.5, "1.5", "FIELD_TYPE"),
        ({"type": "boolean"}, False, 0, "FIELD_TYPE"),
        ({"type": "null"}, None, False, "FIELD_TYPE"),
        ({"type": ["integer", "null"]}, None, "1", "FIELD_TYPE"),
        ({"enum": ["a", 1]}, 1.0, True, "FIELD_NOT_IN_ENUM"),
        ({"const": {"a": [1]}}, {"a": [1]}, {"a": [2]}, "FIELD_NOT_IN_ENUM"),
        ({"minimum": 2}, 2, 1, "FIELD_RANGE"),
        ({"maximum": 2}, 2, 3, "FIELD_RANGE"),
        ({"minimum": 2}, "not a number", 1.9, "FIELD_RANGE"),
        ({"minLength": 2}, "ab", "a", "FIELD_TOO_SHORT"),
        ({"maxLength": 2}, "ab", "abc", "FIELD_TOO_LONG"),
        ({"minItems": 1}, [1], [], "FIELD_TOO_SHORT"),
        ({"maxItems": 1}, [1], [1, 2], "FIELD_TOO_LONG"),
        ({"properties": {"a": {}}}, {"b": 1}, None, None),
    ],
)
def test_each_keyword(schema: Any, fits: Any, unfit: Any, code: str | None) -> None:
    assert find_schema_problem(schema) is None
    assert places(schema, fits) == []
    assert places(schema, unfit) == ([] if code is None else [("/payload", code)])


def test_mistakes_have_their_places() -> None:
    assert find_schema_problem(ORDER) is None
    assert places(ORDER, {"lines": [{"count": 1}], "note": None}) == []
    sent = {"lines": [{"count": 1}, {"count": 0}, 3], "note": "long", "more/less": 1}
    assert places(ORDER, sent) == [
        ("/payload/lines", "FIELD_TOO_LONG"),
        ("/payload/lines/1/count", "FIELD_RANGE"),
        ("/payload/lines/2", "FIELD_TYPE"),
        ("/payload/note", "FIELD_TOO_LONG"),
        ("/payload/more~1less", "FIELD_UNKNOWN"),
    ]
    assert places(ORDER, {}) == [("/payload/lines", "FIELD_REQUIRED")]


def test_so_many_mistakes_are_named_and_no_more() -> None:
    schema = {"items": {"type": "string"}}
    assert len(places(schema, [1] * 100)) == MAX_SCHEMA_MISTAKES


def test_no_message_repeats_a_value() -> None:
    schema = {"properties": {"iban": {"const": "DE-1"}}}
    assert "DE-2" not in str(find_payload_mistakes(schema, {"iban": "DE-2"}, ""))


DEEP: Any = {}
for _ in range(11):
    DEEP = {"items": DEEP}


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ([], ""),
        ({"$ref": "#/properties/a"}, "/$ref"),
        ({"pattern": "(a+)+$"}, "/pattern"),
        ({"anyOf": [{}]}, "/anyOf"),
        ({"type": "text"}, "/type"),
        ({"type": []}, "/type"),
        ({"type": [["string"]]}, "/type"),
        ({"properties": {"a": {"type": 1}}}, "/properties/a/type"),
        ({"properties": {"a": 1}}, "/properties/a"),
        ({"properties": []}, "/properties"),
        ({"items": {"minimum": True}}, "/items/minimum"),
        ({"items": [{}]}, "/items"),
        ({"required": "a"}, "/required"),
        ({"required": [1]}, "/required"),
        ({"additionalProperties": {}}, "/additionalProperties"),
        ({"enum": []}, "/enum"),
        ({"maxLength": -1}, "/maxLength"),
        ({"maxLength": True}, "/maxLength"),
        ({"title": 1}, "/title"),
        ({"const": "x" * 20_000}, ""),
        ({"const": 2**60}, ""),
        (DEEP, "/items" * 11),
    ],
)
def test_what_is_no_schema(schema: Any, pointer: str) -> None:
    problem = find_schema_problem(schema)
    assert problem is not None and problem[0] == pointer
