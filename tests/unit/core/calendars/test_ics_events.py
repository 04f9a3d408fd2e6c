"""Events of an iCalendar file: their parts, and what is refused with its line."""

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signet.core.calendars.ics_events import (
    MAX_DEPTH,
    MAX_EVENTS,
    MAX_LISTED_DATES,
    IcsEvent,
    IcsMoment,
    read_events,
)
from signet.core.validation.finding import Finding

CHRISTMAS = "DTSTART;VALUE=DATE:20261225"


def wrap(*lines: str) -> bytes:
    """Make a calendar with one event; its first line is the third of the file."""
    event = ["BEGIN:VEVENT", *lines, "END:VEVENT"]
    return "\r\n".join(["BEGIN:VCALENDAR", *event, "END:VCALENDAR", ""]).encode()


def read(*lines: str) -> IcsEvent:
    (event,) = read_events(wrap(*lines))
    assert isinstance(event, IcsEvent), event
    return event


def find(content: bytes) -> list[tuple[str, str]]:
    return [(read.code, read.place) for read in read_events(content) if isinstance(read, Finding)]


def test_an_event_has_all_its_parts() -> None:
    event = read(
        "UID:a@b",
        "SUMMARY:Fronleichnam\\, \\n NRW",
        "DTSTART;TZID=Europe/Berlin:20260604T080000",
        "DTEND;TZID=Europe/Berlin:20260604T100000",
        "RRULE:FREQ=YEARLY;UNTIL=99991231T235959Z",
        "EXDATE;VALUE=DATE:20270604,20280604",
        "EXDATE:20290604T080000Z",
        "RDATE:20270527",
        "RECURRENCE-ID:20260604T080000",
        "STATUS:cancelled",
        "TRANSP:transparent",
        "BEGIN:VALARM",
        "DTSTART:nonsense",
        "END:VALARM",
        "X-UNKNOWN;A=B:1",
    )
    assert (event.line, event.uid, event.name) == (2, "a@b", "Fronleichnam, NRW")
    assert event.start == IcsMoment(datetime.fromisoformat("2026-06-04T08:00"), "wall")
    assert event.length == timedelta(hours=2)
    assert event.rule is not None and event.rule.until == date(9999, 12, 31)
    assert event.rule_line == 7
    assert event.excluded == {date(2027, 6, 4), date(2028, 6, 4), date(2029, 6, 4)}
    assert event.added == {date(2027, 5, 27)}
    assert event.replaces == date(2026, 6, 4)
    assert event.is_cancelled and event.is_transparent


def test_what_is_left_out_has_its_default() -> None:
    event = read(CHRISTMAS)
    assert (event.uid, event.name, event.rule, event.rule_line) == ("", "", None, 2)
    assert (event.length, event.replaces) == (timedelta(days=1), None)
    assert not event.added and not event.excluded
    assert not event.is_cancelled and not event.is_transparent
    assert read("DTSTART:20261225T000000Z").start.kind == "utc"
    assert read("DTSTART:20261225T000000").length == timedelta(0)


@pytest.mark.parametrize(
    ("lines", "length"),
    [
        (["DTEND;VALUE=DATE:20261227"], timedelta(days=2)),
        (["DURATION:P1D"], timedelta(days=1)),
        (["DURATION:+P2W"], timedelta(weeks=2)),
        (["DURATION:P1DT2H3M4S"], timedelta(days=1, hours=2, minutes=3, seconds=4)),
        (["DURATION:PT24H"], timedelta(days=1)),
    ],
)
def test_an_event_has_a_length(lines: list[str], length: timedelta) -> None:
    assert read(CHRISTMAS, *lines).length == length


@pytest.mark.parametrize(
    ("lines", "code", "line"),
    [
        (["SUMMARY:x"], "ICS_START_MISSING", 2),
        ([CHRISTMAS, "DTSTART:20261226"], "ICS_PROPERTY_TWICE", 4),
        (["DTSTART:20260229"], "ICS_DATE_INVALID", 3),
        (["DTSTART:20261225T240000"], "ICS_DATE_INVALID", 3),
        (["DTSTART:20261225T08"], "ICS_DATE_INVALID", 3),
        (["DTSTART:2026-12-25"], "ICS_DATE_INVALID", 3),
        (["DTSTART:00010101"], "ICS_DATE_INVALID", 3),
        (["DTSTART:99991231"], "ICS_DATE_INVALID", 3),
        ([CHRISTMAS, "DTEND:x"], "ICS_DATE_INVALID", 4),
        ([CHRISTMAS, "RECURRENCE-ID:x"], "ICS_DATE_INVALID", 4),
        ([CHRISTMAS, "EXDATE:20261225,x"], "ICS_DATE_INVALID", 4),
        ([CHRISTMAS, "RDATE:20261225/P1D"], "ICS_DATE_INVALID", 4),
        ([CHRISTMAS, "RDATE:99991231"], "ICS_DATE_INVALID", 4),
        ([CHRISTMAS, "DTEND:20261225"], "ICS_END_INVALID", 4),
        ([CHRISTMAS, "DTEND:20261224"], "ICS_END_INVALID", 4),
        ([CHRISTMAS, "DTEND:20261226T000000"], "ICS_END_INVALID", 4),
        (["DTSTART:20261225T000000Z", "DTEND:20261226T000000"], "ICS_END_INVALID", 4),
        ([CHRISTMAS, "DTEND:20261226", "DURATION:P1D"], "ICS_END_INVALID", 5),
        ([CHRISTMAS, "DURATION:-P1D"], "ICS_END_INVALID", 4),
        ([CHRISTMAS, "DURATION:P"], "ICS_END_INVALID", 4),
        ([CHRISTMAS, "DURATION:P1Y"], "ICS_END_INVALID", 4),
        ([CHRISTMAS, "DURATION:P367D"], "ICS_EVENT_TOO_LONG", 4),
        ([CHRISTMAS, "RRULE:FREQ=DAILY"], "ICS_RULE_UNSUPPORTED", 4),
        ([CHRISTMAS, "RRULE:FREQ=YEARLY;COUNT=x"], "ICS_RULE_INVALID", 4),
        ([CHRISTMAS, "RRULE:FREQ=YEARLY;UNTIL=x"], "ICS_RULE_INVALID", 4),
        ([CHRISTMAS, "EXRULE:FREQ=YEARLY"], "ICS_RULE_UNSUPPORTED", 4),
    ],
)
def test_an_event_that_is_wrong_is_refused_with_its_line(lines: list[str], code: str, line: int) -> None:
    assert find(wrap(*lines)) == [(code, f"line {line}")]


def test_each_wrong_event_is_told() -> None:
    content = wrap(
        "SUMMARY:x",
        "END:VEVENT",
        "BEGIN:VEVENT",
        CHRISTMAS,
        CHRISTMAS,
        "END:VEVENT",
        "BEGIN:VEVENT",
        "DTSTART:x",
    )
    assert find(content) == [
        ("ICS_START_MISSING", "line 2"),
        ("ICS_PROPERTY_TWICE", "line 7"),
        ("ICS_DATE_INVALID", "line 10"),
    ]


def test_dates_that_an_event_lists_are_bounded() -> None:
    days = [date(2020, 1, 1) + timedelta(days=n) for n in range(MAX_LISTED_DATES + 1)]
    written = [f"{day:%Y%m%d}" for day in days]
    assert find(wrap(CHRISTMAS, f"RDATE:{','.join(written[1:])}")) == []
    assert find(wrap(CHRISTMAS, f"RDATE:{','.join(written)}")) == [("ICS_TOO_MANY_DATES", "line 4")]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", 1),
        (b"\r\n\r\n", 1),
        (b"hello: world", 1),
        (b"BEGIN:VEVENT\nEND:VEVENT", 1),
        (b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nEND:VCALENDAR", 3),
        (b"BEGIN:VCALENDAR\nEND:VCALENDAR\nEND:VCALENDAR", 3),
        (b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225", 3),
        (b"BEGIN:VCALENDAR\nno colon", 2),
        (b"BEGIN:VCALENDAR\n" + b"BEGIN:X\n" * MAX_DEPTH, MAX_DEPTH + 1),
    ],
)
def test_a_file_that_is_no_calendar_ends_where_it_is_wrong(content: bytes, line: int) -> None:
    assert find(content) == [("ICS_SYNTAX", f"line {line}")]


def test_several_calendars_may_stand_in_a_file() -> None:
    assert len(list(read_events(wrap(CHRISTMAS) * 2))) == 2


def test_events_are_bounded() -> None:
    event = f"BEGIN:VEVENT\n{CHRISTMAS}\nEND:VEVENT\n"
    content = f"BEGIN:VCALENDAR\n{event * MAX_EVENTS}{{}}END:VCALENDAR\n"
    assert find(content.format("").encode()) == []
    (found,) = find(content.format(event).encode())
    assert found == ("ICS_EVENTS_TOO_MANY", f"line {MAX_EVENTS * 3 + 2}")


NAMES = ("BEGIN", "END", "DTSTART", "DTEND", "DURATION", "RRULE", "EXDATE", "RDATE", "RECURRENCE-ID", "UID")
VALUES = (
    "VCALENDAR",
    "VEVENT",
    "20261225",
    "20261225T120000Z",
    "P1D",
    "FREQ=YEARLY",
    "FREQ=YEARLY;COUNT=2",
    "x",
)
LINES = st.builds(
    lambda name, value: f"{name}:{value}", st.sampled_from(NAMES), st.sampled_from(VALUES) | st.text()
)


@given(st.lists(LINES, max_size=12))
@settings(max_examples=200)
def test_any_lines_are_events_or_findings(lines: list[str]) -> None:
    for content in (wrap(*lines), "\n".join(lines).encode("utf-8", "surrogatepass")):
        for found in read_events(content):
            assert isinstance(found, IcsEvent | Finding)
