"""Cron expressions: what is taken, what is refused, and the days that they name."""

from datetime import datetime
from itertools import islice

import pytest

from signet.core.schedules.cron import MAX_CRON_CHARACTERS, Cron, CronProblem, parse_cron

FIRST = datetime.fromisoformat("2026-01-01")


def list_first(text: str, count: int) -> list[str]:
    cron = parse_cron(text)
    assert isinstance(cron, Cron), cron
    return [f"{wall:%m-%d %H:%M}" for wall in islice(cron.list_wall_times(FIRST), count)]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("0 6 1 * *", ["01-01 06:00", "02-01 06:00", "03-01 06:00"]),
        ("*/20 0 * * *", ["01-01 00:00", "01-01 00:20", "01-01 00:40"]),
        ("5,10-30/10 0 * * *", ["01-01 00:05", "01-01 00:10", "01-01 00:20"]),
        ("0 0 1-3 jan Mon-Wed", ["01-01 00:00", "01-02 00:00", "01-03 00:00"]),
        ("0 0 L * *", ["01-31 00:00", "02-28 00:00", "03-31 00:00"]),
        # The last day of the month from Monday to Friday.
        ("0 0 LW * *", ["01-30 00:00", "02-27 00:00", "03-31 00:00"]),
        ("0 0 * * 5L", ["01-30 00:00", "02-27 00:00", "03-27 00:00"]),
        ("0 0 * * MON#2", ["01-12 00:00", "02-09 00:00", "03-09 00:00"]),
        ("0 0 * * 7", ["01-04 00:00", "01-11 00:00", "01-18 00:00"]),
        ("0 0 * * 0,7", ["01-04 00:00", "01-11 00:00", "01-18 00:00"]),
        # Neither begins with a star: the 13th, or a Friday.
        ("0 0 13 * FRI", ["01-02 00:00", "01-09 00:00", "01-13 00:00"]),
        # One begins with a star: both must fit.
        ("0 0 */12 * FRI", ["02-13 00:00", "03-13 00:00", "05-01 00:00"]),
        ("@daily", ["01-01 00:00", "01-02 00:00", "01-03 00:00"]),
        ("  @Hourly ", ["01-01 00:00", "01-01 01:00", "01-01 02:00"]),
        ("0\t0   29  2 *", ["02-29 00:00", "02-29 00:00"]),
    ],
)
def test_the_times_of_an_expression(text: str, first: list[str]) -> None:
    assert list_first(text, len(first)) == first


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it has 0 field(s)"),
        ("0 6 1 *", "it has 4 field(s)"),
        ("0 0 6 1 * *", "it has 6 field(s)"),
        ("@reboot", "it has 1 field(s)"),
        ("60 * * * *", "its minute cannot be '60'"),
        ("100 * * * *", "its minute cannot be '100'"),
        ("-1 * * * *", "its minute cannot be '-1'"),
        ("5/10 * * * *", "its minute cannot be '5/10'"),
        ("*/0 * * * *", "its minute cannot be '*/0'"),
        ("0,*/5 * * * *", "its minute cannot be '0,*/5'"),
        ("30-10 * * * *", "its minute cannot be '30-10'"),
        ("L * * * *", "its minute cannot be 'l'"),
        ("0 24 * * *", "its hour cannot be '24'"),
        ("0 0 0 * *", "its day-of-month cannot be '0'"),
        ("0 0 32 * *", "its day-of-month cannot be '32'"),
        ("0 0 L/2 * *", "its day-of-month cannot be 'l/2'"),
        ("0 0 ? * MON", "its day-of-month cannot be '?'"),
        ("0 0 15W * *", "its day-of-month cannot be '15w'"),
        ("0 0 30 2 *", "its day-of-month cannot be '30'"),
        ("0 0 31 4,6,9,11 *", "its day-of-month cannot be '31'"),
        ("0 0 30 FEB MON", "its day-of-month cannot be '30'"),
        ("0 0 * 13 *", "its month cannot be '13'"),
        ("0 0 * JANUARY *", "its month cannot be 'january'"),
        ("0 0 * * 8", "its day-of-week cannot be '8'"),
        ("0 0 * * L", "its day-of-week cannot be 'l'"),
        ("0 0 * * FRIL", "its day-of-week cannot be 'fril'"),
        ("0 0 * * MON#6", "its day-of-week cannot be 'mon#6'"),
        ("0 0 * * MON#0", "its day-of-week cannot be 'mon#0'"),
        # 1 February is never the fifth Monday of its month.
        ("0 0 */31 2 MON#5", "no day ever fits it"),
        ("0 0 * * ſun", "it is too long, or has other letters than A to Z"),
        ("٠ 0 * * *", "it is too long, or has other letters than A to Z"),
        ("0," * MAX_CRON_CHARACTERS + "0 * * * *", "it is too long, or has other letters than A to Z"),
    ],
)
def test_other_text_is_refused(text: str, problem: str) -> None:
    found = parse_cron(text)
    assert isinstance(found, CronProblem), found
    assert found.problem == problem
    assert found.remedy.endswith(".")


def test_the_form_in_which_it_is_kept() -> None:
    for text in ("0 6 1 jan mon", " 0  6 1 JAN\tMON "):
        assert parse_cron(text) == Cron("0 6 1 JAN MON")


@pytest.mark.parametrize(
    ("hour", "is_fixed"),
    [("2", True), ("2,3", True), ("0-23", True), ("*", False), ("*/2", False), ("0-6/2", False)],
)
def test_a_fixed_hour(hour: str, is_fixed: bool) -> None:
    assert Cron(f"0 {hour} * * *").has_fixed_hour is is_fixed


def test_the_end_of_the_calendar_ends_the_times() -> None:
    late = datetime.fromisoformat("9999-12-31T12:00")
    assert list(Cron("0 * * * *").list_wall_times(late))[-1] == datetime.fromisoformat("9999-12-31T23:00")


def test_the_first_may_be_the_beginning_itself() -> None:
    cron = Cron("0 6 * * *")
    six = datetime.fromisoformat("2026-01-01T06:00")
    assert next(cron.list_wall_times(six)) == six
    assert next(cron.list_wall_times(six.replace(microsecond=1))).day == 2
