"""Files of authors, in YAML or JSON; only values that JSON has are taken from YAML.

A plain YAML word is null (also `~` and the empty word), true, false, or a number as JSON writes it. Every
other word is a text: `on`, `yes`, `010`, `0x1F`, `12:30` and `2026-01-01` are. Tags, anchors, aliases and
merge keys are findings, so that a file means what can be read in it.
"""

from pathlib import Path
from typing import Any

from signet.authoring import json_text, yaml_text
from signet.authoring.document import INVALID_CHARACTERS, FileReading, Spot
from signet.core.validation.finding import Finding
from signet.core.validation.strict_model import MAX_DOCUMENT_CHARACTERS

MAX_FILE_BYTES = MAX_DOCUMENT_CHARACTERS
BYTE_ORDER_MARK = "\ufeff"
_READERS = {".json": json_text.parse, ".yaml": yaml_text.parse, ".yml": yaml_text.parse}


def read_document(path: Path) -> tuple[Any, tuple[Finding, ...]]:
    """Read a file, or find why it cannot be read."""
    content, findings = read_content(path)
    if findings:
        return None, findings
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        reading = FileReading(str(path))
        before = content[: error.start].decode("utf-8")
        reading.find("DOCUMENT_NOT_UTF8", spot=Spot.after(before), byte=f"0x{content[error.start]:02X}")
        return None, reading.findings
    return parse_text(text, str(path))


def read_content(path: Path) -> tuple[bytes, tuple[Finding, ...]]:
    """Read the bytes of a file. A pipe or device could be endless, so it is refused."""
    reading = FileReading(str(path))
    content = b""
    try:
        if not path.is_file():
            raise FileNotFoundError(0, "there is no such file")
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        reading.find("DOCUMENT_UNREADABLE", reason=error.strerror)
    if len(content) > MAX_FILE_BYTES:
        reading.find("DOCUMENT_TOO_LARGE", limit=MAX_FILE_BYTES)
    return content, reading.findings


def parse_text(text: str, name: str) -> tuple[Any, tuple[Finding, ...]]:
    """Parse a text in the format that its name's ending tells. A text with findings gives no document."""
    reading = FileReading(name)
    read = _READERS.get(Path(name).suffix.lower())
    text = text.removeprefix(BYTE_ORDER_MARK)
    invalid = INVALID_CHARACTERS.search(text)
    if read is None:
        reading.find("DOCUMENT_FORMAT_UNKNOWN")
    elif len(text.encode("utf-8", "surrogatepass")) > MAX_FILE_BYTES:
        reading.find("DOCUMENT_TOO_LARGE", limit=MAX_FILE_BYTES)
    elif invalid is not None:
        spot = Spot.after(text[: invalid.start()])
        reading.find("DOCUMENT_CHARACTER_INVALID", spot=spot, character=f"U+{ord(invalid.group()):04X}")
    elif not text.strip():
        reading.find("DOCUMENT_EMPTY")
    else:
        document = read(text, reading)
        return (None if reading.findings else document), reading.findings
    return None, reading.findings
