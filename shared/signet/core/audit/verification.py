"""Verification of the audit trail. Any content of a row leads to findings, and never to an exception.

Only Python's standard library is used here: an exported bundle carries this text as part of its verifier.

A row's hash is the SHA-256 of its content. The content names the hash of the row before it in its subject's
chain. A seal holds the Merkle root (RFC 6962) over the hashes of its rows, and the hash of the seal before
it.
"""

import hashlib
import heapq
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import groupby
from typing import Any, TypeVar

MAX_FINDINGS = 100
DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class AuditRow:
    tenant_id: str
    id: str
    subject_type: str
    subject_id: str
    # 1, 2, 3 … within the subject; None for a row that is only sealed
    seq: int | None
    previous_hash: str | None
    hash: str
    content: str
    action: str
    actor_id: str
    created_at: str
    epoch: int
    xid: int

    @property
    def subject(self) -> tuple[str, str]:
        return self.subject_type, self.subject_id

    @property
    def position(self) -> tuple[int, int]:
        return self.epoch, self.xid

    @property
    def name(self) -> str:
        seq = "unchained" if self.seq is None else f"seq {self.seq}"
        return f"{self.subject_type} {self.subject_id}, {seq}, id {self.id}"


@dataclass(frozen=True, slots=True)
class Seal:
    """A seal over the rows of transactions from_xid <= xid < to_xid of an epoch."""

    tenant_id: str
    sequence: int
    epoch: int
    from_xid: int
    to_xid: int
    row_count: int
    merkle_root: str
    previous_seal: str | None
    created_at: str
    seal: str

    @property
    def start(self) -> tuple[int, int]:
        return self.epoch, self.from_xid

    @property
    def end(self) -> tuple[int, int]:
        return self.epoch, self.to_xid

    @property
    def name(self) -> str:
        return f"seal {self.sequence}"


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    document_id: str
    version: int
    id: str
    snapshot: str
    hash: str

    @property
    def name(self) -> str:
        return f"document {self.document_id}, version {self.version}, id {self.id}"


@dataclass(frozen=True, slots=True)
class AuditFinding:
    code: str
    where: str
    sentence: str


@dataclass
class SealReport:
    findings: list[AuditFinding] = field(default_factory=list)
    seal_count: int = 0
    sealed_count: int = 0
    # Rows that no seal covers yet: their removal from the end of a chain cannot be proved.
    tail_count: int = 0
    tail_oldest: str | None = None


def hash_text(text: str) -> str:
    # A lone surrogate occurs only in an edited bundle. It must give another hash, not an exception.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_seal(seal: Seal) -> str:
    """Hash all other columns. They are ASCII and strings only: this is RFC 8785 without a library."""
    columns = {name: value for name, value in asdict(seal).items() if name != "seal"}
    columns |= {"from_xid": str(seal.from_xid), "to_xid": str(seal.to_xid)}
    return hash_text(json.dumps(columns, sort_keys=True, separators=(",", ":")))


T = TypeVar("T", AuditRow, Seal, DocumentVersion)


def parse_json(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def parse_as(kind: type[T], value: object) -> T | None:
    """Parse a JSON object that has exactly the keys and types of this kind."""
    columns = {column.name: column.type for column in fields(kind)}
    if not isinstance(value, dict) or value.keys() != columns.keys():
        return None
    if any(isinstance(value[name], bool) or not _is_a(value[name], columns[name]) for name in columns):
        return None
    return kind(**value)


def _is_a(value: object, kind: Any) -> bool:
    return isinstance(value, kind)


# --- Merkle tree (RFC 6962) ---


def build_levels(leaves: Sequence[bytes]) -> list[list[bytes]]:
    """Build the tree from the hashes of the leaves; the last of an odd level moves up as it is."""
    level = [hashlib.sha256(b"\x00" + leaf).digest() for leaf in leaves] or [hashlib.sha256().digest()]
    levels = [level]
    while len(level) > 1:
        level = [_join(*level[i : i + 2]) for i in range(0, len(level), 2)]
        levels.append(level)
    return levels


def _join(left: bytes, right: bytes | None = None) -> bytes:
    return left if right is None else hashlib.sha256(b"\x01" + left + right).digest()


def merkle_root(leaves: Sequence[bytes]) -> str:
    return build_levels(leaves)[-1][0].hex()


def find_path(levels: Sequence[Sequence[bytes]], index: int) -> list[str]:
    """Find the neighbours on the path from a leaf to the root."""
    path = []
    for level in levels[:-1]:
        if index ^ 1 < len(level):
            path.append(level[index ^ 1].hex())
        index >>= 1
    return path


def root_of_path(leaf: bytes, index: int, count: int, path: Sequence[str]) -> str | None:
    """Return the root that leaf and path lead to, or None where no tree of that size has such a path."""
    if not 0 <= index < count:
        return None
    here, neighbours = hashlib.sha256(b"\x00" + leaf).digest(), [_read_hash(text) for text in path]
    while count > 1:
        if index ^ 1 < count:
            if not neighbours:
                return None
            neighbour = neighbours.pop(0)
            here = _join(neighbour, here) if index & 1 else _join(here, neighbour)
        index, count = index >> 1, (count + 1) >> 1
    return None if neighbours else here.hex()


def parse_leaf(row: AuditRow) -> bytes:
    return _read_hash(row.hash)


def _read_hash(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return text.encode("utf-8", "surrogatepass")


# --- rows ---

# The names of columns that the content calls otherwise.
_COLUMNS: Mapping[str, str] = {"created_at": "at"}
_CHECKED = tuple(each.name for each in fields(AuditRow) if each.name not in {"hash", "content"})


def verify_rows(rows: Iterable[AuditRow]) -> Iterator[AuditFinding]:
    """Verify each row on its own, in any order: content, hash and columns must agree."""
    for row in rows:
        finding = _verify_row(row)
        if finding:
            yield finding


def _verify_row(row: AuditRow) -> AuditFinding | None:
    if hash_text(row.content) != row.hash:
        return AuditFinding("AUDIT_ROW_HASH", row.name, "The content is not what was hashed.")
    content = parse_json(row.content)
    if content is None:
        return AuditFinding("AUDIT_ROW_CONTENT", row.name, "The content is no JSON object.")
    for column in _CHECKED:
        value = getattr(row, column)
        claimed = content.get(_COLUMNS.get(column, column))
        expected = str(value) if column == "xid" else value
        if type(claimed) is not type(expected) or claimed != expected:
            sentence = f"The column {column} is not what the content says."
            return AuditFinding("AUDIT_ROW_COLUMN", row.name, sentence)
    return None


def verify_chains(rows: Iterable[AuditRow]) -> Iterator[AuditFinding]:
    """Verify rows ordered by subject and seq: no gap, no double, and every link holds."""
    before: AuditRow | None = None
    for row in rows:
        if row.seq is None:
            continue
        if before is not None and before.subject != row.subject:
            before = None
        expected = 1 if before is None else (before.seq or 0) + 1
        if row.seq > expected:
            missing = f"seq {expected}" if row.seq == expected + 1 else f"seq {expected} to {row.seq - 1}"
            subject = " ".join(row.subject)
            yield AuditFinding("AUDIT_ROW_MISSING", f"{subject}, {missing}", f"Missing before {row.name}.")
        elif row.seq < expected:
            sentence = "This place in the chain is taken, or the rows are out of order."
            yield AuditFinding("AUDIT_ROW_TWICE", row.name, sentence)
        elif row.previous_hash != (before.hash if before else None):
            link = f"It does not follow {before.name}." if before else "The first row has a row before it."
            yield AuditFinding("AUDIT_CHAIN_BROKEN", row.name, f"{link} One of the two was replaced.")
        before = row


# --- seals ---


def verify_seals(
    seals: Iterable[Seal], rows: Iterable[AuditRow] | None, anchored: Mapping[int, str] | None = None
) -> SealReport:
    """Verify seals in sequence and rows by (epoch, xid, id): each row is in the one seal that covers it.

    Without rows (None) only the seals are checked, as their chain and against those that were anchored.
    """
    report = SealReport()
    open_anchors = dict(anchored or {})
    remaining = iter(rows or ())
    row = next(remaining, None)
    before: Seal | None = None
    for seal in seals:
        _note(report, verify_seal(before, seal))
        anchor = open_anchors.pop(seal.sequence, seal.seal)
        if anchor != seal.seal:
            sentence = "It is not the seal that was anchored outside: the history was rewritten."
            _note(report, [AuditFinding("AUDIT_ANCHOR_DIFFERS", seal.name, sentence)])
        leaves: list[AuditRow] = []
        while row is not None and row.position < seal.end:
            if row.position < seal.start:
                _note(report, [_came_late(row)])
            else:
                leaves.append(row)
            row = next(remaining, None)
        if rows is not None:
            _note(report, _verify_leaves(seal, leaves))
        report.seal_count += 1
        report.sealed_count += len(leaves)
        before = seal
    for sequence in sorted(open_anchors):
        sentence = "It was anchored outside and is not here any more."
        _note(report, [AuditFinding("AUDIT_ANCHOR_MISSING", f"seal {sequence}", sentence)])
    while row is not None:
        report.tail_count += 1
        report.tail_oldest = min(row.created_at, report.tail_oldest or row.created_at)
        row = next(remaining, None)
    return report


def parse_anchor(lines: Iterable[str]) -> tuple[dict[int, str], list[AuditFinding]]:
    """Parse the seals by sequence, and report the lines that are none."""
    anchored: dict[int, str] = {}
    findings: list[AuditFinding] = []
    for number, line in enumerate(lines, start=1):
        seal = parse_as(Seal, parse_json(line))
        if seal is not None and hash_seal(seal) == seal.seal:
            anchored[seal.sequence] = seal.seal
        elif line.strip() and len(findings) < MAX_FINDINGS:
            where = f"anchor, line {number}"
            findings.append(AuditFinding("AUDIT_ANCHOR_UNREADABLE", where, "The line is no seal."))
    return anchored, findings


def _note(report: SealReport, findings: Iterable[AuditFinding]) -> None:
    report.findings += list(findings)[: MAX_FINDINGS - len(report.findings)]


def _came_late(row: AuditRow) -> AuditFinding:
    sentence = "No seal covers it, and later rows are sealed: it was added or moved."
    return AuditFinding("AUDIT_ROW_UNSEALED", row.name, sentence)


def verify_seal(before: Seal | None, seal: Seal) -> Iterator[AuditFinding]:
    """Verify a seal on its own, and against the one before it."""
    if hash_seal(seal) != seal.seal:
        yield AuditFinding("AUDIT_SEAL_HASH", seal.name, "Its columns are not what was hashed.")
    if seal.sequence != (before.sequence + 1 if before else 1):
        after = before.name if before else "the beginning"
        yield AuditFinding("AUDIT_SEAL_MISSING", seal.name, f"A seal between {after} and it is missing.")
    elif seal.previous_seal != (before.seal if before else None):
        yield AuditFinding("AUDIT_SEAL_CHAIN", seal.name, "It does not follow the seal before it.")
    continues = before is not None and before.epoch == seal.epoch and before.to_xid == seal.from_xid
    begins = seal.from_xid == 0 and (before is None or before.epoch < seal.epoch)
    if not (continues or begins):
        sentence = "It does not begin where the seal before it ends."
        yield AuditFinding("AUDIT_SEAL_RANGE", seal.name, sentence)


def _verify_leaves(seal: Seal, rows: Sequence[AuditRow]) -> Iterator[AuditFinding]:
    span = f"between {rows[0].name} and {rows[-1].name}" if rows else "of all its rows"
    if len(rows) != seal.row_count:
        sentence = f"It covers {seal.row_count} rows, {len(rows)} are there: look {span}."
        yield AuditFinding("AUDIT_SEAL_COUNT", seal.name, sentence)
    elif merkle_root([parse_leaf(row) for row in rows]) != seal.merkle_root:
        sentence = f"A row that it covers was replaced: look {span}."
        yield AuditFinding("AUDIT_SEAL_ROOT", seal.name, sentence)


def verify_inclusion(row: AuditRow, seal: Seal, index: int, path: Sequence[str]) -> Iterator[AuditFinding]:
    """Verify a row without its neighbours: it is the one that the seal covers at that index."""
    if not seal.start <= row.position < seal.end:
        yield AuditFinding("AUDIT_PROOF_WRONG", row.name, f"The {seal.name} does not cover its transaction.")
    elif root_of_path(parse_leaf(row), index, seal.row_count, path) != seal.merkle_root:
        yield AuditFinding("AUDIT_PROOF_WRONG", row.name, f"The {seal.name} does not hold this row.")


# --- document versions ---


def verify_versions(versions: Iterable[DocumentVersion], rows: Iterable[AuditRow]) -> Iterator[AuditFinding]:
    """Verify versions and rows, both ordered by document: each version has its row, each row its version."""
    written = ((row.subject_id, 0, row) for row in rows if row.subject_type == DOCUMENT)
    kept = ((version.document_id, 1, version) for version in versions)
    merged: Iterator[tuple[str, int, AuditRow | DocumentVersion]] = heapq.merge(
        written, kept, key=lambda item: item[:2]
    )
    for _, group in groupby(merged, key=lambda item: item[0]):
        yield from _verify_document(item for _, _, item in group)


def _verify_document(items: Iterable[AuditRow | DocumentVersion]) -> Iterator[AuditFinding]:
    written: dict[int, tuple[str, AuditRow]] = {}
    existing: set[int] = set()
    for item in items:
        if isinstance(item, AuditRow):
            after = (parse_json(item.content) or {}).get("after")
            if isinstance(after, dict) and type(after.get("version")) is int:
                written.setdefault(after["version"], (str(after.get("hash")), item))
            continue
        existing.add(item.version)
        yield from _verify_version(item, written.get(item.version))
    for version in sorted(written.keys() - existing):
        sentence = f"The version {version} that it wrote is missing."
        yield AuditFinding("DOCUMENT_VERSION_MISSING", written[version][1].name, sentence)


def _verify_version(version: DocumentVersion, written: tuple[str, AuditRow] | None) -> Iterator[AuditFinding]:
    if hash_text(version.snapshot) != version.hash:
        yield AuditFinding("DOCUMENT_VERSION_HASH", version.name, "The snapshot is not what was hashed.")
    if written is None:
        yield AuditFinding("AUDIT_ROW_MISSING", version.name, "No audit row says who wrote this version.")
    elif written[0] != version.hash:
        sentence = f"It is not the version that was written by {written[1].name}."
        yield AuditFinding("DOCUMENT_VERSION_REPLACED", version.name, sentence)
