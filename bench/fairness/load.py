"""The load of one person, in a process of its own so that it takes nothing from who measures.

It reads the load from its standard input, works until its time is over, and counts the statuses that it got.
"""

import http.client
import pickle
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from bench.fairness.client import NO_ANSWER, TIMEOUT_SECONDS, PlannedRequest, ServerAddress, send_on

# On one machine nothing is on its way: without it the load would be of the processor, and not of Signet.
ROUND_TRIP_SECONDS = 0.005


@dataclass(frozen=True)
class PersonLoad:
    """Requests for each connection, sent in turn: once each, or again and again."""

    connections: Sequence[Sequence[PlannedRequest]]
    seconds: float
    repeats: bool = True


def main() -> None:
    address, load = pickle.load(sys.stdin.buffer)
    counts: Counter[int] = Counter()
    end = time.monotonic() + load.seconds
    threads = [
        threading.Thread(target=_work, args=(address, requests, load.repeats, end, counts), daemon=True)
        for requests in load.connections
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(end - time.monotonic(), 0.0))
    print(", ".join(f"{status}: {count}" for status, count in sorted(counts.items())) or "none", flush=True)


def _work(
    address: ServerAddress,
    requests: Sequence[PlannedRequest],
    repeats: bool,
    end: float,
    counts: Counter[int],
) -> None:
    while True:
        connection = http.client.HTTPConnection(address.host, address.port, timeout=TIMEOUT_SECONDS)
        try:
            for request in requests:
                counts[send_on(connection, request).status] += 1
        except (OSError, http.client.HTTPException):
            counts[NO_ANSWER] += 1
        finally:
            connection.close()
        if not repeats or time.monotonic() > end:
            return
        time.sleep(ROUND_TRIP_SECONDS)


if __name__ == "__main__":
    main()
