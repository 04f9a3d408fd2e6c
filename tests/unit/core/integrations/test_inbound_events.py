"""Keys of events from outside, and their place in a message."""

from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.integrations.inbound_events import (
    area_of,
    check_key,
    check_message_id,
    is_pointer,
    parse_key,
)
from signet.core.moments.followed import name_calendar

MESSAGE = {
    "type": "paid",
    "data": {
        "invoice": "R-1",
        "lines": [{"number": 7}, {"number": 8}],
        "a/b": "slash",
        "m~n": "tilde",
        "": "x",
    },
    "is_paid": True,
    "amount": 1.5,
    "nothing": None,
}


@pytest.mark.parametrize(
    ("pointer", "key"),
    [
        ("/type", "of:paid"),
        ("/data/invoice", "of:R-1"),
        ("/data/lines/1/number", "of:8"),
        ("/data/a~1b", "of:slash"),
        ("/data/m~0n", "of:tilde"),
        ("/data/", "of:x"),
        (None, "of:"),
    ],
)
def test_where_the_key_stands(pointer: str | None, key: str) -> None:
    assert parse_key("of:", pointer, MESSAGE) == key


@pytest.mark.parametrize(
    "pointer",
    [
        "/missing",
        "/data",
        "/data/lines",
        "/data/lines/2/number",
        "/data/lines/-/number",
        "/data/lines/01/number",
        "/data/lines/9999999",
        "/type/deeper",
        "/is_paid",
        "/amount",
        "/nothing",
    ],
)
def test_where_no_key_stands(pointer: str) -> None:
    refused = parse_key("of:", pointer, MESSAGE)
    assert isinstance(refused, Rejected)
    assert [(one.pointer, one.code) for one in refused.fields] == [(pointer, "KEY_MISSING")]


@pytest.mark.parametrize("message", [None, 7, "text", []])
def test_a_message_that_is_no_object_has_none(message: Any) -> None:
    assert isinstance(parse_key("", "/a", message), Rejected)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "FIELD_REQUIRED"),
        ("x" * 501, "FIELD_TOO_LONG"),
        ("a\0b", "FIELD_TEXT_INVALID"),
        ("\ud800", "FIELD_TEXT_INVALID"),
    ],
)
def test_what_is_no_key(text: str, code: str) -> None:
    refused = check_key(text)
    assert refused is not None
    assert [(one.pointer, one.code) for one in refused.fields] == [("/key", code)]
    found = parse_key("", "/a", {"a": text})
    assert isinstance(found, Rejected) and found.fields == refused.fields


def test_no_event_has_the_key_of_what_waits_follow() -> None:
    refused = check_key(name_calendar("office"))
    assert refused is not None and [one.code for one in refused.fields] == ["KEY_RESERVED"]
    assert isinstance(parse_key("signet:", "/type", MESSAGE), Rejected)


def test_what_is_one() -> None:
    assert check_key("paid: R/1 ü") is None
    assert check_message_id("m" * 200) is None
    assert check_message_id("m" * 201) is not None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("/a", True), ("/", True), ("/a~0~1", True), ("a", False), ("", False), ("/a~2", False), ("/a~", False)],
)
def test_what_is_a_pointer(text: str, expected: bool) -> None:
    assert is_pointer(text) is expected


@pytest.mark.parametrize(
    ("key", "area"), [("paid:R-1", "paid"), ("paid:", "paid"), ("Paid: R-1", None), ("paid", None)]
)
def test_the_area_of_a_key_is_what_a_permission_can_name(key: str, area: str | None) -> None:
    assert area_of(key) == area
