"""Proposed changes: their hash, and their difference from what is in force."""

import pytest

from signet.core.control.change import ControlDifference, hash_change, list_differences

CHANGE = {"kind": "endpoint", "name": "erp", "act": "replace", "base_version": 3, "body": '{"url":"a"}'}


@pytest.mark.parametrize(
    "changed",
    [{"kind": "rule"}, {"name": "crm"}, {"act": "create"}, {"base_version": 4}, {"body": '{"url":"b"}'}],
    ids=lambda changed: next(iter(changed)),
)
def test_the_hash_covers_everything_that_is_confirmed(changed: dict[str, object]) -> None:
    assert hash_change(**{**CHANGE, **changed}) != hash_change(**CHANGE)  # type: ignore[arg-type]
    assert hash_change(**CHANGE) == hash_change(**dict(reversed(CHANGE.items())))  # type: ignore[arg-type]


def test_differences_are_listed_by_their_pointers() -> None:
    before = {"url": "a", "custom": {"x/y": {"value": [1]}, "gone": 1}, "same": 1}
    after = {"url": "b", "custom": {"x/y": {"value": [2]}}, "same": 1, "new": True}
    assert list_differences(before, after) == [
        ControlDifference("/custom/gone", 1, None),
        ControlDifference("/custom/x~1y/value", [1], [2]),
        ControlDifference("/new", None, True),
        ControlDifference("/url", "a", "b"),
    ]


def test_a_thing_that_is_not_there_differs_as_a_whole() -> None:
    assert list_differences({"x": {"y": 1}}, {"x": None}) == [ControlDifference("/x", {"y": 1}, None)]
    assert list_differences({}, {}) == []


@pytest.mark.parametrize(
    ("before", "after"), [(1, True), (0, False), ([1, {"to": 0}], [1, {"to": False}]), ([1], [1, 1])]
)
def test_values_of_another_type_differ(before: object, after: object) -> None:
    """A person who confirms sees that a limit of 1 became `true`."""
    assert [found.pointer for found in list_differences({"limit": before}, {"limit": after})] == ["/limit"]
    assert list_differences({"limit": after}, {"limit": after}) == []
    assert list_differences({"limit": 1}, {"limit": 1.0}) == [], "JSON has one kind of number"
