"""A silent connection: who waits for it is told in bounded time, and the next request has another one."""

import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from signet.core.errors import Transient
from signet.core.tenants.tenant_file import TenantFile
from signet.store import database as database_module
from signet.store.database import Database, PoolSettings
from signet.store.pipeline import DeferredStatement
from tests.support.database.server import describe_url
from tests.support.database.wire_proxy import FROM_CLIENT, FROM_SERVER, Answer, Silence, WireProxy

ONE = DeferredStatement("SELECT %(x)s::integer", {"x": 1})
LONG = DeferredStatement("SELECT %(x)s::text", {"x": "x" * 20_000})
JOIN_SECONDS = 20.0


@pytest.fixture
def proxy(owner_url: str) -> Iterator[WireProxy]:
    parts = describe_url(owner_url)
    with WireProxy(parts["host"], int(parts["port"])) as made:
        yield made


@pytest.fixture
def url(owner_url: str, proxy: WireProxy) -> str:
    return make_conninfo(owner_url, host="127.0.0.1", port=proxy.port, sslmode="prefer")


def work(database: Database, tenant: TenantFile) -> None:
    with database.pipelined(tenant.tenant_id, ONE) as pipeline:
        pipeline.connection.execute(ONE.text, ONE.values)
        with pipeline.connection.transaction():
            pipeline.connection.execute(ONE.text, ONE.values)
        pipeline.closing.extend([ONE, LONG])


def work_in_the_end(database: Database, tenant: TenantFile) -> None:
    """Work, though a busy machine may be slower than so short a deadline a few times."""
    for _ in range(9):
        with suppress(Transient):
            work(database, tenant)
            return
    work(database, tenant)


@pytest.mark.parametrize("direction", [FROM_CLIENT, FROM_SERVER])
def test_silence_at_any_message_ends_by_itself(
    url: str, proxy: WireProxy, tenant: TenantFile, monkeypatch: pytest.MonkeyPatch, direction: str
) -> None:
    monkeypatch.setattr(database_module, "BEYOND_STATEMENT_SECONDS", 0.1)
    database = Database(url, PoolSettings(size=1, statement_seconds=0.1))
    work_in_the_end(database, tenant)
    proxy.arm(None)
    work_in_the_end(database, tenant)
    total, told = proxy.seen(direction), set[str]()
    for number in range(1, total + 1):
        proxy.arm(Silence(direction, number))
        try:
            work(database, tenant)
        except Transient as error:
            assert not error.is_brief
            told.add(error.code)
        work_in_the_end(database, tenant)
    assert told == {"DATABASE_UNAVAILABLE", "OUTCOME_UNKNOWN"}
    database.close()


def test_one_silent_connection_ends_the_idle_ones_with_it(
    url: str, proxy: WireProxy, tenant: TenantFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "BEYOND_STATEMENT_SECONDS", 0.1)
    database = Database(url, PoolSettings(size=2, statement_seconds=0.1))
    with database.tenantless_transaction() as one, database.tenantless_transaction() as other:
        pids = {one.info.backend_pid, other.info.backend_pid}
    proxy.arm(Silence(FROM_SERVER, 1))
    with pytest.raises(Transient):
        work(database, tenant)
    with database.tenantless_transaction() as one, database.tenantless_transaction() as other:
        assert pids.isdisjoint({one.info.backend_pid, other.info.backend_pid})
    database.close()


def test_a_process_that_ends_waits_for_no_answer_any_more(
    url: str, proxy: WireProxy, tenant: TenantFile
) -> None:
    database = Database(url, PoolSettings(size=1))
    work(database, tenant)
    silent, told = threading.Event(), list[str]()
    proxy.arm(Silence(FROM_CLIENT, 2), silent.set)

    def wait() -> None:
        try:
            work(database, tenant)
        except Transient as error:
            told.append(error.code)

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert silent.wait(JOIN_SECONDS)
    database.hurry(1.0)
    waiting.join(JOIN_SECONDS)
    assert told == ["DATABASE_UNAVAILABLE"] and not waiting.is_alive()
    work(database, tenant)
    database.close()


def test_the_kernel_has_limits_too(owner_url: str) -> None:
    database = Database(owner_url, PoolSettings(statement_seconds=0))
    with database.tenantless_transaction() as connection:
        parameters = conninfo_to_dict(connection.info.dsn)
        assert (parameters["tcp_user_timeout"], parameters["keepalives_idle"]) == ("15000", "15")
    database.close()


def test_a_connection_that_broke_while_idle_costs_nobody_an_answer(
    url: str, proxy: WireProxy, tenant: TenantFile
) -> None:
    database = Database(url, PoolSettings(size=2))
    work(database, tenant)
    for state in ("57P01", "57P05", "XX000"):
        proxy.arm(Answer(1, state, is_fatal=True))
        work(database, tenant)
        assert proxy.answered == 1
    database.close()
