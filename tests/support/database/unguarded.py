"""Statements past the triggers, as nobody but a superuser can send them."""

from typing import Any, LiteralString

import psycopg


def execute_unguarded(
    admin: psycopg.Connection[Any], statement: LiteralString | bytes, values: Any = None
) -> int:
    """Execute a statement that no trigger and no foreign key stops; return how many rows it hit."""
    with admin.transaction():
        admin.execute("SET LOCAL session_replication_role = replica")
        return admin.execute(statement, values).rowcount
