"""Costs of what waits: claims and looks beside it, drains of what is due at once, and lateness."""

from collections.abc import Iterator

from bench.time import claims, drains


def measure() -> Iterator[str]:
    yield from claims.measure()
    yield from drains.measure()
