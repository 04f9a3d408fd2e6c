"""The `signet` command."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from signet.cli import (
    approval,
    audit,
    author_file,
    effect,
    incident,
    instance,
    migrate,
    ops,
    run,
    tenant,
)
from signet.cli.compile import COMPILE_HELP, compile_command
from signet.cli.diff import DIFF_HELP, diff_command
from signet.cli.inbound import event
from signet.cli.move import move_all_command, move_command
from signet.cli.repair import ask_again_command, correct_command, restart_command
from signet.cli.simulate import SIMULATE_HELP, simulate_command
from signet.cli.time import automation, calendar, schedule
from signet.cli.token import token_command
from signet.core.errors import SignetError
from signet.local.local_database import use_local_database
from signet.store.schema.server import plain_errors

ON_A_DATABASE = frozenset(
    {"approval", "audit", "automation", "effect", "event", "incident", "instance", "migrate", "ops", "tenant"}
)

app = typer.Typer(
    name="signet",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(migrate.app, name="migrate")
app.add_typer(tenant.app, name="tenant")
app.add_typer(author_file.app, name="contract")
app.add_typer(calendar.app, name="calendar")
app.add_typer(audit.app, name="audit")
app.add_typer(instance.app, name="instance")
app.add_typer(incident.app, name="incident")
app.add_typer(effect.app, name="effect")
app.add_typer(event.app, name="event")
app.add_typer(approval.app, name="approval")
app.add_typer(ops.app, name="ops")
app.add_typer(schedule.app, name="schedule")
app.add_typer(automation.app, name="automation")
instance.app.command(name="move")(move_command)
instance.app.command(name="move-all")(move_all_command)
instance.app.command(name="restart")(restart_command)
instance.app.command(name="correct")(correct_command)
instance.app.command(name="ask-again")(ask_again_command)
app.command(name="compile", help=COMPILE_HELP)(compile_command)
app.command(name="diff", help=DIFF_HELP)(diff_command)
app.command(name="simulate", help=SIMULATE_HELP)(simulate_command)
app.command(name="json", help=author_file.JSON_HELP)(author_file.json_command)
app.command(name="token")(token_command)


@app.callback()
def find_database(context: typer.Context) -> None:
    """Contracted document workflows on Postgres."""
    if context.invoked_subcommand in ON_A_DATABASE:
        use_local_database(sys.argv[1:])


@app.command(name="run")
def run_command(
    port: Annotated[
        int, typer.Option(min=1, max=65_535, help="The port on loopback where the API listens.")
    ] = 8700,
    state: Annotated[
        Path, typer.Option(help="The folder where the embedded Postgres keeps its data.")
    ] = Path(".signet"),
    end_with_parent: Annotated[
        bool, typer.Option("--end-with-parent", help="Stop when the process that started this ends.")
    ] = False,
) -> None:
    """Start Signet here: Postgres, migrations, the demo tenant, the API."""
    run.run(port=port, state=state.resolve(), end_with_parent=end_with_parent)


def main() -> None:
    try:
        with plain_errors():
            app(prog_name="signet")
    except SignetError as error:
        print(f"signet: {error.message}", file=sys.stderr)
        if error.remedy:
            print(f"  {error.remedy}", file=sys.stderr)
        sys.exit(1)
