"""Verification of the audit trail of a tenant, streamed in pages. Nothing is changed."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar
from uuid import UUID

from signet.core.audit.trail import find_references, verify_personal
from signet.core.audit.verification import (
    MAX_FINDINGS,
    AuditFinding,
    DocumentVersion,
    parse_anchor,
    verify_chains,
    verify_rows,
    verify_seals,
    verify_versions,
)
from signet.store.audit.read import (
    PAGE_ROWS,
    list_documents_without_version,
    walk_chains,
    walk_rows,
    walk_seals,
    walk_versions,
)
from signet.store.database import Connection, Database
from signet.store.documents.personal_values import read_values

T = TypeVar("T")


@dataclass(frozen=True)
class Verification:
    # Rows first, then chains, versions, personal values, seals and anchors, so that the first finding is the
    # closest to the damage. At most MAX_FINDINGS of each kind.
    findings: tuple[AuditFinding, ...]
    row_count: int
    version_count: int
    seal_count: int
    # The rows that no seal protects yet, and the time of the oldest.
    tail_count: int
    tail_oldest: str | None

    @property
    def is_sound(self) -> bool:
        return not self.findings


def verify_tenant(database: Database, tenant_id: UUID, anchor: Iterable[str] | None = None) -> Verification:
    """Verify the trail of a tenant; `anchor` are lines of seals from `signet audit anchor`."""
    anchored, findings = parse_anchor(anchor or ())
    with database.snapshot(tenant_id) as connection:
        versions = _Counted(walk_versions(connection, tenant_id))
        of_rows = [
            *_first(verify_rows(walk_rows(connection, tenant_id))),
            *_first(verify_chains(walk_chains(connection, tenant_id))),
            *_first(verify_versions(versions, walk_chains(connection, tenant_id))),
            *_first(_find_versionless(connection, tenant_id)),
            *_first(_verify_personal(connection, tenant_id)),
        ]
        report = verify_seals(walk_seals(connection, tenant_id), walk_rows(connection, tenant_id), anchored)
    return Verification(
        findings=(*of_rows, *report.findings, *findings),
        row_count=report.sealed_count + report.tail_count,
        version_count=versions.count,
        seal_count=report.seal_count,
        tail_count=report.tail_count,
        tail_oldest=report.tail_oldest,
    )


class _Counted(Iterator[T]):
    def __init__(self, items: Iterator[T]) -> None:
        self._items = items
        self.count = 0

    def __next__(self) -> T:
        item = next(self._items)
        self.count += 1
        return item


def _first(findings: Iterator[AuditFinding]) -> Iterator[AuditFinding]:
    return islice(findings, MAX_FINDINGS)


def _find_versionless(connection: Connection, tenant_id: UUID) -> Iterator[AuditFinding]:
    for document_id, version in list_documents_without_version(connection, tenant_id):
        where = f"document {document_id}, version {version}"
        sentence = "The document is at a version that has no snapshot."
        yield AuditFinding("DOCUMENT_VERSION_MISSING", where, sentence)


def _verify_personal(connection: Connection, tenant_id: UUID) -> Iterator[AuditFinding]:
    versions = walk_versions(connection, tenant_id)
    while page := list(islice(versions, PAGE_ROWS)):
        references = {pair for version in page for pair in _list_references(version)}
        values = read_values(connection, tenant_id, {identifier for identifier, _ in references})
        yield from verify_personal(sorted(references), values)


def _list_references(version: DocumentVersion) -> Iterator[tuple[str, str]]:
    try:
        snapshot = json.loads(version.snapshot)
    except (ValueError, RecursionError):
        return  # reported already: it has another hash
    yield from find_references(snapshot)
