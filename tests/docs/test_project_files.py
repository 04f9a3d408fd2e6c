"""The files that say how Signet may be used and changed: licence, distribution, hooks."""

import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


def read_project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project


def test_the_licence_is_the_one_that_is_declared() -> None:
    project = read_project()
    (name,) = project["license-files"]
    assert project["license"] == "Apache-2.0"
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "Apache License" in text and "Version 2.0, January 2004" in text and "END OF TERMS" in text


def test_the_distribution_is_not_the_other_signet_and_is_never_uploaded() -> None:
    project = read_project()
    assert project["name"] == "signet-workflows"
    assert "Private :: Do Not Upload" in project["classifiers"]
    # The command and the import name stay as they are.
    (command,) = distribution(project["name"]).entry_points
    assert (command.name, command.value) == ("signet", "signet.cli.main:main")


def test_the_locks_name_the_distribution() -> None:
    for name in ("runtime", "telemetry", "local", "dev"):
        text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        assert "signet-workflows (pyproject.toml)" in text
        assert "signet (pyproject.toml)" not in text


def test_hooks_are_local_and_fetch_nothing() -> None:
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    repositories = yaml.safe_load(text)["repos"]
    assert [repository["repo"] for repository in repositories] == ["local"]
    for hook in repositories[0]["hooks"]:
        assert hook["language"] == "system"
        assert hook["entry"].startswith(".venv/bin/")
