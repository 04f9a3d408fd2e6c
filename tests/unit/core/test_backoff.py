"""Backoff: its promises for every row and attempt."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.backoff import EFFECT_BACKOFF, EVENT_BACKOFF, Backoff

ROW = UUID("01980000-0000-7000-8000-000000000001")
BACKOFFS = st.builds(
    lambda first, factor: Backoff(first, first * factor), st.floats(0.01, 600), st.floats(1, 10_000)
)


@given(BACKOFFS, st.integers(1, 10_000), st.uuids())
def test_a_delay_is_positive_and_never_above_the_cap(backoff: Backoff, attempts: int, row_id: UUID) -> None:
    delay = backoff.delay_seconds(attempts, row_id)
    assert backoff.first_seconds / 2 <= delay <= backoff.cap_seconds


@given(BACKOFFS, st.integers(1, 12), st.uuids())
def test_each_attempt_waits_longer_until_the_cap(backoff: Backoff, attempts: int, row_id: UUID) -> None:
    if backoff.first_seconds * 2**attempts < backoff.cap_seconds:
        assert backoff.delay_seconds(attempts, row_id) < backoff.delay_seconds(attempts + 1, row_id)


@given(BACKOFFS, st.integers(1, 100), st.uuids())
def test_it_is_the_same_whoever_asks(backoff: Backoff, attempts: int, row_id: UUID) -> None:
    again = Backoff(backoff.first_seconds, backoff.cap_seconds)
    assert backoff.delay_seconds(attempts, row_id) == again.delay_seconds(attempts, UUID(int=row_id.int))


def test_the_steps_of_a_row_are_these() -> None:
    """A change here moves the retries of rows on their way."""
    delays = [round(Backoff(1, 60).delay_seconds(attempts, ROW), 3) for attempts in range(1, 9)]
    assert delays == [0.637, 1.475, 2.1, 7.969, 10.989, 30.224, 40.818, 46.16]


def test_rows_that_failed_together_do_not_come_back_together() -> None:
    delays = [Backoff(8, 60).delay_seconds(1, UUID(int=n)) for n in range(1_000)]
    assert 4 <= min(delays) < 4.5 and 7.5 < max(delays) < 8
    by_second = [sum(int(delay) == second for delay in delays) for second in range(4, 8)]
    assert all(count > 150 for count in by_second), by_second


def test_the_spread_of_one_attempt_says_nothing_of_the_next() -> None:
    ids = [UUID(int=n) for n in range(400)]
    early = [row_id for row_id in ids if Backoff(8, 60).delay_seconds(1, row_id) < 6]
    early_again = sum(Backoff(8, 60).delay_seconds(2, row_id) < 12 for row_id in early)
    assert len(early) / 4 < early_again < len(early) * 3 / 4


@pytest.mark.parametrize("attempts", [0, -1])
def test_what_was_never_tried_waits_as_after_the_first_time(attempts: int) -> None:
    assert Backoff(1, 60).delay_seconds(attempts, ROW) < 1


def test_the_engine_comes_back_sooner_than_effects_do() -> None:
    for attempts in range(1, 20):
        assert EVENT_BACKOFF.delay_seconds(attempts, ROW) < EFFECT_BACKOFF.delay_seconds(attempts, ROW)
