"""The output of commands that check files: findings, their counts, and the exit code that follows."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NoReturn

import typer

from signet.core.explain.vocabulary import escape
from signet.core.validation.finding import Finding, Severity

FINE, FOUND_ERRORS, WRONG_USE = 0, 1, 2
# The file could not be opened or is no text, so there is nothing yet to check.
UNREADABLE = frozenset({"DOCUMENT_UNREADABLE", "DOCUMENT_FORMAT_UNKNOWN", "DOCUMENT_NOT_UTF8"})
_SEVERITY_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow"}
_MARK_COLOURS = {"+": "green", "-": "red", "~": "yellow"}


@dataclass(frozen=True)
class FileFinding:
    """A finding and the file that it is about."""

    file: Path
    finding: Finding

    def to_json(self) -> dict[str, Any]:
        return {"file": str(self.file), **self.finding.to_json()}


def uses_colours(stream: IO[str]) -> bool:
    """Return if the stream shows colours; any non-empty NO_COLOR turns them off (https://no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write(text: str, stream: IO[str] | None = None) -> None:
    """Write a line. A stream that cannot show a character shows its number instead of failing."""
    stream = sys.stdout if stream is None else stream
    encoding: str = getattr(stream, "encoding", None) or "utf-8"
    stream.write(f"{text}\n".encode(encoding, "backslashreplace").decode(encoding))


def write_json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True)


def stop(message: str) -> NoReturn:
    """Stop because of wrong use: the request cannot be carried out at all."""
    write(f"signet: {escape(message)}", sys.stderr)
    raise typer.Exit(WRONG_USE)


def choose_exit_code(found: Iterable[FileFinding]) -> int:
    findings = [file_finding.finding for file_finding in found]
    if any(finding.code in UNREADABLE for finding in findings):
        return WRONG_USE
    return FOUND_ERRORS if any(finding.severity is Severity.ERROR for finding in findings) else FINE


def write_findings(found: Sequence[FileFinding], stream: IO[str] | None = None) -> None:
    stream = stream or sys.stdout
    for file_finding in found:
        finding = file_finding.finding
        severity = _paint(finding.severity.value, _SEVERITY_COLOURS[finding.severity], stream)
        place = f" {escape(finding.place)}" if finding.place else ""
        write(f"{severity} {escape(file_finding.file)}{place}: {escape(finding.sentence)}", stream)
        write(f"    {escape(finding.remedy)} ({finding.code})", stream)


def describe_counts(found: Iterable[FileFinding]) -> str:
    severities = [file_finding.finding.severity for file_finding in found]
    counts = [(severities.count(severity), severity.value) for severity in Severity]
    return (
        ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts if count)
        or "no findings"
    )


def paint_marks(lines: Iterable[str], stream: IO[str]) -> Iterable[str]:
    """Yield the lines of a diff, each in the colour of its mark."""
    for line in lines:
        yield _paint(line, _MARK_COLOURS.get(line.lstrip()[:1], ""), stream)


def _paint(text: str, colour: str, stream: IO[str]) -> str:
    return typer.style(text, fg=colour) if colour and uses_colours(stream) else text


def deliver(text: str, output: Path | None) -> None:
    """Write the text to the file that was asked for, or to standard output."""
    if output is None:
        write(text.removesuffix("\n"))
        return
    try:
        output.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
    except OSError as error:
        stop(f"{output} cannot be written: {error.strerror}")
