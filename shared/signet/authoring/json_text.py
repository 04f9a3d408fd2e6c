"""JSON as authors write it: no key twice, no NaN, bounded depth."""

import json
from typing import Any

from signet.authoring.document import MAX_DEPTH, FileReading, Spot, Steps, shorten


class _Pairs(list[tuple[str, Any]]):
    """An object before its keys are known to differ."""


class _Number(str):
    """The digits of a number before it is known to be kept exactly."""


def parse(text: str, reading: FileReading) -> Any:
    try:
        raw = json.loads(
            text, object_pairs_hook=_Pairs, parse_int=_Number, parse_float=_Number, parse_constant=_Number
        )
    except json.JSONDecodeError as error:
        spot = Spot(error.lineno, error.colno)
        problem = (error.msg[:1].lower() + error.msg[1:]).removesuffix(" at")
        reading.find("DOCUMENT_SYNTAX", spot=spot, problem=problem, format="JSON")
        return None
    except RecursionError:
        reading.find("DOCUMENT_TOO_DEEP", limit=MAX_DEPTH)
        return None
    return _settle(raw, (), reading)


def _settle(raw: Any, path: Steps, reading: FileReading) -> Any:
    """Return the value with its keys and numbers checked; it recurses no deeper than a document may be."""
    if isinstance(raw, _Number):
        if raw.lstrip("-")[:1].isdigit():
            return reading.parse_number(raw, path, None)
        reading.find("DOCUMENT_NUMBER_INVALID", path, number=str(raw))
        return None
    if isinstance(raw, str):
        return reading.check_text(raw, path, None)
    if not isinstance(raw, list):
        return raw
    if reading.is_hopeless or reading.is_too_deep(path, None):
        return None
    if not isinstance(raw, _Pairs):
        return [_settle(item, (*path, index), reading) for index, item in enumerate(raw)]
    settled: dict[str, Any] = {}
    for written, value in raw:
        key = reading.check_key(written, path, None)
        if key in settled:
            reading.find("DOCUMENT_KEY_TWICE", (*path, key), key=shorten(key))
        settled[key] = _settle(value, (*path, key), reading)
    return settled
