"""A document's data against its fields: every error with its pointer and code, and one normal form."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from signet.core.contracts.field_values import MAX_FIELD_ERRORS, check_value, validate_fields
from signet.core.contracts.fields import Field, Fields
from signet.core.validation.text import is_calendar_date, normalise_timestamp

ID = "01900000-0000-7000-8000-00000000de30"
_DECLARED = {
    "name": {"type": "string", "required": True, "min_length": 2, "max_length": 5},
    "count": {"type": "int", "minimum": -3, "maximum": 9},
    "total": {"type": "decimal", "scale": 3},
    "paid": {"type": "bool", "default": False},
    "day": {"type": "date"},
    "at": {"type": "timestamp"},
    "currency": {"type": "enum", "values": ["EUR", "USD"], "default": "EUR"},
    "letter": {"type": "enum", "values": list("abcdefghij")},
    "vendor": {"type": "ref", "entity_type": "vendor"},
    "tags": {"type": "list", "of": {"type": "string", "max_length": 3}, "max_items": 2},
    "address": {
        "type": "object",
        "fields": {
            "city": {"type": "string", "required": True},
            "since": {"type": "timestamp", "default": "2026-01-01T00:00:00+01:00"},
        },
    },
}
FIELDS: Any = TypeAdapter(Fields).validate_json(json.dumps(_DECLARED))


def mistakes_in(**data: Any) -> list[tuple[str, str]]:
    values, mistakes = validate_fields(FIELDS, {"name": "Ada", **data})
    assert (values is None) == bool(mistakes)
    return [(mistake.pointer, mistake.code) for mistake in mistakes]


@pytest.mark.parametrize(
    ("name", "value", "pointer", "code"),
    [
        ("name", None, "/name", "FIELD_REQUIRED"),
        ("name", 7, "/name", "FIELD_TYPE"),
        ("name", "A", "/name", "FIELD_TOO_SHORT"),
        ("name", "Augusta", "/name", "FIELD_TOO_LONG"),
        ("name", "A\0a", "/name", "FIELD_TEXT_INVALID"),
        ("name", "A\ud800a", "/name", "FIELD_TEXT_INVALID"),
        ("count", "7", "/count", "FIELD_TYPE"),
        ("count", True, "/count", "FIELD_TYPE"),
        ("count", 7.0, "/count", "FIELD_TYPE"),
        ("count", -4, "/count", "FIELD_TOO_SMALL"),
        ("count", 10, "/count", "FIELD_TOO_LARGE"),
        ("count", 2**53, "/count", "FIELD_NUMBER_UNSAFE"),
        ("total", -(2**53), "/total", "FIELD_NUMBER_UNSAFE"),
        ("total", 1.5, "/total", "FIELD_TYPE"),
        ("paid", 1, "/paid", "FIELD_TYPE"),
        ("day", "2026-02-29", "/day", "FIELD_TYPE"),
        ("day", "2026-1-1", "/day", "FIELD_TYPE"),
        ("day", "20260101", "/day", "FIELD_TYPE"),
        ("day", "２０２６-01-01", "/day", "FIELD_TYPE"),
        ("day", 20260101, "/day", "FIELD_TYPE"),
        ("at", "2026-01-01", "/at", "FIELD_TYPE"),
        ("at", 1767225600, "/at", "FIELD_TYPE"),
        ("currency", "GBP", "/currency", "FIELD_NOT_IN_ENUM"),
        ("currency", ["EUR"], "/currency", "FIELD_TYPE"),
        ("letter", "z", "/letter", "FIELD_NOT_IN_ENUM"),
        ("vendor", "V-1", "/vendor", "FIELD_TYPE"),
        ("vendor", 7, "/vendor", "FIELD_TYPE"),
        ("tags", "a", "/tags", "FIELD_TYPE"),
        ("tags", ["a", "b", "c"], "/tags", "FIELD_TOO_MANY_ITEMS"),
        ("tags", ["a", "long"], "/tags/1", "FIELD_TOO_LONG"),
        ("tags", [None], "/tags/0", "FIELD_TYPE"),
        ("address", [], "/address", "FIELD_TYPE"),
        ("address", {}, "/address/city", "FIELD_REQUIRED"),
        ("address", {"city": "Ulm", "zip": 1}, "/address/zip", "FIELD_UNKNOWN"),
        ("a/b~c", 1, "/a~1b~0c", "FIELD_UNKNOWN"),
        ("\ud800", 1, "/?", "FIELD_UNKNOWN"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: Any, pointer: str, code: str) -> None:
    assert mistakes_in(**{name: value}) == [(pointer, code)]


def test_all_mistakes_at_once_and_no_value_in_a_message() -> None:
    secret = "a secret that is far too long"
    _, mistakes = validate_fields(
        FIELDS, {"name": secret, "day": secret, "currency": secret, "letter": secret}
    )
    assert [mistake.code for mistake in mistakes] == [
        "FIELD_TOO_LONG",
        "FIELD_TYPE",
        "FIELD_NOT_IN_ENUM",
        "FIELD_NOT_IN_ENUM",
    ]
    assert not any(secret in mistake.message for mistake in mistakes)
    assert mistakes[2].message == "wants one of: EUR, USD"
    assert mistakes[3].message == "wants one of: a, b, c, d, e, f, g, h, …"


def test_what_is_wanted_is_said() -> None:
    _, mistakes = validate_fields(
        FIELDS, {"name": 1, "total": "1", "count": "1", "day": 1, "at": 1, "vendor": 1}
    )
    assert [mistake.message for mistake in mistakes] == [
        "wants a text",
        "wants a whole number",
        "wants a whole number of units of 1/1000",
        "wants a date such as 2026-01-31",
        "wants a moment with its offset, such as 2026-01-31T12:00:00Z",
        "wants the id (a UUID) of a vendor",
    ]


def test_mistakes_are_bounded() -> None:
    many = {f"f{number}": 1 for number in range(MAX_FIELD_ERRORS + 50)}
    assert len(mistakes_in(**many)) == MAX_FIELD_ERRORS


@pytest.mark.parametrize("data", [None, [], "text", 1])
def test_data_that_is_no_object(data: Any) -> None:
    values, mistakes = validate_fields(FIELDS, data)
    assert values is None
    assert [(mistake.pointer, mistake.code) for mistake in mistakes] == [("", "FIELD_TYPE")]


def test_the_normal_form() -> None:
    data: dict[str, Any] = {
        "name": "Ada",
        "at": "2026-01-31T12:00:00.5+02:00",
        "vendor": ID.upper(),
        "currency": None,
        "address": {"city": "Ulm"},
        "tags": [],
    }
    values, mistakes = validate_fields(FIELDS, data)
    assert mistakes == ()
    assert values == {
        "name": "Ada",
        "paid": False,
        "at": "2026-01-31T10:00:00.500000Z",
        "currency": None,  # explicitly empty, so no default
        "vendor": ID,
        "tags": [],
        "address": {"city": "Ulm", "since": "2025-12-31T23:00:00.000000Z"},
    }
    assert validate_fields(FIELDS, values) == (values, ())
    assert data["at"] == "2026-01-31T12:00:00.5+02:00"


def test_one_value() -> None:
    field: Field = FIELDS["name"]
    assert check_value(field, "Ada") == ()
    assert [mistake.code for mistake in check_value(field, None)] == ["FIELD_REQUIRED"]
    assert check_value(FIELDS["count"], None) == ()
    assert [mistake.pointer for mistake in check_value(FIELDS["tags"], ["long", 1])] == ["/0", "/1"]


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000000Z"),
        ("2026-01-31T12:00:00.123456Z", "2026-01-31T12:00:00.123456Z"),
        ("2026-01-31T00:30:00+01:00", "2026-01-30T23:30:00.000000Z"),
        ("2026-01-31T12:00:00-00:00", "2026-01-31T12:00:00.000000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("0001-01-01T00:00:00+01:00", None),
        ("9999-12-31T23:59:59-01:00", None),
        ("0000-01-01T00:00:00Z", None),
        ("2026-02-30T12:00:00Z", None),
        ("2026-01-31T24:00:00Z", None),
        ("2026-01-31T12:00:60Z", None),
        ("2026-01-31T12:00:00", None),
        ("2026-01-31 12:00:00Z", None),
        ("2026-01-31T12:00Z", None),
        ("2026-01-31T12:00:00.1234567Z", None),
        ("2026-01-31T12:00:00+24:00", None),
        ("2026-01-31T12:00:00Z\n", None),
        ("2026-W05-6T12:00:00Z", None),
    ],
)
def test_timestamps(text: str, normal: str | None) -> None:
    assert normalise_timestamp(text) == normal


@given(st.datetimes(timezones=st.timezones()), st.datetimes(timezones=st.timezones()))
def test_the_order_of_normal_timestamps_is_the_order_of_moments(one: Any, other: Any) -> None:
    texts = [normalise_timestamp(moment.isoformat()) for moment in (one, other)]
    if texts[0] is not None and texts[1] is not None:
        assert len(texts[0]) == len(texts[1]) == 27
        if abs((one - other).total_seconds()) > 0:
            assert (texts[0] < texts[1]) == (one < other)


def test_dates() -> None:
    assert is_calendar_date("2024-02-29")
    assert not is_calendar_date("0000-01-01")


_scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10) | st.just(ID)
_json = st.recursive(
    _scalars | st.datetimes().map(lambda moment: f"{moment.isoformat()}Z"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.just("city"), inner),
)


@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]), _json) | _json)
def test_any_data_gets_an_answer_and_the_normal_form_stays(data: Any) -> None:
    values, mistakes = validate_fields(FIELDS, data)
    if values is None:
        assert mistakes
    else:
        assert validate_fields(FIELDS, values) == (values, ())


@pytest.mark.parametrize(
    ("number", "kept"),
    [
        ("R-1", "R-1"),
        (" R-1\t", "R-1"),
        ("R\u00a0 1", "R 1"),
        ("e\u0301", "\u00e9"),
        ("R-1\u200b", None),
        ("\u3164", None),
    ],
)
def test_a_business_key_has_one_form(number: str, kept: str | None) -> None:
    declared = {"number": {"type": "string", "required": True, "unique": True, "max_length": 9}}
    fields: Any = TypeAdapter(Fields).validate_json(json.dumps(declared))
    values, mistakes = validate_fields(fields, {"number": number})
    assert (values or {}).get("number") == kept
    assert [mistake.code for mistake in mistakes] == ([] if kept else ["FIELD_TEXT_INVALID"])
