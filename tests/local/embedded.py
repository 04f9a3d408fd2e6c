"""Embedded Postgres servers seen from outside: processes, permissions, stored words."""

import json
import os
import pwd
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from signet.local import postgres_process
from signet.local.postgres import PostgresFailed

AS_ROOT = os.geteuid() == 0
PATIENCE_SECONDS = 20.0
as_root_only = pytest.mark.skipif(not AS_ROOT, reason="only root becomes another account")


def first_line(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def is_running(pid: int) -> bool:
    """Return whether the process runs. An ended process that is not yet collected has no command."""
    return bool(postgres_process._command_of(pid))


def processes_about(path: Path) -> list[str]:
    """Return the commands that name a file in the folder."""
    if not Path("/proc/self").exists():
        every = subprocess.run(["ps", "-axww", "-o", "command="], capture_output=True, check=True).stdout
        return [command for command in every.decode(errors="replace").splitlines() if f"{path}/" in command]
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    commands = [os.fsdecode(postgres_process._command_of(pid) or b"") for pid in pids]
    return [command for command in commands if f"{path}/" in command]


def remember(url: str, word: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("create table if not exists memory (word text)")
        connection.execute("insert into memory values (%s)", [word])


def remembered(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [str(row[0]) for row in connection.execute("select word from memory order by word")]


def answer(url: str, question: str, host: Path | None = None) -> object:
    with psycopg.connect(make_conninfo(url, **({"host": str(host)} if host else {}))) as connection:
        row = connection.execute(question.encode()).fetchone()
        return row[0] if row else None


def permissions(path: Path) -> dict[str, tuple[int, int, int]]:
    seen = {str(each): each.stat() for each in (path, *path.parents)}
    return {name: (one.st_mode, one.st_uid, one.st_gid) for name, one in seen.items()}


def as_nobody(work: Callable[[], object]) -> object:
    """Run the work as the user nobody, in a fork: nobody may be unable to start this user's Python."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            nobody = pwd.getpwnam("nobody")
            os.setgroups([])
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
            try:
                result: object = work()
            except PostgresFailed as error:
                result = str(error)
            os.write(writing, json.dumps(result).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said)
