"""The stretches of a zone's clock: whole, in order, and each with what the clock shows."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from signet.core.calendars.zone_clock import (
    list_stretches,
    list_stretches_of_day,
    make_instant,
    read_wall,
)
from signet.core.errors import Defect

BERLIN = ZoneInfo("Europe/Berlin")
SPRING = datetime(2026, 3, 29, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_change_parts_two_stretches() -> None:
    found = list(list_stretches(BERLIN, SPRING - 30 * HOUR, SPRING + 30 * HOUR))
    assert found == [(SPRING - 30 * HOUR, SPRING, HOUR), (SPRING, SPRING + 30 * HOUR, 2 * HOUR)]


@pytest.mark.parametrize("length", [HOUR, 12 * HOUR, 24 * HOUR])
def test_a_change_at_an_end_makes_no_empty_stretch(length: timedelta) -> None:
    assert list(list_stretches(BERLIN, SPRING - length, SPRING)) == [(SPRING - length, SPRING, HOUR)]
    assert list(list_stretches(BERLIN, SPRING, SPRING + length)) == [(SPRING, SPRING + length, 2 * HOUR)]
    assert list(list_stretches(BERLIN, SPRING, SPRING)) == []


def test_a_stretch_begins_at_any_instant() -> None:
    start = SPRING - timedelta(hours=7, microseconds=3)
    assert [each.start for each in list_stretches(BERLIN, start, SPRING + HOUR)] == [start, SPRING]


def test_a_stretch_reads_and_finds() -> None:
    _, summer = list_stretches(BERLIN, SPRING - HOUR, SPRING + HOUR)
    assert summer.read(SPRING) == read_wall(BERLIN, SPRING) == datetime.fromisoformat("2026-03-29T03:00")
    assert summer.find_instant(datetime.fromisoformat("2026-03-29T03:00")) == SPRING


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "Europe/Berlin"])
def test_the_stretches_of_a_date_hold_all_of_it(zone: str) -> None:
    here = ZoneInfo(zone)
    stretches = list(list_stretches_of_day(here, date(2026, 3, 29)))
    midnight = datetime(2026, 3, 29, tzinfo=here).astimezone(UTC)
    assert stretches[0].start <= midnight
    assert stretches[-1].end >= datetime(2026, 3, 30, tzinfo=here).astimezone(UTC)


def test_a_moment_without_a_zone_is_none() -> None:
    with pytest.raises(Defect, match="no time zone"):
        make_instant(datetime.fromisoformat("2026-01-01"))
