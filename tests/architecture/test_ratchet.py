"""Sizes that only go down: a function fits a screen, a file fits a head."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["shared", "functions", "infra", "examples", "tests", "bench"]
MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 400
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def find_oversized(name: str, source: str) -> Iterator[str]:
    lines = source.count("\n") + 1
    if lines > MAX_FILE_LINES:
        yield f"{name} has {lines} lines, at most {MAX_FILE_LINES}"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > MAX_FUNCTION_LINES:
                yield f"{name}:{node.lineno} {node.name} has {size} lines, at most {MAX_FUNCTION_LINES}"


def test_there_are_sources() -> None:
    assert len(SOURCES) > 20


def test_sizes() -> None:
    oversized = [
        fault
        for path in SOURCES
        for fault in find_oversized(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    ]
    assert not oversized, "\n".join(oversized)


def test_a_long_function_and_a_long_file_are_found() -> None:
    long_function = "def f():\n" + "    x = 1\n" * MAX_FUNCTION_LINES
    assert list(find_oversized("a.py", long_function)) == ["a.py:1 f has 61 lines, at most 60"]
    assert list(find_oversized("b.py", "x = 1\n" * MAX_FILE_LINES)) == ["b.py has 401 lines, at most 400"]
