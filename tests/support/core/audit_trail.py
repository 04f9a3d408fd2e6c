"""A small audit trail, made as the service makes it, for tests that then break it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from signet.core.audit import trail
from signet.core.audit.trail import (
    AuditEntry,
    Head,
    Transaction,
    VersionMark,
    chain,
    make_seal,
)
from signet.core.audit.verification import AuditRow, DocumentVersion, Seal, hash_text

TENANT = UUID(int=1)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def make_entry(number: int, subject_id: str = "d1", **more: Any) -> AuditEntry:
    values: dict[str, Any] = {
        "id": UUID(int=1_000 + number),
        "tenant_id": TENANT,
        "subject_type": "document",
        "subject_id": subject_id,
        "action": "update",
        "actor_id": "carl",
        "via": "api",
        "at": NOON.replace(microsecond=number),
    }
    return AuditEntry(**(values | more))


def make_versions(count: int, document_id: str = "d1") -> list[DocumentVersion]:
    texts = [f'{{"version":{number}}}' for number in range(1, count + 1)]
    return [
        DocumentVersion(document_id, number, f"v-{document_id}-{number}", text, hash_text(text))
        for number, text in enumerate(texts, start=1)
    ]


def make_chain(count: int, subject_id: str = "d1", first_xid: int = 10) -> list[AuditRow]:
    """Make one row for each version of a document, each in a transaction of its own."""
    rows: list[AuditRow] = []
    for version in make_versions(count, subject_id):
        number = version.version
        previous = Head(number - 1, rows[-1].hash) if rows else None
        mark = VersionMark(number, version.hash)
        entry = make_entry(first_xid * 100 + number, subject_id, after=mark)
        rows.append(chain(previous, entry, Transaction(1, first_xid + number)))
    return rows


def leave_unchained(entry: AuditEntry, transaction: Transaction) -> AuditRow:
    """Make a row that only a seal protects, as its table allows."""
    return trail._make_row(entry, transaction, None, None)


def make_trail() -> tuple[list[AuditRow], list[Seal]]:
    """Make two chains and an unchained row under two seals, and a tail of one row."""
    rows = [*make_chain(4, "d1", 10), *make_chain(3, "d2", 20)]
    rows.append(leave_unchained(make_entry(5, "k", subject_type="entry"), Transaction(1, 23)))
    rows.sort(key=lambda row: (row.position, row.id))
    first = seal_rows(None, rows, 14)
    return rows, [first, seal_rows(first, rows, 23)]


def seal_rows(previous: Seal | None, rows: list[AuditRow], to_xid: int, epoch: int = 1) -> Seal:
    start = previous.end if previous else (0, 0)
    hashes = [row.hash for row in rows if start <= row.position < (epoch, to_xid)]
    return make_seal(tenant_id=TENANT, previous=previous, epoch=epoch, to_xid=to_xid, hashes=hashes, at=NOON)


def by_chain(rows: list[AuditRow]) -> list[AuditRow]:
    return sorted(rows, key=lambda row: (row.subject, row.seq or 0))


def rehash(row: AuditRow, old: str, new: str) -> AuditRow:
    """Change the content as an expert would: content and hash agree again."""
    assert old in row.content
    content = row.content.replace(old, new)
    return replace(row, content=content, hash=hash_text(content))
