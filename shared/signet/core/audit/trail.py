"""Audit entries, and how they are chained and sealed. `verification.py` holds the checks."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeGuard
from uuid import UUID

from signet.core.audit.verification import AuditFinding, AuditRow, Seal, hash_seal, merkle_root
from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.documents.personal_data import REFERENCE
from signet.core.tenants.caller import Caller, CallOrigin
from signet.core.tenants.responsible import NOBODY, ResponsiblePersons

SALT_BYTES = 32
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HASH = re.compile(r"[0-9a-f]{64}")
Subject = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Transaction:
    """The writing transaction. A restore begins a new epoch, in which numbers come again."""

    epoch: int
    xid: int


@dataclass(frozen=True, slots=True)
class Head:
    """The newest row of a subject's chain."""

    seq: int
    hash: str


@dataclass(frozen=True, slots=True)
class VersionMark:
    """A version of the subject, and the hash of its snapshot."""

    version: int
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """An audit entry: actor, act, subject, time, channel, reason and changes."""

    id: UUID
    tenant_id: UUID
    subject_type: str
    subject_id: str
    action: str
    actor_id: str
    # The persons behind the actor.
    responsible: ResponsiblePersons = NOBODY
    on_behalf_of: str | None = None
    via: str
    at: datetime
    reason: str | None = None
    before: VersionMark | None = None
    after: VersionMark | None = None
    # Each changed field as {"before": …, "after": …}; personal values only as references.
    changes: Mapping[str, Any] = field(default_factory=dict)
    instance_id: UUID | None = None
    step_id: UUID | None = None
    trace_id: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    # The address and the program that the request came from; None where no request made it.
    origin: CallOrigin | None = None

    @property
    def subject(self) -> Subject:
        return self.subject_type, self.subject_id


def make_entry(
    entry_id: UUID,
    caller: Caller,
    tenant_id: UUID,
    now: datetime,
    subject: Subject,
    action: str,
    detail: Mapping[str, Any],
    *,
    reason: str | None = None,
    on_behalf_of: str | None = None,
    before: VersionMark | None = None,
    after: VersionMark | None = None,
    changes: Mapping[str, Any] | None = None,
    instance_id: UUID | None = None,
    step_id: UUID | None = None,
    trace_id: str | None = None,
) -> AuditEntry:
    """Make the entry of an act of the caller; its trace is the caller's unless another is given.

    The entry of a machine's act also says which key was sent, and whose it was.
    """
    key = caller.principal.key
    return AuditEntry(
        id=entry_id,
        tenant_id=tenant_id,
        subject_type=subject[0],
        subject_id=subject[1],
        action=action,
        actor_id=caller.principal.subject,
        responsible=caller.principal.responsible,
        on_behalf_of=on_behalf_of,
        via=caller.via,
        at=now,
        reason=reason,
        before=before,
        after=after,
        changes=changes or {},
        instance_id=instance_id,
        step_id=step_id,
        trace_id=trace_id or caller.trace_id,
        detail={
            **detail,
            **({"key": key.to_json()} if key is not None else {}),
            **({"claimed": caller.claimed} if caller.claimed is not None else {}),
        },
        origin=caller.origin,
    )


def chain(previous: Head | None, entry: AuditEntry, transaction: Transaction) -> AuditRow:
    """Make the next row of the subject's chain. The caller holds the subject's lock."""
    return _make_row(entry, transaction, previous.seq + 1 if previous else 1, previous)


def chain_all(
    heads: Mapping[Subject, Head], entries: Iterable[AuditEntry], transaction: Transaction
) -> tuple[AuditRow, ...]:
    """Chain entries of many subjects; several of one subject follow each other in this order."""
    newest = dict(heads)
    rows = []
    for entry in entries:
        row = chain(newest.get(entry.subject), entry, transaction)
        newest[entry.subject] = Head(row.seq or 1, row.hash)
        rows.append(row)
    return tuple(rows)


def _make_row(
    entry: AuditEntry, transaction: Transaction, seq: int | None, previous: Head | None
) -> AuditRow:
    at, tenant_id, entry_id = write_time(entry.at), str(entry.tenant_id), str(entry.id)
    content = canonical_bytes(
        {
            "tenant_id": tenant_id,
            "id": entry_id,
            "subject_type": entry.subject_type,
            "subject_id": entry.subject_id,
            "seq": seq,
            "previous_hash": previous.hash if previous else None,
            "epoch": transaction.epoch,
            "xid": str(transaction.xid),  # a JSON number cannot hold it
            "action": entry.action,
            "actor_id": entry.actor_id,
            "responsible": sorted(entry.responsible),
            "on_behalf_of": entry.on_behalf_of,
            "via": entry.via,
            "at": at,
            "reason": entry.reason,
            "before": _write_mark(entry.before),
            "after": _write_mark(entry.after),
            "changes": dict(entry.changes),
            "instance_id": _write_id(entry.instance_id),
            "step_id": _write_id(entry.step_id),
            "trace_id": entry.trace_id,
            "detail": dict(entry.detail),
            **({"origin": entry.origin.to_json()} if entry.origin is not None else {}),
        }
    )
    return AuditRow(
        tenant_id=tenant_id,
        id=entry_id,
        subject_type=entry.subject_type,
        subject_id=entry.subject_id,
        seq=seq,
        previous_hash=previous.hash if previous else None,
        hash=hash_bytes(content),
        content=content.decode(),
        action=entry.action,
        actor_id=entry.actor_id,
        created_at=at,
        epoch=transaction.epoch,
        xid=transaction.xid,
    )


def _write_mark(mark: VersionMark | None) -> dict[str, Any] | None:
    return None if mark is None else {"version": mark.version, "hash": mark.hash}


def _write_id(identifier: UUID | None) -> str | None:
    return None if identifier is None else str(identifier)


def write_time(moment: datetime) -> str:
    """Write a moment in UTC with six digits after the second, as the table's reading shows it."""
    if moment.tzinfo is None:
        raise ValueError("a time without a zone is no moment")
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def make_seal(
    *,
    tenant_id: UUID,
    previous: Seal | None,
    epoch: int,
    to_xid: int,
    hashes: Sequence[str],
    at: datetime,
) -> Seal:
    """Make the seal of all rows of the epoch from the end of the previous seal to below `to_xid`."""
    continues = previous is not None and previous.epoch == epoch
    seal = Seal(
        tenant_id=str(tenant_id),
        sequence=previous.sequence + 1 if previous else 1,
        epoch=epoch,
        from_xid=previous.to_xid if previous and continues else 0,
        to_xid=to_xid,
        row_count=len(hashes),
        merkle_root=merkle_root([bytes.fromhex(leaf) for leaf in hashes]),
        previous_seal=previous.seal if previous else None,
        created_at=write_time(at),
        seal="",
    )
    return replace(seal, seal=hash_seal(seal))


# --- personal values ---


@dataclass(frozen=True, slots=True)
class PersonalValue:
    """A personal value as its table holds it, in JSON text; an erased one has no salt."""

    id: str
    salt: bytes | None
    value: str | None


def commit(salt: bytes, value: Any) -> str:
    """Return a commitment to the value that does not show it.

    The salt has one length, so that no other pair of salt and value has these bytes.
    """
    if len(salt) != SALT_BYTES:
        raise ValueError(f"a salt has {SALT_BYTES} bytes")
    return hashlib.sha256(salt + canonical_bytes(value)).hexdigest()


def _is(value: object, pattern: re.Pattern[str]) -> TypeGuard[str]:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def find_references(value: Any) -> Iterator[tuple[str, str]]:
    """Find every (id, commitment) in a snapshot or in an entry's changes."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            personal, commitment = item.get(REFERENCE), item.get("commitment")
            if _is(personal, _ID) and _is(commitment, _HASH):
                yield personal, commitment
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


def verify_personal(
    references: Iterable[tuple[str, str]], values: Mapping[str, PersonalValue]
) -> Iterator[AuditFinding]:
    """Verify that each value is the committed one or was erased, and has not vanished."""
    for identifier, commitment in references:
        kept = values.get(identifier)
        where = f"personal value {identifier}"
        if kept is None:
            yield AuditFinding("PERSONAL_VALUE_MISSING", where, "A version refers to it; it is not there.")
        elif kept.salt is not None and not _fits(kept.salt, kept.value, commitment):
            sentence = "It is not the value that was written."
            yield AuditFinding("PERSONAL_VALUE_REPLACED", where, sentence)


def _fits(salt: bytes, value: str | None, commitment: str) -> bool:
    try:
        return commit(salt, json.loads(value or "null")) == commitment
    except (ValueError, RecursionError):
        return False
