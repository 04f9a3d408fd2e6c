"""The lines of an iCalendar file (RFC 5545, 3.1): unfolded, decoded, split into names and values."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from signet.core.validation.finding import Finding, make_finding

MAX_ICS_BYTES = 1_048_576
_MARK = b"\xef\xbb\xbf"
# A colon or a semicolon inside quotes belongs to the value of a parameter.
_LINE = re.compile(r'((?:[^":]|"[^"]*")*+):(.*)', re.DOTALL)
_PART = re.compile(r'(?:[^";]|"[^"]*")++')
_NAME = re.compile(r"[A-Za-z0-9-]+")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f]")


class ContentLine(NamedTuple):
    number: int  # where it begins in the file, from 1 on
    name: str
    parameters: Mapping[str, str]
    value: str


def find_in_line(code: str, number: int, **words: object) -> Finding:
    """Make a finding about a line. What it repeats of the file is cut short."""
    shown = {name: value if isinstance(value, int) else str(value)[:100] for name, value in words.items()}
    return make_finding(code, f"line {number}", line=number, **shown)


def list_lines(content: bytes) -> Iterator[ContentLine | Finding]:
    """Yield each line, or what is wrong with it."""
    for number, raw in _unfold(content.removeprefix(_MARK)):
        yield _parse_line(number, raw)


def _unfold(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines with the number of their first one: a blank at the beginning goes on with the last.

    Bytes are joined and no text, because a line may be folded inside of a character.
    """
    first, parts = 0, list[bytes]()
    for number, written in enumerate(content.split(b"\n"), 1):
        raw = written.removesuffix(b"\r")
        if raw[:1] in (b" ", b"\t") and parts:
            parts.append(raw[1:])
            continue
        if parts:
            yield first, b"".join(parts)
        first, parts = number, [raw] if raw else []
    if parts:
        yield first, b"".join(parts)


def _parse_line(number: int, raw: bytes) -> ContentLine | Finding:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return find_in_line("ICS_NOT_UTF8", number)
    match = _LINE.fullmatch(text)
    if match is None:
        return find_in_line("ICS_SYNTAX", number, problem="wants a name, a colon and a value")
    name, *parts = _PART.findall(match[1]) or [""]
    parameters = dict(part.partition("=")[::2] for part in parts)
    if not _NAME.fullmatch(name) or _CONTROL.search(text):
        return find_in_line("ICS_SYNTAX", number, problem="has a character that has no place there")
    cleaned = {key.upper(): value.strip('"') for key, value in parameters.items()}
    return ContentLine(number, name.upper(), cleaned, match[2])
