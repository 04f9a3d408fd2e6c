"""`signet instance correct` and `ask-again`: what an operator changes so that a held document can go on.

Exit codes: 0 done, 1 refused, 2 wrong use or no answer.
"""

import json
from typing import Annotated
from uuid import UUID

import typer

from signet.cli.console import write
from signet.cli.instance import (
    Actor,
    DatabaseUrl,
    DryRun,
    Instance,
    Reason,
    Tenant,
    Token,
    Version,
    describe_state,
    open_database,
)
from signet.core.errors import Rejected
from signet.engine.access.command_line import read_command_line_caller
from signet.wiring.engine import make_corrections, make_repairs


def correct_command(
    database_url: DatabaseUrl,
    tenant: Tenant,
    document: Annotated[UUID, typer.Argument(metavar="DOCUMENT", help="The document's id.")],
    actor: Actor,
    version: Annotated[int, typer.Option(min=0, help="The document's version that you saw.")],
    reason: Reason,
    patch: Annotated[str, typer.Option(help="A JSON merge patch of its data.")],
    dry_run: DryRun = False,
) -> None:
    """Correct a document while an incident is open on it, and try again what is held (workflow:correct)."""
    with open_database(database_url) as database:
        caller, corrections = read_command_line_caller(database, tenant, actor), make_corrections(database)
        done = corrections.correct(caller, document, version, _read_patch(patch), reason, dry_run=dry_run)
    where = f"at {', '.join(done.nodes)}" if done.nodes else "nowhere"
    write(f"{done.document_id}  {done.status}  version {done.version}  {where}")


def ask_again_command(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Instance,
    token: Token,
    actor: Actor,
    version: Version,
    reason: Reason,
    dry_run: DryRun = False,
) -> None:
    """Void an approval and ask again by the chain and the roles of today (workflow:ask_again)."""
    with open_database(database_url) as database:
        caller, repairs = read_command_line_caller(database, tenant, actor), make_repairs(database)
        describe_state(repairs.ask_again(caller, instance, version, token, reason, dry_run=dry_run))


def _read_patch(text: str) -> dict[str, object]:
    try:
        patch = json.loads(text)
    except (ValueError, RecursionError):
        patch = None
    if not isinstance(patch, dict):
        raise Rejected("FIELDS_INVALID", "the patch is no JSON object")
    return patch
