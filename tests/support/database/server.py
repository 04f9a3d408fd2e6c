"""Databases of a test server, dropped and described."""

from psycopg import connect, sql
from psycopg.conninfo import conninfo_to_dict


def drop_database(url: str, name: str) -> None:
    """Drop a database that a test made, even while connections to it are open."""
    with connect(url, autocommit=True, prepare_threshold=None) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def describe_url(url: str) -> dict[str, str]:
    """Return the parts of a URL by libpq's names."""
    return {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
