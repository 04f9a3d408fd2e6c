"""Statements past the triggers, as nobody but a superuser can send them."""

from typing import Any, LiteralString

import psycopg


def execute_unguarded(admin: psycopg.Connection[Any], statement: LiteralString, values: Any = None) -> None:
    admin.execute("SET session_replication_role = replica")
    try:
        admin.execute(statement, values)
    finally:
        admin.execute("SET session_replication_role = origin")
