"""The proxy refuses the Nth statement as a server would: the transaction fails, the connection may end."""

from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.support.database.server import describe_url
from tests.support.database.wire_proxy import FROM_SERVER, STATEMENTS, Answer, Silence, WireProxy


@pytest.fixture
def proxy(server_url: str) -> Iterator[WireProxy]:
    parts = describe_url(server_url)
    with WireProxy(parts["host"], int(parts["port"])) as made:
        yield made


@pytest.fixture
def connection(server_url: str, proxy: WireProxy) -> Iterator[psycopg.Connection]:
    url = make_conninfo(server_url, host="127.0.0.1", port=proxy.port, sslmode="prefer")
    made = psycopg.connect(url, autocommit=True, prepare_threshold=None)
    yield made
    made.close()


@pytest.mark.parametrize("state", ["53100", "25006", "40001", "XX000"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_nth_statement_is_refused_and_no_other(
    proxy: WireProxy, connection: psycopg.Connection, state: str, number: int
) -> None:
    proxy.arm(Answer(number, state))
    statements: list[tuple[str, list[int] | None]] = [
        ("BEGIN; SELECT 1", None),
        ("SELECT %s", [2]),
        ("COMMIT", None),
    ]
    for place, (text, values) in enumerate(statements, start=1):
        if place == number:
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(text, values)
            assert caught.value.sqlstate == state
            break
        connection.execute(text, values)
    assert connection.info.transaction_status.name == "INERROR"
    connection.rollback()
    assert connection.execute("SELECT 5").fetchall() == [(5,)]
    assert (proxy.answered, proxy.seen(STATEMENTS)) == (1, number + 1)


def test_a_statement_of_a_pipeline_is_refused_with_those_after_it(
    proxy: WireProxy, connection: psycopg.Connection
) -> None:
    proxy.arm(Answer(2, "53100"))
    with pytest.raises(psycopg.errors.DiskFull), connection.pipeline():
        for number in range(3):
            connection.execute("SELECT %s", [number])
    assert proxy.answered == 1
    assert connection.execute("SELECT 5").fetchall() == [(5,)]


def test_a_fatal_answer_ends_the_connection(proxy: WireProxy, connection: psycopg.Connection) -> None:
    proxy.arm(Answer(1, "57P01", is_fatal=True))
    with pytest.raises(psycopg.errors.AdminShutdown):
        connection.execute("SELECT 1")
    assert connection.broken and proxy.cut_backend > 0


def test_a_lasting_answer_refuses_new_connections_too(
    server_url: str, proxy: WireProxy, connection: psycopg.Connection
) -> None:
    proxy.arm(Answer(1, "53300", is_lasting=True))
    for _ in range(2):
        with pytest.raises(psycopg.errors.TooManyConnections):
            connection.execute("SELECT 1")
    url = make_conninfo(server_url, host="127.0.0.1", port=proxy.port, sslmode="prefer")
    with pytest.raises(psycopg.OperationalError, match="injected"):
        psycopg.connect(url)
    proxy.arm(None)
    assert connection.execute("SELECT 5").fetchall() == [(5,)]


def test_a_silent_connection_stays_open_and_says_nothing(
    proxy: WireProxy, connection: psycopg.Connection
) -> None:
    proxy.arm(Silence(FROM_SERVER, 1))
    connection.pgconn.send_query(b"SELECT 1")
    connection.pgconn.flush()
    assert list(connection.notifies(timeout=0.1)) == []
    assert connection.pgconn.is_busy() and not connection.broken
