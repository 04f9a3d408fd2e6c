"""The local server's processes for heavy calls: bounded in number, time and memory.

A call that takes too long is ended with its process. The next call starts another one.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from queue import Empty, LifoQueue
from socket import socketpair
from time import perf_counter
from typing import Any, ParamSpec, TypeVar, cast

from signet.core.errors import Defect, Rejected, Transient
from signet.engine.telemetry import Telemetry
from signet.wiring.heavy_process import DONE, REFUSED, TOO_LARGE

MEMORY_BYTES = 1_024 * 1_048_576
CALL_SECONDS, WAIT_SECONDS, END_SECONDS = 10.0, 2.0, 1.0
# So much later the process ends by its own alarm, for a parent that was killed.
ALARM_SECONDS = 5
LATE, ENDED = "late", "ended"
P = ParamSpec("P")
T = TypeVar("T")


class HeavyProcesses:
    """A fixed number of processes, each of which starts with its first call."""

    def __init__(
        self,
        count: int,
        telemetry: Telemetry,
        *,
        call_seconds: float = CALL_SECONDS,
        wait_seconds: float = WAIT_SECONDS,
        memory_bytes: int = MEMORY_BYTES,
    ) -> None:
        self._telemetry = telemetry
        self._call_seconds = call_seconds
        self._wait_seconds = wait_seconds
        alarm_seconds = round(call_seconds) + ALARM_SECONDS
        self._processes = [_Process(memory_bytes, alarm_seconds) for _ in range(count)]
        self._idle: LifoQueue[_Process] = LifoQueue()
        for process in self._processes:
            self._idle.put(process)

    def call(self, function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
        began, outcome = perf_counter(), "failed"
        try:
            process = self._take()
            try:
                outcome, answer = process.call((function, arguments, named), self._call_seconds)
            finally:
                self._idle.put(process)
            return cast(T, _read(outcome, answer, self._call_seconds))
        except Transient as error:
            outcome = error.code
            raise
        finally:
            self._telemetry.heavy_call_ended(outcome, perf_counter() - began)

    def stop(self) -> None:
        """End all processes. A call under way is answered as one whose process has ended."""
        for process in self._processes:
            process.stop()

    def _take(self) -> "_Process":
        try:
            return self._idle.get(timeout=self._wait_seconds)
        except Empty:
            raise Transient(
                "HEAVY_CALLS_BUSY",
                "all processes for calls about large definitions are busy",
                remedy="Try again in a moment.",
            ) from None


class _Process:
    """A process, or none where it has not begun or has ended."""

    def __init__(self, memory_bytes: int, alarm_seconds: int) -> None:
        self._memory_bytes = memory_bytes
        self._alarm_seconds = alarm_seconds
        self._running: subprocess.Popen[bytes] | None = None
        self._connection: Connection[Any, Any] | None = None
        self._is_stopped = False

    def call(self, call: tuple[Any, Any, Any], seconds: float) -> tuple[str, Any]:
        """Return the answer, or `ended` or `late` where there was none: then the process is gone."""
        try:
            connection = self._send(call)
            if not connection.poll(seconds):
                self._end()
                return LATE, None
            answered: tuple[str, Any] = connection.recv()
        except (EOFError, OSError):
            self._end()
            return ENDED, None
        return answered

    def stop(self) -> None:
        self._is_stopped = True
        if self._running is not None:
            self._running.kill()
            self._running.wait(END_SECONDS)

    def _send(self, call: tuple[Any, Any, Any]) -> "Connection[Any, Any]":
        if self._is_stopped:
            raise EOFError
        if self._running is not None and self._running.poll() is not None:
            self._end()
        connection = self._connection or self._start()
        connection.send(call)
        return connection

    def _start(self) -> "Connection[Any, Any]":
        own, other = socketpair()
        with other:
            numbers = (other.fileno(), self._memory_bytes, self._alarm_seconds)
            self._running = subprocess.Popen(
                [sys.executable, "-m", "signet.wiring.heavy_process", *map(str, numbers)],
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                # Nothing of the server's environment, which has secrets.
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        self._connection = Connection(own.detach())
        return self._connection

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        if self._running is not None:
            self._running.kill()
            self._running.wait()
        self._connection = self._running = None


def _read(outcome: str, answer: Any, seconds: float) -> Any:
    """Return what was answered, or raise why there is no answer."""
    if outcome == DONE:
        return answer
    if outcome == REFUSED:
        raise answer
    if outcome == TOO_LARGE:
        raise Rejected(
            "HEAVY_CALL_TOO_LARGE",
            "the call needs more memory than one may have",
            remedy="Make the definition, or what is sent with the call, smaller.",
        )
    if outcome == LATE:
        raise Transient(
            "HEAVY_CALL_TIMED_OUT",
            f"the call took longer than {seconds:g} seconds, and was ended",
            remedy="Try again when less is going on, or make the definition smaller.",
            details={"retry_after_seconds": round(seconds) or 1},
        )
    if outcome == ENDED:
        raise Transient(
            "HEAVY_CALL_ENDED",
            "the process that made the call has ended, and is started again",
            remedy="Try again in a moment.",
        )
    raise Defect("HEAVY_CALL_FAILED", str(answer))
