"""The exported bundle: an auditor checks it with Python alone, and any edit shows."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from signet.core.errors import Rejected
from signet.engine.audit.bundle_verifier import BUNDLE_FILES, MANIFEST, write_manifest
from signet.engine.audit.export import export_bundle
from signet.engine.audit.trail import list_seals
from tests.engine.audit.audited import Admin, Audited, make_document

Edit = Callable[[list[dict[str, object]]], object]


def check(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the bundle's verifier from another folder, without this project or any installed package."""
    command = [sys.executable, "-I", "-S", str(folder / "verify.py"), str(folder), *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd="/")


@pytest.fixture
def documents(audited: Audited) -> list[UUID]:
    """Return two sealed documents, the first with one version more that is unsealed."""
    documents = [make_document(audited, 3), make_document(audited, 2)]
    audited.seal(max_rows=2)
    audited.write(documents[0], [4])
    return documents


@pytest.fixture
def bundle(audited: Audited, documents: list[UUID], tmp_path: Path) -> Path:
    export_bundle(audited.api, audited.tenant_id, tmp_path / "all")
    return tmp_path / "all"


@pytest.fixture
def one_document(audited: Audited, documents: list[UUID], tmp_path: Path) -> Path:
    export_bundle(audited.api, audited.tenant_id, tmp_path / "one", ("document", str(documents[0])))
    return tmp_path / "one"


def test_a_whole_tenant(bundle: Path) -> None:
    result = check(bundle)
    assert (result.returncode, result.stderr) == (0, "")
    assert "checked 6 audit rows, 3 seals, 6 document versions, 0 compiled definitions" in result.stdout
    assert "not sealed yet: 1 rows" in result.stdout and result.stdout.endswith("sound\n")


def test_one_document_proves_its_rows_without_the_others(one_document: Path, documents: list[UUID]) -> None:
    assert str(documents[1]) not in (one_document / "audit_log.jsonl").read_text()
    result = check(one_document)
    assert (result.returncode, result.stderr) == (0, "")
    assert "checked 4 audit rows, 3 seals, 4 document versions" in result.stdout
    assert "not sealed yet: 1 rows" in result.stdout


@pytest.mark.parametrize("name", [*BUNDLE_FILES, MANIFEST])
def test_an_edit_of_any_file_is_found(bundle: Path, name: str) -> None:
    path = bundle / name
    before = path.read_bytes()
    for edited in [before + b"\n", before[:-2] + b" " + before[-1:], b""]:
        if edited != before and (edited or name != "verify.py"):
            path.write_bytes(edited)
            result = check(bundle)
            assert result.returncode == 1 and "Traceback" not in result.stderr, name
    path.write_bytes(before)
    (bundle / "more.txt").write_text("added")
    assert "BUNDLE_FILE_UNKNOWN" in check(bundle).stdout


def forge(bundle: Path, name: str, edit: Edit) -> None:
    """Edit a file and write a manifest that agrees with it again."""
    path = bundle / name
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    edit(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    manifest = json.loads((bundle / MANIFEST).read_text())
    manifest["files"][name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (bundle / MANIFEST).write_text(write_manifest(manifest))


FORGERIES: dict[str, tuple[str, Edit]] = {
    "AUDIT_SEAL_COUNT": ("audit_log.jsonl", lambda lines: lines.pop(0)),
    "AUDIT_ROW_TWICE": ("audit_log.jsonl", lambda lines: lines.append(lines[0])),
    "BUNDLE_LINE": ("audit_log.jsonl", lambda lines: lines[0].update(row={"seq": 1})),
    "AUDIT_SEAL_MISSING": ("audit_seals.jsonl", lambda lines: lines.pop(0)),
    "AUDIT_SEAL_HASH": ("audit_seals.jsonl", lambda lines: lines[0].update(row_count=9)),
    "BUNDLE_TENANT": ("audit_seals.jsonl", lambda lines: lines[0].update(tenant_id=str(uuid4()))),
    "DOCUMENT_VERSION_HASH": ("document_versions.jsonl", lambda lines: lines[0].update(snapshot="\ud800")),
    "DOCUMENT_VERSION_MISSING": ("document_versions.jsonl", lambda lines: lines.pop()),
    "DEFINITION_HASH": ("workflow_definitions.jsonl", lambda lines: lines.append({"compiled_json": "x"})),
}


@pytest.mark.parametrize("code", FORGERIES)
def test_a_forged_manifest_does_not_hide_an_edit(bundle: Path, code: str) -> None:
    name, edit = FORGERIES[code]
    forge(bundle, name, edit)
    result = check(bundle)
    assert result.returncode == 1 and code in result.stdout and result.stderr == ""


PROOFS = [
    None,
    {"seal": 99, "index": 0, "path": []},
    {"seal": 1, "index": 1, "path": []},
    {"seal": 1, "index": True, "path": []},
    {"seal": 1, "index": 0, "path": [3]},
    {"seal": 2, "index": 0, "path": []},
]


@pytest.mark.parametrize("proof", PROOFS)
def test_a_wrong_proof_is_found(one_document: Path, proof: object) -> None:
    forge(one_document, "audit_log.jsonl", lambda lines: lines[0].update(proof=proof))
    result = check(one_document)
    assert result.returncode == 1 and "AUDIT_PROOF_WRONG" in result.stdout and result.stderr == ""


def test_an_anchor_kept_elsewhere_is_compared(audited: Audited, bundle: Path, tmp_path: Path) -> None:
    seals = list_seals(audited.janitor, audited.tenant_id)
    anchor = tmp_path / "anchor.jsonl"
    anchor.write_text("".join(json.dumps(asdict(seal)) + "\n" for seal in seals))
    assert check(bundle, str(anchor)).returncode == 0
    forge(bundle, "audit_seals.jsonl", lambda lines: lines.pop())
    assert "AUDIT_ANCHOR_MISSING" in check(bundle, str(anchor)).stdout


def test_wrong_use_is_told_apart(bundle: Path) -> None:
    assert check(bundle, "/nowhere.jsonl").returncode == 2
    command = [sys.executable, "-I", str(bundle / "verify.py"), "/nowhere"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 2 and "python3 -I verify.py FOLDER" in result.stderr


def test_a_folder_in_use_and_an_unknown_subject_are_refused(
    audited: Audited, bundle: Path, tmp_path: Path
) -> None:
    with pytest.raises(Rejected, match="not empty"):
        export_bundle(audited.api, audited.tenant_id, bundle)
    with pytest.raises(Rejected, match="Nothing is known"):
        export_bundle(audited.api, audited.tenant_id, tmp_path / "two", ("document", str(uuid4())))
    with pytest.raises(Rejected, match="cannot be used"):
        export_bundle(audited.api, audited.tenant_id, bundle / "verify.py")


def test_another_tenants_rows_are_in_no_bundle(audited: Audited, admin: Admin, tmp_path: Path) -> None:
    make_document(audited, 1)
    export_bundle(audited.api, uuid4(), tmp_path / "none")
    assert (tmp_path / "none" / "audit_log.jsonl").read_text() == ""
    assert check(tmp_path / "none").returncode == 0
