"""A transaction that is idle ends on the server's side, of any role and any tool."""

import select

import psycopg
import pytest

from signet.store.schema.migrations import migrate_up, read_migrations
from signet.wiring.process import MIGRATIONS_FOLDER
from tests.support.database.catalogue import RUNTIME_ROLES
from tests.support.database.runtime_roles import as_role

SHOW = "SHOW idle_in_transaction_session_timeout"


def test_an_idle_transaction_of_any_role_ends(empty_database_url: str) -> None:
    migrations = read_migrations(MIGRATIONS_FOLDER)
    migrate_up(empty_database_url, migrations, say=lambda _: None)
    for role in (*RUNTIME_ROLES, "signet_owner", None):
        url = empty_database_url if role is None else as_role(empty_database_url, role)
        with psycopg.connect(url) as connection:
            assert connection.execute(SHOW).fetchone() == ("5min",), role
            connection.execute("SET idle_in_transaction_session_timeout = '50ms'")
            connection.commit()
            connection.execute("SELECT 1")
            with pytest.raises(psycopg.Error, match="idle-in-transaction"):
                # The server ends the session, and says so.
                select.select([connection.fileno()], [], [], 20.0)
                connection.execute("SELECT 1")
