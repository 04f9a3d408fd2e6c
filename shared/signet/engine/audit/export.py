"""Export of the evidence, for auditors who check it without this service and without trusting it."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import UUID

from signet.core.audit import verification as evidence
from signet.core.audit.trail import Subject
from signet.core.audit.verification import DOCUMENT, AuditRow, Seal, build_levels, find_path
from signet.core.errors import Rejected
from signet.engine.audit import bundle_verifier
from signet.engine.audit.bundle_verifier import BUNDLE_FILES, MANIFEST, write_manifest
from signet.store.audit.read import (
    find_seal_over,
    walk_definitions,
    walk_rows,
    walk_seals,
    walk_subject,
    walk_versions,
)
from signet.store.audit.write import list_hashes, read_horizon
from signet.store.database import Connection, Database

# The trees of seals that are kept while a subject's rows are proved; the rows come in the order of time.
_TREES_KEPT = 8
_OWN_IMPORT = re.compile(r"^from signet\.[\w.]+ import (\([^)]*\)|.*)\n", re.MULTILINE)


@dataclass(frozen=True)
class ExportedBundle:
    folder: Path
    # Given to the auditor in another way, it shows that the bundle is the one that was exported.
    manifest_hash: str
    line_counts: dict[str, int]


def export_bundle(
    database: Database, tenant_id: UUID, folder: Path, subject: Subject | None = None
) -> ExportedBundle:
    """Export the whole tenant, or one subject whose rows prove their places in the seals."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = not any(folder.iterdir())
    except OSError as error:
        raise Rejected("FILE_UNREADABLE", f"{folder} cannot be used: {error.strerror}.") from error
    if not is_empty:
        raise Rejected("BUNDLE_FOLDER_NOT_EMPTY", f"{folder} is not empty.")
    with database.snapshot(tenant_id) as connection:
        exported_at = read_horizon(connection).now.isoformat()
        contents = _gather(connection, tenant_id, subject)
        line_counts = {name: _write_lines(folder / name, lines) for name, lines in contents.items()}
    if subject is not None and not line_counts["audit_log.jsonl"]:
        raise Rejected("AUDIT_SUBJECT_NOT_FOUND", f"Nothing is known of {' '.join(subject)}.")
    (folder / "verify.py").write_text(write_verifier(), encoding="utf-8")
    manifest = write_manifest(
        {
            "tenant_id": str(tenant_id),
            "subject": None if subject is None else list(subject),
            "exported_at": exported_at,
            "files": {name: _hash_file(folder / name) for name in BUNDLE_FILES},
        }
    )
    (folder / MANIFEST).write_text(manifest, encoding="utf-8")
    return ExportedBundle(folder, str(json.loads(manifest)["hash"]), line_counts)


def _gather(
    connection: Connection, tenant_id: UUID, subject: Subject | None
) -> dict[str, Iterable[dict[str, Any]]]:
    """Return the lines of each file, which are read while they are written."""
    document_id = UUID(subject[1]) if subject and subject[0] == DOCUMENT else None
    is_about_documents = subject is None or document_id is not None
    rows: Iterator[AuditRow]
    prove: Callable[[AuditRow], dict[str, Any] | None]
    if subject is None:
        rows, prove = walk_rows(connection, tenant_id), lambda row: None
    else:
        rows, prove = walk_subject(connection, tenant_id, subject), make_prover(connection, tenant_id)
    return {
        "audit_log.jsonl": ({"row": asdict(row), "proof": prove(row)} for row in rows),
        "audit_seals.jsonl": (asdict(seal) for seal in walk_seals(connection, tenant_id)),
        "document_versions.jsonl": (
            asdict(version)
            for version in (walk_versions(connection, tenant_id, document_id) if is_about_documents else ())
        ),
        "workflow_definitions.jsonl": (
            walk_definitions(connection, tenant_id, document_id) if is_about_documents else ()
        ),
    }


def make_prover(connection: Connection, tenant_id: UUID) -> Callable[[AuditRow], dict[str, Any] | None]:
    """Make a function that proves a row by its place in its seal and the path to the root.

    It returns None while no seal covers the row.
    """

    @lru_cache(maxsize=_TREES_KEPT)
    def grow(seal: Seal) -> tuple[dict[str, int], list[list[bytes]]]:
        leaves = list_hashes(connection, tenant_id, seal.start, seal.to_xid)
        levels = build_levels([bytes.fromhex(leaf.hash) for leaf in leaves])
        return {leaf.id: index for index, leaf in enumerate(leaves)}, levels

    def prove(row: AuditRow) -> dict[str, Any] | None:
        seal = find_seal_over(connection, row)
        if seal is None:
            return None
        places, levels = grow(seal)
        index = places[row.id]
        return {"seal": seal.sequence, "index": index, "path": find_path(levels, index)}

    return prove


def write_verifier() -> str:
    """Write one file to read from top to bottom: the service's own checks, and a command around them."""
    main = _OWN_IMPORT.sub("", Path(bundle_verifier.__file__).read_text(encoding="utf-8"))
    checks = Path(evidence.__file__).read_text(encoding="utf-8")
    # The docstring of the command becomes that of the file, because the command prints it.
    docstring, commands = main.split('"""\n', maxsplit=1)
    return f'{docstring}"""\n\n{checks.split(chr(34) * 3 + chr(10), maxsplit=1)[1]}\n{commands}'


def _write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line, sort_keys=True) + "\n")
            count += 1
    return count


def _hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
