"""Idempotency keys, each with the outcome of its request."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from signet.core.errors import Defect
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key with its outcome; without one, this transaction has just taken the key."""

    request_hash: str
    outcome: Any


def take_key(connection: Connection, tenant_id: UUID, key: str, request_hash: str) -> KeyRow:
    """Take or read a key, before anything else: keys are always locked before documents."""
    values = {"tenant_id": tenant_id, "key": key, "request_hash": request_hash}
    with connection.pipeline():
        connection.execute(_SQL.take_key, values)
        row = connection.cursor(row_factory=class_row(KeyRow)).execute(_SQL.read_key, values).fetchone()
    if row is None:
        raise Defect("IDEMPOTENCY_KEY_LOST", "a key that was taken is not there")
    return row


def keep_outcome(connection: Connection, tenant_id: UUID, key: str, outcome: Any) -> None:
    connection.execute(_SQL.keep_outcome, {"tenant_id": tenant_id, "key": key, "outcome": Jsonb(outcome)})
