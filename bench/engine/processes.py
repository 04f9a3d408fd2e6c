"""Processes that do one side's work in a benchmark: started before the clock, told to go by a line.

A request is a line of JSON that names a task and its arguments, the answer is a line of JSON.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
STOP_SECONDS = 20.0
Task = Callable[..., Mapping[str, Any]]


class ChildProcess:
    """The other end of a process that runs `serve`."""

    def __init__(self, module: str, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        # The password is no argument, because everyone on the machine can read arguments.
        self._write({"url": url})

    def ask(self, task: str, **arguments: Any) -> None:
        self._write({"task": task, **arguments})

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("a process of the benchmark ended: what it said stands above")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _write(self, request: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()


@contextmanager
def child_processes(module: str, url: str, count: int) -> Iterator[list[ChildProcess]]:
    """Yield processes that are ready to work: connected, with everything imported."""
    children: list[ChildProcess] = []
    try:
        for _ in range(count):
            children.append(ChildProcess(module, url))
        for child in children:
            child.answer()
        yield children
    finally:
        for child in children:
            child.close()


def ask_all(children: Sequence[ChildProcess], task: str, **arguments: Any) -> list[dict[str, Any]]:
    """Ask all processes at once, each with its number among them."""
    for index, child in enumerate(children):
        child.ask(task, index=index, count=len(children), **arguments)
    return [child.answer() for child in children]


def serve(open_tasks: Callable[[str], Mapping[str, Task]]) -> None:
    """Answer requests until standard input is closed."""
    tasks = open_tasks(json.loads(sys.stdin.readline())["url"])
    _reply({})
    for line in sys.stdin:
        request = json.loads(line)
        _reply(tasks[request.pop("task")](**request))


def _reply(answer: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
