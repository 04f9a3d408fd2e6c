"""Clients generated from the OpenAPI document without a warning: each does a flow by its types alone.

The flows are `flow.py` and `flow.ts`. The generators live in `.venv-clients`, away from Signet.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

from signet.api.routes.operations.reference import OPENAPI_FILE
from tests.clients.conftest import ServedTenant

HERE = Path(__file__).parent
TOOLS = Path(__file__).resolve().parents[2] / ".venv-clients"
PYTHON = TOOLS / "bin" / "python"
NODE_MODULES = TOOLS / "node_modules"
PEOPLE = ("sam", "ada", "carl", "fiona")
ENDED = re.compile(r"active at version [0-9]+\n")
# What a flow would go around the types with.
AROUND_TYPES = {
    "flow.py": r"\bcast\b|\bAny\b|\bhttpx\b|sync_detailed|\bgetattr\b|# type:|\brequests\b",
    "flow.ts": r"\bany\b|\bas (?!const\b)|<[a-z]+>[a-z]|@ts-|\bfetch\(|!\.",
}


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def list_arguments(served: ServedTenant) -> list[str]:
    return [served.url, *(served.make_token(person) for person in PEOPLE)]


def test_a_python_client_does_the_flow(served: ServedTenant, tmp_path: Path) -> None:
    package = tmp_path / "signet_client"
    path = f"{TOOLS / 'bin'}:/usr/bin:/bin"
    generate = ("generate", "--path", OPENAPI_FILE, "--output-path", package, "--meta", "none")
    said = run(PYTHON, "-m", "openapi_python_client", *generate, "--fail-on-warning", cwd=tmp_path, PATH=path)
    assert "arning" not in said, said
    options = (f"--python-executable={PYTHON}", f"--config-file={HERE / 'mypy.ini'}")
    run(sys.executable, "-m", "mypy", *options, HERE / "flow.py", cwd=tmp_path, MYPYPATH=str(tmp_path))
    ended = run(PYTHON, HERE / "flow.py", *list_arguments(served), cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert ENDED.fullmatch(ended), ended


def test_a_typescript_client_does_the_flow(served: ServedTenant, tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None, "Node is missing: make clients needs it"
    (tmp_path / "node_modules").symlink_to(NODE_MODULES)
    for name in ("flow.ts", "package.json", "tsconfig.json"):
        shutil.copy(HERE / name, tmp_path)
    said = run(
        node,
        NODE_MODULES / "openapi-typescript/bin/cli.js",
        OPENAPI_FILE,
        "--output",
        "signet_api.d.ts",
        cwd=tmp_path,
    )
    assert not re.search("arning|rror|⚠|✘", said), said
    run(node, NODE_MODULES / "typescript/bin/tsc", "--project", "tsconfig.json", cwd=tmp_path)
    ended = run(node, "flow.js", *list_arguments(served), cwd=tmp_path)
    assert ENDED.fullmatch(ended), ended


def test_the_flows_go_around_no_type() -> None:
    for name, around in AROUND_TYPES.items():
        code = (HERE / name).read_text(encoding="utf-8")
        assert re.findall(around, code) == [], name
