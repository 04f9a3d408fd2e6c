"""Audit entries about the tenant itself, the seals over the whole trail, and epochs."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from signet.core.audit.trail import AuditEntry, chain_all, make_seal
from signet.core.audit.verification import Seal
from signet.store.audit.read import walk_seals
from signet.store.audit.write import (
    MAX_XID,
    Horizon,
    Leaf,
    append_rows,
    begin_epoch,
    find_first_position,
    find_last_seal,
    insert_seal,
    list_hashes,
    lock_administration,
    read_heads,
    read_horizon,
    read_transaction,
)
from signet.store.database import Connection, Database

MAX_ROWS_PER_SEAL = 10_000
MAX_SEALS_PER_RUN = 100


@dataclass(frozen=True)
class Sealing:
    seal_count: int
    row_count: int


def append_administration(connection: Connection, tenant_id: UUID, entries: Sequence[AuditEntry]) -> None:
    """Append entries about the tenant itself: settings, roles, contracts, definitions.

    One lock serves all such subjects, the tenant's row. It is there before any of them, so that a subject's
    first row needs no case of its own. One lock also has only one order. It does not stop the writers of
    documents, whose foreign keys take a weaker lock. Call it last in the transaction.
    """
    if not entries:
        return
    lock_administration(connection, tenant_id)
    heads = read_heads(connection, tenant_id, [entry.subject for entry in entries])
    append_rows(connection, chain_all(heads, entries, read_transaction(connection)))


def seal_tenant(
    database: Database, tenant_id: UUID, *, max_rows_per_seal: int = MAX_ROWS_PER_SEAL
) -> Sealing:
    """Seal rows that can no longer change: each row is in exactly one seal, however late it commits.

    A seal begins where the one before it ended. It covers every row of transactions below the oldest one that
    still runs. Each seal has a transaction of its own; of two sealers at once the loser stops quietly.
    """
    seal_count = row_count = 0
    while seal_count < MAX_SEALS_PER_RUN:
        with database.transaction(tenant_id) as connection:
            seal = _make_next_seal(connection, tenant_id, max_rows_per_seal)
            if seal is None or not insert_seal(connection, seal):
                break
        seal_count, row_count = seal_count + 1, row_count + seal.row_count
    return Sealing(seal_count, row_count)


def _make_next_seal(connection: Connection, tenant_id: UUID, max_rows: int) -> Seal | None:
    # The horizon comes first and the rows in later statements, so that every transaction below it is visible.
    horizon = read_horizon(connection)
    last = find_last_seal(connection, tenant_id)
    first = find_first_position(connection, tenant_id, last.end if last else (0, 0))
    if first is None:
        return None
    end = _find_end(horizon, first[0])
    if end <= first[1]:
        return None
    leaves = list_hashes(connection, tenant_id, first, end, max_rows + 1)
    if len(leaves) > max_rows:
        leaves, end = _cut(connection, tenant_id, first, leaves)
    return make_seal(
        tenant_id=tenant_id,
        previous=last,
        epoch=first[0],
        to_xid=end,
        hashes=[leaf.hash for leaf in leaves],
        at=horizon.now,
    )


def _find_end(horizon: Horizon, epoch: int) -> int:
    if epoch < horizon.epoch:
        return MAX_XID  # no transaction writes under it any more
    # An epoch that began after the horizon was read waits for the next run.
    return horizon.xmin if epoch == horizon.epoch else 0


def _cut(
    connection: Connection, tenant_id: UUID, first: tuple[int, int], leaves: list[Leaf]
) -> tuple[list[Leaf], int]:
    """Cut between two transactions, so that none is in two seals. One larger than a seal stays whole."""
    cut = leaves[-1].xid
    if cut > first[1]:
        return [leaf for leaf in leaves if leaf.xid < cut], cut
    return list_hashes(connection, tenant_id, first, cut + 1), cut + 1


def list_seals(database: Database, tenant_id: UUID, after: int = 0) -> list[Seal]:
    """List seals, which are to be kept where this database's admins cannot write."""
    with database.snapshot(tenant_id) as connection:
        return list(walk_seals(connection, tenant_id, after))


def begin_new_epoch(database: Database, reason: str) -> int:
    """Begin a new epoch after a restore, as an admin.

    Transaction numbers may come again, and must not count as sealed.
    """
    with database.tenantless_transaction() as connection:
        return begin_epoch(connection, reason)
