"""Checks of the texts that authors write, values and keys: Postgres and JSON must be able to keep them."""

from collections.abc import Iterator
from typing import Any

from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point
from signet.core.validation.text import find_text_problem


def check_texts(document: Any) -> Iterator[Finding]:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            problem = find_text_problem(value)
            if problem is not None:
                yield make_finding(
                    "DOCUMENT_TEXT_INVALID", point(path), where=f"At {point(path)}", problem=problem
                )
        elif isinstance(value, dict):
            waiting.extend((path, key) for key in value)
            waiting.extend(((*path, key), inner) for key, inner in value.items())
        elif isinstance(value, list | tuple):
            waiting.extend(((*path, index), inner) for index, inner in enumerate(value))
