"""The SQLSTATEs by which the server says that it cannot go on, and what follows from each.

What they have in common: the statement may be right, and nothing was changed. The longest entry that begins
a state holds. A state without an entry is a mistake of the statement, or a refusal that its sender expects.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

import psycopg

from signet.core.errors import Defect, SignetError, Transient
from signet.store.deadlines import ServerSilent


class Disposition(StrEnum):
    """The fate of work that was claimed: a wave, a delivery."""

    AT_ONCE = "tried again at once, then given back"
    GIVEN_BACK = "given back, without an attempt"
    ATTEMPT = "an attempt: the last one holds the document"


@dataclass(frozen=True, slots=True)
class ServerFailure:
    """The meaning of a state, and when the same may be sent again."""

    code: str
    sentence: str
    disposition: Disposition
    # None where sending the same again is of no use.
    retry_after_seconds: int | None = None
    # No answer to a COMMIT says then whether it was done.
    ends_connection: bool = False

    def make_error(self) -> SignetError:
        if self.disposition is Disposition.ATTEMPT:
            return Defect(self.code, self.sentence)
        return Transient(
            self.code,
            f"{self.sentence}; nothing was changed",
            details={"retry_after_seconds": self.retry_after_seconds},
            is_brief=self.disposition is Disposition.AT_ONCE,
        )


_AT_ONCE, _GIVEN_BACK, _ATTEMPT = Disposition
UNREACHABLE = ServerFailure(
    "DATABASE_UNAVAILABLE", "the database cannot be reached", _AT_ONCE, 5, ends_connection=True
)
SILENT = ServerFailure(
    "DATABASE_UNAVAILABLE", "the database does not answer", _GIVEN_BACK, 5, ends_connection=True
)
_CONTENDED = ServerFailure("DATABASE_CONTENDED", "another transaction was in the way", _AT_ONCE, 2)
_OPEN_TOO_LONG = ServerFailure(
    "TRANSACTION_TIMED_OUT", "a transaction was open for too long", _GIVEN_BACK, 5, ends_connection=True
)
_REFUSED = ServerFailure(
    "DATABASE_REFUSED", "a statement is beyond what the server can do or may use", _ATTEMPT
)
_BROKEN = ServerFailure(
    "DATABASE_BROKEN", "the database met an internal error, or data that are damaged", _ATTEMPT
)
FAILURES: Mapping[str, ServerFailure] = MappingProxyType(
    {
        "08": UNREACHABLE,
        "25006": ServerFailure(
            "DATABASE_READ_ONLY", "the database takes no writes at the moment", _GIVEN_BACK, 10
        ),
        "25P03": _OPEN_TOO_LONG,
        "25P04": _OPEN_TOO_LONG,
        "40": _CONTENDED,
        "53": ServerFailure("DATABASE_EXHAUSTED", "the database is short of a resource", _GIVEN_BACK, 10),
        "53100": ServerFailure("DATABASE_DISK_FULL", "the database's disk is full", _GIVEN_BACK, 30),
        "53200": ServerFailure("DATABASE_EXHAUSTED", "the database is short of memory", _GIVEN_BACK, 10),
        "53300": ServerFailure("DATABASE_EXHAUSTED", "the database has no connection left", _GIVEN_BACK, 5),
        # A limit that an operator has set for a statement, such as that of its temporary files.
        "53400": _REFUSED,
        "54": _REFUSED,
        # Each try waits as long as a statement may wait for a lock.
        "55P03": ServerFailure(
            "DATABASE_CONTENDED", "another transaction was in the way for too long", _GIVEN_BACK, 5
        ),
        "57014": ServerFailure(
            "STATEMENT_TIMED_OUT", "a statement took longer than it may, or was cancelled", _GIVEN_BACK, 5
        ),
        "57P": UNREACHABLE,
        "58": ServerFailure(
            "DATABASE_DISK_FAILED", "the database cannot read or write its files", _GIVEN_BACK, 30
        ),
        # A file that should be there is missing, or one is there that should not.
        "58P": _BROKEN,
        "XX": _BROKEN,
    }
)


def find_failure(state: str | None) -> ServerFailure | None:
    """Find what a state means, by its longest beginning that has an entry."""
    for length in range(len(state or ""), 1, -1):
        if (found := FAILURES.get((state or "")[:length])) is not None:
            return found
    return None


def translate_failure(error: psycopg.Error, *, is_committing: bool) -> SignetError | None:
    """Translate an error of the server by its state, not by its class; None for one that is no outage.

    Only a connection that ends during the commit leaves the outcome unknown.
    """
    failure = SILENT if isinstance(error, ServerSilent) else find_failure(error.sqlstate)
    is_ended = error.diag.severity_nonlocalized in ("FATAL", "PANIC")
    if is_ended or (failure is None and isinstance(error, psycopg.OperationalError)):
        # The next connection may do better.
        failure = failure if failure is not None and failure.ends_connection else UNREACHABLE
    if failure is None:
        return None
    if is_committing and failure.ends_connection:
        return Transient(
            "OUTCOME_UNKNOWN",
            "the connection broke during the commit: whether anything was changed is not known",
            remedy="Repeat the same request with the same idempotency key: it happens once.",
            is_brief=failure.disposition is Disposition.AT_ONCE,
        )
    return failure.make_error()
