"""A process for heavy calls: it takes one call after another from its parent, and answers each.

It has no environment, no database and no secret. It ends with its parent, or by its own alarm.
"""

import os
import resource
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from signet.core.errors import SignetError

DONE, REFUSED, TOO_LARGE, BROKEN = "done", "refused", "too large", "broken"
# The process lets those go first whose requests are short.
NICENESS = 10


def main() -> None:
    descriptor, memory_bytes, seconds = map(int, sys.argv[1:])
    # Ctrl-C reaches the whole group: the parent ends this one in its own time.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    with suppress(OSError, ValueError):  # not every system limits it
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    serve(Connection(descriptor), seconds)


def serve(connection: "Connection[Any, Any]", seconds: int) -> None:
    """Serve until the parent hangs up. A call of which nobody waits for the end is ended by the alarm."""
    while True:
        try:
            function, arguments, named = connection.recv()
        except EOFError:
            return
        signal.alarm(seconds)
        connection.send(_run(function, arguments, named))
        signal.alarm(0)


def _run(function: Any, arguments: Any, named: Any) -> tuple[str, Any]:
    try:
        return DONE, function(*arguments, **named)
    except SignetError as error:
        return REFUSED, error
    except MemoryError:
        return TOO_LARGE, None
    except Exception as error:
        return BROKEN, f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
