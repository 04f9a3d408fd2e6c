"""`signet incident …`: what is held, by its cause, with the acts that bring it on.

Exit codes: 0 done (or nothing is held), 1 refused (or something is held), 2 wrong use or no answer.
"""

from collections.abc import Sequence
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
    Limit,
    Reason,
    Tenant,
    describe_nodes,
    describe_state,
    describe_subject,
    open_database,
    simplify,
)
from signet.core.explain.phrases import describe_time
from signet.core.explain.vocabulary import escape
from signet.core.incidents.remedies import find_remedy
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.instances.actions import InstanceState
from signet.engine.instances.incidents import Incident, IncidentFilter, IncidentGroupRow, list_open, read_one
from signet.engine.instances.incidents import list_groups as read_groups
from signet.wiring.engine import make_incidents

app = typer.Typer(help="What is held.", no_args_is_help=True)
IncidentId = Annotated[UUID, typer.Argument(metavar="INCIDENT", help="The incident's id.")]
Code = Annotated[str | None, typer.Option(help="Only with this code.")]
Kind = Annotated[str | None, typer.Option(help="Only of this kind.")]
Node = Annotated[str | None, typer.Option(help="Only at this node.")]
Endpoint = Annotated[str | None, typer.Option(help="Only with this endpoint.")]
EntityType = Annotated[str | None, typer.Option("--type", help="Only of documents of this type.")]


@app.command(name="list")
def list_command(
    database_url: DatabaseUrl,
    tenant: Tenant,
    code: Code = None,
    kind: Kind = None,
    node: Node = None,
    endpoint: Endpoint = None,
    entity_type: EntityType = None,
    document: Annotated[UUID | None, typer.Option(help="Only of this document.")] = None,
    instance: Annotated[UUID | None, typer.Option(help="Only of this instance.")] = None,
    assignee: Annotated[str | None, typer.Option(help="Only those that this person looks after.")] = None,
    is_closed: Annotated[bool, typer.Option("--closed", help="Those that are closed.")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List what is held, the newest first, with the acts that repair it. Exits with 1 where there is any."""
    wanted = IncidentFilter(
        not is_closed, code, kind, node, endpoint, entity_type, document, instance, assignee
    )
    with open_database(database_url) as database:
        found = list_open(database, tenant, wanted, limit=limit)
    if as_json:
        write(write_json([simplify(asdict(one)) for one in found]))
    else:
        _write_lines([_describe(one) for one in found])
    raise typer.Exit(FOUND_ERRORS if found and not is_closed else FINE)


@app.command()
def groups(database_url: DatabaseUrl, tenant: Tenant, as_json: AsJson = False) -> None:
    """List the causes of what is held, the largest first. Exits with 1 where there is any."""
    with open_database(database_url) as database:
        found = read_groups(database, tenant)
    if as_json:
        write(write_json([simplify(asdict(one)) for one in found]))
    else:
        _write_lines([_describe_group(one) for one in found])
    raise typer.Exit(FOUND_ERRORS if found else FINE)


@app.command()
def show(database_url: DatabaseUrl, tenant: Tenant, incident: IncidentId, as_json: AsJson = False) -> None:
    """Show one incident, with what removes its cause, and the acts that would be accepted now."""
    with open_database(database_url) as database:
        found = read_one(database, tenant, incident)
    if as_json:
        write(write_json(simplify(asdict(found))))
    else:
        _write_lines(_describe_whole(found))


@app.command()
def retry(
    database_url: DatabaseUrl,
    tenant: Tenant,
    actor: Actor,
    code: Annotated[str, typer.Option(help="The code of those to retry.")],
    reason: Reason,
    node: Node = None,
    endpoint: Endpoint = None,
    entity_type: EntityType = None,
    dry_run: DryRun = False,
) -> None:
    """Retry up to 100 instances that one cause holds; a refusal stops no other (workflow:retry)."""
    wanted = IncidentFilter(True, code, node=node, endpoint=endpoint, entity_type=entity_type)
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        outcomes = make_incidents(database).retry_many(caller, wanted, reason, dry_run=dry_run)
    refused = False
    for instance_id, outcome in outcomes:
        if isinstance(outcome, InstanceState):
            describe_state(outcome)
            continue
        refused = True
        write(f"{instance_id}  refused  {outcome.code}  {escape(outcome.message)}")
    raise typer.Exit(FOUND_ERRORS if refused else FINE)


@app.command()
def acknowledge(database_url: DatabaseUrl, tenant: Tenant, incident: IncidentId, actor: Actor) -> None:
    """Say that a person knows of an open incident; the first one is kept (incident:care)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        _write_lines([_describe(make_incidents(database).acknowledge(caller, incident))])


@app.command()
def assign(
    database_url: DatabaseUrl,
    tenant: Tenant,
    incident: IncidentId,
    actor: Actor,
    to: Annotated[str | None, typer.Option(help="The person who looks after it; left out, nobody.")] = None,
    note: Annotated[str | None, typer.Option(help="A note for others; left out, none.")] = None,
) -> None:
    """Name who looks after an open incident, and keep a note (incident:care)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        _write_lines([_describe(make_incidents(database).assign(caller, incident, to, note))])


def _write_lines(lines: Sequence[str]) -> None:
    for line in lines or ("nothing is held",):
        write(line)


def _describe(one: Incident) -> str:
    where = describe_nodes([one.node] if one.node else [])
    subject = describe_subject(one.entity_type, one.document_id)
    acts = ", ".join(act.name for act in one.acts)
    state = f"try: {acts}" if one.closing is None else f"{one.closing} by {escape(one.closed_by)}"
    care = f"  assignee {escape(one.assignee)}" if one.assignee else ""
    care += f"  acknowledged by {escape(one.acknowledged_by)}" if one.acknowledged_by else ""
    version = f"  version {one.instance_version}" if one.instance_version is not None else ""
    return (
        f"{one.id}  {one.code}  {one.kind}  instance {one.instance_id}{version}  {subject}  {where}{care}"
        f"  {state}  {escape(one.message)}"
    )


def _describe_whole(one: Incident) -> list[str]:
    lines = [_describe(one), f"  open since {describe_time(one.opened_at)}, held {one.attempts} times there"]
    if one.note:
        lines.append(f"  note: {escape(one.note)}")
    if one.closing is None:
        lines.append(f"  {find_remedy(one.code, one.kind)}")
        lines.append(f"  signet instance explain {one.instance_id} shows the whole commands:")
        lines += [
            f"    {act.name} ({act.permission}) {', '.join([*act.targets, *act.then])}".rstrip()
            for act in one.acts
        ]
    return lines


def _describe_group(one: IncidentGroupRow) -> str:
    where = describe_nodes([one.node] if one.node else [])
    endpoint = f"  endpoint {escape(one.endpoint)}" if one.endpoint else ""
    entity_type = f"  {escape(one.entity_type)}" if one.entity_type else ""
    return f"{one.count}  {one.code}  {one.kind}{entity_type}  {where}{endpoint}  {escape(one.message)}"
