"""The import of holidays from an iCalendar file, for a range of years."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from signet.core.calendars.business_calendar import MAX_HOLIDAYS, CoveredYears, Holiday
from signet.core.calendars.ics_events import MAX_EVENT_DAYS, IcsEvent, read_events
from signet.core.calendars.ics_lines import MAX_ICS_BYTES, find_in_line
from signet.core.calendars.yearly_rules import list_rule_dates, list_rule_years
from signet.core.calendars.zone_clock import read_wall
from signet.core.validation.finding import Finding, has_errors, sort_findings
from signet.core.validation.model_errors import MAX_MISTAKES

# The dates that the rules and events of one file may be looked for on.
MAX_STEPS = 2_000_000
_DAYS_OF_A_YEAR = 366
_MAX_NAME_CHARACTERS = 200
_UNNAMED = "Holiday"
_DAY = timedelta(days=1)


WallSpan = tuple[datetime, datetime]


class ImportedHolidays(NamedTuple):
    """The holidays, or none where a finding is an error."""

    holidays: tuple[Holiday, ...]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class _WantedDays:
    years: CoveredYears
    zone: tzinfo
    opaque_only: bool

    def takes(self, event: IcsEvent) -> bool:
        return not event.is_cancelled and not (self.opaque_only and event.is_transparent)

    @property
    def first(self) -> date:
        return date(self.years.first, 1, 1)

    @property
    def last(self) -> date:
        return date(self.years.last, 12, 31)


def import_holidays(
    content: bytes, years: CoveredYears, zone: tzinfo, *, opaque_only: bool = False
) -> ImportedHolidays:
    """Read the holidays of the years. Moments in UTC become dates of the zone.

    Events that take no time (TRANSP:TRANSPARENT) are holidays too, for most files mark all of them so.
    """
    if len(content) > MAX_ICS_BYTES:
        return ImportedHolidays((), (find_in_line("ICS_TOO_LARGE", 1, limit=MAX_ICS_BYTES),))
    read = list(read_events(content))
    faults = [finding for finding in read if isinstance(finding, Finding)]
    if faults:
        return ImportedHolidays((), tuple(faults[:MAX_MISTAKES]))
    events = [event for event in read if isinstance(event, IcsEvent)]
    names, findings = _collect_names(_WantedDays(years, zone, opaque_only), events)
    told = sort_findings(findings)[:MAX_MISTAKES]
    if has_errors(told):
        return ImportedHolidays((), told)
    joined = {day: " / ".join(names[day])[:_MAX_NAME_CHARACTERS] for day in sorted(names)}
    return ImportedHolidays(tuple(Holiday(date=day, name=name) for day, name in joined.items()), told)


def _collect_names(
    wanted: _WantedDays, events: list[IcsEvent]
) -> tuple[dict[date, dict[str, None]], list[Finding]]:
    """Return the names of each date, and findings; the first bound that is passed ends the work."""
    names: dict[date, dict[str, None]] = {}
    findings: list[Finding] = []
    replaced = {(event.uid, event.replaces) for event in events if event.uid and event.replaces}
    steps = 0
    for event in filter(wanted.takes, events):
        steps += _DAYS_OF_A_YEAR * len(_list_years(wanted, event))
        starts = _list_starts(wanted, event) if steps <= MAX_STEPS else set()
        steps += len(starts) * (event.length.days + 1)
        if steps > MAX_STEPS:
            findings.append(find_in_line("ICS_RULES_TOO_LONG", event.rule_line, limit=MAX_STEPS))
            break
        findings += _check_start(event)
        if event.replaces is None:
            starts = {day for day in starts if (event.uid, day) not in replaced}
        spans = [_find_span(wanted, event, day) for day in sorted(starts)]
        findings += _check_whole(wanted, event, spans)
        for day in _list_days(wanted, spans):
            names.setdefault(day, {})[event.name or _UNNAMED] = None
        if len(names) > MAX_HOLIDAYS:
            findings.append(find_in_line("ICS_HOLIDAYS_TOO_MANY", event.line, limit=MAX_HOLIDAYS))
            break
    return names, findings


def _list_years(wanted: _WantedDays, event: IcsEvent) -> range:
    """Return the years in which the event may begin so that a part of it is wanted."""
    first = (wanted.first - timedelta(days=MAX_EVENT_DAYS + 1)).year
    last = (wanted.last + _DAY).year
    if event.rule is None:
        return range(0)
    return list_rule_years(event.rule, event.start.wall.date(), first, last)


def _check_start(event: IcsEvent) -> Iterator[Finding]:
    """Name a start that its rule does not give. The standard leaves open what this means."""
    start = event.start.wall.date()
    if event.rule is not None:
        years = range(start.year, start.year + 1)
        if start not in list_rule_dates(event.rule, start, years):
            yield find_in_line("ICS_START_OUTSIDE_RULE", event.rule_line, date=start)


def _check_whole(wanted: _WantedDays, event: IcsEvent, spans: list[WallSpan]) -> Iterator[Finding]:
    """Name the first occurrence that covers a part of a day: such a day is no holiday."""
    for start, end in spans:
        is_whole = start < end and start.time() == end.time() == time.min
        if not is_whole and start.date() <= wanted.last and end.date() >= wanted.first:
            yield find_in_line("ICS_PART_OF_DAY", event.line, date=start.date())
            return


def _list_days(wanted: _WantedDays, spans: list[WallSpan]) -> Iterator[date]:
    """Yield the dates that are covered from midnight to midnight. The end is no part of an event."""
    for start, end in spans:
        day = start.date() if start.time() == time.min else start.date() + _DAY
        while day < end.date():
            if wanted.first <= day <= wanted.last:
                yield day
            day += _DAY


def _list_starts(wanted: _WantedDays, event: IcsEvent) -> set[date]:
    first = event.start.wall.date()
    starts = (
        {first} if event.rule is None else set(list_rule_dates(event.rule, first, _list_years(wanted, event)))
    )
    return (starts | event.added) - event.excluded


def _find_span(wanted: _WantedDays, event: IcsEvent, begin: date) -> WallSpan:
    """Return start and end of one occurrence as the clock of the zone shows them."""
    start = datetime.combine(begin, event.start.wall.time())
    end = start + event.length
    if event.start.kind != "utc":
        return start, end
    return read_wall(wanted.zone, start.replace(tzinfo=UTC)), read_wall(wanted.zone, end.replace(tzinfo=UTC))
