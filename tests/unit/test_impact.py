"""Whether what stands at a node could come along."""

from typing import Any

import pytest

from signet.core.impact import foresee

OLD: dict[str, Any] = {
    "contract": {"version": 1},
    "nodes": {"a": {"type": "approval"}, "b": {"type": "rule"}},
}


@pytest.mark.parametrize(
    ("change", "prospect"),
    [
        ({}, "same"),
        ({"contract": {"version": 2}}, "contract_differs"),
        ({"nodes": {"b": {"type": "rule"}}}, "node_gone"),
        ({"nodes": {"a": {"type": "rule"}}}, "type_differs"),
        ({"nodes": {"a": {"type": "approval"}}}, "may_move"),
    ],
)
def test_a_place(change: dict[str, Any], prospect: str) -> None:
    assert foresee(OLD, {**OLD, **change}, "a") == prospect


def test_a_place_that_is_only_there_afterwards_is_nobodys() -> None:
    assert foresee({**OLD, "nodes": {}}, OLD, "a") == "node_gone"
