"""Messages of several statements: BEGIN goes with the first of them, COMMIT with the last.

Values are written as literals, because a message of several statements takes no parameters. A
message that would be too long becomes a pipeline instead, which costs one round trip as well.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import psycopg

# RDS Proxy pins a session on a longer text. Longer statements send their values as parameters.
MAX_MESSAGE_CHARACTERS = 15_000

Connection = psycopg.Connection[tuple[object, ...]]


@dataclass(frozen=True)
class DeferredStatement:
    """A statement with its values, to be sent later."""

    text: str
    values: Mapping[str, Any]


@dataclass
class PipelinedTransaction:
    """A transaction in progress, with its first answer and the statements that go with its COMMIT."""

    connection: Connection
    opening_rows: list[tuple[Any, ...]]
    # Sent in this order, after everything that was executed in between.
    closing: list[DeferredStatement] = field(default_factory=list)

    @property
    def first_row(self) -> tuple[Any, ...] | None:
        return self.opening_rows[0] if self.opening_rows else None


def send_opening(
    connection: Connection, begin: str, opening: DeferredStatement | None
) -> list[tuple[Any, ...]]:
    """Begin a transaction, and return the rows of its opening statement."""
    if opening is None:
        connection.execute(begin)
        return []
    cursor = connection.execute(f"{begin}; {_write_literals(connection, opening)}")
    cursor.set_result(-1)  # the last one
    return cursor.fetchall()


def send_whole(connection: Connection, begin: str, statement: DeferredStatement) -> list[tuple[Any, ...]]:
    """Send a whole transaction of one statement as one message, and return its rows."""
    cursor = connection.execute(f"{begin}; {_write_literals(connection, statement)}; COMMIT")
    cursor.set_result(-2)  # the one before COMMIT
    return cursor.fetchall()


def send_closing(pipeline: PipelinedTransaction) -> None:
    """Send the closing statements and COMMIT in one round trip: as one message, or as a pipeline."""
    connection, closing = pipeline.connection, pipeline.closing
    if not closing:
        connection.commit()
        return
    if sum(_count_characters(statement) for statement in closing) <= MAX_MESSAGE_CHARACTERS:
        message = "; ".join([*(_write_literals(connection, statement) for statement in closing), "COMMIT"])
        if len(message) <= MAX_MESSAGE_CHARACTERS:
            connection.execute(message)
            return
    with connection.pipeline():
        for statement in closing:
            connection.execute(statement.text, statement.values)
        connection.execute("COMMIT")


def _count_characters(statement: DeferredStatement) -> int:
    """Return the least length of the literals, so that a long message is refused before it is written."""
    return sum(len(value) for value in statement.values.values() if isinstance(value, str | bytes))


def _write_literals(connection: Connection, statement: DeferredStatement) -> str:
    """Write a statement with its values as literals."""
    return psycopg.ClientCursor(connection).mogrify(statement.text, statement.values)
