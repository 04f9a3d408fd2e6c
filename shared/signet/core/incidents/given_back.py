"""The sentence about a trigger that outages gave back: how often, since when, and why the last time."""

from datetime import UTC, datetime


def describe_given_back(count: int, since: datetime, code: str) -> str:
    times = "once" if count == 1 else f"{count} times"
    return f"given back {times} since {since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC because of {code}"
