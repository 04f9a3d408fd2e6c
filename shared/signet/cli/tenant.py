"""`signet tenant install`: a tenant from its file."""

from pathlib import Path
from typing import Annotated

import typer

from signet.engine.tenants import install_tenant
from signet.local.tenant_file import read_tenant_file
from signet.store.database import Database, PoolSettings
from signet.store.server import check_server

app = typer.Typer(help="Tenants.", no_args_is_help=True)


@app.callback()
def tenants() -> None:
    """Keeps `install` a subcommand while it is the only one."""


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
