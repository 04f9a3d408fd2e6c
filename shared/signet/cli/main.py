"""The `signet` command."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from signet.cli import migrate, run, tenant
from signet.core.errors import SignetError

app = typer.Typer(
    name="signet",
    help="Contracted document workflows on Postgres.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(migrate.app, name="migrate")
app.add_typer(tenant.app, name="tenant")


@app.command(name="run")
def run_command(
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Where the API listens on loopback.")] = 8700,
    state: Annotated[Path, typer.Option(help="Where the embedded Postgres keeps its data.")] = Path(
        ".signet"
    ),
    end_with_parent: Annotated[
        bool, typer.Option("--end-with-parent", help="Stop when the process that started this ends.")
    ] = False,
) -> None:
    """Start Signet here: Postgres, migrations, the demo tenant, the API."""
    run.run(port=port, state=state.resolve(), end_with_parent=end_with_parent)


def main() -> None:
    try:
        app()
    except SignetError as error:
        print(f"signet: {error.message}", file=sys.stderr)
        if error.remedy:
            print(f"  {error.remedy}", file=sys.stderr)
        sys.exit(1)
