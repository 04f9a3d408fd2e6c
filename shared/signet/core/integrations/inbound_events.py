"""Keys of events from outside, and their places in a message."""

import re
from typing import Any

from signet.core.errors import FieldError, Rejected
from signet.core.moments.followed import PREFIX, is_followed
from signet.core.validation.text import find_text_problem

MAX_KEY_CHARACTERS = 500
MAX_MESSAGE_ID_CHARACTERS = 200
# An event is kept this long for the first workflow that waits for it.
KEPT_DAYS = 7
_AREA = re.compile(r"([a-z][a-z0-9_.]{0,99}):")
_INDEX = re.compile(r"0|[1-9][0-9]{0,5}")
_ESCAPED = re.compile(r"~(?![01])")


def check_key(key: str) -> Rejected | None:
    """Refuse a key that no workflow could wait for."""
    if is_followed(key):
        sentence = f"begins with '{PREFIX}', which is kept for waits of Signet's own"
        mistake = FieldError("/key", "KEY_RESERVED", sentence)
        return Rejected("FIELDS_INVALID", f"the event's key {sentence}", fields=(mistake,))
    return _check(key, "key", MAX_KEY_CHARACTERS)


def check_message_id(message_id: str) -> Rejected | None:
    return _check(message_id, "id", MAX_MESSAGE_ID_CHARACTERS)


def area_of(key: str) -> str | None:
    """Return what stands before the first colon, where a permission can name it.

    >>> area_of("paid:R-1"), area_of("Paid: R-1"), area_of("paid")
    ('paid', None, None)
    """
    found = _AREA.match(key)
    return None if found is None else found[1]


def is_pointer(text: str) -> bool:
    """Return whether the text is a JSON pointer (RFC 6901) to a part of a message."""
    return text.startswith("/") and _ESCAPED.search(text) is None


def parse_key(prefix: str, pointer: str | None, message: Any) -> str | Rejected:
    """Read the key of a message: the prefix, and the value at the pointer."""
    value = _follow(pointer, message) if pointer is not None else ""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        mistake = FieldError(pointer or "", "KEY_MISSING", "wants a text or a whole number")
        return Rejected(
            "FIELDS_INVALID", "the message holds no key at the endpoint's pointer", fields=(mistake,)
        )
    key = f"{prefix}{value}"
    return check_key(key) or key


def _follow(pointer: str, message: Any) -> Any:
    """Return the value at the pointer, or None where there is none."""
    here = message
    for part in pointer[1:].split("/"):
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(here, dict):
            here = here.get(name)
        elif isinstance(here, list) and _INDEX.fullmatch(name) and int(name) < len(here):
            here = here[int(name)]
        else:
            return None
    return here


def _check(text: str, field: str, limit: int) -> Rejected | None:
    problem = find_text_problem(text)
    if not text:
        mistake = FieldError(f"/{field}", "FIELD_REQUIRED", "is required")
    elif len(text) > limit:
        mistake = FieldError(f"/{field}", "FIELD_TOO_LONG", f"has more than {limit} characters")
    elif problem is not None:
        mistake = FieldError(f"/{field}", "FIELD_TEXT_INVALID", problem)
    else:
        return None
    return Rejected("FIELDS_INVALID", f"the event's {field} {mistake.message}", fields=(mistake,))
