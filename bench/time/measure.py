"""What waits cost: claims and looks beside many that wait, drains of what is due at once, and lateness."""

from collections.abc import Iterator

from bench.time import claims, drains


def measure() -> Iterator[str]:
    yield from claims.measure()
    yield from drains.measure()
