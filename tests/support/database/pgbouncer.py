"""pgbouncer in transaction mode before the run's Postgres: `make pooler`.

The runtime roles log in as themselves, as they do in a deployment. A pooler carries no startup option by
which an admin's session would act as one of them (docs/decisions/0001).
"""

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from signet.local.postgres import PostgresServer
from signet.local.postgres_place import Account, name_of
from signet.local.postgres_process import spawn, stop_child
from signet.store.schema.server import LOGIN_ROLES

# The sessions of one role in one database, shared by all of its clients.
SESSIONS = 3
READY_SECONDS = 20.0
POLL_SECONDS = 0.01
PROGRAM = "pgbouncer"
# Debian puts it there, which is not on everybody's path.
FOLDERS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
# No option of a client is ignored: a pooler must take the options that ours send at their start.
SETTINGS = f"""
[databases]
* = host=127.0.0.1 port={{server_port}}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {{port}}
unix_socket_dir =
auth_type = trust
auth_file = {{logins}}
pool_mode = transaction
default_pool_size = {SESSIONS}
server_round_robin = 1
server_reset_query_always = 0
query_wait_timeout = 10
server_idle_timeout = 20
max_client_conn = 2000
log_connections = 0
log_disconnections = 0
"""


@contextmanager
def pgbouncer(server: PostgresServer) -> Iterator[int]:
    """Yield its port. The server must be the run's own: its runtime roles are given passwords."""
    program = shutil.which(PROGRAM, path=FOLDERS)
    if program is None:
        raise pytest.UsageError(
            "pgbouncer is not here: `apt-get install pgbouncer`, or `brew install pgbouncer`"
        )
    owner = server.data_directory.stat()
    account = Account(name_of(owner.st_uid), owner.st_uid, owner.st_gid)
    with ExitStack() as leaving:
        folder = Path(leaving.enter_context(tempfile.TemporaryDirectory(prefix="signet-pgbouncer-")))
        port = _free_port()
        logins, settings, log = folder / "logins.txt", folder / "pgbouncer.ini", folder / "pgbouncer.log"
        logins.write_text(_let_log_in(server.url))
        settings.write_text(SETTINGS.format(server_port=server.port, port=port, logins=logins))
        for path in (folder, logins, settings):
            os.chown(path, account.uid, account.gid)
        with log.open("wb") as handle:
            process = spawn([program, str(settings)], account, handle.fileno())
        leaving.callback(stop_child, process)
        # Clients still connected at the end are not waited for.
        leaving.callback(process.terminate)
        _wait_ready(process, port, log)
        yield port


def _let_log_in(url: str) -> str:
    """Give the runtime roles passwords, and return them in the form that pgbouncer reads."""
    with psycopg.connect(url, autocommit=True) as admin:
        passwords = {role: secrets.token_hex(16) for role in LOGIN_ROLES}
        for role, password in passwords.items():
            statement = sql.SQL("ALTER ROLE {} PASSWORD {}")
            admin.execute(statement.format(sql.Identifier(role), sql.Literal(password)))
    return "".join(f'"{role}" "{password}"\n' for role, password in passwords.items())


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_ready(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise pytest.UsageError(f"pgbouncer did not start:\n{log.read_text()}") from None
            time.sleep(POLL_SECONDS)
        else:
            return
