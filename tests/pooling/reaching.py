"""How tests reach the database as a runtime role: straight, or in `make pooler` through pgbouncer.

    Database(as_role(owner_url, "signet_api"), PoolSettings())

Straight also in `make pooler`:
- an admin, who makes and drops databases, looks behind row security, watches who waits for whom, installs
  what only an owner may (quotas, epochs of the audit) and migrates: in a deployment that is the migrator,
  and people; none of it is what the engine asks;
- `signet_dispatch`, which nobody can log in as.
"""

import os
from contextlib import ExitStack

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from signet.local.postgres import PostgresServer
from signet.store.schema.server import LOGIN_ROLES, act_as
from tests.databases import describe_url
from tests.pooling.pgbouncer import SESSIONS, pgbouncer

IS_POOLED = bool(os.environ.get("SIGNET_TEST_POOLER"))
_PORT = "SIGNET_TEST_POOLER_PORT"
# The pools of this process that have all of their sessions.
_opened = set[str]()
# The five settings are those that pgbouncer itself keeps apart for each client.
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
    """The database of this admin's URL, for a runtime role."""
    if not IS_POOLED or role not in LOGIN_ROLES:
        return act_as(url, role)
    pooled = _pooled_url(describe_url(url)["dbname"], role)
    _open_sessions(pooled)
    return pooled


def start_pooler(server: PostgresServer, leaving: ExitStack) -> None:
    """A run that shares no session would prove nothing, so that is tried first."""
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
    """What a transaction leaves in its session, the next one finds, whosoever it is."""
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
    """All that the pool may have, and not the one that would do for whoever asks one after another.

    So the transactions of one client are in turns in each of them.
    """
    if url in _opened:
        return
    with ExitStack() as opened:
        for _ in range(SESSIONS):
            opened.enter_context(psycopg.connect(url)).execute("SELECT")
    _opened.add(url)
