"""Databases and roles of a server, by its admin: for the local runner, the tests and the migrator."""

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

import psycopg
from psycopg import connect, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from signet.core.errors import Defect, Rejected, Transient
from signet.store.deadlines import OWNER_LIMITS
from signet.store.statements import Statements

OLDEST_MAJOR = 15
LOGIN_ROLES = ("signet_api", "signet_worker", "signet_janitor")
_SQL = Statements(__file__)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Translate errors of a server or of its address into one clear sentence, for the command line."""
    try:
        yield
    except psycopg.errors.InsufficientPrivilege as error:
        raise Rejected(
            "SETTINGS_INVALID",
            f"The database refuses this user: {error.diag.message_primary}.",
            remedy="Use the URL of a user who owns the database and may create roles.",
        ) from error
    except psycopg.Error as error:
        if error.sqlstate is not None:
            raise Defect(
                "DATABASE_REFUSED",
                f"The database refuses ({error.sqlstate}): {error.diag.message_primary}.",
                remedy="`signet migrate status` says whether its schema is the one of this release.",
            ) from error
        if isinstance(error, psycopg.OperationalError):
            reason = " ".join(str(error).split())
            raise Transient("DATABASE_UNAVAILABLE", f"The database cannot be reached: {reason}") from error
        # The given address is not shown, because it may hold a password.
        raise Rejected(
            "SETTINGS_INVALID",
            "The database's address cannot be read: it has the form postgresql://user:password@host:5432/name.",
        ) from error


def may_come(error: Transient) -> bool:
    """Return whether a server that could not be reached is away or starting, and has not refused us."""
    return "FATAL" not in error.message or "the database system is" in error.message


def check_server(url: str) -> None:
    """Require a server that can be reached and is new enough, before anything is done to it."""
    major = read_server_major(url)
    if major < OLDEST_MAJOR:
        raise Rejected(
            "SETTINGS_INVALID", f"The server is PostgreSQL {major}; Signet needs {OLDEST_MAJOR} or newer."
        )


def is_on_loopback(url: str) -> bool:
    """Return whether the address leads to a server of this machine, as the connection itself says."""
    with connect(url, autocommit=True, **OWNER_LIMITS) as connection:
        address = connection.info.hostaddr
        # Without an address it is a socket in a folder.
        return ip_address(address).is_loopback if address else True


def act_as(url: str, role: str) -> str:
    """Return the URL of the same database, acting as `role` from the first statement on."""
    options = conninfo_to_dict(url).get("options")
    return make_conninfo(url, options=f"{options or ''} -c role={role}".strip())


def let_act_as(url: str, role: str) -> None:
    """Make an admin who is no superuser a member of a role, without which they cannot act as it."""
    with connect(url, autocommit=True, prepare_threshold=None, **OWNER_LIMITS) as connection:
        try:
            connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(role)))
        except psycopg.errors.InsufficientPrivilege:
            connection.execute(sql.SQL("GRANT {} TO CURRENT_USER").format(sql.Identifier(role)))


def use_database(url: str, name: str) -> str:
    return make_conninfo(url, dbname=name)


def read_server_major(url: str) -> int:
    with connect(url, autocommit=True, **OWNER_LIMITS) as connection:
        return connection.info.server_version // 10_000


def database_exists(url: str, name: str) -> bool:
    with connect(url, autocommit=True, prepare_threshold=None, **OWNER_LIMITS) as connection:
        return connection.execute(_SQL.find_database, {"name": name}).fetchone() is not None


def create_database(url: str, name: str, template: str | None = None) -> None:
    statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
    if template is not None:
        # A file copy is several times faster than the default for a small template.
        statement += sql.SQL(" TEMPLATE {} STRATEGY file_copy").format(sql.Identifier(template))
    with connect(url, autocommit=True, prepare_threshold=None, **OWNER_LIMITS) as connection:
        connection.execute(statement)


def replace_credentials(url: str, user: str, password: str) -> str:
    return make_conninfo(url, user=user, password=password)


def let_log_in_by_iam(url: str) -> bool:
    """Let the roles log in by IAM and without a password; return whether the server knows such logins."""
    with connect(url, autocommit=True, prepare_threshold=None, **OWNER_LIMITS) as connection:
        if connection.execute(_SQL.find_iam_role).fetchone() is None:
            return False
        for role in LOGIN_ROLES:
            connection.execute(sql.SQL("GRANT rds_iam TO {}").format(sql.Identifier(role)))
    return True
