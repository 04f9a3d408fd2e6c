"""Processes of the embedded Postgres: started, watched and ended."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from signet.local.postgres_place import Account, PostgresFailed

READY_SECONDS = 60.0  # recovery after a kill included
STOP_SECONDS = 20.0
# Longer than the server itself waits, five seconds, before it kills the processes that do not end with it.
FORCED_STOP_SECONDS = 10.0
_POLL_SECONDS = 0.003
_PR_SET_PDEATHSIG = 1
# Nothing of the user's environment: PG* variables, locale and time zone would all change the server.
_ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}
# In this order, each if the one before was not enough: fast shutdown, immediate shutdown, kill.
_STOP_STEPS = (
    (signal.SIGINT, STOP_SECONDS),
    (signal.SIGQUIT, FORCED_STOP_SECONDS),
    (signal.SIGKILL, FORCED_STOP_SECONDS),
)


def spawn(command: Sequence[str], account: Account, log: int) -> subprocess.Popen[bytes]:
    """Start a process that ends with this one on Linux; only from the main thread.

    In truth it ends with the thread that started it.
    """
    return subprocess.Popen(
        command,
        user=account.uid,
        group=account.gid,
        extra_groups=account.groups,
        umask=0o077,
        cwd="/",  # the account might not be allowed where we are
        env=_ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,  # Ctrl-C in the terminal is for us; we then stop the server in order
        preexec_fn=_end_with_parent(),
    )


def wait_ready(process: subprocess.Popen[bytes], data: Path) -> bool:
    """Wait until the server's own note says that it is ready; return False if the server ended instead."""
    deadline = time.monotonic() + READY_SECONDS
    while process.poll() is None:
        note = _read_note(data)
        if len(note) > 7 and note[0] == str(process.pid) and note[7].strip() == "ready":
            return True
        if time.monotonic() > deadline:
            raise PostgresFailed(f"PostgreSQL in {data} was not ready after {READY_SECONDS:.0f} seconds.")
        time.sleep(_POLL_SECONDS)
    return False


def is_stopping(data: Path) -> bool:
    """Return whether the server was asked to end, by whomever, and has not ended yet."""
    note = _read_note(data)
    return len(note) > 7 and note[7].strip() == "stopping"


def find_port(data: Path) -> int | None:
    """Find the port of the server that is ready on these data, also of one that another process started."""
    note = _read_note(data)
    if len(note) <= 7 or note[7].strip() != "ready" or not (note[0].isdecimal() and note[3].isdecimal()):
        return None
    return int(note[3]) if _serves(_command_of(int(note[0])), data) else None


class Stopping:
    """The time that a server has to end after another process asked it to: meanwhile it serves nobody.

    PostgreSQL 18 may wait for ever where it is asked in the middle of its recovery.
    """

    def __init__(self) -> None:
        self._since: float | None = None

    def press(self, process: subprocess.Popen[bytes], data: Path) -> None:
        """End the server where its time is over."""
        now = time.monotonic()
        if not is_stopping(data):
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since >= STOP_SECONDS + FORCED_STOP_SECONDS:
            process.kill()
        elif now - self._since >= STOP_SECONDS:
            process.send_signal(signal.SIGQUIT)


def stop_child(process: subprocess.Popen[bytes]) -> None:
    def gone(seconds: float) -> bool:
        try:
            process.wait(seconds)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            return False  # Ctrl-C while we wait asks for the next step
        return True

    if process.poll() is None:
        _stop(process.pid, process.send_signal, gone)


def stop_leftover(data: Path) -> None:
    """Stop the server of a killed launcher, if no signal reached it or its shutdown still goes on.

    The caller holds the lock of these data, so no living launcher owns the server.
    """
    note = _read_note(data)
    if not note or not note[0].isdecimal() or int(note[0]) <= 1:
        return
    pid = int(note[0])
    command = _command_of(pid)
    if _serves(command, data):

        def gone(seconds: float) -> bool:
            deadline = time.monotonic() + seconds
            while _serves(_command_of(pid), data):
                if time.monotonic() > deadline:
                    return False
                time.sleep(_POLL_SECONDS)
            return True

        _stop(pid, lambda number: os.kill(pid, number), gone)
    elif command is not None and b"postgres" not in command.partition(b" ")[0]:
        # Another process has this number by now, and PostgreSQL would take it for a server.
        (data / "postmaster.pid").unlink(missing_ok=True)


def _end_with_parent() -> Callable[[], None] | None:
    """Arm the end with the parent, in the child as the account: changing to it would clear the signal."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl  # loaded before the fork: the child should do next to nothing
    parent = os.getpid()

    def arm() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGINT), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)  # the parent ended before the signal was armed

    return arm


def _stop(pid: int, send: Callable[[int], None], gone: Callable[[float], bool]) -> None:
    for number, seconds in _STOP_STEPS:
        try:
            send(number)
        except ProcessLookupError:
            return
        if gone(seconds):
            return
    raise PostgresFailed(
        f"PostgreSQL (process {pid}) did not end, not even when killed: restart the machine."
    )


def _read_note(data: Path) -> list[str]:
    """Parse `postmaster.pid`: the process on the first line, port on the fourth, state on the eighth."""
    try:
        return (data / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []


def _serves(command: bytes | None, data: Path) -> bool:
    return command is not None and b"/bin/postgres -D " + os.fsencode(data) + b" " in command


def _command_of(pid: int) -> bytes | None:
    """Return a process's command: None if there is none, empty if it has ended and is not collected."""
    try:
        if sys.platform == "linux":
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
        listing = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
        return subprocess.run(listing, capture_output=True, check=False, env=_ENVIRONMENT).stdout or None
    except (FileNotFoundError, ProcessLookupError):
        return None
