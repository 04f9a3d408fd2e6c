"""Functions that tests have called in another process, and a gate that holds one there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from signet.core.errors import Rejected


def double(number: int, *, times: int = 2) -> int:
    return number * times


def refuse(code: str) -> None:
    raise Rejected(code, "as it was told", remedy="none", details={"retry_after_seconds": 3})


def break_down() -> None:
    raise ValueError("broken")


def fill_memory(size: int) -> int:
    return len(bytearray(size))


def end_process(*arguments: Any) -> None:
    os._exit(3)


def answer_unsent() -> Any:
    return lambda: None


def read_environment() -> dict[str, str]:
    return dict(os.environ)


def wait_behind(path: str, function: Any, *arguments: Any, **named: Any) -> Any:
    """Wait until the gate is opened, then call."""
    Path(path).read_bytes()
    return function(*arguments, **named)


@dataclass(frozen=True)
class Gate:
    """A named pipe. Each end that is opened waits for the other, so that nothing is a matter of time."""

    path: Path

    def hold(self, function: Any) -> Any:
        return partial(wait_behind, str(self.path), function)

    @contextmanager
    def holding(self) -> Iterator[IO[bytes]]:
        """Wait until a call stands behind the gate; let it go when the block ends."""
        with self.path.open("wb") as writing:
            yield writing


def make_gate(folder: Path, name: str = "gate") -> Gate:
    path = folder / name
    os.mkfifo(path)
    return Gate(path)
