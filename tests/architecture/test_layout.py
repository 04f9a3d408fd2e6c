"""Each product module has a test file of its name, or a line in `tests/README.md` that names others.

Below one folder of `tests/` no two test files share a name.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES, TESTS = ROOT / "shared" / "signet", ROOT / "tests"
_LINE = re.compile(r"^\| `([\w.]+)` \| (`.+`) \|$", re.MULTILINE)


def list_modules(sources: Path) -> list[str]:
    paths = (path for path in sources.rglob("*.py") if path.name != "__init__.py")
    return sorted(".".join(path.relative_to(sources).with_suffix("").parts) for path in paths)


def list_places(module: str) -> list[str]:
    """Return where the test file of this name may stand, below `tests/`."""
    *packages, name = module.split(".")
    roots = [["unit", *packages], ["integration", *packages]]
    if packages[:1] in (["aws"], ["local"]):
        roots.append(packages)
    if packages[:2] == ["api", "routes"]:
        roots.append(["functions", *packages[1:]])
    return ["/".join([*root, f"test_{name}.py"]) for root in roots]


def read_table(tests: Path) -> list[tuple[str, list[str]]]:
    text = (tests / "README.md").read_text(encoding="utf-8")
    return [(module, re.findall(r"`([^`]+)`", files)) for module, files in _LINE.findall(text)]


def find_untested(sources: Path, tests: Path) -> Iterator[str]:
    in_table = {module for module, _ in read_table(tests)}
    for module in list_modules(sources):
        if module not in in_table and not any((tests / place).is_file() for place in list_places(module)):
            yield f"{module} has neither {list_places(module)[0]} nor a line in tests/README.md"


def find_dead_lines(sources: Path, tests: Path) -> Iterator[str]:
    modules, seen = set(list_modules(sources)), set[str]()
    for module, files in read_table(tests):
        if module not in modules:
            yield f"there is no module {module}"
        if module in seen:
            yield f"{module} has two lines"
        seen.add(module)
        for file in files:
            if not (tests / file).is_file() or not Path(file).match("test_*.py"):
                yield f"{module}: there is no test file {file}"


def find_double_names(tests: Path) -> Iterator[str]:
    seen: dict[tuple[str, str], str] = {}
    for path in sorted(tests.rglob("test_*.py")):
        file = path.relative_to(tests)
        first = seen.setdefault((file.parts[0], file.name), str(file))
        if first != str(file):
            yield f"{first} and {file} share a name"


def find_packages(tests: Path) -> Iterator[str]:
    # Pytest would import a test below it under a second name.
    for path in sorted(tests.rglob("__init__.py")):
        yield f"{path.relative_to(tests)} makes a package of its folder"


def test_each_module_has_tests() -> None:
    assert len(list_modules(SOURCES)) > 300
    assert list(find_untested(SOURCES, TESTS)) == []


def test_each_line_names_a_module_and_files_that_exist() -> None:
    assert len(read_table(TESTS)) > 50
    assert list(find_dead_lines(SOURCES, TESTS)) == []


def test_no_two_test_files_below_one_folder_share_a_name() -> None:
    assert list(find_double_names(TESTS)) == []


def test_no_folder_of_tests_is_a_package() -> None:
    assert list(find_packages(TESTS)) == []


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a small tree that keeps every rule."""
    for file in [
        "signet/__init__.py",
        "signet/core/graph.py",
        "signet/core/merge.py",
        "signet/api/routes/documents/lists.py",
        "tests/unit/core/test_graph.py",
        "tests/functions/routes/documents/test_lists.py",
    ]:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    write_table(tmp_path, "| `core.merge` | `unit/core/test_graph.py` |")
    return tmp_path


def write_table(tree: Path, *lines: str) -> None:
    rows = ["| module | test files |", "| --- | --- |", *lines]
    (tree / "tests" / "README.md").write_text("\n".join(rows) + "\n", encoding="utf-8")


def find_faults(tree: Path) -> list[str]:
    sources, tests = tree / "signet", tree / "tests"
    return [
        *find_untested(sources, tests),
        *find_dead_lines(sources, tests),
        *find_double_names(tests),
        *find_packages(tests),
    ]


def test_a_tree_that_keeps_the_rules_has_no_fault(tree: Path) -> None:
    assert find_faults(tree) == []


def test_a_module_without_tests_is_found(tree: Path) -> None:
    (tree / "signet/core/slots.py").touch()
    write_table(tree)
    assert find_faults(tree) == [
        "core.merge has neither unit/core/test_merge.py nor a line in tests/README.md",
        "core.slots has neither unit/core/test_slots.py nor a line in tests/README.md",
    ]


def test_a_line_about_nothing_is_found(tree: Path) -> None:
    line = "| `core.merge` | `unit/core/test_graph.py`, `unit/core/test_gone.py`, `README.md` |"
    write_table(tree, line, "| `core.gone` | `unit/core/test_graph.py` |", line[:42] + " |")
    assert find_faults(tree) == [
        "core.merge: there is no test file unit/core/test_gone.py",
        "core.merge: there is no test file README.md",
        "there is no module core.gone",
        "core.merge has two lines",
    ]


def test_a_name_that_stands_twice_is_found(tree: Path) -> None:
    for file in ["tests/unit/api/test_graph.py", "tests/integration/test_graph.py"]:
        (tree / file).parent.mkdir(parents=True, exist_ok=True)
        (tree / file).touch()
    assert find_faults(tree) == ["unit/api/test_graph.py and unit/core/test_graph.py share a name"]


def test_a_package_is_found(tree: Path) -> None:
    (tree / "tests/unit/__init__.py").touch()
    assert find_faults(tree) == ["unit/__init__.py makes a package of its folder"]
