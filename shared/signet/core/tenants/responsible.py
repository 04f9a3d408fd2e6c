"""The persons responsible for an act: they may not decide about what came of it.

An actor may be a key, the system or a service account. The persons behind it are kept beside the actor, on
everything that the act writes. They are inherited by what follows from it, and never become fewer.
"""

import hashlib
from collections.abc import Iterable
from functools import lru_cache

from signet.core.errors import Rejected

MAX_PERSONS = 200
ResponsiblePersons = frozenset[str]
NOBODY: ResponsiblePersons = frozenset()


def find_overflow(persons: ResponsiblePersons) -> Rejected | None:
    """Return why so many persons cannot be responsible for one document."""
    if len(persons) <= MAX_PERSONS:
        return None
    return Rejected(
        "RESPONSIBLE_TOO_MANY",
        f"more than {MAX_PERSONS} persons would be responsible for this document",
        remedy="Let a person make the change who has worked on the document before.",
    )


def join_responsible(*groups: Iterable[str]) -> ResponsiblePersons:
    """Join the persons of several acts, or refuse more than a set may hold."""
    joined = frozenset(person for group in groups for person in group)
    overflow = find_overflow(joined)
    if overflow is not None:
        raise overflow
    return joined


@lru_cache(maxsize=10_000)
def hash_responsible(persons: ResponsiblePersons) -> str:
    """Hash the sorted ids, one a line: equal sets have one row."""
    return hashlib.sha256("\n".join(sorted(persons)).encode()).hexdigest()
