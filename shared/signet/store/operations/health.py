"""The state of the database: its version and its migrations."""

from dataclasses import dataclass

from psycopg.rows import class_row

from signet.core.errors import Defect
from signet.store.database import Connection
from signet.store.statements import Statements

_SQL = Statements(__file__)


@dataclass(frozen=True)
class DatabaseState:
    server_version: str
    migrations: int
    latest_migration: str


def read_database_state(connection: Connection) -> DatabaseState:
    with connection.cursor(row_factory=class_row(DatabaseState)) as cursor:
        state = cursor.execute(_SQL.read_database_state, {}).fetchone()
    if state is None:
        raise Defect("NO_DATABASE_STATE", "an aggregate answered no row")
    return state
