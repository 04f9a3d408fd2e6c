"""What making a cluster gives on AWS, in the Postgres that stands for it: its master and its database."""

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import sql

from infra.emulator.plan import EmulatorPlan

SUPERUSER = "postgres"
# Who has it signs in with tokens of IAM.
_IAM_ROLE = "rds_iam"


def prepare_database(plan: EmulatorPlan, properties: Mapping[str, Any]) -> None:
    """Once is enough, again is harmless."""
    master, database = properties["MasterUsername"], properties.get("DatabaseName")
    with psycopg.connect(
        host=str(plan.database_folder),
        port=plan.database_port,
        user=SUPERUSER,
        dbname="postgres",
        autocommit=True,
    ) as connection:
        if not _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", _IAM_ROLE):
            connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(_IAM_ROLE)))
        if not _exists(connection, "SELECT 1 FROM pg_roles WHERE rolname = %s", master):
            create = sql.SQL("CREATE ROLE {} LOGIN CREATEROLE CREATEDB")
            connection.execute(create.format(sql.Identifier(master)))
            grant = sql.SQL("GRANT {} TO {} WITH ADMIN OPTION, INHERIT FALSE, SET FALSE")
            connection.execute(grant.format(sql.Identifier(_IAM_ROLE), sql.Identifier(master)))
        if database and not _exists(connection, "SELECT 1 FROM pg_database WHERE datname = %s", database):
            made = sql.SQL("CREATE DATABASE {} OWNER {}")
            connection.execute(made.format(sql.Identifier(database), sql.Identifier(master)))


def _exists(connection: psycopg.Connection[Any], query: Any, name: str) -> bool:
    return connection.execute(query, [name]).fetchone() is not None
