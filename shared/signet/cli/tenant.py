"""`signet tenant`: install one from its file, and grant it more or less of something."""

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from signet.core.tenants.quotas import Quota
from signet.engine.access.quotas import set_quota
from signet.engine.tenants.install import install_tenant
from signet.local.tenant_file import read_tenant_file
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import check_server

app = typer.Typer(help="Tenants.", no_args_is_help=True)


@app.command()
def install(
    file: Annotated[Path, typer.Argument(help="A tenant.yaml")],
    database_url: Annotated[str, typer.Option("--database-url", envvar="SIGNET_DATABASE_URL")],
) -> None:
    """Install or update a tenant: settings, roles, members, reporting lines."""
    tenant = read_tenant_file(file)
    check_server(database_url)
    database = Database(database_url, PoolSettings())
    try:
        install_tenant(database, tenant)
    finally:
        database.close()
    counts = f"{len(tenant.roles)} roles, {len(tenant.members)} members"
    print(f"installed {tenant.name} ({tenant.tenant_id}): {counts}")


@app.command()
def quota(
    tenant: Annotated[UUID, typer.Option("--tenant", help="The tenant's id")],
    name: Annotated[str, typer.Argument(help="The quota, such as api:write or workflow:pause")],
    capacity: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many may be used at once")],
    refill_seconds: Annotated[
        int, typer.Option(min=1, max=86_400, help="The seconds in which an empty quota fills up")
    ],
    database_url: Annotated[str, typer.Option("--database-url", envvar="SIGNET_DATABASE_URL")],
) -> None:
    """Grant a tenant more, or less, of a quota. Takes the rights of the tables' owner."""
    check_server(database_url)
    database = Database(database_url, PoolSettings())
    try:
        set_quota(database, tenant, Quota(name, capacity, refill_seconds))
    finally:
        database.close()
    print(f"{name}: {capacity} in {refill_seconds} seconds")
