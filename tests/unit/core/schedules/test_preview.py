"""Previews: so many firings, and what the clock does to them."""

from datetime import UTC, datetime

import pytest

from signet.core.moments.wall_time import Fold, Gap
from signet.core.schedules.cron import Cron
from signet.core.schedules.preview import MAX_PREVIEWED, describe_fate, preview_schedule
from signet.core.schedules.schedule import CronTimes, Schedule, choose_policy
from signet.zones import find_zone

SPRING, AUTUMN = datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)


def make(text: str, gap: Gap | None = None, fold: Fold | None = None) -> Schedule:
    cron = Cron(text)
    return Schedule(CronTimes(cron, choose_policy(cron, gap, fold)), find_zone("Europe/Berlin"))


def show(schedule: Schedule, after: datetime, count: int) -> list[str]:
    found = preview_schedule(schedule, after, count).occurrences
    return [f"{occurrence.at:%dT%H:%M} {describe_fate(occurrence)}".rstrip() for occurrence in found]


def test_what_a_gap_touches_is_marked() -> None:
    assert show(make("0,30 2 * * *"), SPRING, 2) == [
        "29T01:00 the clock skips 02:00: it fires when the gap ends",
        "29T01:00 the clock skips 02:30: it is one with the firing before",
        "30T00:00",
    ]
    assert show(make("30 2 * * *", "skip"), SPRING, 1) == [
        "29T01:00 the clock skips 02:30: it does not fire",
        "30T00:30",
    ]


@pytest.mark.parametrize(
    ("fold", "shown"),
    [
        ("first", ["25T00:30 the clock shows 02:30 twice: it fires at the first", "26T01:30"]),
        ("last", ["25T01:30 the clock shows 02:30 twice: it fires at the last", "26T01:30"]),
        (
            "twice",
            [
                "25T00:30 the clock shows 02:30 twice: this is the first of two firings",
                "25T01:30 the clock shows 02:30 twice: this is the last of two firings",
            ],
        ),
    ],
)
def test_what_a_fold_touches_is_marked(fold: Fold, shown: list[str]) -> None:
    assert show(make("30 2 * * *", fold=fold), AUTUMN, 2) == shown


def test_firings_are_counted_and_not_lines() -> None:
    preview = preview_schedule(make("0,30 2 * * *"), SPRING, 2)
    assert (preview.firings, len(preview.occurrences)) == (2, 3)
    never = Schedule(make("0 0 1 1 *").times, UTC, ends=SPRING.date())
    assert preview_schedule(never, SPRING, 2).firings == 0


@pytest.mark.parametrize("count", [0, MAX_PREVIEWED + 1])
def test_it_is_bounded(count: int) -> None:
    with pytest.raises(ValueError, match="between 1 and"):
        preview_schedule(make("0 0 * * *"), SPRING, count)
