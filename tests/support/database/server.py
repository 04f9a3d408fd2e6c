"""Databases of a test server: made and dropped by one connection of this process, and described."""

from functools import cache

from psycopg import Connection, connect, sql
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow


@cache
def _reach(url: str) -> Connection[TupleRow]:
    """Return the connection to the server: each test makes and drops a database, and would open two."""
    return connect(url, autocommit=True, prepare_threshold=None)


def hang_up(url: str) -> None:
    """Close the connection to the server."""
    _reach(url).close()
    _reach.cache_clear()


def make_database(url: str, name: str, template: str) -> None:
    """Make a database as a copy of the template."""
    _reach(url).execute(
        sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
            sql.Identifier(name), sql.Identifier(template)
        )
    )


def drop_database(url: str, name: str) -> None:
    """Drop a database that a test made, even while connections to it are open."""
    _reach(url).execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def describe_url(url: str) -> dict[str, str]:
    """Return the parts of a URL by libpq's names."""
    return {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
