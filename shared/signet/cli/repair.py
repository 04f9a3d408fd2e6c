"""`signet instance restart`, `correct` and `ask-again`: what brings a stranded document on.

Exit codes: 0 done (or safe to do), 1 refused or blocked, 2 wrong use or no answer.
"""

import json
from dataclasses import asdict
from typing import Annotated
from uuid import UUID

import typer

from signet.cli.console import FINE, FOUND_ERRORS, write, write_json
from signet.cli.instance import (
    Actor,
    AsJson,
    DatabaseUrl,
    DryRun,
    Instance,
    Reason,
    Tenant,
    Token,
    Version,
    describe_state,
    open_database,
    write_acted,
)
from signet.cli.move import list_verdicts
from signet.core.errors import Rejected
from signet.core.explain.vocabulary import escape
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.instances.document_restarts import RestartOutcome
from signet.engine.instances.moves import MoveTarget
from signet.wiring.engine import make_corrections, make_repairs, make_restarts


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
    write_acted(done.repeats, done.may_have_left)


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


def restart_command(
    database_url: DatabaseUrl,
    tenant: Tenant,
    document: Annotated[UUID, typer.Argument(metavar="DOCUMENT", help="The document's id.")],
    actor: Actor,
    reason: Reason,
    version: Annotated[
        int | None, typer.Option("--version", min=0, help="The document's version that you saw.")
    ] = None,
    to: Annotated[
        int | None, typer.Option(min=1, help="The version of the definition; by default that of the last.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="The name of the workflow, if it is another one.")] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Begin a new instance for a document that has none, where its last one stood (workflow:restart)."""
    if version is None and not dry_run:
        raise typer.BadParameter(
            "name the version that you saw, or ask for a dry run", param_hint="--version"
        )
    target = MoveTarget(to, name) if to is not None else None
    with open_database(database_url) as database:
        caller, restarts = read_command_line_caller(database, tenant, actor), make_restarts(database)
        if version is None or dry_run:
            outcome = restarts.report(caller, document, target)
        else:
            outcome = restarts.restart(caller, document, version, reason, target)
    write(write_json(_describe(outcome)) if as_json else "\n".join(_list_lines(outcome)))
    raise typer.Exit(FOUND_ERRORS if outcome.outcome == "blocked" else FINE)


def _list_lines(outcome: RestartOutcome) -> list[str]:
    definition = outcome.definition
    instance = f"  instance {outcome.instance_id}" if outcome.instance_id is not None else ""
    under = f"under {escape(definition.name)} version {definition.version}"
    lines = [f"{outcome.document_id}  {outcome.outcome}{instance}  at {outcome.node}  {under}"]
    if outcome.repeats:
        lines.append(f"  acts again: {', '.join(outcome.repeats)}")
    lines += [f"  would be held: {held.code}: {escape(held.reason)}" for held in outcome.held_ahead]
    return [*lines, *(f"  {line}" for line in list_verdicts(outcome.report))]


def _describe(outcome: RestartOutcome) -> dict[str, object]:
    return {
        "document_id": str(outcome.document_id),
        "outcome": outcome.outcome,
        "version": outcome.version,
        "node": outcome.node,
        "definition": outcome.definition.to_json(),
        "repeats": list(outcome.repeats),
        "held_ahead": [asdict(held) for held in outcome.held_ahead],
        "instance_id": str(outcome.instance_id) if outcome.instance_id is not None else None,
        "report": outcome.report.to_json(),
    }
