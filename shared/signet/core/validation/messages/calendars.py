"""Texts of findings in business calendars, and in the iCalendar files that holidays come from."""

from collections.abc import Mapping

CALENDAR: Mapping[str, tuple[str, str, str]] = {
    "CALENDAR_YEARS_INVALID": (
        "error",
        "The years do not go from the first to a last that is at most {limit} years on.",
        "Name the first and the last year whose holidays the calendar lists.",
    ),
    "CALENDAR_YEAR_WITHOUT_HOLIDAYS": (
        "warning",
        "No holiday is listed for {years}, and some are for other years.",
        "List them, or end `years` before.",
    ),
    "CALENDAR_WITHOUT_HOURS": (
        "error",
        "No weekday has working hours, and no date is worked.",
        "Give at least one weekday its hours.",
    ),
    "CALENDAR_HOURS_OVERLAP": (
        "error",
        "At {place}: these hours begin before the ones above them end.",
        "Write the hours of a day in their order, and without overlap.",
    ),
    "CALENDAR_DATE_TWICE": (
        "error",
        "{date} stands twice: also at {other}.",
        "Keep one entry: a date is a holiday, a half day or a worked day.",
    ),
    "CALENDAR_DATE_OUTSIDE": (
        "error",
        "{date} is not in the years of the calendar.",
        "Remove the entry, or widen `years`.",
    ),
    "CALENDAR_HALF_DAY_EMPTY": (
        "error",
        "Nothing is left of the hours of {date}, a {weekday}.",
        "Write it as a holiday, end it later, or remove it.",
    ),
    "CALENDAR_HALF_DAY_WHOLE": (
        "warning",
        "The hours of {date}, a {weekday}, end no earlier than on other days.",
        "End it earlier, or remove it.",
    ),
}

ICS: Mapping[str, tuple[str, str, str]] = {
    "ICS_TOO_LARGE": ("error", "The file is larger than {limit} bytes.", "Export fewer years or calendars."),
    "ICS_NOT_UTF8": ("error", "Line {line} is not UTF-8.", "Save the file as UTF-8."),
    "ICS_SYNTAX": (
        "error",
        "Line {line} {problem}.",
        "Export the file again; it is no whole iCalendar file.",
    ),
    "ICS_PROPERTY_TWICE": (
        "error",
        "Line {line}: {name} stands twice in one event.",
        "Remove one of the two.",
    ),
    "ICS_EVENTS_TOO_MANY": (
        "error",
        "At line {line} begins more than the {limit}th event.",
        "Export the calendar of the holidays alone.",
    ),
    "ICS_START_MISSING": ("error", "The event at line {line} has no DTSTART.", "Give it one, or remove it."),
    "ICS_DATE_INVALID": (
        "error",
        "Line {line}: '{value}' is no date such as 20261225, and no moment such as 20261225T080000Z.",
        "Correct it. Periods are not read, and no years before 1583 or from 2300 on.",
    ),
    "ICS_END_INVALID": (
        "error",
        "Line {line} is no end of the event: it must be later than the start, of its kind, and stand once.",
        "Give the event one DTEND or DURATION; the DTEND of a day is the next day.",
    ),
    "ICS_EVENT_TOO_LONG": (
        "error",
        "Line {line}: the event is longer than {limit} days.",
        "Shorten it, or remove it: it is no holiday.",
    ),
    "ICS_RULE_UNSUPPORTED": (
        "error",
        "Line {line}: {part} is not understood in this form.",
        "Write FREQ=YEARLY with COUNT, UNTIL, INTERVAL, BYMONTH, BYMONTHDAY, BYDAY or BYSETPOS.",
    ),
    "ICS_RULE_INVALID": ("error", "Line {line}: the rule is wrong at {part}.", "Correct it."),
    "ICS_TOO_MANY_DATES": (
        "error",
        "Up to line {line} the event lists more than {limit} dates.",
        "List fewer.",
    ),
    "ICS_RULES_TOO_LONG": (
        "error",
        "At line {line} the rules of the file have taken more than {limit} steps.",
        "Import fewer years, or fewer events that repeat.",
    ),
    "ICS_HOLIDAYS_TOO_MANY": (
        "error",
        "With the event at line {line} there are more than {limit} holidays.",
        "Import fewer years, or the calendar of the holidays alone.",
    ),
    "ICS_START_OUTSIDE_RULE": (
        "warning",
        "Line {line}: the rule does not give the event's own start, {date}, so that date is left out.",
        "Add the date by hand if it is a holiday.",
    ),
    "ICS_PART_OF_DAY": (
        "warning",
        "The event at line {line} covers {date} in part, so that date is no holiday.",
        "Write it as a half day of the calendar, if it is one.",
    ),
}
