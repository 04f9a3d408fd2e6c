"""Paths of tests to the database as a runtime role: straight, or in `make pooler` through pgbouncer.

    Database(as_role(owner_url, "signet_api"), PoolSettings())

These are straight also in `make pooler`:

- an admin, who makes and drops databases, looks behind row security and watches locks. An admin also
  installs an owner's things (quotas, epochs of the audit) and migrates. In a deployment the migrator and
  people do that, not the engine;
- `signet_dispatch`, as which nobody can log in.
"""

import os
from contextlib import ExitStack

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from signet.local.postgres import PostgresServer
from signet.store.schema.server import LOGIN_ROLES, act_as
from tests.support.database.pgbouncer import SESSIONS, pgbouncer
from tests.support.database.server import describe_url

IS_POOLED = bool(os.environ.get("SIGNET_TEST_POOLER"))
_PORT = "SIGNET_TEST_POOLER_PORT"
# The pools of this process that have opened all of their sessions.
_opened = set[str]()
# pgbouncer itself keeps these five settings apart for each client.
LEFT_BEHIND = """
    SELECT 'the tenant' WHERE current_setting('signet.tenant_id', true) <> ''
    UNION ALL SELECT 'the role' WHERE current_user <> session_user
    UNION ALL SELECT 'the setting ' || name FROM pg_settings WHERE source = 'session' AND name NOT IN
        ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')
    UNION ALL SELECT 'an advisory lock' FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()
    UNION ALL SELECT 'a prepared statement' FROM pg_prepared_statements
    UNION ALL SELECT 'a cursor' FROM pg_cursors WHERE is_holdable
    UNION ALL SELECT 'the table ' || relname FROM pg_class WHERE relnamespace = pg_my_temp_schema()
    UNION ALL SELECT 'an ear for ' || channel FROM pg_listening_channels() AS listened (channel)"""


def as_role(url: str, role: str) -> str:
    """Return the URL of this admin's database for a runtime role."""
    if not IS_POOLED or role not in LOGIN_ROLES:
        return act_as(url, role)
    pooled = _pooled_url(describe_url(url)["dbname"], role)
    _open_sessions(pooled)
    return pooled


def start_pooler(server: PostgresServer, leaving: ExitStack) -> None:
    """Start the pooler. A run that shares no session would prove nothing, so that is tried first."""
    os.environ[_PORT] = str(leaving.enter_context(pgbouncer(server)))
    url = as_role(server.url, LOGIN_ROLES[0])
    with psycopg.connect(url, autocommit=True) as one, psycopg.connect(url, autocommit=True) as other:
        sessions = [
            {client.execute("SELECT pg_backend_pid()").fetchone() for _ in range(SESSIONS)}
            for client in (one, other)
        ]
    if sessions[0] != sessions[1] or len(sessions[0]) != SESSIONS:
        raise pytest.UsageError(f"pgbouncer does not give its sessions to all in turns: {sessions}")


def expect_clean_sessions(url: str) -> None:
    """Check that no session holds anything of an earlier transaction: the next client would find it."""
    if not IS_POOLED:
        return
    database = describe_url(url)["dbname"]
    for pooled in sorted(_opened):
        if describe_url(pooled)["dbname"] != database:
            continue
        _opened.remove(pooled)
        with psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as client:
            left = {str(row[0]) for _ in range(SESSIONS) for row in client.execute(LEFT_BEHIND)}
        assert not left, f"left in a session: {sorted(left)}"


def _pooled_url(database: str, role: str) -> str:
    return make_conninfo(host="127.0.0.1", port=os.environ[_PORT], dbname=database, user=role)


def _open_sessions(url: str) -> None:
    """Open all the sessions of the pool, not the single one that would do for one client after another.

    The transactions of one client then take turns in each of them.
    """
    if url in _opened:
        return
    with ExitStack() as opened:
        for _ in range(SESSIONS):
            opened.enter_context(psycopg.connect(url)).execute("SELECT")
    _opened.add(url)
