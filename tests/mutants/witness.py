"""A pytest plugin: makes sure that the tests see the sources beside them, and writes down their outcomes."""

import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

OUTCOMES = "SIGNET_MUTANTS_OUTCOMES"
PACKAGES = ("signet", "functions", "tests")


def find_strangers(root: Path) -> Iterator[str]:
    """Yield packages from elsewhere. An installed checkout is on the path too, and must come after."""
    for name in PACKAGES:
        first = Path(next(iter(import_module(name).__path__)))
        if not first.resolve().is_relative_to(root.resolve()):
            yield f"{name} is {first}"


def pytest_configure(config: pytest.Config) -> None:
    strangers = list(find_strangers(config.rootpath))
    if strangers:
        raise pytest.UsageError(f"not the sources under {config.rootpath}: {', '.join(strangers)}")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    with Path(os.environ[OUTCOMES]).open("a", encoding="utf-8") as file:
        file.write(f"{report.nodeid}\t{report.when}\t{report.outcome}\n")
