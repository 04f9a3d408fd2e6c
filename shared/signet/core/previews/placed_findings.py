"""Findings with their pointers into an author's document, and the document's own parse."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from signet.core.compiler.finding_locations import FindingLocations
from signet.core.compiler.patch import Automation, Patch
from signet.core.errors import FieldError, Rejected
from signet.core.validation.finding import Finding, Severity, has_errors
from signet.core.validation.model_errors import MAX_MISTAKES
from signet.core.validation.strict_model import Strict, parse_strictly
from signet.core.validation.text_checks import check_texts

T = TypeVar("T", bound=Strict)


@dataclass(frozen=True, slots=True)
class PlacedFinding:
    """A finding in an author's document.

    `place` names a node, an edge or a slot; `pointer` leads to it in the document (RFC 6901).
    """

    code: str
    severity: Literal["error", "warning"]
    place: str
    pointer: str
    sentence: str
    remedy: str
    parameters: Mapping[str, Any]


def parse_body(model: type[T], document: Any) -> T:
    """Parse an author's document, or raise every mistake that shows before anything is compiled."""
    read, findings = parse_strictly(model, document)
    findings = findings or tuple(check_texts(document))[:MAX_MISTAKES]
    if read is None or has_errors(findings):
        raise reject_findings(place_findings(findings))
    return read


def place_findings(
    findings: Iterable[Finding], body: Patch | Automation | None = None
) -> tuple[PlacedFinding, ...]:
    """Give findings their pointers. Places are pointers already in a document without a `body`."""
    places = FindingLocations(body) if body is not None else None
    return tuple(
        PlacedFinding(
            finding.code,
            finding.severity.value,
            finding.place,
            places.point(finding) if places is not None else finding.place.removesuffix("/"),
            finding.sentence,
            finding.remedy,
            # A plain copy: another process cannot be sent what nobody may change.
            dict(finding.parameters),
        )
        for finding in findings
    )


def reject_findings(findings: Iterable[PlacedFinding]) -> Rejected:
    errors = [finding for finding in findings if finding.severity == Severity.ERROR.value]
    first = errors[0].sentence if errors else "it has findings"
    return Rejected(
        "DEFINITION_INVALID",
        f"{len(errors)} error(s), the first: {first}",
        fields=tuple(FieldError(error.pointer, error.code, error.sentence, error.remedy) for error in errors),
    )
