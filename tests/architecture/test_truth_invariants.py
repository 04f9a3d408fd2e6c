"""Each of the invariants WF-01 to WF-16 has a file of tests of its name."""

import ast
import re
from pathlib import Path

import pytest

INVARIANTS = Path(__file__).resolve().parents[1] / "scenarios" / "invariants"
HOLD = set(range(1, 17))
FILES = sorted(INVARIANTS.glob("test_*.py"))


def number_of(path: Path) -> int:
    match = re.fullmatch(r"test_wf_(\d{2})_[a-z0-9_]+\.py", path.name)
    assert match is not None, f"{path.name} is called after no invariant"
    return int(match[1])


def test_each_invariant_has_one_file() -> None:
    assert sorted(map(number_of, FILES)) == sorted(HOLD)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_its_tests_carry_its_name(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    tests = [f.name for f in tree.body if isinstance(f, ast.FunctionDef) and f.name.startswith("test")]
    prefix = f"test_wf_{number_of(path):02}_"
    assert tests and [name for name in tests if not name.startswith(prefix)] == []
    assert (ast.get_docstring(tree) or "").startswith(f"WF-{number_of(path):02}: ")
