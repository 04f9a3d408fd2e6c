"""`signet token PERSON`: a token of a member or an operator, for the Signet that runs on this machine."""

from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from signet.cli.console import stop, write
from signet.local.member_token import read_member_token, write_operator_token
from signet.local.postgres import PostgresFailed
from signet.local.tenant_file import DEMO_FILE, read_tenant_file


def token_command(
    person: Annotated[str, typer.Argument(metavar="PERSON", help="The member's id, such as carl.")],
    tenant: Annotated[
        UUID | None, typer.Option("--tenant", help="The tenant's id; by default the demo tenant.")
    ] = None,
    operator: Annotated[
        bool, typer.Option("--operator", help="A token of an operator of that name, who is no member.")
    ] = False,
    state: Annotated[Path, typer.Option(help="The folder that `signet run` keeps its data in.")] = Path(
        ".signet"
    ),
    database_url: Annotated[str | None, typer.Option("--database-url", envvar="SIGNET_DATABASE_URL")] = None,
    environment: Annotated[str, typer.Option(envvar="SIGNET_ENVIRONMENT", hidden=True)] = "local",
) -> None:
    """Print a token of a member or an operator for a day: local environments only."""
    tenant_id = tenant or read_tenant_file(DEMO_FILE).tenant_id
    make_token = write_operator_token if operator else read_member_token
    try:
        token = make_token(
            state.resolve(), tenant_id, person, database_url=database_url or None, environment=environment
        )
    except PostgresFailed as error:
        stop(str(error))
    write(token)
