"""Every relative link, every anchor and every path that a Markdown page names leads to something."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.test_addresses import ROOT, list_committed_files

FILES = list_committed_files()
PAGES = sorted(path for path in FILES if path.suffix == ".md")
NAMES = {path.name for path in FILES}
# A page may shorten a path by what all of its paths have in common.
BASES = (ROOT, ROOT / "shared" / "signet", ROOT / "tests")
FOLDERS = {path.name for base in BASES for path in base.iterdir() if path.is_dir() and path.name[0] != "."}
SUFFIXES = {".py", ".sql", ".md", ".toml", ".json", ".yaml", ".txt", ".in", ".html"}
# These are made by a target and never committed.
MADE = tuple(
    line for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines() if line.endswith("/")
)
_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
_PATH = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/?)`")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def find_broken_links(page: Path, text: str) -> Iterator[str]:
    for link in _LINK.findall(_FENCE.sub("", text)):
        target, _, anchor = link.partition("#")
        path = page.parent / target
        if not path.exists() or (anchor and anchor not in list_anchors(read(path) if target else text)):
            yield link


def list_anchors(text: str) -> set[str]:
    """Return the anchors that repository hosts make of a page's headings."""
    headings = _HEADING.findall(_FENCE.sub("", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def find_broken_paths(page: Path, text: str) -> Iterator[str]:
    for name in _PATH.findall(_FENCE.sub("", text)):
        if is_path(name) and not is_there(page, name):
            yield name


def is_path(name: str) -> bool:
    if name.startswith(MADE) or "NNNN" in name:
        return False
    if "/" not in name:
        return Path(name).suffix in SUFFIXES
    return name.endswith("/") or Path(name).suffix in SUFFIXES or name.partition("/")[0] in FOLDERS


def is_there(page: Path, name: str) -> bool:
    if "/" not in name:
        return name in NAMES
    return any((base / name).exists() for base in (*BASES, page.parent))


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert list(find_broken_links(page, read(page))) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_are_there(page: Path) -> None:
    assert list(find_broken_paths(page, read(page))) == []


PAGE = ROOT / "docs" / "page.md"


def test_broken_links_are_found() -> None:
    links = ["gone.md", "api.md#no-such-heading", "#nor-here"]
    text = "# A heading, here\n" + " ".join(f"[x]({link})" for link in [*links, "api.md#tokens-of-people"])
    assert list(find_broken_links(PAGE, f"{text} [x](#a-heading-here) [x](https://a.example)")) == links


def test_broken_paths_are_found() -> None:
    gone = ["core/gone.py", "gone.py", "engine/gone", "unit/gone/"]
    there = ["core/errors.py", "errors.py", "engine/documents", "unit/", "api.md", "build/lambda/", "a/b"]
    text = " ".join(f"`{name}`" for name in [*gone, *there])
    assert list(find_broken_paths(PAGE, f"{text} `/v1/gone.json` `make gone.py`")) == gone
