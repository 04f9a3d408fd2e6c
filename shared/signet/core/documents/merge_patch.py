"""JSON merge patch (RFC 7386): null takes a member away, an object is merged, all else replaces."""

from collections.abc import Mapping
from typing import Any

MAX_PATCH_DEPTH = 20


class PatchTooDeep(Exception):
    """A patch that is deeper than any field of a contract."""


def apply_merge_patch(target: Any, patch: Any, depth: int = 0) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    if depth > MAX_PATCH_DEPTH:
        raise PatchTooDeep
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = apply_merge_patch(merged.get(name), value, depth + 1)
    return merged
