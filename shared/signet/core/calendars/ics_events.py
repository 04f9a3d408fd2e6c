"""The events of an iCalendar file: start, length, repetition and name of each VEVENT."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

from signet.core.calendars.ics_lines import ContentLine, find_in_line, list_lines
from signet.core.calendars.yearly_rules import RuleProblem, YearlyRule, parse_rule
from signet.core.validation.finding import Finding

MAX_EVENTS = 5_000
MAX_EVENT_DAYS = 366
MAX_LISTED_DATES = 1_000
MAX_DEPTH = 8
# Programs that do not know the year of a birthday write 1604.
_YEARS = range(1583, 2300)
_MOMENT = re.compile(r"([0-9]{8})(?:T((?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9])(Z?))?")
_DURATION = re.compile(
    r"\+?P(?:([0-9]{1,4})W|(?:([0-9]{1,4})D)?(?:T(?=[0-9])(?:([0-9]{1,5})H)?(?:([0-9]{1,6})M)?(?:([0-9]{1,7})S)?)?)"
)
_ESCAPED = re.compile(r"\\(.)")
# Each may stand once in an event. EXRULE is of an older standard.
_ONCE = frozenset(
    ("UID", "DTSTART", "DTEND", "DURATION", "RRULE", "SUMMARY", "STATUS", "TRANSP", "RECURRENCE-ID", "EXRULE")
)
_DATES = frozenset(("EXDATE", "RDATE"))
_EVENT = ("VCALENDAR", "VEVENT")


class IcsMoment(NamedTuple):
    """A date, or a date and time as the file's own clock or UTC shows it."""

    wall: datetime
    kind: Literal["date", "wall", "utc"]


@dataclass(frozen=True, slots=True)
class IcsEvent:
    line: int
    uid: str
    name: str
    start: IcsMoment
    length: timedelta
    rule: YearlyRule | None
    rule_line: int
    added: frozenset[date]
    excluded: frozenset[date]
    # The date of the repeated event whose place this one takes.
    replaces: date | None
    is_cancelled: bool
    is_transparent: bool


@dataclass(frozen=True, slots=True)
class _EventLines:
    number: int
    once: dict[str, ContentLine]
    dates: list[ContentLine]


def read_events(content: bytes) -> Iterator[IcsEvent | Finding]:
    """Yield the events, and what is wrong. A file that is no calendar ends with the finding that says so."""
    for read in _list_event_lines(content):
        yield read if isinstance(read, Finding) else _parse_event(read)


def _list_event_lines(content: bytes) -> Iterator[_EventLines | Finding]:
    """Yield the lines of each event, without those of what it holds, such as alarms."""
    event, count = _EventLines(0, {}, []), 0
    for read in _list_placed_lines(content):
        if isinstance(read, Finding):
            yield read
            continue
        path, line = read
        if path != _EVENT:
            continue
        if line.name == "BEGIN":
            event, count = _EventLines(line.number, {}, []), count + 1
            if count > MAX_EVENTS:
                yield find_in_line("ICS_EVENTS_TOO_MANY", line.number, limit=MAX_EVENTS)
                return
        elif line.name == "END":
            yield event
        elif (twice := _keep_line(event, line)) is not None:
            yield twice


def _list_placed_lines(content: bytes) -> Iterator[tuple[tuple[str, ...], ContentLine] | Finding]:
    """Yield each line with the names of what it stands in. The first line that is wrong ends the file."""
    names: list[str] = []
    number = 0
    for line in list_lines(content):
        if isinstance(line, Finding):
            yield line
            return
        number = line.number
        problem = _find_misplaced(line, names)
        if problem is not None:
            yield find_in_line("ICS_SYNTAX", number, problem=problem)
            return
        if line.name == "BEGIN":
            names.append(line.value.upper())
        yield tuple(names), line
        if line.name == "END":
            names.pop()
    if names or not number:
        yield find_in_line("ICS_SYNTAX", max(number, 1), problem="ends before END:VCALENDAR")


def _find_misplaced(line: ContentLine, names: list[str]) -> str | None:
    if not names and (line.name, line.value.upper()) != ("BEGIN", "VCALENDAR"):
        return "wants BEGIN:VCALENDAR"
    if line.name == "BEGIN" and len(names) >= MAX_DEPTH:
        return f"is nested deeper than {MAX_DEPTH} levels"
    if line.name == "END" and line.value.upper() != names[-1]:
        return f"wants END:{names[-1]}"
    return None


def _keep_line(event: _EventLines, line: ContentLine) -> Finding | None:
    if line.name in event.once:
        return find_in_line("ICS_PROPERTY_TWICE", line.number, name=line.name)
    if line.name in _ONCE:
        event.once[line.name] = line
    elif line.name in _DATES:
        event.dates.append(line)
    return None


def _parse_event(lines: _EventLines) -> IcsEvent | Finding:
    once = lines.once
    if "DTSTART" not in once:
        return find_in_line("ICS_START_MISSING", lines.number)
    if "EXRULE" in once:
        return find_in_line("ICS_RULE_UNSUPPORTED", once["EXRULE"].number, part="EXRULE")
    start = _parse_moment(once["DTSTART"])
    if isinstance(start, Finding):
        return start
    length = _read_length(once, start)
    if isinstance(length, Finding):
        return length
    rule = _read_rule(once)
    if isinstance(rule, Finding):
        return rule
    listed = _read_dates(lines.dates)
    if isinstance(listed, Finding):
        return listed
    replaced = _parse_moment(once["RECURRENCE-ID"]) if "RECURRENCE-ID" in once else None
    if isinstance(replaced, Finding):
        return replaced
    return IcsEvent(
        line=lines.number,
        uid=_read_text(once, "UID"),
        name=_read_text(once, "SUMMARY"),
        start=start,
        length=length,
        rule=rule,
        rule_line=once["RRULE"].number if "RRULE" in once else lines.number,
        added=listed["RDATE"],
        excluded=listed["EXDATE"],
        replaces=None if replaced is None else replaced.wall.date(),
        is_cancelled=_read_text(once, "STATUS").upper() == "CANCELLED",
        is_transparent=_read_text(once, "TRANSP").upper() == "TRANSPARENT",
    )


def _read_text(once: Mapping[str, ContentLine], name: str) -> str:
    """Return a text without its escapes. A new line in it becomes a blank."""
    written = once[name].value if name in once else ""
    plain = _ESCAPED.sub(lambda match: " " if match[1] in "nN" else match[1], written)
    return " ".join(plain.split())


def _parse_moment(line: ContentLine) -> IcsMoment | Finding:
    moment = _read_moment(line.value)
    if moment is None or moment.wall.year not in _YEARS:
        return find_in_line("ICS_DATE_INVALID", line.number, value=line.value)
    return moment


def _read_moment(written: str) -> IcsMoment | None:
    match = _MOMENT.fullmatch(written)
    if match is None:
        return None
    try:
        wall = datetime.fromisoformat(f"{match[1]}T{match[2] or '000000'}")
    except ValueError:
        return None
    if match[2] is None:
        return IcsMoment(wall, "date")
    return IcsMoment(wall, "utc" if match[3] else "wall")


def _read_length(once: Mapping[str, ContentLine], start: IcsMoment) -> timedelta | Finding:
    if "DTEND" in once and "DURATION" in once:
        return find_in_line("ICS_END_INVALID", once["DURATION"].number)
    if "DURATION" in once:
        return _check_length(_read_duration(once["DURATION"].value), once["DURATION"])
    if "DTEND" not in once:
        return timedelta(days=1) if start.kind == "date" else timedelta(0)
    end = _parse_moment(once["DTEND"])
    if isinstance(end, Finding):
        return end
    return _check_length(end.wall - start.wall if end.kind == start.kind else None, once["DTEND"])


def _check_length(length: timedelta | None, line: ContentLine) -> timedelta | Finding:
    if length is None or length <= timedelta(0):
        return find_in_line("ICS_END_INVALID", line.number)
    if length > timedelta(days=MAX_EVENT_DAYS):
        return find_in_line("ICS_EVENT_TOO_LONG", line.number, limit=MAX_EVENT_DAYS)
    return length


def _read_duration(written: str) -> timedelta | None:
    match = _DURATION.fullmatch(written)
    if match is None:
        return None
    weeks, days, hours, minutes, seconds = (int(number or 0) for number in match.groups())
    return timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)


def _read_rule(once: Mapping[str, ContentLine]) -> YearlyRule | Finding | None:
    if "RRULE" not in once:
        return None
    line = once["RRULE"]
    rule = parse_rule(line.value, _read_date)
    if isinstance(rule, RuleProblem):
        return find_in_line(rule.code, line.number, part=rule.part)
    return rule


def _read_date(written: str) -> date | None:
    moment = _read_moment(written)
    return None if moment is None else moment.wall.date()


def _read_dates(lines: list[ContentLine]) -> Mapping[str, frozenset[date]] | Finding:
    """Return the dates of EXDATE and RDATE as they are written, with any time that stands there."""
    listed: dict[str, set[date]] = {name: set() for name in _DATES}
    for line in lines:
        for written in line.value.split(","):
            day = _read_date(written)
            if day is None or day.year not in _YEARS:
                return find_in_line("ICS_DATE_INVALID", line.number, value=written)
            listed[line.name].add(day)
    if any(len(days) > MAX_LISTED_DATES for days in listed.values()):
        return find_in_line("ICS_TOO_MANY_DATES", lines[-1].number, limit=MAX_LISTED_DATES)
    return {name: frozenset(days) for name, days in listed.items()}
