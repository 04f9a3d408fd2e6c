"""Sets of responsible persons. A row names its set by the hash, and the transaction writes each new set once.

A set never changes, so that a process remembers which ones are written and does not send them again.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import psycopg

from signet.core.tenants.responsible import ResponsiblePersons, hash_responsible
from signet.store.json_values import to_json
from signet.store.pipeline import DeferredStatement
from signet.store.statements import Statements
from signet.store.wake_ups import WakingConnection

_SQL = Statements(__file__)
MAX_WRITTEN = 100_000
_Set = tuple[UUID, str]


class WrittenSets:
    """The sets that a process knows to be in its database."""

    def __init__(self) -> None:
        self._sets: set[_Set] = set()

    def __contains__(self, key: _Set) -> bool:
        return key in self._sets

    def add(self, keys: Sequence[_Set]) -> None:
        """Add sets whose transaction has committed."""
        if len(self._sets) + len(keys) > MAX_WRITTEN:
            self._sets.clear()
        self._sets.update(keys)


class StoreConnection(WakingConnection):
    """A connection that keeps the new sets of its transaction until the commit."""

    written_sets: WrittenSets | None = None
    new_sets: dict[_Set, ResponsiblePersons] | None = None


def name_responsible(persons: ResponsiblePersons) -> str:
    """Return the hash of the set as a row holds it. Nothing is written."""
    return f"\\x{hash_responsible(persons)}"


def keep_responsible(
    connection: psycopg.Connection[tuple[object, ...]], tenant_id: UUID, persons: ResponsiblePersons
) -> str:
    """Have the set written with the transaction, and return its hash as a row holds it."""
    key = tenant_id, hash_responsible(persons)
    if not isinstance(connection, StoreConnection):
        connection.execute(_SQL.insert_sets, {"rows": to_json([_make_row(key, persons)])})
    elif connection.written_sets is None or key not in connection.written_sets:
        connection.new_sets = connection.new_sets or {}
        connection.new_sets[key] = persons
    return f"\\x{key[1]}"


class TransactionSets:
    """The sets that one transaction names. Most of its rows name the same."""

    def __init__(self, connection: psycopg.Connection[tuple[object, ...]], tenant_id: UUID) -> None:
        self._connection, self._tenant_id = connection, tenant_id
        self._kept: dict[ResponsiblePersons, str] = {}

    def keep(self, persons: ResponsiblePersons) -> str:
        kept = self._kept.get(persons)
        if kept is None:
            kept = self._kept[persons] = keep_responsible(self._connection, self._tenant_id, persons)
        return kept


def take_new_sets(
    connection: psycopg.Connection[tuple[object, ...]],
) -> tuple[Sequence[_Set], DeferredStatement | None]:
    """Take the new sets of the transaction, with the statement that writes them."""
    if not isinstance(connection, StoreConnection) or not connection.new_sets:
        return (), None
    new, connection.new_sets = connection.new_sets, None
    rows = [_make_row(key, persons) for key, persons in new.items()]
    return list(new), DeferredStatement(_SQL.insert_sets, {"rows": to_json(rows)})


def _make_row(key: _Set, persons: ResponsiblePersons) -> dict[str, Any]:
    return {"tenant_id": str(key[0]), "hash": f"\\x{key[1]}", "persons": sorted(persons)}
