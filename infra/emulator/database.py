"""The master and the database of a cluster, in the Postgres that stands for it."""

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import sql

from infra.emulator.plan import EmulatorPlan

SUPERUSER = "postgres"
# Roles with this role sign in with tokens of IAM.
_IAM_ROLE = "rds_iam"


def prepare_database(plan: EmulatorPlan, properties: Mapping[str, Any]) -> None:
    """Make the master and the database unless they exist."""
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
            create = sql.SQL("CREATE DATABASE {} OWNER {}")
            connection.execute(create.format(sql.Identifier(database), sql.Identifier(master)))


def _exists(connection: psycopg.Connection[Any], query: Any, name: str) -> bool:
    return connection.execute(query, [name]).fetchone() is not None
