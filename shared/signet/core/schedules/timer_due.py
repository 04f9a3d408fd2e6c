"""The moment at which a `wait_timer` is due, from its configuration, its arrival and its zone."""

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Any

from signet.core.errors import Defect
from signet.core.moments.due import LAST_MOMENT, MIDNIGHT, add_duration, find_until
from signet.core.moments.durations import parse_duration
from signet.core.moments.time_names import parse_time_of_day
from signet.core.schedules.cron import CronProblem, parse_cron
from signet.core.schedules.firings import find_next
from signet.core.schedules.schedule import CronTimes, Schedule, choose_policy

WITHOUT_MOMENT = "the value that it waits until is no date and no moment"


def find_timer_due(config: Mapping[str, Any], until: Any, arrived: datetime, zone: tzinfo) -> datetime | None:
    """Return when the wait ends; None where `until` has no date or moment as its value."""
    if config["for"] is not None:
        return add_duration(arrived, parse_duration(config["for"]), zone)
    if config.get("next") is not None:
        return _find_next(config["next"], arrived, zone)
    at = config.get("at")
    return find_until(str(until), zone, MIDNIGHT if at is None else parse_time_of_day(at))


def _find_next(text: str, arrived: datetime, zone: tzinfo) -> datetime:
    cron = parse_cron(text)
    if isinstance(cron, CronProblem):
        raise Defect("CRON_INVALID", f"a compiled wait names '{text}': {cron.problem}")
    schedule = Schedule(CronTimes(cron, choose_policy(cron)), zone)
    return find_next(schedule, arrived) or LAST_MOMENT
