"""Outages of the database under load: a table is locked, the server is read-only, its disk is full."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from types import MappingProxyType

import psycopg

from tests.chaos.town import Town

CHUNK = b"\0" * 8_192


@contextmanager
def table_locked(town: Town) -> Iterator[None]:
    """Hold the lock that building an index takes on the table of steps."""
    with psycopg.connect(town.url) as connection:
        # The server ends what idles in a transaction; who builds an index does not idle.
        connection.execute("SET idle_in_transaction_session_timeout = 0")
        connection.execute("LOCK TABLE workflow_step_executions IN SHARE MODE")
        yield
        connection.rollback()


@contextmanager
def read_only(town: Town) -> Iterator[None]:
    """Let the server take no writes, as one that is demoted in a failover does."""
    _set_read_only(town, "on")
    try:
        yield
    finally:
        _set_read_only(town, "off")


def _set_read_only(town: Town, value: str) -> None:
    with psycopg.connect(town.url, autocommit=True) as connection:
        connection.execute("SET default_transaction_read_only = off")
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}".encode())
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def disk_full(town: Town) -> Iterator[None]:
    """Fill the small disk that holds the tables."""
    assert town.disk is not None
    ballast = town.disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(CHUNK)
    try:
        yield
    finally:
        ballast.unlink()


OUTAGES: Mapping[str, Callable[[Town], AbstractContextManager[None]]] = MappingProxyType(
    {"table locked": table_locked, "read-only": read_only, "disk full": disk_full}
)


def suffer(town: Town, name: str, seconds: float) -> None:
    with OUTAGES[name](town):
        time.sleep(seconds)
