"""`signet tenant`: install one from its file, grant it more or less of something, list ids that look alike.

Exit codes: 0 done, 1 refused (or ids that look alike), 2 wrong use.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from signet.cli.console import FINE, FOUND_ERRORS, write
from signet.core.explain.vocabulary import escape
from signet.core.tenants.quotas import Quota
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.tenants.look_alikes import list_look_alikes
from signet.engine.tenants.operator import TenantOperator
from signet.engine.tenants.tenant_files import InstalledFile, install_tenant_file
from signet.local.tenant_file import read_tenant_file
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import check_server

app = typer.Typer(help="Tenants.", no_args_is_help=True)
DatabaseUrl = Annotated[str, typer.Option("--database-url", envvar="SIGNET_DATABASE_URL")]
Tenant = Annotated[UUID, typer.Option("--tenant", help="The tenant's id.")]
Actor = Annotated[
    str | None,
    typer.Option(help="The person who says that they act, for the audit trail; it gives no right."),
]


@contextmanager
def _open(database_url: str) -> Iterator[Database]:
    check_server(database_url)
    database = Database(database_url, PoolSettings())
    try:
        yield database
    finally:
        database.close()


@app.command()
def install(
    file: Annotated[Path, typer.Argument(help="A tenant.yaml")],
    database_url: DatabaseUrl,
    actor: Actor = None,
) -> None:
    """Install a tenant, or what its file has changed: settings, roles, members, reporting lines."""
    tenant = read_tenant_file(file)
    with _open(database_url) as database:
        caller = read_command_line_caller(database, tenant.tenant_id, actor)
        outcome = install_tenant_file(database, caller, tenant)
    counts = f"{len(tenant.roles)} roles, {len(tenant.members)} members"
    write(f"installed {escape(tenant.name)} ({tenant.tenant_id}): {counts}")
    for line in describe_outcome(outcome):
        write(f"  {line}")


def describe_outcome(outcome: InstalledFile) -> Iterator[str]:
    for part, change in outcome.changes.items():
        yield f"changed: {part}" + (f" {escape(', '.join(sorted(change)))}" if part != "name" else "")
    if not outcome.changes:
        yield "nothing changed"
    yield from (f"kept: {escape(sentence)}" for sentence in outcome.kept)


@app.command()
def quota(
    tenant: Tenant,
    name: Annotated[str, typer.Argument(help="The quota, such as api:write or workflow:pause")],
    capacity: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many may be used at once")],
    refill_seconds: Annotated[
        int, typer.Option(min=1, max=86_400, help="The seconds in which an empty quota fills up")
    ],
    database_url: DatabaseUrl,
    actor: Actor = None,
) -> None:
    """Grant a tenant more, or less, of a quota."""
    with _open(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        TenantOperator(database).grant_quota(caller, tenant, Quota(name, capacity, refill_seconds))
    write(f"{name}: {capacity} in {refill_seconds} seconds")


@app.command()
def look_alikes(tenant: Tenant, database_url: DatabaseUrl) -> None:
    """List members whose ids differ by case, blanks or letters that look alike."""
    with _open(database_url) as database:
        groups = list_look_alikes(database, tenant)
    for group in groups:
        # In ASCII, which shows letters of other alphabets by their numbers.
        write("  ".join(map(ascii, group)))
    if not groups:
        write("no ids look alike")
    raise typer.Exit(FOUND_ERRORS if groups else FINE)
