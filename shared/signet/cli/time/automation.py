"""`signet automation …`: why an automation did not start, and the switches that people have.

Exit codes: 0 done (or it started), 1 refused (or something did not start), 2 wrong use or no answer.
"""

import json
from dataclasses import asdict
from typing import Annotated
from uuid import UUID

import typer

from signet.cli.console import FINE, FOUND_ERRORS, WRONG_USE, write, write_json
from signet.cli.instance import Actor, AsJson, DatabaseUrl, Limit, Tenant, open_database, simplify
from signet.core.explain.phrases import describe_time
from signet.core.explain.vocabulary import escape
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.automations.automations import AutomationRecord, Automations, FiringRecord

app = typer.Typer(help="What starts by itself.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="AUTOMATION", help="The automation's name.")]
Note = Annotated[str, typer.Option(help="The reason, for people and the audit trail.")]


@app.command(name="list")
def list_command(
    database_url: DatabaseUrl, tenant: Tenant, limit: Limit = 50, as_json: AsJson = False
) -> None:
    """List the automations by name."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant)
        found = Automations(database).list(caller.principal, after="", limit=limit)
    if as_json:
        write(write_json([simplify(asdict(one)) for one in found]))
        return
    for one in found:
        write(_describe(one))


@app.command()
def why(
    database_url: DatabaseUrl,
    tenant: Tenant,
    automation: Name,
    document: Annotated[UUID | None, typer.Option(help="Only for this document.")] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """Tell why it started, or did not, the newest first. Exits with 1 where anything did not start."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant)
        found = Automations(database).why(caller.principal, automation, document_id=document, limit=limit)
    if as_json:
        write(write_json([simplify(asdict(one)) for one in found]))
    else:
        for one in found:
            write(_describe_firing(one))
        if not found:
            write(f"Nothing has fired '{escape(automation)}' yet.")
    raise typer.Exit(FINE if all(one.entry == "started" for one in found) else FOUND_ERRORS)


@app.command()
def start(
    database_url: DatabaseUrl,
    tenant: Tenant,
    actor: Actor,
    automation: Name,
    payload: Annotated[str, typer.Option(help="Its input as JSON.")] = "{}",
    document: Annotated[UUID | None, typer.Option(help="The document that it is about.")] = None,
) -> None:
    """Start an automation by hand (automation:start). Its steps act for the command line, without a role."""
    try:
        given = json.loads(payload)
    except ValueError as error:
        write(f"The payload is no JSON: {error}")
        raise typer.Exit(WRONG_USE) from None
    if not isinstance(given, dict):
        write("The payload is no JSON object.")
        raise typer.Exit(WRONG_USE)
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        started = Automations(database).start(caller, automation, given, document)
    write(f"{'Queued' if started.is_queued else 'Started'}: instance {started.instance_id}.")


@app.command()
def pause(database_url: DatabaseUrl, tenant: Tenant, actor: Actor, automation: Name, note: Note) -> None:
    """Pause an automation: what it listens to is noted as not started (automation:pause)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        write(_describe(Automations(database).pause(caller, automation, note)))


@app.command()
def resume(database_url: DatabaseUrl, tenant: Tenant, actor: Actor, automation: Name) -> None:
    """Let an automation start again (automation:pause)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        write(_describe(Automations(database).resume(caller, automation)))


@app.command(name="stop-all")
def stop_all(database_url: DatabaseUrl, tenant: Tenant, actor: Actor, note: Note) -> None:
    """Stop all automations of the tenant: nothing new starts from now on (automation:stop)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        Automations(database).stop_all(caller, note)
    write("All automations are stopped.")


@app.command(name="allow-all")
def allow_all(database_url: DatabaseUrl, tenant: Tenant, actor: Actor) -> None:
    """Let the automations of the tenant start again (automation:stop)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        Automations(database).allow_all(caller)
    write("Automations start again.")


def _describe(one: AutomationRecord) -> str:
    state = "archived" if one.definition_id is None else f"version {one.definition_version}"
    about = f" about {escape(one.entity_type)}" if one.entity_type else ""
    paused = f", paused by {escape(one.paused_by)}: {escape(one.pause_note)}" if one.pause_note else ""
    return f"{escape(one.name)}{about}: {state}{paused}"


def _describe_firing(one: FiringRecord) -> str:
    code = f" {one.data['code']}: {escape(one.data['reason'])}" if "code" in one.data else ""
    instance = f" instance {one.data['instance_id']}" if "instance_id" in one.data else ""
    about = f" for {one.data['document_id']}" if "document_id" in one.data else ""
    acted = f" by {escape(one.actor_id)}"
    return f"{describe_time(one.created_at)} {one.entry}{about}{acted}{instance}{code}"
