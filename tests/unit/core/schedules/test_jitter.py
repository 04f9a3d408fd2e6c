"""The delay of a definition: stable, spread, bounded."""

from datetime import timedelta

import pytest

from signet.core.schedules.jitter import MAX_JITTER, find_jitter


def test_a_definition_has_one_delay() -> None:
    longest = timedelta(minutes=10)
    assert (
        find_jitter("royalty_cycle", longest)
        == find_jitter("royalty_cycle", longest)
        == timedelta(seconds=194)
    )
    assert find_jitter("royalty_cycle", timedelta()) == timedelta()


def test_definitions_are_spread() -> None:
    delays = [find_jitter(f"definition {number}", timedelta(seconds=9)).seconds for number in range(1_000)]
    assert set(delays) == set(range(10))
    assert max(map(delays.count, range(10))) < 150


@pytest.mark.parametrize("longest", [timedelta(seconds=-1), MAX_JITTER + timedelta(seconds=1)])
def test_it_is_bounded(longest: timedelta) -> None:
    with pytest.raises(ValueError, match="at most one hour"):
        find_jitter("x", longest)
