"""`signet audit …`: verify the audit trail, seal it, anchor the seals outside, hand it to an auditor.

Exit codes: 0 sound (or done), 1 broken, with the row named, 2 wrong use or no answer from the database.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from signet.cli.console import FINE, FOUND_ERRORS, deliver, stop, write
from signet.core.errors import SignetError
from signet.core.explain.phrases import describe_time, end_sentence
from signet.core.explain.vocabulary import escape
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.access.read import MAX_PAGE
from signet.engine.audit.export import export_bundle
from signet.engine.audit.trail import begin_new_epoch, list_seals, seal_tenant
from signet.engine.audit.verify import verify_tenant
from signet.engine.documents.erase import erase_personal
from signet.engine.tenants.trail import list_trail
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import plain_errors

app = typer.Typer(help="The audit trail.", no_args_is_help=True)
DatabaseUrl = Annotated[str, typer.Option("--database-url", envvar="SIGNET_DATABASE_URL")]
Tenant = Annotated[UUID, typer.Option("--tenant", help="The tenant's id.")]
MAX_ANCHOR_BYTES = 1_073_741_824
# An operator waits for the answer, and nothing waits for the operator, so long timeouts do no harm.
PATIENT = PoolSettings(lock_seconds=60, statement_seconds=3_600)


@contextmanager
def _open(database_url: str) -> Iterator[Database]:
    """Open the database. Exit code 1 means 'broken' here, so an error before an answer is 2."""
    try:
        with plain_errors():
            database = Database(database_url, PATIENT)
            try:
                yield database
            finally:
                database.close()
    except SignetError as error:
        stop(f"{end_sentence(error.message)} {error.remedy}".strip())


@app.command()
def verify(
    database_url: DatabaseUrl,
    tenant: Tenant,
    anchor: Annotated[
        Path | None, typer.Option(help="A file of seals that was kept elsewhere (see 'anchor').")
    ] = None,
) -> None:
    """Check every row, chain, version and seal; name what is broken."""
    lines = _read_anchor(anchor)
    with _open(database_url) as database:
        result = verify_tenant(database, tenant, lines)
    for finding in result.findings:
        write(f"BROKEN {escape(finding.where)}: {escape(finding.sentence)} ({finding.code})")
    write(f"checked {result.row_count} rows, {result.version_count} versions, {result.seal_count} seals")
    if result.tail_count:
        write(f"not sealed yet: {result.tail_count} rows, the oldest of {escape(result.tail_oldest)}")
    write("sound" if result.is_sound else f"{len(result.findings)} findings")
    raise typer.Exit(FINE if result.is_sound else FOUND_ERRORS)


def _read_anchor(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        if path.stat().st_size > MAX_ANCHOR_BYTES:
            stop(f"{path} is larger than {MAX_ANCHOR_BYTES} bytes")
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        stop(f"{path} cannot be read: {error}")


@app.command(name="list")
def list_rows(
    database_url: DatabaseUrl,
    tenant: Tenant,
    before: Annotated[UUID | None, typer.Option(help="Only rows before the one with this id.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=MAX_PAGE, help="At most so many.")] = 50,
) -> None:
    """List what was done to the tenant itself, to its members and the like, the newest first."""
    with _open(database_url) as database:
        rows = list_trail(database, tenant, before=before, limit=limit)
    for row in rows:
        what = f"{row.action} {row.subject_type} {row.subject_id}"
        write(f"{describe_time(row.created_at)}  {escape(row.actor_id)}  {escape(what)}  [{row.id}]")


@app.command()
def seal(database_url: DatabaseUrl, tenant: Tenant) -> None:
    """Seal the rows that can no longer change (the janitor does this every minute)."""
    with _open(database_url) as database:
        result = seal_tenant(database, tenant)
    write(f"{result.row_count} rows sealed in {result.seal_count} seals")


@app.command()
def anchor(
    database_url: DatabaseUrl,
    tenant: Tenant,
    after: Annotated[int, typer.Option(min=0, help="Only seals after this sequence number.")] = 0,
    output: Annotated[Path | None, typer.Option(help="A file instead of standard output.")] = None,
) -> None:
    """Print the seals, one JSON object on a line, to be kept where this database's admins cannot write."""
    with _open(database_url) as database:
        seals = list_seals(database, tenant, after)
    deliver("".join(json.dumps(asdict(row), sort_keys=True) + "\n" for row in seals), output)


@app.command(
    help="Write a bundle that an auditor checks with nothing but Python: python3 -I FOLDER/verify.py FOLDER"
)
def export(
    database_url: DatabaseUrl,
    tenant: Tenant,
    folder: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    document: Annotated[UUID | None, typer.Option(help="Only this document.")] = None,
) -> None:
    with _open(database_url) as database:
        subject = None if document is None else ("document", str(document))
        bundle = export_bundle(database, tenant, folder, subject)
    for name, count in bundle.line_counts.items():
        write(f"{escape(name)}: {count} lines")
    write(f"manifest {bundle.manifest_hash}")


@app.command(
    name="begin-epoch",
    help="Begin a new epoch after a restore, as an admin: transaction numbers may come again.",
)
def begin_epoch(
    database_url: DatabaseUrl,
    reason: Annotated[str, typer.Option(help="The reason, for example which backup was restored.")],
) -> None:
    with _open(database_url) as database:
        write(f"epoch {begin_new_epoch(database, reason)} has begun")


@app.command()
def erase(
    database_url: DatabaseUrl,
    tenant: Tenant,
    document: Annotated[UUID, typer.Option(help="The document's id.")],
    actor: Annotated[str, typer.Option(help="The person who says that they erase, for the audit trail.")],
    reason: Annotated[str, typer.Option(help="The reason, for the audit trail.")],
    field: Annotated[list[str] | None, typer.Option(help="Only this field; may be repeated.")] = None,
) -> None:
    """Erase a document's personal values in all its versions; every hash stays valid."""
    with _open(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        erasure = erase_personal(
            database,
            tenant,
            document,
            fields=field or None,
            actor_id=caller.principal.subject,
            responsible=caller.principal.responsible,
            via=caller.via,
            reason=reason,
            claimed=caller.claimed,
        )
    fields = f" of {escape(', '.join(erasure.fields))}" if erasure.fields else ""
    write(f"{len(erasure.ids)} values{fields} erased")
