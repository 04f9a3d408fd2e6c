"""`signet event …`: the events that came from outside, and the act that offers one again."""

from typing import Annotated
from uuid import UUID

import typer

from signet.cli.console import write
from signet.cli.instance import Actor, DatabaseUrl, Limit, Reason, Tenant, open_database
from signet.core.explain.vocabulary import escape
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.integrations.kept_events import EventRecord, SentEvents

app = typer.Typer(help="Events that came from outside.", no_args_is_help=True)


@app.command(name="list")
def list_command(
    database_url: DatabaseUrl,
    tenant: Tenant,
    key: Annotated[str | None, typer.Option(help="Only the events of this key.")] = None,
    unmatched: Annotated[bool, typer.Option(help="Only those that no workflow has taken.")] = False,
    limit: Limit = 50,
) -> None:
    """List events, the newest first, with what became of each (inbound_event:read)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant)
        found = SentEvents(database).list_newest(
            caller.principal, key=key, before=None, limit=limit, is_unmatched=unmatched
        )
    for event in found:
        write(_describe_event(event))


@app.command()
def replay(
    database_url: DatabaseUrl,
    tenant: Tenant,
    event: Annotated[UUID, typer.Argument(metavar="EVENT", help="The event's id.")],
    actor: Actor,
    reason: Reason,
) -> None:
    """Offer an event again that no workflow has taken (inbound_event:replay)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        done = SentEvents(database).replay(caller, event, reason)
    write(
        f"{done.id}  offered to {done.offered} wait(s) for {escape(done.key)}; kept for the first that fits"
    )


def _describe_event(event: EventRecord) -> str:
    reason = f": {escape(event.reason)}" if event.reason else ""
    when = event.received_at.isoformat(timespec="seconds")
    return f"{event.id}  {when}  {escape(event.key)}  from {escape(event.source)}  {event.state}{reason}"
