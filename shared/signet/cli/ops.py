"""`signet ops …`: look after a whole deployment, with the address of its database.

Exit codes: 0 nothing is violated, 1 something is, with the rows named, 2 no answer from the database.
"""

from typing import Annotated
from uuid import UUID

import typer

from signet.cli.console import FINE, FOUND_ERRORS, stop, write
from signet.core.errors import SignetError
from signet.core.explain.phrases import end_sentence
from signet.core.explain.vocabulary import escape
from signet.engine.cache import CompiledCache
from signet.engine.housekeeping.verification import (
    VerificationLimits,
    find_stored_violations,
    list_tenants,
)
from signet.store.database import Database, PoolSettings
from signet.store.operations.invariants import INVARIANTS
from signet.store.schema.server import act_as, plain_errors

app = typer.Typer(help="A whole deployment.", no_args_is_help=True)
DatabaseUrl = Annotated[str, typer.Option("--database-url", envvar="SIGNET_DATABASE_URL")]


@app.callback()
def describe() -> None:
    """Look after a whole deployment."""


@app.command()
def verify(
    database_url: DatabaseUrl,
    tenant: Annotated[UUID | None, typer.Option("--tenant", help="Only this tenant.")] = None,
    instances: Annotated[
        int, typer.Option(min=0, max=1_000_000, help="Compare so many instances with their steps.")
    ] = 1_000,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Name at most so many rows of each.")] = 20,
    grace_seconds: Annotated[
        int, typer.Option(min=0, max=86_400, help="What is due for so long is left undone.")
    ] = 900,
    statement_seconds: Annotated[
        int, typer.Option(min=1, max=3_600, help="How long one invariant may take.")
    ] = 300,
) -> None:
    """Check that what is stored agrees with itself; nothing is changed."""
    limits = VerificationLimits(limit, instances, float(grace_seconds))
    tenant_count = violation_count = 0
    try:
        with plain_errors():
            database = Database(
                act_as(database_url, "signet_owner"), PoolSettings(statement_seconds=statement_seconds)
            )
            try:
                for tenant_id in list_tenants(database) if tenant is None else (tenant,):
                    tenant_count += 1
                    violation_count += _verify_tenant(database, tenant_id, limits)
            finally:
                database.close()
    except SignetError as error:
        stop(f"{end_sentence(error.message)} {error.remedy}".strip())
    write(f"{len(INVARIANTS) + 2} invariants, {tenant_count} tenants, {violation_count} violations")
    raise typer.Exit(FOUND_ERRORS if violation_count else FINE)


def _verify_tenant(database: Database, tenant_id: UUID, limits: VerificationLimits) -> int:
    count, named = 0, ""
    for violation in find_stored_violations(database, CompiledCache(), tenant_id, limits):
        if violation.invariant != named:
            named = violation.invariant
            write(f"VIOLATED {named}, tenant {tenant_id}: {escape(violation.sentence)}")
        write(f"  {escape(violation.where)}")
        count += 1
    return count
