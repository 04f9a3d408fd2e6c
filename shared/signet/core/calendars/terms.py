"""Terms in the time of a calendar: `{days: 3}`, or `{hours: 4, minutes: 30}`."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Self

from pydantic import Field as Constraint
from pydantic import model_validator

from signet.core.calendars.working_calendar import WorkingCalendar
from signet.core.calendars.working_days import add_working_days
from signet.core.calendars.working_time import add_working_time
from signet.core.validation.strict_model import Name, Strict

MAX_DAYS = 2_000
MAX_HOURS = 20_000
MAX_MINUTES = 1_000_000
# No clock goes forward by more at once, in the years that calendars have.
MAX_CLOCK_CHANGE = timedelta(hours=4)


class WorkingTerm(Strict):
    """Working days, or working time. Both at once would leave open which comes first."""

    days: Annotated[int, Constraint(ge=1, le=MAX_DAYS)] | None = None
    hours: Annotated[int, Constraint(ge=1, le=MAX_HOURS)] | None = None
    minutes: Annotated[int, Constraint(ge=1, le=MAX_MINUTES)] | None = None

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if (self.days is None) == (self.hours is None and self.minutes is None):
            raise ValueError("wants either days, or hours and minutes")
        return self


class CalendarTerm(WorkingTerm):
    """A term with the calendar that it is counted in; without one, in that of the tenant's settings."""

    calendar: Name | None = None


def read_term(config: Mapping[str, Any]) -> WorkingTerm:
    """Read the term of a compiled configuration, which may name a calendar as well."""
    return WorkingTerm(days=config["days"], hours=config["hours"], minutes=config["minutes"])


def find_due(calendar: WorkingCalendar, moment: datetime, term: WorkingTerm) -> datetime:
    """Return the moment at which the term ends that begins at the given one."""
    if term.days is not None:
        return add_working_days(calendar, moment, term.days)
    return add_working_time(calendar, moment, timedelta(hours=term.hours or 0, minutes=term.minutes or 0))


def find_least(term: WorkingTerm) -> timedelta:
    """Return the time that a term lasts at the least, by any calendar.

    Working time passes no faster than time. Days end after the midnights between them, and one of these may
    come hours early by a change of the clock.
    """
    if term.days is not None:
        return max(timedelta(days=term.days - 1) - MAX_CLOCK_CHANGE, timedelta(0))
    return timedelta(hours=term.hours or 0, minutes=term.minutes or 0)


def describe_term(term: WorkingTerm) -> str:
    parts = ((term.days, "day"), (term.hours, "hour"), (term.minutes, "minute"))
    return " and ".join(f"{n} working {unit}{'' if n == 1 else 's'}" for n, unit in parts if n is not None)
