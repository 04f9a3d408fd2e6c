"""Costs of a piece of work beside time: messages on the wire, WAL, memory."""

import resource
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psycopg

from signet.store.database import Database

Admin = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class WireCount:
    """Counts of messages on the wire. Begins and commits are statements too."""

    statements: int
    round_trips: int
    transactions: int


def count_wire(database: Database, act: Callable[[], object]) -> WireCount:
    """Count the messages between client and server. The database's pool must be of one connection."""
    with tempfile.TemporaryFile() as trace:
        with database.tenantless_transaction() as connection:
            traced = connection.pgconn
        traced.trace(trace.fileno())
        try:
            act()
        finally:
            traced.untrace()
        trace.seek(0)
        # The fields are time, direction, length, kind of message and its content.
        messages = [line.split(b"\t")[3:] for line in trace.read().splitlines()]
    completed = [message for message in messages if message[:1] == [b"CommandComplete"]]
    return WireCount(
        statements=len(completed),
        round_trips=sum(1 for message in messages if message[:1] == [b"ReadyForQuery"]),
        transactions=sum(1 for message in completed if b'"COMMIT"' in message[1]),
    )


def read_wal(admin: Admin) -> int:
    """Return the bytes of WAL that the server has written since it was made."""
    row = admin.execute("SELECT pg_current_wal_insert_lsn() - '0/0'").fetchone()
    return int(str(row[0])) if row else 0


def read_peak_memory() -> int:
    """Return the most bytes that this process has held so far."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # getrusage would begin with the peak of the process that started this one.
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024
