"""Limits of transactions: they come with BEGIN and end with the transaction, so that none waits for ever."""

import select
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from psycopg import Connection

from signet.core.errors import Transient
from signet.core.tenants.tenant_file import TenantFile
from signet.store.database import Database, PoolSettings
from signet.store.pipeline import DeferredStatement
from tests.support.database.runtime_roles import IS_POOLED, as_role

SHOW = "SELECT current_setting('lock_timeout'), current_setting('statement_timeout')"
FOREVER = DeferredStatement("SELECT pg_sleep(%(seconds)s)", {"seconds": 600})


@contextmanager
def limited(owner_url: str, **limits: Any) -> Iterator[Database]:
    database = Database(as_role(owner_url, "signet_api"), PoolSettings(size=1, **limits))
    try:
        yield database
    finally:
        database.close()


def test_limits_hold_for_each_kind_of_transaction_and_end_with_it(owner_url: str, tenant: TenantFile) -> None:
    tenant_id, show = tenant.tenant_id, DeferredStatement(SHOW, {})
    with limited(owner_url, lock_seconds=1.5, statement_seconds=20) as database:
        seen: list[Any] = []
        with database.transaction(tenant_id) as connection:
            seen.append(connection.execute(SHOW).fetchone())
        with database.snapshot(tenant_id) as connection:
            seen.append(connection.execute(SHOW).fetchone())
        with database.tenantless_transaction() as connection:
            seen.append(connection.execute(SHOW).fetchone())
        with database.pipelined(tenant_id, show) as pipeline:
            seen.append(pipeline.first_row)
        assert seen == [("1500ms", "20s")] * 4
        assert connection.execute(SHOW).fetchone() == ("0", "0")


def test_the_limits_of_a_lambda() -> None:
    settings = PoolSettings()
    assert (settings.lock_seconds, settings.statement_seconds) == (5.0, 30.0)


def test_who_waits_too_long_for_a_lock_is_told_to_come_again(
    owner_url: str, admin: Connection[tuple[object, ...]], tenant: TenantFile
) -> None:
    update = DeferredStatement("UPDATE members SET display_name = %(name)s", {"name": "x"})
    with limited(owner_url, lock_seconds=0.05) as database, admin.transaction():
        admin.execute("SELECT FROM members FOR UPDATE")
        with pytest.raises(Transient) as caught, database.transaction(tenant.tenant_id) as connection:
            connection.execute(update.text, update.values)
        assert caught.value.code == "DATABASE_CONTENDED"
        with pytest.raises(Transient) as caught, database.pipelined(tenant.tenant_id, update):
            pass
        assert caught.value.code == "DATABASE_CONTENDED"


def test_a_statement_that_takes_too_long_is_ended(owner_url: str, tenant: TenantFile) -> None:
    with limited(owner_url, statement_seconds=0.05) as database:
        with pytest.raises(Transient) as caught, database.transaction(tenant.tenant_id) as connection:
            connection.execute(FOREVER.text, FOREVER.values)
        assert (caught.value.code, "nothing was changed" in caught.value.message) == (
            "STATEMENT_TIMED_OUT",
            True,
        )
        with pytest.raises(Transient) as caught, database.pipelined(tenant.tenant_id, FOREVER):
            pass
        assert caught.value.code == "STATEMENT_TIMED_OUT"


def test_also_the_statement_that_goes_with_the_commit(owner_url: str, tenant: TenantFile) -> None:
    insert = "INSERT INTO roles (tenant_id, role) VALUES (current_tenant_id(), %(role)s) RETURNING role"
    opening = DeferredStatement(insert, {"role": "late"})
    with limited(owner_url, statement_seconds=0.05) as database:
        with pytest.raises(Transient) as caught, database.pipelined(tenant.tenant_id, opening) as pipeline:
            pipeline.closing.append(FOREVER)
        assert caught.value.code == "STATEMENT_TIMED_OUT"
        with database.transaction(tenant.tenant_id) as connection:
            assert connection.execute("SELECT FROM roles WHERE role = 'late'").rowcount == 0


def test_who_stands_still_within_a_transaction_loses_it(owner_url: str, tenant: TenantFile) -> None:
    database = Database(owner_url, PoolSettings(idle_in_transaction_seconds=0.05))
    with pytest.raises(Transient) as caught, database.transaction(tenant.tenant_id) as connection:
        # The server ends the session, and says so.
        select.select([connection.fileno()], [], [], 20.0)
        connection.execute("SELECT 1")
    assert caught.value.code in ("TRANSACTION_TIMED_OUT", "DATABASE_UNAVAILABLE")
    with database.transaction(tenant.tenant_id) as connection:
        show = "SHOW idle_in_transaction_session_timeout"
        assert connection.execute(show).fetchone() == ("50ms",)
    database.close()


def test_the_connection_that_came_back_last_is_taken_first(owner_url: str, tenant: TenantFile) -> None:
    """Its plans and caches are warm. The others stand by."""
    if IS_POOLED:
        pytest.skip("the pooler chooses which session of the server serves a connection")
    ask = DeferredStatement("SELECT pg_backend_pid()", {})
    database = Database(as_role(owner_url, "signet_api"), PoolSettings(size=3))
    try:
        with ExitStack() as together:
            pipelines = [together.enter_context(database.pipelined(tenant.tenant_id, ask)) for _ in range(3)]
            pids = [pipeline.first_row for pipeline in pipelines]
            assert len(set(pids)) == 3
        # They came back from the last to the first.
        for _ in range(3):
            with database.pipelined(tenant.tenant_id, ask) as pipeline:
                assert pipeline.first_row == pids[0]
        with (
            database.pipelined(tenant.tenant_id, ask) as first,
            database.pipelined(tenant.tenant_id, ask) as next_,
        ):
            assert [first.first_row, next_.first_row] == pids[:2]
    finally:
        database.close()
