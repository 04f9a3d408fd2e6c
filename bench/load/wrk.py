"""A run of wrk against an address: so many clients for so long, and its figures."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from signet.core.errors import Rejected

SCRIPT = Path(__file__).with_name("calls.lua")
_MICROSECONDS = 1_000_000


@dataclass(frozen=True)
class LoadRun:
    requests_per_second: float
    p50_ms: float
    p95_ms: float
    errors: int


def run_wrk(
    url: str, call: str, token: str, documents: Sequence[str], *, clients: int, seconds: int
) -> LoadRun:
    """Run wrk with one thread a client, so that each knows the version of its own document."""
    program = shutil.which("wrk")
    if program is None:
        raise Rejected("FILE_UNREADABLE", "wrk is not installed", remedy="Install it: apt install wrk")
    arguments = ["--", call, token, ",".join(documents), f"{clients}"]
    sizes = [f"--threads={clients}", f"--connections={clients}", f"--duration={seconds}s", "--timeout=10s"]
    done = subprocess.run(
        [program, *sizes, f"--script={SCRIPT}", url, *arguments], capture_output=True, text=True, check=True
    )
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    requests, duration, p50, p95, errors = (int(float(part)) for part in line.split()[1:])
    return LoadRun(requests / duration * _MICROSECONDS, p50 / 1_000, p95 / 1_000, errors)
