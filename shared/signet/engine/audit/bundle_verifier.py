"""Verify an exported bundle with nothing but Python.

python3 -I verify.py FOLDER [ANCHOR]

FOLDER is the bundle; ANCHOR is a file of seals that was kept elsewhere, one JSON object on a line.
Exit code 0: everything holds; 1: something does not, and is named; 2: this was called wrongly.

In a bundle this text stands behind the checks that the service itself runs. It reads the bundle into memory.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from signet.core.audit.verification import (
    AuditFinding,
    AuditRow,
    DocumentVersion,
    Seal,
    SealReport,
    hash_text,
    parse_anchor,
    parse_as,
    parse_json,
    verify_chains,
    verify_inclusion,
    verify_rows,
    verify_seals,
    verify_versions,
)

MANIFEST = "manifest.json"
# The files of a bundle beside its manifest. New kinds of evidence are added here.
BUNDLE_FILES = {
    "audit_log.jsonl": "audit rows",
    "audit_seals.jsonl": "seals",
    "document_versions.jsonl": "document versions",
    "workflow_definitions.jsonl": "compiled definitions",
    "verify.py": "verifier",
}


def write_manifest(manifest: dict[str, Any]) -> str:
    body = {name: value for name, value in manifest.items() if name != "hash"}
    body["hash"] = hash_text(json.dumps(body, sort_keys=True))
    return json.dumps(body, sort_keys=True, indent=2) + "\n"


class AuditBundle:
    """The content of the files, and the findings about their form."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.findings: list[AuditFinding] = []
        self.manifest = self._read_manifest()
        self._check_files()
        lines = list(self._read_objects("audit_log.jsonl"))
        self.proofs = [line.get("proof") for _, line in lines]
        self.rows = self._read_all(AuditRow, [(where, line.get("row")) for where, line in lines])
        self.seals = self._read_all(Seal, list(self._read_objects("audit_seals.jsonl")))
        self.versions = self._read_all(DocumentVersion, list(self._read_objects("document_versions.jsonl")))
        self.definitions = list(self._read_objects("workflow_definitions.jsonl"))

    def note(self, code: str, where: str, sentence: str) -> None:
        self.findings.append(AuditFinding(code, where, sentence))

    def _read_manifest(self) -> dict[str, Any]:
        text = self._read_bytes(MANIFEST).decode("utf-8", "surrogateescape")
        manifest = parse_json(text)
        if (
            manifest is None
            or write_manifest(manifest) != text
            or not isinstance(manifest.get("files"), dict)
        ):
            self.note("BUNDLE_MANIFEST", MANIFEST, "It is not as it was written.")
            return {"files": {}}
        return manifest

    def _check_files(self) -> None:
        for name in BUNDLE_FILES:
            if hashlib.sha256(self._read_bytes(name)).hexdigest() != self.manifest["files"].get(name):
                self.note("BUNDLE_FILE_CHANGED", name, "It is not the file that was exported.")
        for path in sorted(self.folder.iterdir()):
            if path.name not in {*BUNDLE_FILES, MANIFEST}:
                self.note("BUNDLE_FILE_UNKNOWN", path.name, "It is no part of the bundle.")

    def _read_bytes(self, name: str) -> bytes:
        try:
            return (self.folder / name).read_bytes()
        except OSError as error:
            self.note("BUNDLE_FILE_MISSING", name, f"It cannot be read: {error.strerror}.")
            return b""

    def _read_objects(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        text = self._read_bytes(name).decode("utf-8", "surrogateescape")
        for number, line in enumerate(text.splitlines(), start=1):
            where, value = f"{name}, line {number}", parse_json(line)
            if value is None:
                self.note("BUNDLE_LINE", where, "The line is no JSON object.")
            else:
                yield where, value

    def _read_all(self, kind: Any, lines: Sequence[tuple[str, object]]) -> list[Any]:
        items = []
        for where, value in lines:
            item = parse_as(kind, value)
            if item is None:
                self.note("BUNDLE_LINE", where, f"The line is no {kind.__name__}.")
            items.append(item)
        return items


def verify_bundle(bundle: AuditBundle, anchor: Sequence[str]) -> tuple[list[AuditFinding], SealReport]:
    rows: list[AuditRow] = [row for row in bundle.rows if row is not None]
    seals: list[Seal] = [seal for seal in bundle.seals if seal is not None]
    versions: list[DocumentVersion] = [version for version in bundle.versions if version is not None]
    chained = sorted(
        (row for row in rows if row.seq is not None), key=lambda row: (row.subject, row.seq or 0)
    )
    versions.sort(key=lambda version: (version.document_id, version.version))
    anchored, findings = parse_anchor(anchor)
    is_whole = bundle.manifest.get("subject") is None
    by_transaction = sorted(rows, key=lambda row: (row.position, row.id))
    report = verify_seals(seals, by_transaction if is_whole else None, anchored)
    all_findings = [
        *bundle.findings,
        *verify_rows(rows),
        *verify_chains(chained),
        *verify_versions(versions, chained),
        *_verify_belonging(bundle.manifest, rows, seals),
        *([] if is_whole else _verify_proofs(bundle, seals, report)),
        *_verify_definitions(bundle.definitions),
        *report.findings,
        *findings,
    ]
    return all_findings, report


def _verify_belonging(
    manifest: dict[str, Any], rows: Sequence[AuditRow], seals: Sequence[Seal]
) -> Iterator[AuditFinding]:
    everything: list[AuditRow | Seal] = [*rows, *seals]
    for item in everything:
        if item.tenant_id != manifest.get("tenant_id"):
            yield AuditFinding("BUNDLE_TENANT", item.name, "It is another tenant's.")
    subject = manifest.get("subject")
    for row in rows:
        if subject is not None and list(row.subject) != subject:
            yield AuditFinding("BUNDLE_SUBJECT", row.name, "The bundle is about another subject.")


def _verify_proofs(bundle: AuditBundle, seals: Sequence[Seal], report: SealReport) -> Iterator[AuditFinding]:
    """Verify one subject's rows without their neighbours: each proves its place in its seal."""
    by_sequence = {seal.sequence: seal for seal in seals}
    end = seals[-1].end if seals else (0, 0)
    for row, proof in zip(bundle.rows, bundle.proofs, strict=True):
        if row is None:
            continue
        if proof is None and row.position >= end:
            report.tail_count += 1
            report.tail_oldest = min(row.created_at, report.tail_oldest or row.created_at)
            continue
        read = _parse_proof(proof)
        seal = by_sequence.get(read[0]) if read else None
        if read is None or seal is None:
            yield AuditFinding("AUDIT_PROOF_WRONG", row.name, "Nothing proves that it is in a seal.")
            continue
        report.sealed_count += 1
        yield from verify_inclusion(row, seal, read[1], read[2])


def _parse_proof(proof: Any) -> tuple[int, int, list[str]] | None:
    if not isinstance(proof, dict) or proof.keys() != {"seal", "index", "path"}:
        return None
    seal, index, path = proof["seal"], proof["index"], proof["path"]
    if type(seal) is not int or type(index) is not int or not isinstance(path, list):
        return None
    return (seal, index, path) if all(isinstance(neighbour, str) for neighbour in path) else None


def _verify_definitions(definitions: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[AuditFinding]:
    for where, definition in definitions:
        if hash_text(str(definition.get("compiled_json"))) != definition.get("compiled_hash"):
            yield AuditFinding("DEFINITION_HASH", where, "The compiled definition is not what was hashed.")


def main(arguments: Sequence[str]) -> int:
    if len(arguments) not in (1, 2) or not Path(arguments[0]).is_dir():
        print(__doc__, file=sys.stderr)
        return 2
    anchor: list[str] = []
    if len(arguments) == 2:
        try:
            anchor = Path(arguments[1]).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError) as error:
            print(f"{arguments[1]} cannot be read: {error}", file=sys.stderr)
            return 2
    bundle = AuditBundle(Path(arguments[0]))
    findings, report = verify_bundle(bundle, anchor)
    for finding in findings:
        text = f"BROKEN {finding.where}: {finding.sentence} ({finding.code})"
        print(text.encode("ascii", "backslashreplace").decode())
    counts = [len(bundle.rows), len(bundle.seals), len(bundle.versions), len(bundle.definitions)]
    words = list(BUNDLE_FILES.values())
    print("checked", ", ".join(f"{count} {word}" for count, word in zip(counts, words, strict=False)))
    print(f"manifest {bundle.manifest.get('hash')}; {len(anchor)} anchored seals compared")
    if report.tail_count:
        print(f"not sealed yet: {report.tail_count} rows, the oldest of {report.tail_oldest}")
    print("sound" if not findings else f"{len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
