"""The moment at which a timer is due, by each of its forms."""

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from signet.core.calendars.terms import WorkingTerm, read_term
from signet.core.compiler.node_configurations import WaitTimerConfiguration
from signet.core.errors import Defect
from signet.core.moments.due import LAST_MOMENT
from signet.core.schedules.timer_due import find_timer_due
from signet.zones import find_zone

BERLIN = find_zone("Europe/Berlin")
ARRIVED = datetime(2026, 3, 28, 11, tzinfo=UTC)


def find(config: dict[str, Any], until: Any = None, arrived: datetime = ARRIVED) -> datetime | None:
    dumped = WaitTimerConfiguration.model_validate(config).model_dump(mode="json", by_alias=True)
    return find_timer_due(dumped, until, arrived, BERLIN)


@pytest.mark.parametrize(
    ("config", "until", "due"),
    [
        ({"for": "P1D"}, None, "2026-03-29T10:00"),
        ({"for": "PT24H"}, None, "2026-03-29T11:00"),
        ({"for": "P1M"}, None, "2026-04-28T10:00"),
        ({"until": "entity.due"}, "2026-05-01", "2026-04-30T22:00"),
        ({"until": "entity.due", "at": "09:00"}, "2026-05-01", "2026-05-01T07:00"),
        ({"until": "entity.due", "at": "09:00"}, "2026-05-01T00:00:00Z", "2026-05-01T00:00"),
        ({"next": "0 6 1 * *"}, None, "2026-04-01T04:00"),
        ({"next": "@daily"}, None, "2026-03-28T23:00"),
    ],
)
def test_when_it_is_due(config: dict[str, Any], until: Any, due: str) -> None:
    assert find(config, until) == datetime.fromisoformat(due).replace(tzinfo=UTC)


@pytest.mark.parametrize("until", [None, "", "soon", 5])
def test_no_date_gives_no_moment(until: Any) -> None:
    assert find({"until": "entity.due"}, until) is None


def test_the_next_time_is_later_than_the_arrival() -> None:
    assert find({"next": "0 12 * * *"}, arrived=ARRIVED) == datetime(2026, 3, 29, 10, tzinfo=UTC)


def test_where_the_calendar_ends() -> None:
    assert find({"next": "@daily"}, arrived=LAST_MOMENT) == LAST_MOMENT


def test_a_compiled_wait_names_a_cron_expression() -> None:
    with pytest.raises(Defect) as broken:
        find_timer_due({"for": None, "until": None, "next": "soon"}, None, ARRIVED, BERLIN)
    assert broken.value.code == "CRON_INVALID"


@pytest.mark.parametrize(
    "config",
    [
        {"for": "P1D", "business": {"days": 1}},
        {"business": {"days": 1}, "zone": "UTC"},
        {"business": {"days": 1}, "at": "09:00"},
        {"business": {"days": 1, "hours": 1}},
        {"business": {"calendar": "office"}},
        {"until": "2026-12-01", "since": "restart"},
    ],
)
def test_what_does_not_go_together(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        WaitTimerConfiguration.model_validate(config)


def test_a_term_of_a_calendar_is_read_as_it_was_written() -> None:
    config = {"business": {"hours": 2, "calendar": "office"}, "since": "restart", "follow": True}
    dumped = WaitTimerConfiguration.model_validate(config).model_dump(mode="json", by_alias=True)
    assert read_term(dumped["business"]) == WorkingTerm(hours=2)
    assert (dumped["since"], dumped["follow"], dumped["business"]["calendar"]) == ("restart", True, "office")


def test_what_is_absent_leaves_no_trace() -> None:
    dumped = WaitTimerConfiguration.model_validate({"for": "P1D", "follow": False}).model_dump(by_alias=True)
    assert set(dumped) == {"for", "until"}
