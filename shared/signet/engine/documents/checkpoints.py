"""A unit of work at one moment, so that what follows can be undone as if it had never been.

Nothing of it is written yet, but for business keys: a savepoint is set before the first of them is reserved.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any
from uuid import UUID

from signet.engine.documents.references import Refs
from signet.store.database import Connection
from signet.store.documents.write import DocumentRow, WriteBatch, begin_items, undo_items


class Checkpoint:
    """The rows, the batch and the new documents of a unit of work, as they were."""

    def __init__(self, rows: dict[UUID, DocumentRow], batch: WriteBatch, refs: Refs) -> None:
        self._rows, self._batch, self._refs = rows, batch, refs
        self._rows_before: Mapping[UUID, DocumentRow] = dict(rows)
        self._batch_before: Mapping[str, Any] = {
            field.name: getattr(batch, field.name).copy() for field in fields(batch)
        }
        self._made_before = refs.list_made()
        self._has_savepoint = False

    def guard_keys(self, connection: Connection) -> None:
        """Set the savepoint before keys are reserved; once is enough."""
        if not self._has_savepoint:
            begin_items(connection)
            self._has_savepoint = True

    def restore(self, connection: Connection) -> None:
        self._rows.clear()
        self._rows.update(self._rows_before)
        for name, before in self._batch_before.items():
            setattr(self._batch, name, before)
        self._refs.forget_made(self._made_before)
        if self._has_savepoint:
            undo_items(connection)
