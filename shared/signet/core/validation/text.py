"""Text from outside: names, dates, moments, and characters that Postgres and JSON cannot keep."""

import re
import unicodedata
from datetime import UTC, date, datetime

# The limit of reasons that people give for the audit trail.
MAX_REASON_CHARACTERS = 4_000

_SURROGATE = re.compile("[\ud800-\udfff]")
_WORD = re.compile(r"[^\W\d_]+")
_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})
# Letters and marks without any shape that Unicode does not count as format characters.
_UNSEEN = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0})
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])(?:\.([0-9]{1,6}))?"
    r"(Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)


def find_text_problem(text: str) -> str | None:
    """Return why Postgres or JSON cannot keep the text, or None."""
    if "\0" in text:
        return "contains a NUL character"
    if _SURROGATE.search(text):
        return "contains half of a surrogate pair"
    return None


def write_key(text: str) -> str:
    """Write the normal form of a business key: composed, without blanks around it or several together.

    >>> write_key(" R-1\u00a0 2 ") == "R-1 2"
    True
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def has_hidden(text: str) -> bool:
    """Return whether the text holds characters that nobody sees, or that turn what is read.

    >>> has_hidden("R-1\u200b"), has_hidden("R-1")
    (True, False)
    """
    return not text.isascii() and any(_is_hidden(character) for character in text)


def mixes_scripts(text: str) -> bool:
    """Return whether one of its words has letters of two scripts that look alike.

    >>> mixes_scripts("D\u0415"), mixes_scripts("DE \u0415")
    (True, False)
    """
    return not text.isascii() and any(len(_find_scripts(word)) > 1 for word in _WORD.findall(text))


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) == "Cf" or ord(character) in _UNSEEN


def _find_scripts(word: str) -> set[str]:
    names = {unicodedata.name(letter, "").partition(" ")[0] for letter in word}
    return names & _ALIKE


def replace_surrogates(text: str) -> str:
    return _SURROGATE.sub("?", text)


def is_calendar_date(text: str) -> bool:
    """Return whether the text is 'YYYY-MM-DD' and the day exists.

    >>> is_calendar_date("2026-02-28"), is_calendar_date("2026-02-29")
    (True, False)
    """
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def normalise_timestamp(text: str) -> str | None:
    """Return an RFC 3339 timestamp with an offset as 'YYYY-MM-DDTHH:MM:SS.ffffffZ', or None for other text.

    >>> normalise_timestamp("2026-01-31T12:00:00+02:00")
    '2026-01-31T10:00:00.000000Z'
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    seconds, fraction, offset = match.groups()
    try:
        moment = datetime.fromisoformat(f"{seconds}.{fraction or '0':0<6}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):  # no such day, or a moment before year 1 or after 9999 in UTC
        return None
    return moment.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
NAME_PATTERN = rf"^{NAME.pattern}$"
