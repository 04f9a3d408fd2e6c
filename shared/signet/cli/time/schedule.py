"""`signet schedule preview`: when a cron expression fires next, and what the clock changes do to it."""

from datetime import UTC, datetime, tzinfo
from typing import Annotated, cast

import typer

from signet.cli.console import stop, write
from signet.core.moments.due import find_until
from signet.core.moments.wall_time import Fold, Gap
from signet.core.schedules.cron import CronProblem, parse_cron
from signet.core.schedules.firings import Occurrence
from signet.core.schedules.preview import MAX_PREVIEWED, describe_fate, preview_schedule
from signet.core.schedules.schedule import CronTimes, Schedule, choose_policy
from signet.zones import TZDATA_VERSION, find_zone

app = typer.Typer(help="Times at which automations start.", no_args_is_help=True)


@app.callback()
def schedule() -> None:
    """Tell when automations start."""


@app.command(name="preview")
def preview_command(
    cron: Annotated[str, typer.Argument(metavar="CRON", help="Five fields, or a name such as @daily.")],
    zone: Annotated[str, typer.Option(help="The time zone, such as Europe/Berlin.")] = "UTC",
    count: Annotated[int, typer.Option(min=1, max=MAX_PREVIEWED, help="How many firings.")] = 10,
    gap: Annotated[
        str | None, typer.Option(help="Where the clock leaves the time out: once (at the gap's end) or skip.")
    ] = None,
    fold: Annotated[
        str | None, typer.Option(help="Where the clock shows the time twice: first, last or twice.")
    ] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="A date or a moment; by default now.", show_default=False)
    ] = None,
) -> None:
    """Show the next firings of a cron expression, with those that a clock change touches."""
    parsed = parse_cron(cron)
    if isinstance(parsed, CronProblem):
        stop(f"'{cron}' is no cron expression: {parsed.problem}. {parsed.remedy}")
    if gap not in (None, "once", "skip"):
        stop("--gap is once or skip.")
    if fold not in (None, "first", "last", "twice"):
        stop("--fold is first, last or twice.")
    rules = find_zone(zone)
    policy = choose_policy(parsed, cast(Gap | None, gap), cast(Fold | None, fold))
    preview = preview_schedule(Schedule(CronTimes(parsed, policy), rules), _read_start(start, rules), count)
    write(f"{parsed.text} in {zone}, by tzdata {TZDATA_VERSION}; gap {policy.gap}, fold {policy.fold}")
    for occurrence in preview.occurrences:
        write(_describe(occurrence, rules))
    if preview.firings < count:
        write("It does not fire again in 50 years.")


def _read_start(start: str | None, zone: tzinfo) -> datetime:
    if start is None:
        return datetime.now(UTC)
    moment = find_until(start, zone)
    if moment is None:
        stop("--from is a date such as 2026-03-28, or a moment such as 2026-03-28T12:00:00Z.")
    return moment


def _describe(occurrence: Occurrence, zone: tzinfo) -> str:
    remark = describe_fate(occurrence)
    if not occurrence.fate.fires:
        return f"    {occurrence.wall:%a %Y-%m-%d}  {remark}"
    shown = occurrence.at.astimezone(zone)
    line = f"{shown:%a %Y-%m-%d %H:%M %z}  {occurrence.at:%Y-%m-%dT%H:%M:%SZ}"
    return f"{line}  {remark}".rstrip()
