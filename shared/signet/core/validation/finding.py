"""Findings in a contract, a patch or an automation: a code, a place, one sentence, one remedy.

One table holds all texts by code. A finding carries its parameters, so that another language needs only
another table.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from signet.core.validation.messages import TEXTS


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Finding:
    code: str
    severity: Severity
    place: str  # a node, an edge, a slot, or a JSON pointer into the author's document
    sentence: str
    remedy: str
    parameters: Mapping[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        """Let another process have a copy: parameters that nobody may change cannot be copied there."""
        values = (self.code, self.severity, self.place, self.sentence, self.remedy)
        return Finding, (*values, dict(self.parameters))

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity.value,
            "place": self.place,
            "sentence": self.sentence,
            "remedy": self.remedy,
            "parameters": dict(self.parameters),
        }


def make_finding(code: str, place: str, /, **parameters: Any) -> Finding:
    severity, sentence, remedy = TEXTS[code]
    words = {"place": place, **parameters}
    return Finding(
        code=code,
        severity=Severity(severity),
        place=place,
        sentence=sentence.format_map(words),
        remedy=remedy.format_map(words),
        parameters=MappingProxyType(parameters),
    )


def has_errors(findings: Iterable[Finding]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return errors first, then by place: the same order in any order of checking."""
    return tuple(sorted(drop_duplicates(findings), key=lambda f: (f.severity, f.place, f.code, f.sentence)))


def drop_duplicates(findings: Iterable[Finding]) -> list[Finding]:
    return list({(f.code, f.place, f.sentence): f for f in findings}.values())
