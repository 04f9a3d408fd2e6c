"""`signet instance move` and `move-all`: moves to a newer definition, reported before anything changes.

Exit codes: 0 all moved (or safe to move), 1 not all of them, 2 wrong use or no answer.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Any
from uuid import UUID

import typer

from signet.cli.console import FINE, FOUND_ERRORS, write, write_json
from signet.cli.instance import Actor, AsJson, DatabaseUrl, DryRun, Instance, Tenant, open_database
from signet.core.explain.vocabulary import escape
from signet.core.repair.move_check import Obstacle, Report
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.instances.moves import FIRST, MAX_MOVED, MoveOutcome, MoveTarget
from signet.wiring.engine import make_moves

To = Annotated[int, typer.Option(min=1, help="The version of the definition to move to.")]
Reason = Annotated[str | None, typer.Option(help="The reason, for people and the audit trail.")]
WELL = ("moved", "safe")


def move_command(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Instance,
    actor: Actor,
    to: To,
    name: Annotated[
        str | None, typer.Option(help="The name of the workflow to move to, if it is another one.")
    ] = None,
    version: Annotated[
        int | None, typer.Option("--version", min=0, help="The instance's version that you saw.")
    ] = None,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Move an instance to a newer definition, if all of its tokens can go on there (workflow:move)."""
    if version is None and not dry_run:
        raise typer.BadParameter(
            "name the version that you saw, or ask for a dry run", param_hint="--version"
        )
    with open_database(database_url) as database:
        caller, moves = read_command_line_caller(database, tenant, actor), make_moves(database)
        if version is None or dry_run:
            outcome = moves.report(caller, instance, MoveTarget(to, name))
        else:
            outcome = moves.move(caller, instance, version, MoveTarget(to, name), reason)
    _say([outcome], as_json)


def move_all_command(
    database_url: DatabaseUrl,
    tenant: Tenant,
    entity_type: Annotated[str, typer.Argument(metavar="ENTITY_TYPE", help="The type of the documents.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of the workflow to move to.")],
    actor: Actor,
    to: To,
    after: Annotated[UUID, typer.Option(help="Go on after this instance.")] = FIRST,
    limit: Annotated[int, typer.Option(min=1, max=MAX_MOVED)] = MAX_MOVED,
    reason: Reason = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Move the instances under older definitions, each on its own (workflow:move)."""
    with open_database(database_url) as database:
        caller, moves = read_command_line_caller(database, tenant, actor), make_moves(database)
        movable = moves.list_movable(caller, entity_type, name, to, after=after, limit=limit)
        outcomes = moves.move_many(caller, movable.seen, MoveTarget(to, name), reason, dry_run=dry_run)
    if movable.after is not None and not as_json:
        write(f"there may be more: go on with --after {movable.after}")
    _say(outcomes, as_json)


def _say(outcomes: Sequence[MoveOutcome], as_json: bool) -> None:
    if as_json:
        write(write_json([_describe(outcome) for outcome in outcomes]))
    else:
        for outcome in outcomes:
            version = f"  version {outcome.version}" if outcome.version is not None else ""
            write(f"{outcome.instance_id}  {outcome.outcome}{version}")
            for line in _list_reasons(outcome):
                write(f"  {line}")
        counts = Counter(outcome.outcome for outcome in outcomes)
        if len(outcomes) != 1:
            write(", ".join(f"{count} {what}" for what, count in sorted(counts.items())) or "nothing to move")
    raise typer.Exit(FINE if all(outcome.outcome in WELL for outcome in outcomes) else FOUND_ERRORS)


def _list_reasons(outcome: MoveOutcome) -> Iterator[str]:
    if outcome.error is not None:
        yield f"{outcome.error.code}: {escape(outcome.error.message)}"
    if outcome.report is not None:
        yield from list_verdicts(outcome.report)


def list_verdicts(report: Report) -> Iterator[str]:
    """Yield a line for each verdict of a report."""
    if report.changes_approvals:
        yield "other approvals are asked there"
    yield from (_describe_obstacle("", obstacle) for obstacle in report.obstacles)
    for assessment in report.assessments:
        where = f"{assessment.token.id} at {assessment.token.node}"
        yield from (_describe_obstacle(f"{where}: ", obstacle) for obstacle in assessment.obstacles)
        if assessment.is_safe:
            passed = f", and never comes to {', '.join(assessment.passes_by)}" if assessment.passes_by else ""
            yield f"{where}: safe{passed}"


def _describe_obstacle(where: str, obstacle: Obstacle) -> str:
    return f"{where}{obstacle.code}: {escape(obstacle.sentence)}. {obstacle.remedy}"


def _describe(outcome: MoveOutcome) -> dict[str, Any]:
    error = outcome.error
    return {
        "id": str(outcome.instance_id),
        "outcome": outcome.outcome,
        "version": outcome.version,
        "report": outcome.report.to_json() if outcome.report is not None else None,
        "error": {"code": error.code, "message": error.message} if error is not None else None,
    }
