"""Texts of a document that do not say what a reader sees."""

from collections.abc import Iterator, Mapping
from typing import Any

from signet.core.validation.text import has_hidden, mixes_scripts


def list_unclear(data: Mapping[str, Any]) -> list[str]:
    """List the paths of texts with hidden characters, or with letters of two scripts in one word."""
    return [path for path, text in _list_texts("", data) if has_hidden(text) or mixes_scripts(text)]


def _list_texts(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _list_texts(f"{path}.{name}" if path else str(name), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _list_texts(f"{path}.{index}", inner)
