"""What is shown, as text. JSON: dataclasses, ids and moments as they are, read-only mappings as objects."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson


def to_json(value: object) -> str:
    return orjson.dumps(value, default=_to_plain).decode()


def _to_plain(value: Any) -> Any:
    """What orjson does not know."""
    from pydantic import BaseModel  # loaded with the first route, and not before

    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def write_etag(version: int) -> str:
    return f'"{version}"'
