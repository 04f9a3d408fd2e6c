"""Lines of an iCalendar file: folded anywhere, with parameters in quotes, and hostile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.calendars.ics_lines import ContentLine, list_lines
from signet.core.validation.finding import Finding


def read(content: bytes) -> list[tuple[int, str, dict[str, str], str]]:
    found = list(list_lines(content))
    lines = [line for line in found if isinstance(line, ContentLine)]
    assert lines == found
    return [(n, name, dict(parameters), value) for n, name, parameters, value in lines]


def test_a_line_has_a_name_parameters_and_a_value() -> None:
    content = b'DTSTART;VALUE=DATE:20261225\r\nx-a;b="c;d:e";F=g:h:i;"j"\r\n'
    assert read(content) == [
        (1, "DTSTART", {"VALUE": "DATE"}, "20261225"),
        (2, "X-A", {"B": "c;d:e", "F": "g"}, 'h:i;"j"'),
    ]


def test_a_line_may_be_folded_inside_of_a_character_and_begins_where_it_began() -> None:
    folded = "SUMMARY:Mariä".encode()
    content = b"A:1\n" + folded[:-1] + b"\r\n " + folded[-1:] + b"\r\n\t Himmelfahrt\n\nB:2"
    assert read(content) == [(1, "A", {}, "1"), (2, "SUMMARY", {}, "Mariä Himmelfahrt"), (6, "B", {}, "2")]


def test_a_mark_of_the_byte_order_is_no_part_of_the_file() -> None:
    assert read(b"\xef\xbb\xbfA:1") == [(1, "A", {}, "1")]


@given(st.text(st.characters(blacklist_categories=("Cc", "Cs")), max_size=60), st.integers(1, 20))
def test_what_is_folded_is_unfolded(text: str, width: int) -> None:
    line = f"X:{text}".encode()
    folded = b"\r\n ".join(line[i : i + width] for i in range(0, len(line), width))
    assert read(folded) == [(1, "X", {}, text)]


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"A:1\n\xff:2", "ICS_NOT_UTF8"),
        (b"A:1\nno colon", "ICS_SYNTAX"),
        (b'A:1\nB;C="open:2', "ICS_SYNTAX"),
        (b"A:1\n:2", "ICS_SYNTAX"),
        (b"A:1\nB C:2", "ICS_SYNTAX"),
        (b"A:1\nB:\0", "ICS_SYNTAX"),
        (b"A:1\nB:a\rb", "ICS_SYNTAX"),
    ],
)
def test_a_line_that_is_wrong_is_a_finding_with_its_number(content: bytes, code: str) -> None:
    _, finding = list_lines(content)
    assert isinstance(finding, Finding)
    assert (finding.code, finding.place, finding.parameters["line"]) == (code, "line 2", 2)


def test_a_blank_at_the_very_beginning_goes_on_with_nothing() -> None:
    (finding,) = list_lines(b" A:1")
    assert isinstance(finding, Finding) and finding.code == "ICS_SYNTAX"


@pytest.mark.parametrize(
    "content", [b'"' * 300_001, b"a;" * 150_000, b'a"b' * 100_000, b"\n" * 300_000, b"A:\n " * 100_000]
)
def test_a_hostile_line_takes_no_long_time(content: bytes) -> None:
    """Each of them would take hours where time grows with the square of the length."""
    assert len(list(list_lines(content))) <= 1


@given(st.binary(max_size=200))
def test_any_bytes_are_lines_or_findings(content: bytes) -> None:
    for line in list_lines(content):
        assert isinstance(line, ContentLine | Finding)
