"""Mistakes in a business calendar are told at their places, all of them at once."""

from typing import Any

import pytest

from signet.core.calendars.business_calendar import MAX_HALF_DAYS, MAX_HOLIDAYS, MAX_SPANS, MAX_WORKED_DAYS
from signet.core.calendars.calendar_reader import parse_calendar
from signet.core.validation.finding import Severity
from signet.core.validation.messages.calendars import CALENDAR
from tests.support.core.calendars import OFFICE, vary

CHRISTMAS = {"date": "2026-12-25", "name": "Christmas"}
NEW_YEAR = {"date": "2027-01-01", "name": "New Year"}


def find(document: Any) -> list[tuple[str, str]]:
    return [(finding.code, finding.place) for finding in parse_calendar(document)[1]]


def test_the_office_is_in_order() -> None:
    assert find(OFFICE) == []


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"years": {"first": 2027, "last": 2026}}, "CALENDAR_YEARS_INVALID", "/years"),
    ({"years": {"first": 2020, "last": 2040}}, "CALENDAR_YEARS_INVALID", "/years"),
    ({"hours": {}, "worked_days": [], "half_days": []}, "CALENDAR_WITHOUT_HOURS", "/hours"),
    (
        {"hours": {"thursday": ["09:00-12:00", "11:59-17:00"]}},
        "CALENDAR_HOURS_OVERLAP",
        "/hours/thursday/1",
    ),
    (
        {"hours": {"thursday": ["13:00-17:00", "09:00-12:00"]}},
        "CALENDAR_HOURS_OVERLAP",
        "/hours/thursday/1",
    ),
    (
        {"worked_days": [{"date": "2026-12-26", "name": "x", "hours": ["09:00-12:00", "10:00-13:00"]}]},
        "CALENDAR_HOURS_OVERLAP",
        "/worked_days/0/hours/1",
    ),
    ({"holidays": [CHRISTMAS, NEW_YEAR, CHRISTMAS]}, "CALENDAR_DATE_TWICE", "/holidays/2/date"),
    (
        {"holidays": [CHRISTMAS, NEW_YEAR, {"date": "2026-12-24", "name": "x"}]},
        "CALENDAR_DATE_TWICE",
        "/half_days/0/date",
    ),
    (
        {"worked_days": [{"date": "2026-12-25", "name": "x", "hours": ["09:00-12:00"]}]},
        "CALENDAR_DATE_TWICE",
        "/worked_days/0/date",
    ),
    (
        {"holidays": [CHRISTMAS, NEW_YEAR, {"date": "2028-01-01", "name": "x"}]},
        "CALENDAR_DATE_OUTSIDE",
        "/holidays/2/date",
    ),
    (
        {"half_days": [{"date": "2026-12-24", "name": "x", "until": "09:00"}]},
        "CALENDAR_HALF_DAY_EMPTY",
        "/half_days/0",
    ),
    (
        {"half_days": [{"date": "2026-12-27", "name": "x", "until": "12:00"}]},
        "CALENDAR_HALF_DAY_EMPTY",
        "/half_days/0",
    ),
    ({"calendar": "Office"}, "FIELD_INVALID", "/calendar"),
    ({"zone": "../etc/passwd"}, "FIELD_INVALID", "/zone"),
    ({"years": {"first": 2011, "last": 2012}}, "FIELD_INVALID", "/years/first"),
    ({"hours": {"funday": ["09:00-12:00"]}}, "FIELD_INVALID", "/hours/funday"),
    ({"hours": {"friday": ["22:00-06:00"]}}, "FIELD_INVALID", "/hours/friday/0"),
    ({"hours": {"friday": ["09:00-10:00"] * (MAX_SPANS + 1)}}, "FIELD_INVALID", "/hours/friday"),
    ({"holidays": [CHRISTMAS] * (MAX_HOLIDAYS + 1)}, "FIELD_INVALID", "/holidays"),
    (
        {"half_days": [{"date": "2026-12-24", "name": "x", "until": "12:00"}] * (MAX_HALF_DAYS + 1)},
        "FIELD_INVALID",
        "/half_days",
    ),
    (
        {
            "worked_days": [{"date": "2026-12-26", "name": "x", "hours": ["09:00-12:00"]}]
            * (MAX_WORKED_DAYS + 1)
        },
        "FIELD_INVALID",
        "/worked_days",
    ),
    (
        {"worked_days": [{"date": "2026-12-26", "name": "x", "hours": []}]},
        "FIELD_INVALID",
        "/worked_days/0/hours",
    ),
    ({"holidays": [{"date": "2026-12-32", "name": "x"}]}, "FIELD_INVALID", "/holidays/0/date"),
    ({"holidays": [{"date": "2026-12-25", "name": ""}]}, "FIELD_INVALID", "/holidays/0/name"),
    (
        {"holidays": [{"date": "2026-12-25", "name": "a\0b"}, NEW_YEAR]},
        "DOCUMENT_TEXT_INVALID",
        "/holidays/0/name",
    ),
]


@pytest.mark.parametrize(("changes", "code", "place"), WRONG)
def test_a_mistake_is_told_at_its_place(changes: dict[str, Any], code: str, place: str) -> None:
    assert (code, place) in find(vary(**changes))
    assert parse_calendar(vary(**changes))[0] is None


WARNED: list[tuple[dict[str, Any], str, str]] = [
    ({"holidays": [CHRISTMAS]}, "CALENDAR_YEAR_WITHOUT_HOLIDAYS", "/holidays"),
    (
        {"half_days": [{"date": "2026-12-24", "name": "x", "until": "21:00"}]},
        "CALENDAR_HALF_DAY_WHOLE",
        "/half_days/0",
    ),
    (
        {"holidays": [CHRISTMAS, {"date": "2027-01-01", "name": "N\u0435w"}]},
        "TEXT_UNCLEAR",
        "/holidays/1/name",
    ),
]


@pytest.mark.parametrize(("changes", "code", "place"), WARNED)
def test_a_warning_prevents_nothing(changes: dict[str, Any], code: str, place: str) -> None:
    calendar, findings = parse_calendar(vary(**changes))
    assert calendar is not None
    assert [(f.code, f.place, f.severity) for f in findings] == [(code, place, Severity.WARNING)]


def test_a_calendar_without_any_holiday_is_not_warned_about() -> None:
    assert find(vary(holidays=[])) == []


def test_a_worked_day_alone_is_working_time() -> None:
    assert find(vary(hours={}, half_days=[])) == []


def test_each_finding_of_a_calendar_is_tried_and_is_json() -> None:
    assert {code for _, code, _ in (*WRONG, *WARNED)} >= CALENDAR.keys()
    for changes, _, _ in (*WRONG, *WARNED):
        for finding in parse_calendar(vary(**changes))[1]:
            assert all(isinstance(value, str | int) for value in finding.parameters.values())
