"""Rows, seals and epochs of the audit trail as they are written; `audit/read.py` reads them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.audit.trail import Head, Subject, Transaction
from signet.core.audit.verification import AuditRow, Seal
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)
MAX_XID = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Horizon:
    """A limit behind which nothing more can be written.

    That is every transaction of the epoch below xmin, and all of older epochs.
    """

    epoch: int
    xmin: int
    now: datetime


@dataclass(frozen=True, slots=True)
class Leaf:
    id: str
    xid: int
    hash: str


def read_transaction(connection: Connection) -> Transaction:
    epoch, xid = _fetch_row(connection, _SQL.read_transaction, {})
    return Transaction(epoch, int(xid))


def read_heads(connection: Connection, tenant_id: UUID, subjects: Iterable[Subject]) -> dict[Subject, Head]:
    """Read the last row of each subject; a subject without rows is missing in the answer.

    The caller holds the subjects' locks.
    """
    wanted = sorted(set(subjects))
    values = {
        "tenant_id": tenant_id,
        "subject_types": [subject_type for subject_type, _ in wanted],
        "subject_ids": [subject_id for _, subject_id in wanted],
    }
    rows: list[Any] = connection.execute(_SQL.read_heads, values).fetchall()
    return {(subject_type, subject_id): Head(seq, hash_) for subject_type, subject_id, seq, hash_ in rows}


def lock_administration(connection: Connection, tenant_id: UUID) -> None:
    connection.execute(_SQL.lock_administration, {"tenant_id": tenant_id})


def append_rows(connection: Connection, rows: Sequence[AuditRow]) -> None:
    """Append many rows in one statement."""
    values = {
        "tenant_ids": [row.tenant_id for row in rows],
        "ids": [row.id for row in rows],
        "subject_types": [row.subject_type for row in rows],
        "subject_ids": [row.subject_id for row in rows],
        "seqs": [row.seq for row in rows],
        "previous_hashes": [row.previous_hash for row in rows],
        "hashes": [row.hash for row in rows],
        "contents": [row.content for row in rows],
        "actions": [row.action for row in rows],
        "actor_ids": [row.actor_id for row in rows],
        "times": [row.created_at for row in rows],
        "epochs": [row.epoch for row in rows],
        "xids": [str(row.xid) for row in rows],
    }
    connection.execute(_SQL.append_rows, values)


def read_horizon(connection: Connection) -> Horizon:
    epoch, xmin, now = _fetch_row(connection, _SQL.read_horizon, {})
    return Horizon(epoch, int(xmin), now)


def find_first_position(
    connection: Connection, tenant_id: UUID, start: tuple[int, int]
) -> tuple[int, int] | None:
    """Return the (epoch, xid) of the first row at or after `start`."""
    values = {"tenant_id": tenant_id, "epoch": start[0], "xid": str(start[1])}
    row: Any = connection.execute(_SQL.find_first_position, values).fetchone()
    return None if row is None else (row[0], int(row[1]))


def list_hashes(
    connection: Connection, tenant_id: UUID, start: tuple[int, int], to_xid: int, limit: int | None = None
) -> list[Leaf]:
    """List hashes in the order in which a seal takes them."""
    values = {
        "tenant_id": tenant_id,
        "epoch": start[0],
        "from_xid": str(start[1]),
        "to_xid": str(to_xid),
        "limit": limit,
    }
    rows: list[Any] = connection.execute(_SQL.list_hashes, values).fetchall()
    return [Leaf(identifier, int(xid), hash_) for identifier, xid, hash_ in rows]


def find_last_seal(connection: Connection, tenant_id: UUID) -> Seal | None:
    row: Any = connection.execute(_SQL.find_last_seal, {"tenant_id": tenant_id}).fetchone()
    return None if row is None else parse_seal_row(row)


def parse_seal_row(row: Sequence[Any]) -> Seal:
    tenant_id, sequence, epoch, from_xid, to_xid, *rest = row
    return Seal(tenant_id, sequence, epoch, int(from_xid), int(to_xid), *rest)


def insert_seal(connection: Connection, seal: Seal) -> bool:
    """Insert a seal; return False if another sealer's seal has this sequence."""
    values = asdict(seal) | {"from_xid": str(seal.from_xid), "to_xid": str(seal.to_xid)}
    return connection.execute(_SQL.insert_seal, values).rowcount == 1


def begin_epoch(connection: Connection, reason: str) -> int:
    """Begin an epoch; the connection is the admin's."""
    connection.execute(_SQL.act_as_owner)
    connection.execute(_SQL.lock_epochs)
    (epoch,) = _fetch_row(connection, _SQL.begin_epoch, {"reason": reason})
    return int(epoch)


def _fetch_row(connection: Connection, statement: str, values: Mapping[str, object]) -> Any:
    return connection.execute(statement, values).fetchone()
