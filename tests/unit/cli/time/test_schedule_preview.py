"""`signet schedule preview`: its output, and what it refuses."""

import pytest
from typer.testing import CliRunner

from signet.cli.main import app
from signet.core.errors import Rejected

BERLIN = ("--zone", "Europe/Berlin")


def preview(*words: str) -> tuple[int, list[str]]:
    result = CliRunner().invoke(app, ["schedule", "preview", *words])
    if isinstance(result.exception, Rejected):
        raise result.exception
    return result.exit_code, result.output.splitlines()


def test_the_next_firings() -> None:
    code, (head, *lines) = preview("0 6 1 * *", *BERLIN, "--count", "2", "--from", "2026-03-01")
    assert code == 0
    assert head.startswith("0 6 1 * * in Europe/Berlin, by tzdata 20") and head.endswith(
        "gap once, fold first"
    )
    assert lines == [
        "Sun 2026-03-01 06:00 +0100  2026-03-01T05:00:00Z",
        "Wed 2026-04-01 06:00 +0200  2026-04-01T04:00:00Z",
    ]


def test_what_a_clock_change_touches() -> None:
    _, (_, *lines) = preview("30 2 * * *", *BERLIN, "--count", "1", "--from", "2026-03-28T12:00:00Z")
    assert lines == [
        "Sun 2026-03-29 03:00 +0200  2026-03-29T01:00:00Z  the clock skips 02:30: it fires when the gap ends"
    ]
    _, (_, *lines) = preview("30 2 * * *", *BERLIN, "--count", "1", "--from", "2026-03-29", "--gap", "skip")
    assert lines == [
        "    Sun 2026-03-29  the clock skips 02:30: it does not fire",
        "Mon 2026-03-30 02:30 +0200  2026-03-30T00:30:00Z",
    ]
    words = ("30 2 * * *", *BERLIN, "--count", "2", "--from", "2026-10-25", "--fold", "twice")
    assert [line.split()[3] for line in preview(*words)[1][1:]] == ["+0200", "+0100"]


def test_it_begins_now_where_nothing_is_said() -> None:
    code, lines = preview("@hourly")
    assert (code, len(lines)) == (0, 11)


def test_it_may_not_fire_again() -> None:
    zone = ("--zone", "America/New_York")
    _, lines = preview("30 2 * 3 SUN#2", *zone, "--gap", "skip", "--count", "1", "--from", "2026-01-01")
    assert lines[-1] == "It does not fire again in 50 years."
    assert {line[-15:] for line in lines[1:-1]} == {"it does not fire"[-15:]}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("0 0 30 2 *",), "'0 0 30 2 *' is no cron expression: its day-of-month cannot be '30'"),
        (("@daily", "--gap", "later"), "--gap is once or skip"),
        (("@daily", "--fold", "second"), "--fold is first, last or twice"),
        (("@daily", "--from", "soon"), "--from is a date such as"),
        (("@daily", "--count", "1001"), "--count"),
    ],
)
def test_wrong_use(words: tuple[str, ...], said: str) -> None:
    code, lines = preview(*words)
    assert code == 2
    assert said in " ".join(lines)


def test_an_unknown_zone() -> None:
    with pytest.raises(Rejected) as refused:
        preview("@daily", "--zone", "Berlin")
    assert (refused.value.code, refused.value.remedy) == ("ZONE_UNKNOWN", "Write Europe/Berlin.")
