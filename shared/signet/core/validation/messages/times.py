"""Findings about schedules, zones and times of the day."""

from collections.abc import Mapping

TIME: Mapping[str, tuple[str, str, str]] = {
    "CRON_ABSENT": (
        "error",
        "The automation starts by time, and names none.",
        "Write a cron expression, such as cron: '0 6 1 * *'.",
    ),
    "CRON_INVALID": ("error", "'{text}' is no cron expression: {problem}.", "{remedy}"),
    "TIME_OF_DAY_WITHOUT_DATE": (
        "error",
        "'at' is the time of a date, and '{text}' is a timestamp with a time of its own.",
        "Leave 'at' out, or name a date.",
    ),
    "ZONE_UNKNOWN": ("error", "There is no time zone '{zone}'.", "{remedy}"),
}
