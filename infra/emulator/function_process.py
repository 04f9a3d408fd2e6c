"""One process of a function under the real runtime client (awslambdaric)."""

import os
import select
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from infra.emulator.runtime_api import Ended, InitFailed, Invocation, InvocationAnswer, Ready, RuntimeApi

INIT_SECONDS = 10.0
STOP_SECONDS = 2.0
MAX_LOG_BYTES = 1_000_000
_READ_BYTES = 65_536
_MAIN = Path(__file__).with_name("function_main.py")


class StartFailed(Exception):
    """A process that did not ask for its first invocation."""

    error_type = "Runtime.InitError"


@dataclass(frozen=True)
class InvocationOutcome:
    """The result of an invocation; `problem` is as Lambda reports it."""

    body: Any = None
    problem: dict[str, Any] | None = None


class FunctionProcess:
    def __init__(self, python: Path, handler: str, folder: Path, environment: Mapping[str, str]) -> None:
        self._api = RuntimeApi()
        # With -S and -P a function sees neither the interpreter's installed packages nor this folder.
        self.process = subprocess.Popen(
            [str(python), "-S", "-P", str(_MAIN), handler],
            cwd=folder,
            env={**environment, "AWS_LAMBDA_RUNTIME_API": self._api.address},
            stdin=subprocess.PIPE,  # Stays open as long as this process lives.
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal is not for the function.
        )
        assert self.process.stdout is not None
        self._output = _Output(self.process.stdout.fileno())
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def await_start(self, seconds: float) -> None:
        """Wait for the first invocation. Raise TimeoutError for a slow start, which Lambda forgives once."""
        report = self._next_report(seconds)
        if isinstance(report, Ready):
            return
        reason = report.problem if isinstance(report, InitFailed) else self.take_output()
        self.end()
        if report is None:
            raise TimeoutError(f"not ready after {seconds} seconds: {reason}")
        raise StartFailed(f"could not start: {reason}")

    def invoke(self, invocation: Invocation, seconds: float) -> InvocationOutcome:
        self._api.give(invocation)
        deadline = time.monotonic() + seconds
        while (report := self._next_report(deadline - time.monotonic())) is not None:
            match report:
                case InvocationAnswer(invocation.request_id, is_error=False, body=body):
                    return InvocationOutcome(body)
                case InvocationAnswer(invocation.request_id, body=body):
                    return InvocationOutcome(problem=_as_problem(body))
                case InitFailed(problem):
                    return self._fail(str(problem), "Runtime.InitError")
                case Ended():
                    code = self.process.returncode
                    why = f"signal: {-code}" if code < 0 else f"exit status {code}"
                    return self._fail(
                        f"RequestId: {invocation.request_id} Error: Runtime exited with error: {why}"
                    )
        return self._fail(f"Task timed out after {seconds:.2f} seconds", "Sandbox.Timedout")

    def take_output(self) -> str:
        """Return all that the process has written since the last call."""
        return self._output.take()

    def end(self) -> None:
        if self.is_alive:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._api.close()

    def _fail(self, message: str, error_type: str = "Runtime.ExitError") -> InvocationOutcome:
        self.end()
        return InvocationOutcome(problem={"errorMessage": message, "errorType": error_type})

    def _next_report(self, seconds: float) -> Any:
        try:
            return self._api.reports.get(timeout=max(0.0, seconds))
        except Empty:
            return None

    def _watch(self) -> None:
        self._output.pump()
        self.process.wait()
        self._api.reports.put(Ended())


def _as_problem(body: Any) -> dict[str, Any]:
    return (
        body if isinstance(body, dict) else {"errorMessage": str(body), "errorType": "Runtime.HandlerError"}
    )


class _Output:
    """A reader that never stops, so that a full pipe never stops the function."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._reading = threading.Lock()
        self._held = bytearray()
        self._is_open = True

    def pump(self) -> None:
        while self._is_open:
            select.select([self._handle], [], [])
            self._read_ready()

    def take(self) -> str:
        self._read_ready()
        with self._reading:
            text = self._held.decode(errors="replace")
            self._held.clear()
        return text.rstrip("\n")

    def _read_ready(self) -> None:
        with self._reading:
            while self._is_open and select.select([self._handle], [], [], 0)[0]:
                part = os.read(self._handle, _READ_BYTES)
                self._is_open = bool(part)
                self._held += part
                del self._held[:-MAX_LOG_BYTES]
