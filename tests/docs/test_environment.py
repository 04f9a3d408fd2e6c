"""Every variable that a process reads stands in the table, and the table names no other."""

import ast
import re
from pathlib import Path

import pytest

from signet import aws_settings, settings
from signet.core.tenants.retention import LEAST_DAYS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "deploying.md"
_VARIABLE = re.compile(r"(SIGNET|AWS|OTEL|SENTRY|POWERTOOLS)(_[A-Z0-9]+)+")


def read_names() -> set[str]:
    """Return the names in the settings modules, and those of the retentions, made of their fields."""
    modules = [Path(str(module.__file__)) for module in (settings, aws_settings)]
    texts = {
        node.value
        for path in modules
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    retentions = {f"SIGNET_RETENTION_{field.upper()}" for field in LEAST_DAYS}
    return {text for text in texts if _VARIABLE.fullmatch(text)} | retentions


def read_rows() -> list[tuple[set[str], str]]:
    """Return the names of each row, and its text about them."""
    section = PAGE.read_text(encoding="utf-8").partition("\n## The environment of a process\n")[2]
    rows = [line.split("|") for line in section.partition("\n## ")[0].splitlines() if line.startswith("| `")]
    return [(set(re.findall(r"`([A-Z0-9_]+)`", cells[1])), cells[2]) for cells in rows]


def test_each_variable_stands_in_one_row() -> None:
    named = [name for names, _ in read_rows() for name in names]
    assert sorted(named) == sorted(read_names())


@pytest.mark.parametrize(
    ("names", "says"), read_rows(), ids=lambda value: "" if isinstance(value, str) else None
)
def test_a_page_that_a_row_refers_to_tells_of_its_variables(names: set[str], says: str) -> None:
    pages = re.findall(r"\]\(([a-z_]+\.md)", says)
    text = "".join((PAGE.parent / page).read_text(encoding="utf-8") for page in pages)
    assert not pages or {name for name in names if name not in text} == set()
