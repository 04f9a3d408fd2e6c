"""`signet instance restart`: a new instance for a document that has none, reported before anything changes.

Exit codes: 0 restarted (or safe to restart), 1 refused or blocked, 2 wrong use or no answer.
"""

from typing import Annotated
from uuid import UUID

import typer

from signet.cli.console import FINE, FOUND_ERRORS, write, write_json
from signet.cli.instance import Actor, AsJson, DatabaseUrl, DryRun, Reason, Tenant, open_database
from signet.cli.move import list_verdicts
from signet.core.explain.vocabulary import escape
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.instances.document_restarts import RestartOutcome
from signet.engine.instances.moves import MoveTarget
from signet.wiring.engine import make_restarts


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
    return [*lines, *(f"  {line}" for line in list_verdicts(outcome.report))]


def _describe(outcome: RestartOutcome) -> dict[str, object]:
    return {
        "document_id": str(outcome.document_id),
        "outcome": outcome.outcome,
        "version": outcome.version,
        "node": outcome.node,
        "definition": outcome.definition.to_json(),
        "repeats": list(outcome.repeats),
        "instance_id": str(outcome.instance_id) if outcome.instance_id is not None else None,
        "report": outcome.report.to_json(),
    }
