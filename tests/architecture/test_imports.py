"""The import contracts of pyproject.toml hold, and each of them finds what it is there to find."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BREAKS = {
    "Imports point one way": ("shared/signet/core/errors.py", "import signet.store.database"),
    "Only store speaks to Postgres": ("shared/signet/engine/tenants/install.py", "import psycopg"),
    "Only aws speaks to AWS": ("shared/signet/outbound/webhook.py", "import botocore.session"),
    "The API path knows no AWS SDK": ("shared/signet/engine/tenants/install.py", "import boto3"),
    "Core is pure": ("shared/signet/core/errors.py", "import time"),
}


def lint(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=root,
        env={"PYTHONPATH": f"{root / 'shared'}:{root}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for folder in ["shared", "functions"]:
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


@pytest.mark.parametrize("contract", BREAKS)
def test_a_broken_contract_is_found(copy: Path, contract: str) -> None:
    name, line = BREAKS[contract]
    path = copy / name
    path.write_text(f"{path.read_text()}\n{line}\n")
    result = lint(copy)
    assert result.returncode == 1
    assert any(text.startswith(contract) and text.endswith("BROKEN") for text in result.stdout.splitlines())


def test_the_contracts_hold(copy: Path) -> None:
    assert lint(copy).returncode == 0
