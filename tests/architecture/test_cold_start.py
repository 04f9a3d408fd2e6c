"""Imports before the first request: none of the routes, and none that only routes need."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROUTES = "signet.api.routes."
# These modules know of the routes without being one.
LISTING = {f"{ROUTES}index", f"{ROUTES}table"}
# Packages with all their modules. The first are large; the others are imported by nearly every use case.
LATE = (
    "boto3",
    "jwt",
    "pydantic",
    "yaml",
    "signet.authoring",
    "signet.core.contracts.fields",
    "signet.core.validation.strict_model",
    "signet.engine.documents",
    "signet.engine.access.read",
    "signet.engine.access.admin",
)


def list_loaded(statement: str) -> set[str]:
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    completed = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        env={"PYTHONPATH": f"{ROOT / 'shared'}:{ROOT}", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return set(completed.stdout.split())


def find_late(loaded: set[str]) -> list[str]:
    return sorted(name for name in loaded for late in LATE if name == late or name.startswith(f"{late}."))


@pytest.fixture(scope="module")
def handler_loaded() -> set[str]:
    return list_loaded("import functions.api.handler")


def test_the_handler_imports_no_group_of_routes(handler_loaded: set[str]) -> None:
    assert {name for name in handler_loaded if name.startswith(ROUTES)} == LISTING


def test_the_handler_imports_nothing_that_only_groups_need(handler_loaded: set[str]) -> None:
    assert find_late(handler_loaded) == []


def test_what_a_group_needs_would_be_found() -> None:
    loaded = list_loaded("import signet.api.routes.documents.documents")
    assert {"pydantic", "signet.core.validation.strict_model", "signet.engine.documents.commands"} <= set(
        find_late(loaded)
    )


def test_the_engine_imports_nothing_of_the_api() -> None:
    loaded = list_loaded("import signet.wiring.engine")
    assert [name for name in loaded if name.startswith(("signet.api", "jwt", "yaml", "boto3"))] == []
