"""The delay that spreads schedules which name the same moment, the same for each tick of one definition."""

import hashlib
from datetime import timedelta

MAX_JITTER = timedelta(hours=1)


def find_jitter(definition_id: str, longest: timedelta) -> timedelta:
    """Return a delay of whole seconds, up to the longest. It moves the start of a tick, and never its key."""
    if not timedelta() <= longest <= MAX_JITTER:
        raise ValueError("wants a jitter of at most one hour")
    drawn = int.from_bytes(hashlib.sha256(definition_id.encode()).digest())
    return timedelta(seconds=drawn % (int(longest.total_seconds()) + 1))
