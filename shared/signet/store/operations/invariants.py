"""Invariants of what is stored. Each is a statement that finds what must never be.

Its name and its sentence stand over it, and are what an operator reads.
"""

from dataclasses import dataclass
from uuid import UUID

from signet.store.database import Connection
from signet.store.statements import read_explained_statements


@dataclass(frozen=True, slots=True)
class StoredInvariant:
    name: str
    sentence: str
    statement: str


INVARIANTS = tuple(StoredInvariant(*explained) for explained in read_explained_statements(__file__))


def find_violations(
    connection: Connection, tenant_id: UUID, invariant: StoredInvariant, *, grace_seconds: float, limit: int
) -> list[str]:
    """List at most `limit` violations, each as a text that names the row."""
    values = {"tenant_id": tenant_id, "grace_seconds": grace_seconds, "limit": limit}
    return [str(text) for (text,) in connection.execute(invariant.statement, values).fetchall()]
