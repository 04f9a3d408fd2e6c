"""Documents locked for one transaction, with the facts that the transaction is judged by.

A tenant that is not active is refused here, in the same words for every use case.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from signet.core.errors import Rejected
from signet.store.database import Connection, Database, PipelinedTransaction
from signet.store.documents.write import DocumentRow, TransactionContext, parse_locked_documents
from signet.store.documents.write import lock_documents as make_lock


@dataclass(frozen=True, slots=True)
class LockedDocuments:
    """The documents that a transaction holds locked, by id."""

    rows: Mapping[UUID, DocumentRow]
    transaction: TransactionContext


def lock_documents(connection: Connection, ids: Sequence[UUID], roles: Sequence[str]) -> LockedDocuments:
    """Lock documents in a statement of its own, in the order of `ids`, and read what the roles grant."""
    opening = make_lock(ids, roles)
    return _parse_active(connection.execute(opening.text, opening.values).fetchone())


@contextmanager
def begin_with_locks(
    database: Database, tenant_id: UUID, ids: Sequence[UUID], roles: Sequence[str]
) -> Iterator[tuple[PipelinedTransaction, LockedDocuments]]:
    """Open a transaction whose BEGIN goes with the statement that locks the documents."""
    with database.pipelined(tenant_id, make_lock(ids, roles)) as pipeline:
        yield pipeline, _parse_active(pipeline.first_row)


def _parse_active(row: tuple[Any, ...] | None) -> LockedDocuments:
    rows, transaction = parse_locked_documents(row)
    if transaction is None:
        raise Rejected("TENANT_INACTIVE", "this tenant does not exist or is suspended")
    return LockedDocuments(rows, transaction)
