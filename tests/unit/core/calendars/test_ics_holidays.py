"""Holidays from an iCalendar file: what becomes one, what does not, and what is bounded."""

from datetime import date, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from signet.core.calendars import ics_holidays
from signet.core.calendars.business_calendar import MAX_HOLIDAYS, CoveredYears
from signet.core.calendars.ics_holidays import ImportedHolidays, import_holidays
from signet.core.calendars.ics_lines import MAX_ICS_BYTES
from signet.core.validation.finding import Severity
from signet.core.validation.messages.calendars import ICS
from signet.core.validation.model_errors import MAX_MISTAKES

YEARS = CoveredYears(first=2026, last=2028)
BERLIN = ZoneInfo("Europe/Berlin")
DAY = ("DTSTART;VALUE=DATE:20261225", "SUMMARY:Christmas")


def write(*events: tuple[str, ...]) -> bytes:
    lines = [line for event in events for line in ("BEGIN:VEVENT", *event, "END:VEVENT")]
    return "\r\n".join(["BEGIN:VCALENDAR", *lines, "END:VCALENDAR", ""]).encode()


def load(*events: tuple[str, ...], opaque_only: bool = False) -> ImportedHolidays:
    return import_holidays(write(*events), YEARS, BERLIN, opaque_only=opaque_only)


def list_dates(*events: tuple[str, ...]) -> list[str]:
    holidays, findings = load(*events)
    assert findings == ()
    return [str(holiday.date) for holiday in holidays]


def test_a_date_is_a_holiday_with_its_name() -> None:
    holidays, findings = load(DAY)
    assert [(str(holiday.date), holiday.name) for holiday in holidays] == [("2026-12-25", "Christmas")]
    assert findings == ()


def test_the_end_is_no_part_of_an_event() -> None:
    assert list_dates((*DAY, "DTEND;VALUE=DATE:20261226")) == ["2026-12-25"]
    assert list_dates((*DAY, "DTEND;VALUE=DATE:20261227")) == ["2026-12-25", "2026-12-26"]
    assert list_dates((*DAY, "DURATION:P2D")) == ["2026-12-25", "2026-12-26"]


def test_only_the_years_that_are_wanted_are_imported() -> None:
    over = ("DTSTART;VALUE=DATE:20251230", "DTEND;VALUE=DATE:20260103")
    beyond = ("DTSTART;VALUE=DATE:20281231", "DTEND;VALUE=DATE:20290103")
    yearly = ("DTSTART;VALUE=DATE:20101231", "DTEND;VALUE=DATE:20110102", "RRULE:FREQ=YEARLY")
    assert list_dates(over) == ["2026-01-01", "2026-01-02"]
    assert list_dates(beyond) == ["2028-12-31"]
    assert list_dates(yearly) == [
        "2026-01-01",
        "2026-12-31",
        "2027-01-01",
        "2027-12-31",
        "2028-01-01",
        "2028-12-31",
    ]


def test_a_long_event_that_begins_the_year_before_is_found() -> None:
    long = ("DTSTART;VALUE=DATE:20200101", "DURATION:P366D", "RRULE:FREQ=YEARLY;COUNT=6")
    assert list_dates(long) == ["2026-01-01"]


def test_a_rule_repeats_without_what_is_excluded_and_with_what_is_added() -> None:
    rule = ("DTSTART;VALUE=DATE:20261126", "RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH")
    assert list_dates(rule) == ["2026-11-26", "2027-11-25", "2028-11-23"]
    changed = (*rule, "EXDATE;VALUE=DATE:20271125", "RDATE;VALUE=DATE:20271126")
    assert list_dates(changed) == ["2026-11-26", "2027-11-26", "2028-11-23"]


def test_an_event_may_take_the_place_of_a_repeated_one() -> None:
    master = ("UID:a", "DTSTART;VALUE=DATE:20260501", "RRULE:FREQ=YEARLY")
    moved = ("UID:a", "RECURRENCE-ID;VALUE=DATE:20270501", "DTSTART;VALUE=DATE:20270503")
    cancelled = (
        "UID:a",
        "RECURRENCE-ID;VALUE=DATE:20280501",
        "DTSTART;VALUE=DATE:20280501",
        "STATUS:CANCELLED",
    )
    other = ("UID:b", "DTSTART;VALUE=DATE:20280501")
    assert list_dates(master, moved, cancelled) == ["2026-05-01", "2027-05-03"]
    assert list_dates(moved, cancelled, other, master) == ["2026-05-01", "2027-05-03", "2028-05-01"]


def test_an_event_without_a_uid_takes_no_place() -> None:
    master = ("DTSTART;VALUE=DATE:20260501",)
    moved = ("RECURRENCE-ID;VALUE=DATE:20260501", "DTSTART;VALUE=DATE:20260504")
    assert list_dates(master, moved) == ["2026-05-01", "2026-05-04"]


def test_what_is_cancelled_is_no_holiday() -> None:
    assert list_dates((*DAY, "STATUS:CANCELLED")) == []
    assert list_dates((*DAY, "STATUS:TENTATIVE")) == ["2026-12-25"]


def test_events_that_take_no_time_are_holidays_unless_they_are_left_out() -> None:
    transparent = ("DTSTART;VALUE=DATE:20261224", "TRANSP:TRANSPARENT")
    assert list_dates(DAY, transparent) == ["2026-12-24", "2026-12-25"]
    holidays, _ = load(DAY, transparent, opaque_only=True)
    assert [str(holiday.date) for holiday in holidays] == ["2026-12-25"]


def test_whole_days_with_times_are_holidays() -> None:
    assert list_dates(("DTSTART:20261225T000000", "DTEND:20261227T000000")) == ["2026-12-25", "2026-12-26"]
    assert list_dates(("DTSTART;TZID=Asia/Tokyo:20261225T000000", "DURATION:PT24H")) == ["2026-12-25"]


def test_moments_in_utc_are_dates_of_the_zone() -> None:
    assert list_dates(("DTSTART:20261224T230000Z", "DTEND:20261225T230000Z")) == ["2026-12-25"]
    # A day of 23 hours, from midnight to midnight.
    assert list_dates(("DTSTART:20260328T230000Z", "DTEND:20260329T220000Z")) == ["2026-03-29"]


@pytest.mark.parametrize(
    ("event", "dates"),
    [
        (("DTSTART:20261224T120000", "DTEND:20261225T000000"), []),
        (("DTSTART:20261224T120000", "DTEND:20261226T000000"), ["2026-12-25"]),
        (("DTSTART:20261224T000000", "DTEND:20261225T120000"), ["2026-12-24"]),
        (("DTSTART:20261225T000000Z", "DTEND:20261226T000000Z"), []),
        (("DTSTART:20261224T000000",), []),
        (("DTSTART:20200229T100000", "DTEND:20200229T110000", "RRULE:FREQ=YEARLY"), []),
    ],
)
def test_a_part_of_a_day_is_no_holiday_and_is_named_once(event: tuple[str, ...], dates: list[str]) -> None:
    holidays, findings = load(event)
    assert [str(holiday.date) for holiday in holidays] == dates
    assert [(f.code, f.place, f.severity) for f in findings] == [
        ("ICS_PART_OF_DAY", "line 2", Severity.WARNING)
    ]


@pytest.mark.parametrize(
    "times", [("DTSTART:20251224T120000", "DURATION:PT1H"), ("DTSTART:20290101T120000", "DURATION:PT1H")]
)
def test_a_part_of_a_day_of_another_year_is_not_named(times: tuple[str, ...]) -> None:
    assert load(times) == ((), ())


def test_a_rule_that_does_not_give_its_start_leaves_it_out_and_says_so() -> None:
    holidays, findings = load(("DTSTART;VALUE=DATE:20260101", "RRULE:FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=1"))
    assert [str(holiday.date) for holiday in holidays] == ["2026-05-01", "2027-05-01", "2028-05-01"]
    assert [(finding.code, finding.place) for finding in findings] == [("ICS_START_OUTSIDE_RULE", "line 4")]


def test_names_of_one_date_are_joined_once_each_and_cut() -> None:
    again = ("DTSTART;VALUE=DATE:20261225", "SUMMARY:Sunday")
    holidays, _ = load(DAY, again, DAY, ("DTSTART;VALUE=DATE:20261225",))
    assert holidays[0].name == "Christmas / Sunday / Holiday"
    holidays, _ = load(("DTSTART;VALUE=DATE:20261225", f"SUMMARY:{'x' * 500}"))
    assert holidays[0].name == "x" * 200


def test_an_event_that_is_wrong_leaves_no_holidays() -> None:
    holidays, findings = load(DAY, ("SUMMARY:x",))
    assert holidays == ()
    assert [finding.code for finding in findings] == ["ICS_START_MISSING"]


def test_findings_are_bounded_and_warnings_hide_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(load(*[("SUMMARY:x",)] * (MAX_MISTAKES + 5)).findings) == MAX_MISTAKES
    partial = ("DTSTART:20261224T120000", "DURATION:PT1H")
    monkeypatch.setattr(ics_holidays, "MAX_HOLIDAYS", 1)
    other = ("DTSTART;VALUE=DATE:20261226",)
    holidays, findings = load(*[partial] * (MAX_MISTAKES + 5), DAY, other)
    assert (len(findings), findings[0].code, holidays) == (MAX_MISTAKES, "ICS_HOLIDAYS_TOO_MANY", ())


def test_a_large_file_is_refused_unread() -> None:
    holidays, findings = import_holidays(b"x" * (MAX_ICS_BYTES + 1), YEARS, BERLIN)
    assert (holidays, [finding.code for finding in findings]) == ((), ["ICS_TOO_LARGE"])


def test_holidays_are_bounded() -> None:
    years = CoveredYears(first=2026, last=2045)
    weekends = ("DTSTART;VALUE=DATE:20260103", "RRULE:FREQ=YEARLY;BYDAY=SA,SU")
    holidays, findings = import_holidays(write(weekends), years, BERLIN)
    assert (holidays, [finding.code for finding in findings]) == ((), ["ICS_HOLIDAYS_TOO_MANY"])
    month = ("DTSTART;VALUE=DATE:20260103", f"RRULE:FREQ=YEARLY;BYDAY=SA;COUNT={MAX_HOLIDAYS}")
    assert len(import_holidays(write(month), years, BERLIN).holidays) == MAX_HOLIDAYS


ALL_DAYS = "RRULE:FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU"


@pytest.mark.parametrize(
    "event",
    [
        # From the year 1600 on, with a count, and the date that never comes.
        ("DTSTART;VALUE=DATE:16000101", "RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=9"),
        # Each day of each year, and each of them a year long.
        ("DTSTART;VALUE=DATE:20260101", "DURATION:P366D", ALL_DAYS),
    ],
)
def test_what_rules_may_cost_is_bounded(event: tuple[str, ...]) -> None:
    one_year = CoveredYears(first=2026, last=2026)
    holidays, findings = import_holidays(write(*[event] * 40), one_year, BERLIN)
    assert holidays == ()
    assert findings[0].code == "ICS_RULES_TOO_LONG"


DAYS = st.dates(date(2024, 1, 1), date(2030, 1, 1))


@given(st.lists(st.tuples(DAYS, st.integers(1, 30), st.booleans()), max_size=8))
@settings(deadline=None)
def test_imported_dates_are_those_that_the_events_cover(events: list[tuple[date, int, bool]]) -> None:
    written, wanted = [], set[date]()
    for start, length, repeats in events:
        end = start + timedelta(days=length)
        rule = (
            (f"RRULE:FREQ=YEARLY;INTERVAL=2;BYMONTH={start.month};BYMONTHDAY={start.day}",) if repeats else ()
        )
        written.append((f"DTSTART:{start:%Y%m%d}", f"DTEND:{end:%Y%m%d}", *rule))
        for year in range(start.year, 2031, 2) if repeats else [start.year]:
            try:
                first = start.replace(year=year)
            except ValueError:
                continue
            wanted |= {first + timedelta(days=n) for n in range(length)}
    holidays, findings = load(*written)
    assert findings == ()
    assert [holiday.date for holiday in holidays] == sorted(day for day in wanted if 2026 <= day.year <= 2028)


def test_each_finding_of_an_import_is_named_by_a_test_of_this_room() -> None:
    here = Path(__file__).parent
    text = "".join(path.read_text(encoding="utf-8") for path in here.glob("test_ics_*.py"))
    assert [code for code in ICS if f'"{code}"' not in text] == []
