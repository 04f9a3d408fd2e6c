"""`docs/approvals.md` names the people and the paths that the tests go through, and no others."""

import re
from pathlib import Path

from tests.support.separation_of_duties import PATHS, WHO

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "approvals.md").read_text(encoding="utf-8")


def test_the_paths_of_the_page_are_those_that_are_tried() -> None:
    table = PAGE.partition("| a barred person |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| ([a-z ]+) \|", table, re.MULTILINE) == list(PATHS)


def test_so_are_the_people() -> None:
    listed = PAGE.partition("<!-- who -->")[2].partition("<!-- end -->")[0]
    assert " ".join(listed.split()).split(", ") == list(WHO)
