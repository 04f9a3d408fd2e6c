"""Rooms that fit a head: few modules in a package, nouns for modules, one class for each name."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = ("shared", "functions", "infra")
EVERYTHING = (*PRODUCT, "examples", "bench", "tests")
MAX_MODULES = 20
# These are the field's own words. Other names in -ing become nouns.
WORDS_IN_ING = {
    "finding",
    "housekeeping",
    "messaging",
    "pruning",
    "routing",
    "sealing",
    "signing",
    "staging",
    "string",
    "tracing",
    "voiding",
}
VAGUE = {"base", "common", "helpers", "manager", "misc", "utils"}
# Here a module has the name of its command.
COMMANDS = Path("shared/signet/cli")
BUILTINS = {"compile", "filter", "format", "input", "list", "map", "object", "open", "print", "set", "type"}


def list_modules(folders: Iterable[str], root: Path = ROOT) -> list[Path]:
    return sorted(
        path.relative_to(root)
        for folder in folders
        for path in (root / folder).rglob("*.py")
        if path.name != "__init__.py"
    )


def count_modules(modules: Iterable[Path]) -> Counter[str]:
    return Counter(path.parent.as_posix() for path in modules)


def find_bad_names(modules: Iterable[Path]) -> Iterator[str]:
    for path in modules:
        name, last_word = path.stem, path.stem.rsplit("_", 1)[-1]
        if name in VAGUE:
            yield f"{path}: '{name}' says nothing about what is in it"
        if name in BUILTINS and path.parent != COMMANDS:
            yield f"{path}: '{name}' hides a builtin"
        if last_word.endswith("ing") and last_word not in WORDS_IN_ING:
            yield f"{path}: a module is a noun; '{name}' is a participle"


def find_doubled_classes(sources: Mapping[str, str]) -> dict[str, list[str]]:
    """Return each class name that is defined more than once, with its files."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for file, source in sources.items():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(file)
    return {name: files for name, files in found.items() if len(files) > 1}


def read_sources(folders: Iterable[str]) -> dict[str, str]:
    return {path.as_posix(): (ROOT / path).read_text(encoding="utf-8") for path in list_modules(folders)}


def test_a_package_has_few_modules() -> None:
    counts = count_modules(list_modules(PRODUCT))
    largest, count = counts.most_common(1)[0]
    print(f"\nlargest package: {largest} with {count} modules")
    assert {name: count for name, count in counts.items() if count > MAX_MODULES} == {}


def test_modules_are_nouns() -> None:
    assert list(find_bad_names(list_modules(PRODUCT))) == []


def test_no_class_name_stands_twice() -> None:
    doubled = find_doubled_classes(read_sources(EVERYTHING))
    print(f"\nclass names that stand twice: {len(doubled)}")
    assert doubled == {}


def test_a_full_package_is_found() -> None:
    modules = [Path(f"shared/room/m{number}.py") for number in range(MAX_MODULES + 1)]
    assert count_modules(modules) == {"shared/room": MAX_MODULES + 1}


@pytest.mark.parametrize("name", ["utils", "list", "telling", "instance_moving"])
def test_a_bad_name_is_found(name: str) -> None:
    assert len(list(find_bad_names([Path(f"shared/{name}.py")]))) == 1


def test_a_good_name_is_let_be() -> None:
    assert (
        list(find_bad_names([Path("shared/signing.py"), Path("shared/tracing.py"), Path("string.py")])) == []
    )


def test_a_class_name_that_stands_twice_is_found() -> None:
    sources = {
        "a.py": "class A:\n    class B: ...",
        "b.py": "def f():\n    class B: ...",
        "c.py": "class C: ...",
    }
    assert find_doubled_classes(sources) == {"B": ["a.py", "b.py"]}
