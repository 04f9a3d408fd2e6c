"""Texts that do not say what a reader sees, in documents and in what authors write."""

from collections.abc import Iterator, Mapping
from typing import Any

from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point
from signet.core.validation.text import has_hidden, mixes_scripts

_SHOWN_CHARACTERS = 100


def find_unclear(value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Find texts with hidden characters, or with letters of two scripts in one word, each by its path."""
    for path, text in _list_texts((), value):
        if has_hidden(text) or mixes_scripts(text):
            yield path, text


def list_unclear(data: Mapping[str, Any]) -> list[str]:
    """List the paths of such texts."""
    return [".".join(map(str, path)) for path, _ in find_unclear(data)]


def check_unclear(document: Any) -> Iterator[Finding]:
    """Name each such text that an author has written, with what it really says."""
    for path, text in find_unclear(document):
        yield make_finding("TEXT_UNCLEAR", point(path), text=write_out(text))


def write_out(text: str) -> str:
    r"""Write a text so that each of its characters shows; of a long one the beginning.

    >>> write_out("D\u0415")
    'D\\u0415'
    """
    return ascii(text[:_SHOWN_CHARACTERS])[1:-1]


def _list_texts(path: tuple[str | int, ...], value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _list_texts((*path, str(name)), inner)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _list_texts((*path, index), inner)
