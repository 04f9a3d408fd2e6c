"""The part that both formats share: findings with their place, and checks of texts, keys and numbers."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from signet.core.contracts.fields import MAX_SAFE_INTEGER
from signet.core.validation.finding import Finding, drop_duplicates, make_finding
from signet.core.validation.model_errors import MAX_MISTAKES
from signet.core.validation.strict_model import point
from signet.core.validation.text import find_text_problem

MAX_DEPTH = 50
MAX_SHOWN = 60
# The longest name in any document is a permission.
MAX_KEY_CHARACTERS = 200
# Longer than any number that a float or a safe integer needs; reading more digits costs quadratic time.
MAX_NUMBER_CHARACTERS = 400
INVALID_CHARACTERS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

Steps = tuple[str | int, ...]


@dataclass(frozen=True)
class Spot:
    """A place in a text; both count from 1."""

    line: int
    column: int

    @classmethod
    def after(cls, text: str) -> "Spot":
        return cls(text.count("\n") + 1, len(text) - text.rfind("\n"))


@dataclass
class FileReading:
    """The reading of one file: its name and its findings."""

    name: str
    _findings: list[Finding] = field(default_factory=list)

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(drop_duplicates(self._findings))

    @property
    def is_hopeless(self) -> bool:
        return len(self._findings) >= MAX_MISTAKES

    def find(self, code: str, path: Steps = (), /, *, spot: Spot | None = None, **words: Any) -> None:
        if spot is not None:
            words |= {"line": spot.line, "column": spot.column}
        self._findings.append(
            make_finding(code, point(path), where=self._describe_where(path, spot), file=self.name, **words)
        )

    def _describe_where(self, path: Steps, spot: Spot | None) -> str:
        if spot is not None:
            return f"{self.name}, line {spot.line}, column {spot.column}"
        return f"{self.name}, at {point(path)}" if path else self.name

    def check_text(self, text: str, path: Steps, spot: Spot | None) -> str:
        """Return the text, made printable and with a finding if it is invalid."""
        problem = find_text_problem(text)
        if problem is not None:
            self.find("DOCUMENT_TEXT_INVALID", path, spot=spot, problem=problem)
            return text.encode("utf-8", "replace").decode()
        return text

    def check_key(self, key: str, path: Steps, spot: Spot | None) -> str:
        """Return the key to use, and add a finding for a bad one. A long one is shortened."""
        if len(key) > MAX_KEY_CHARACTERS:
            self.find("DOCUMENT_KEY_TOO_LONG", path, spot=spot, key=shorten(key), limit=MAX_KEY_CHARACTERS)
            return self.check_text(shorten(key), path, spot)
        return self.check_text(key, path, spot)

    def parse_number(self, text: str, path: Steps, spot: Spot | None) -> int | float | None:
        """Parse a number in JSON's grammar, or find that a reader of JSON might change it."""
        number: int | float | None = None
        if len(text) <= MAX_NUMBER_CHARACTERS:
            number = float(text) if any(mark in text for mark in ".eE") else int(text)
        if isinstance(number, float) and math.isfinite(number):
            return number
        if isinstance(number, int) and abs(number) <= MAX_SAFE_INTEGER:
            return number
        self.find("DOCUMENT_NUMBER_INVALID", path, spot=spot, number=shorten(text))
        return None

    def is_too_deep(self, path: Sequence[str | int], spot: Spot | None) -> bool:
        """Return if a list or mapping that begins here is nested too deep, with a finding."""
        if len(path) < MAX_DEPTH:
            return False
        self.find("DOCUMENT_TOO_DEEP", tuple(path), spot=spot, limit=MAX_DEPTH)
        return True


def shorten(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 1] + "…"
