"""The sentence about a trigger that outages gave back."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from signet.core.incidents.given_back import describe_given_back

SINCE = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("count", "times", "since"),
    [(1, "once", SINCE), (3, "3 times", SINCE.astimezone(timezone(timedelta(hours=2))))],
)
def test_it_says_how_often_since_when_and_why(count: int, times: str, since: datetime) -> None:
    described = describe_given_back(count, since, "DATABASE_UNAVAILABLE")
    assert described == f"given back {times} since 2026-03-01 12:00:00 UTC because of DATABASE_UNAVAILABLE"
