"""`signet migrate up|down|status`: the schema of the database in SIGNET_DATABASE_URL."""

from typing import Annotated, Literal, cast

import typer

from signet.store.schema.migrations import (
    Phase,
    migrate_down,
    migrate_up,
    read_migration_status,
    read_migrations,
)
from signet.wiring.process import MIGRATIONS_FOLDER

app = typer.Typer(help="Bring the schema up or down, or say where it stands.", no_args_is_help=True)
DatabaseUrl = Annotated[
    str,
    typer.Option(
        "--database-url", envvar="SIGNET_DATABASE_URL", help="The URL of the database, as its admin."
    ),
]


@app.command()
def up(
    database_url: DatabaseUrl,
    phase: Annotated[
        Literal["expand", "all"], typer.Option(help="'expand' stops before the first contract migration.")
    ] = "all",
) -> None:
    """Apply every pending migration."""
    limit = cast(Phase, phase) if phase == "expand" else None
    count = migrate_up(database_url, read_migrations(MIGRATIONS_FOLDER), phase=limit)
    print(f"{count} applied" if count else "nothing to apply")


@app.command()
def down(
    database_url: DatabaseUrl,
    steps: Annotated[int, typer.Option(min=1, max=10_000, help="How many to take back.")] = 1,
) -> None:
    """Take back the newest migrations."""
    count = migrate_down(database_url, read_migrations(MIGRATIONS_FOLDER), steps=steps)
    print(f"{count} taken back" if count else "nothing to take back")


@app.command()
def status(database_url: DatabaseUrl) -> None:
    """Each migration, and when it was applied."""
    for entry in read_migration_status(database_url, read_migrations(MIGRATIONS_FOLDER)):
        when = entry.applied_at.isoformat(timespec="seconds") if entry.applied_at else "pending"
        print(f"{entry.migration.number:04} {entry.migration.name:40} {entry.migration.phase:9} {when}")
