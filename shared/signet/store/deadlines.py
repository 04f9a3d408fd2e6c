"""A deadline of our own for each answer of the server: a connection that falls silent ends by itself.

The limits of a statement are the server's. They end nothing where the network is gone, or the server stands
still. The kernel notices a lost connection only while something is on its way.
"""

import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen

# A second statement of the same message may still be at work when the limit of one is over.
BEYOND_STATEMENT_SECONDS = 5.0
# For what the kernel can notice: data that nobody acknowledges, and a peer that is gone while we wait.
KERNEL_LIMITS: dict[str, Any] = {
    "tcp_user_timeout": 15_000,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
# An owner's statement, such as a migration, takes as long as it takes.
OWNER_LIMITS: dict[str, Any] = {"connect_timeout": 10, **KERNEL_LIMITS}
_POLL_SECONDS = 0.1


class ServerSilent(psycopg.OperationalError):
    """A server that did not answer in time."""


@dataclass(slots=True)
class AnswerDeadline:
    """The longest wait for an answer; None is without end. All connections of a process share it."""

    seconds: float | None = None


class BoundedConnection(psycopg.Connection[tuple[object, ...]]):
    """A connection that is closed where no answer comes by the deadline."""

    deadline: AnswerDeadline | None = None

    def wait(self, gen: PQGen[RV], interval: float = _POLL_SECONDS, timeout: float | None = None) -> RV:
        if timeout is None and self.deadline is not None:
            timeout = self.deadline.seconds
        try:
            return super().wait(gen, interval, timeout)
        # It has no public name.
        except psycopg.errors._WaitTimeout as error:
            self.pgconn.finish()
            raise ServerSilent(f"no answer came within {timeout} seconds") from error


def hang_up(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """End a connection while another thread waits for its answer, which then fails at once."""
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)
