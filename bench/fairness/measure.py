"""One person's load, and what the others see of it: beside each row its bound, and whether it was held."""

import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from bench.fairness.client import PlannedRequest, ServerAddress, send
from bench.fairness.load import PersonLoad
from bench.fairness.rows import FLOOR_MS, ROWS, SECONDS, FairnessRow
from bench.fairness.stage import RunningSignet, running_stage

ALONE_SECONDS = 4.0
WARM_UP = 20
BEGIN_SECONDS = 0.3
_HEAD = (
    f"{'load of one person':42} {'alone p50':>9} {'p95':>7} {'under p50':>9} {'p95':>8} {'ratio':>6}"
    f" {'refused':>8} {'bound ms':>8}"
)


@dataclass(frozen=True)
class Samples:
    milliseconds: list[float]
    refused: int

    @property
    def count(self) -> int:
        return len(self.milliseconds)

    def percentile(self, percent: int) -> float:
        ordered = sorted(self.milliseconds)
        return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)] if ordered else float("inf")


class BoundsMissed(SystemExit):
    """The end of a run in which a load of one person was too much of the others'."""


def measure() -> Iterator[str]:
    """Yield the table; end with an error if a bound is missed, after all rows."""
    missed = 0
    with running_stage() as stage:
        yield _HEAD
        for row in ROWS:
            line, is_held = _measure(stage, row)
            missed += not is_held
            yield line
    yield f"{len(ROWS) - missed} of {len(ROWS)} bounds held"
    if missed:
        raise BoundsMissed(f"{missed} of {len(ROWS)} bounds missed")


def _measure(stage: RunningSignet, row: FairnessRow) -> tuple[str, bool]:
    tenant = stage.make_tenant()
    planned = row.load(tenant)
    others = row.others(tenant)
    for _ in range(WARM_UP):
        send(stage.address, next(others))
    alone = _sample(stage.address, others, ALONE_SECONDS, row.pause_seconds)
    process = _start(stage.address, planned)
    if row.after_load:
        process.wait()
    else:
        time.sleep(BEGIN_SECONDS)
    under = _sample(stage.address, others, SECONDS, row.pause_seconds)
    got = _end(process)
    bound = max(alone.percentile(95) * row.bound, FLOOR_MS) if row.bound is not None else inf
    is_held = under.percentile(95) <= bound and under.refused == 0
    return _describe(row, alone, under, bound, is_held=is_held) + f"   its own: {got}", is_held


def _sample(
    address: ServerAddress, requests: Iterator[PlannedRequest], seconds: float, pause_seconds: float
) -> Samples:
    took, refused, end = list[float](), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        request = next(requests)
        began = time.perf_counter()
        status = send(address, request).status
        if 200 <= status < 300:
            took.append((time.perf_counter() - began) * 1_000)
        else:
            refused += 1
        time.sleep(pause_seconds)
    return Samples(took, refused)


def _start(address: ServerAddress, load: PersonLoad) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.fairness.load"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    process.stdin.write(pickle.dumps((address, load)))
    process.stdin.close()
    return process


def _end(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    said = process.stdout.read().decode().strip()
    process.wait()
    return said


def _describe(row: FairnessRow, alone: Samples, under: Samples, bound: float, *, is_held: bool) -> str:
    ratio = under.percentile(95) / alone.percentile(95)
    return (
        f"{row.name:42} {alone.percentile(50):9.1f} {alone.percentile(95):7.1f} {under.percentile(50):9.1f}"
        f" {under.percentile(95):8.1f} {ratio:5.1f}x {under.refused:3} of {under.count + under.refused:3}"
        f" {bound:7.0f}   {'held' if is_held else 'MISSED'}"
    )
