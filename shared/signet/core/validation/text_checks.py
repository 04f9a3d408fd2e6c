"""Texts in what authors write that nothing can keep: found wherever they stand, in keys as well."""

from collections.abc import Iterator
from typing import Any

from signet.core.validation.finding import Finding, make_finding
from signet.core.validation.strict_model import point
from signet.core.validation.text import find_text_problem


def check_texts(document: Any) -> Iterator[Finding]:
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), document)]
    while waiting:
        path, here = waiting.pop()
        if isinstance(here, str):
            problem = find_text_problem(here)
            if problem is not None:
                yield make_finding(
                    "DOCUMENT_TEXT_INVALID", point(path), where=f"At {point(path)}", problem=problem
                )
        elif isinstance(here, dict):
            waiting.extend((path, key) for key in here)
            waiting.extend(((*path, key), value) for key, value in here.items())
        elif isinstance(here, list | tuple):
            waiting.extend(((*path, index), value) for index, value in enumerate(here))
