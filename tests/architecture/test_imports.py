"""The import contracts of pyproject.toml hold, and each of them finds what it is there to find."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BREAKS = {
    "Imports point one way": ("shared/signet/core/errors.py", "import signet.store.database"),
    "Rooms of core": ("shared/signet/core/errors.py", "import signet.core.backoff"),
    "Rooms of the engine": ("shared/signet/engine/telemetry.py", "import signet.engine.access.read"),
    "Only the API asks the queries and the designer": (
        "shared/signet/engine/tenants/install.py",
        "import signet.engine.documents.queries.lists",
    ),
    "A wave calls the nodes, and never the other way": (
        "shared/signet/engine/execution/nodes/action.py",
        "import signet.engine.execution.wave",
    ),
    "A node's handler asks its instance's context, and never the other way": (
        "shared/signet/engine/execution/nodes/context.py",
        "import signet.engine.execution.nodes.registry",
    ),
    "The designer runs nothing": (
        "shared/signet/engine/definitions/designer/preview.py",
        "import signet.engine.instances.moves",
    ),
    "Queries of documents keep no house": (
        "shared/signet/engine/documents/queries/lists.py",
        "import signet.engine.housekeeping.runner",
    ),
    "Rooms of the store": ("shared/signet/store/wake_ups.py", "import signet.store.database"),
    "Rooms of the API": ("shared/signet/api/lazy.py", "import signet.api.http.call"),
    "Routes see no store": (
        "shared/signet/api/routes/tenants/roles.py",
        "import signet.store.tenants.people",
    ),
    "Only store speaks to Postgres": ("shared/signet/engine/tenants/install.py", "import psycopg"),
    "Only aws speaks to AWS": ("shared/signet/outbound/webhook.py", "import botocore.session"),
    "The API path knows no AWS SDK": ("shared/signet/engine/tenants/install.py", "import boto3"),
    "Only telemetry knows who watches": ("shared/signet/engine/tenants/install.py", "import sentry_sdk"),
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


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("copy")
    for folder in ["shared", "functions"]:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


@pytest.mark.parametrize("contract", BREAKS)
def test_a_broken_contract_is_found(copy: Path, contract: str) -> None:
    name, line = BREAKS[contract]
    path = copy / name
    whole = path.read_text()
    path.write_text(f"{whole}\n{line}\n")
    result = lint(copy)
    path.write_text(whole)
    assert result.returncode == 1
    assert any(text.startswith(contract) and " BROKEN" in text for text in result.stdout.splitlines())


def test_each_contract_has_a_break() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    names = [contract["name"] for contract in project["tool"]["importlinter"]["contracts"]]
    assert [name for name in names if not name.startswith(tuple(BREAKS))] == []


def test_the_contracts_hold(copy: Path) -> None:
    assert lint(copy).returncode == 0
