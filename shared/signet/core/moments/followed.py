"""Keys of what an open wait follows: they stand with its step where the key of an event would.

No message from outside has such a key.
"""

PREFIX = "signet:"
# Of waits that follow no calendar. All that follow read the settings.
SETTINGS = f"{PREFIX}settings"


def name_calendar(name: str) -> str:
    return f"{PREFIX}calendar/{name}"


def is_followed(key: str) -> bool:
    """Return whether a key is one of these, and no event's."""
    return key.startswith(PREFIX)
