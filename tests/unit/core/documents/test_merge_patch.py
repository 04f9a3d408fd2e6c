"""JSON merge patch: the examples of RFC 7386 that say all of it, and the bound on depth."""

from typing import Any

import pytest

from signet.core.documents.merge_patch import MAX_PATCH_DEPTH, PatchTooDeep, apply_merge_patch


@pytest.mark.parametrize(
    ("target", "patch", "merged"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": "b"}, ["c"], ["c"]),
        (["a"], {"a": {"b": None}}, {"a": {}}),
        ({"a": "b"}, "c", "c"),
    ],
)
def test_a_patch_is_merged(target: Any, patch: Any, merged: Any) -> None:
    assert apply_merge_patch(target, patch) == merged


def test_what_is_patched_stays_as_it_was() -> None:
    target = {"a": {"b": 1}}
    assert apply_merge_patch(target, {"a": {"b": 2}}) == {"a": {"b": 2}}
    assert target == {"a": {"b": 1}}


def test_a_patch_has_a_depth() -> None:
    patch: Any = 1
    for _ in range(MAX_PATCH_DEPTH + 1):
        patch = {"a": patch}
    assert apply_merge_patch({}, patch) == patch
    with pytest.raises(PatchTooDeep):
        apply_merge_patch({}, {"a": patch})
