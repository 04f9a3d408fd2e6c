"""The generated tables of docs/ are what the sources say."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.architecture.test_truth_invariants import HOLD
from tests.docs.invariants import INVARIANTS, PACKAGE, ROOT, Invariant
from tests.docs.tables import DOCS, PAGES, renew
from tests.mutants.table import MUTATIONS
from tests.support.changed_lines import expect_fresh, list_changes

Tables = Mapping[str, Callable[[], Iterator[str]]]
INVARIANTS_PAGE = (DOCS / "invariants.md").read_text(encoding="utf-8")
SCHEMA = (ROOT / "migrations" / "schema.sql").read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "tables"), PAGES.items(), ids=lambda value: getattr(value, "name", None))
def test_a_page_has_its_tables_as_they_are(page: Path, tables: Tables) -> None:
    text = page.read_text(encoding="utf-8")
    expect_fresh(text, renew(text, tables), "make tables")


def test_a_stale_table_is_found() -> None:
    page = "<!-- a -->\nold\n<!-- end of a -->\n"
    assert renew(page, {"a": lambda: iter(["new"])}) == page.replace("old", "new")
    with pytest.raises(AssertionError, match="no place for the table b"):
        renew(page, {"b": lambda: iter(["new"])})


def test_the_failure_of_a_stale_page_is_its_changed_lines_alone() -> None:
    page = "".join(f"line {number}\n" for number in range(100))
    with pytest.raises(AssertionError) as failure:
        expect_fresh(page, page.replace("line 50\n", "line fifty\nand more\n"), "make it")
    assert str(failure.value).split("\nassert")[0].splitlines() == [
        "run: make it",
        "-line 50",
        "+line fifty",
        "+and more",
    ]
    assert list_changes(page, page.upper())[-1] == "…" and list_changes(page, page) == []


def test_every_invariant_has_a_section() -> None:
    assert [invariant.number for invariant in INVARIANTS] == sorted(HOLD)
    headings = re.findall(r"^## WF-(\d\d)$", INVARIANTS_PAGE, re.MULTILINE)
    assert [int(number) for number in headings] == sorted(HOLD)


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda invariant: invariant.name)
def test_a_section_names_what_is_there(invariant: Invariant) -> None:
    assert invariant.modules or invariant.sql
    assert [path for path in invariant.modules if not (PACKAGE / path).is_file()] == []
    assert [name for name in invariant.sql if not re.search(rf"\b{name}\b", SCHEMA)] == []
    assert invariant.test_file.is_file()


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda invariant: invariant.name)
def test_a_section_lists_the_mutants_of_its_invariant(invariant: Invariant) -> None:
    section = INVARIANTS_PAGE.partition(f"## {invariant.name}\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^  - (.+)$", section.partition("- Mutants:\n")[2], re.MULTILINE)
    assert listed == [m.name for m in MUTATIONS if m.invariant == invariant.number] != []
