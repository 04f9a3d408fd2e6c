"""UUIDv7 (RFC 9562): ids that sort by time, made here so that Postgres 15 serves as well as 18.

A partitioned row takes its `created_at` from its id (`created_at_of`), so that a lookup by id alone
knows the partition.
"""

import os
import threading
import time
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from uuid import UUID, SafeUUID

from signet.core.errors import Rejected

_COUNTER_BITS = 12
_lock = threading.Lock()
_last = 0  # milliseconds and counter of the id given last, as one number
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The first moment of the year 10000.
_FIRST_MILLISECOND_WITHOUT_A_DATE = 253_402_300_800_000
# Random bytes are asked of the kernel for many ids at once. A child process asks for its own.
_RANDOM_BYTES = 8
_IDS_AT_ONCE = 256
_random: list[bytes] = []
# An enumeration looks its member up each time it is asked.
_NOT_TOLD = SafeUUID.unknown
# A UUID refuses that its attributes are set; its slots are set beside that.
_slots = vars(UUID)
_set_number, _set_safety = _slots["int"].__set__, _slots["is_safe"].__set__
os.register_at_fork(after_in_child=_random.clear)


def make_id() -> UUID:
    """Make an id greater than every id that this process made before."""
    global _last
    with _lock:
        # The counter restarts each millisecond; when it overflows, the id borrows from the next.
        _last = max(_last + 1, (time.time_ns() // 1_000_000) << _COUNTER_BITS)
        stamp = _last
        if not _random:
            _random.extend(_read_random())
        tail = int.from_bytes(_random.pop()) & 0x3FFF_FFFF_FFFF_FFFF
    milliseconds, counter = stamp >> _COUNTER_BITS, stamp & 0xFFF
    return _make_uuid(milliseconds << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | tail)


def _read_random() -> list[bytes]:
    read = os.urandom(_RANDOM_BYTES * _IDS_AT_ONCE)
    return [read[at : at + _RANDOM_BYTES] for at in range(0, len(read), _RANDOM_BYTES)]


def _make_uuid(number: int) -> UUID:
    """Make a UUID of a number that has its version and its variant: a step makes two, and `UUID` checks."""
    identifier = object.__new__(UUID)
    _set_number(identifier, number)
    _set_safety(identifier, _NOT_TOLD)
    return identifier


def parse_id(text: str) -> UUID:
    """Parse an id as the database writes it into JSON; it has checked it."""
    return _make_uuid(int(text.replace("-", ""), 16))


def created_at_of(identifier: UUID) -> datetime:
    """Return the millisecond in which the id was made; refuse an id from outside that names none."""
    milliseconds = identifier.int >> 80
    if milliseconds >= _FIRST_MILLISECOND_WITHOUT_A_DATE:
        sentence = f"the id {identifier} names no moment, so that nothing can have it"
        raise Rejected("ID_WITHOUT_TIME", sentence, remedy="Use an id that the API has given.")
    return _moment_of(milliseconds)


@lru_cache(maxsize=1_024)
def _moment_of(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def has_created_at(identifier: UUID) -> bool:
    """Return whether this system can have made the id: an id from outside may be any number."""
    return identifier.version == 7 and identifier.int >> 80 < _FIRST_MILLISECOND_WITHOUT_A_DATE
