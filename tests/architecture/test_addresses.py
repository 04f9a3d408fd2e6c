"""No committed file names a package index or a machine's path: the user's own configuration decides."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Spelled in pieces, so that this file does not find itself.
ADDRESS = re.compile(
    "|".join(
        [
            "python" + "hosted",
            "pypi" + r"\.org",
            r"registry\." + "npmjs",
            "--index" + "-url +http",
            "/ro" + "ot/",
        ]
    )
)


def list_committed_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        return [
            ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()
        ]
    skipped = {".venv", ".git", ".signet", "node_modules", "cdk.out"}
    return [p for p in ROOT.rglob("*") if p.is_file() and not skipped & set(p.relative_to(ROOT).parts)]


def find_addresses(text: str) -> list[str]:
    return [match.group() for match in ADDRESS.finditer(text)]


def test_no_file_names_an_index() -> None:
    files = list_committed_files()
    assert ROOT / "requirements" / "dev.txt" in files
    found = {
        str(p): hits
        for p in files
        if (hits := find_addresses(p.read_text(encoding="utf-8", errors="replace")))
    }
    assert found == {}


@pytest.mark.parametrize(
    "line", ["--index" + "-url https://example.test/simple", "https://files.python" + "hosted.org"]
)
def test_an_address_is_found(line: str) -> None:
    assert find_addresses(line)


def test_the_locks_pin_every_package_with_hashes() -> None:
    for name in ["installer", "runtime", "local", "dev"]:
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        packages = re.findall(r"^[a-z0-9][^\s=]*==\S+(?: ;[^\\\n]*)? \\$", text, re.MULTILINE)
        pinned = re.findall(r"^[a-z0-9]", text, re.MULTILINE)
        assert len(packages) == len(pinned) > 0


def test_npm_locks_no_addresses() -> None:
    assert (
        "omit-lockfile-registry-resolved=true" in (ROOT / ".npmrc").read_text(encoding="utf-8").splitlines()
    )
