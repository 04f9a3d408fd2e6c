"""Plain English in docstrings, comments and pages; no name that the glossary has replaced."""

import ast
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.architecture.prose import (
    find_docstring_faults,
    find_page_faults,
    find_source_faults,
    find_text_faults,
)

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
PRODUCT = ("shared", "functions")
# These are generated, or worded by law.
NOT_OURS = ("docs/isolation.md", "LICENSE")


def list_files(suffix: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", f"*{suffix}"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    return [Path(name) for name in sorted(names) if name not in NOT_OURS]


def read_replaced_words(glossary: str) -> frozenset[str]:
    table = glossary.partition("## Words that were replaced")[2]
    rows = [line.split("|")[1] for line in table.split("\n") if line.startswith("| `")]
    return frozenset(word for row in rows for word in re.findall(r"`(\w+)`", row))


def list_names(file: str, source: str) -> Iterator[str]:
    """Yield the module's name, its classes and its functions; leading underscores do not count."""
    yield Path(file).stem
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name.lstrip("_")


SOURCES, PAGES = list_files(".py"), list_files(".md")
PRODUCT_SOURCES = [path for path in SOURCES if path.parts[0] in PRODUCT]


def expect_none(find: Callable[[str], Iterable[str]], paths: list[Path]) -> None:
    """Look at all files in one test: to schedule one for each costs more than to look."""
    found = [
        f"{path}: {fault}" for path in paths for fault in find((ROOT / path).read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_modules_are_in_plain_english() -> None:
    expect_none(find_source_faults, SOURCES)


def test_the_texts_of_modules_are_in_plain_english() -> None:
    expect_none(find_text_faults, PRODUCT_SOURCES)


def test_pages_are_in_plain_english() -> None:
    expect_none(find_page_faults, PAGES)


def test_no_name_is_one_that_was_replaced() -> None:
    replaced = read_replaced_words(GLOSSARY.read_text(encoding="utf-8"))
    assert len(replaced) > 100
    found = {
        f"{path}: {name}"
        for path in PRODUCT_SOURCES
        for name in list_names(path.as_posix(), (ROOT / path).read_text(encoding="utf-8"))
        if name in replaced
    }
    assert found == set()


@pytest.mark.parametrize(
    "docstring",
    [
        "Whose votes count.",
        "of its newest instance.",
        "Return the person whom it is for.",
        "Return " + "word " * 26 + ".",
    ],
)
def test_a_fault_of_a_docstring_is_found(docstring: str) -> None:
    assert len(list(find_docstring_faults(docstring))) == 1


def test_plain_docstrings_are_let_be() -> None:
    assert list(find_docstring_faults("Return the votes that count. Others are kept.\n\n    he = 1\n")) == []


def test_comments_are_read_together_and_directives_not_at_all() -> None:
    source = "# One two\n# three whoever.\nx = 1  # type: ignore\n"
    assert list(find_source_faults(source)) == ["1: says 'whoever'"]


@pytest.mark.parametrize(
    "text",
    [
        'raise Rejected("CODE_OF_IT", "the message does not say whom it is for")',
        'FieldError("/a", "CODE", f"{name} is his already")',
        'TEXTS = {"CODE": ("error", "It begins anew.", "Ask somebody.")}',
        'yield f"{count} votes of {names}, whoever gave them."',
    ],
)
def test_a_fault_of_a_text_is_found(text: str) -> None:
    assert list(find_text_faults(text))


def test_docstrings_codes_and_kept_texts_are_no_faults_of_a_text() -> None:
    source = 'def f(he):\n    """Of him."""\n    return he["`his`"], "LEASE_LOST: whoever had it"\n'
    assert list(find_text_faults(source)) == []


def test_a_fault_of_a_page_is_found_and_code_is_let_be() -> None:
    assert list(find_page_faults("# Head\n\n```\nhe\n```\n\n- a `him`\n- his\n")) == ["says 'his'"]


def test_replaced_words_are_read_and_found() -> None:
    glossary = "## Words that were replaced\n\n| refused | say |\n|---|---|\n| `Way`, `ways` | `Edge` |\n"
    assert read_replaced_words(glossary) == {"Way", "ways"}
    assert set(list_names("a/way.py", "class Way:\n    def _ways(self): ...")) == {"way", "Way", "ways"}
