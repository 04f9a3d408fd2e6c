"""Databases and roles of a server, for the local runner and the tests. Production has infra/ for this."""

from psycopg import connect, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from signet.store.statements import Statements

_SQL = Statements("server")


def act_as(url: str, role: str) -> str:
    """The same server and database, acting as `role` from the first statement on."""
    return make_conninfo(url, options=f"-c role={role}")


def use_database(url: str, name: str) -> str:
    return make_conninfo(url, dbname=name)


def read_server_major(url: str) -> int:
    with connect(url, autocommit=True, prepare_threshold=None) as connection:
        return connection.info.server_version // 10_000


def database_exists(url: str, name: str) -> bool:
    with connect(url, autocommit=True, prepare_threshold=None) as connection:
        return connection.execute(_SQL.find_database, {"name": name}).fetchone() is not None


def create_database(url: str, name: str, template: str | None = None) -> None:
    statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
    if template is not None:
        # A file copy is several times faster than the default for a small template.
        statement += sql.SQL(" TEMPLATE {} STRATEGY file_copy").format(sql.Identifier(template))
    with connect(url, autocommit=True, prepare_threshold=None) as connection:
        connection.execute(statement)


def drop_database(url: str, name: str) -> None:
    """Also while somebody is still connected: used for databases that a test made."""
    with connect(url, autocommit=True, prepare_threshold=None) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


def describe_url(url: str) -> dict[str, str]:
    """Its parts by libpq's names."""
    return {key: str(value) for key, value in conninfo_to_dict(url).items() if value is not None}
