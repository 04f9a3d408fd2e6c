"""`signet approval …`: what waits for a person's decision, and what they have decided. It decides nothing.

Exit codes: 0 done, 2 wrong use or no answer.
"""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import typer

from signet.cli.console import write, write_json
from signet.cli.instance import (
    AsJson,
    DatabaseUrl,
    Limit,
    Tenant,
    describe_nodes,
    describe_subject,
    open_database,
    simplify,
)
from signet.core.documents.summary import ShownAmount
from signet.core.explain.phrases import describe_time
from signet.core.explain.vocabulary import escape
from signet.core.tenants.caller import Caller
from signet.engine.access.command_line import VIA
from signet.engine.approvals.inbox import DecidedApproval, InboxFilter, InboxItem
from signet.engine.tenants.install import read_principal
from signet.store.database import Database
from signet.wiring.engine import make_approvals

app = typer.Typer(help="Approvals, as the people see them who are asked.", no_args_is_help=True)
Person = Annotated[str, typer.Argument(metavar="PERSON", help="The member's id.")]
EntityType = Annotated[str | None, typer.Option("--type", help="Only about documents of this type.")]
Node = Annotated[str | None, typer.Option(help="Only what this node asks.")]
Requester = Annotated[str | None, typer.Option(help="Only what this person or key has requested.")]
Since = Annotated[datetime | None, typer.Option(help="Only from this moment on, in UTC.")]


@app.command(name="list")
def list_command(
    database_url: DatabaseUrl,
    tenant: Tenant,
    person: Person,
    entity_type: EntityType = None,
    node: Node = None,
    requester: Requester = None,
    since: Since = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List what waits for a person, the oldest first, and whether their vote would count."""
    wanted = InboxFilter(entity_type, node, requester, _in_utc(since))
    with open_database(database_url) as database:
        caller = _read_caller(database, tenant, person)
        found = make_approvals(database).inbox(caller, limit=limit, wanted=wanted)
    _write(found, [_describe_item(one) for one in found], as_json=as_json)


@app.command()
def decided(
    database_url: DatabaseUrl,
    tenant: Tenant,
    person: Person,
    entity_type: EntityType = None,
    node: Node = None,
    requester: Requester = None,
    since: Since = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List what a person has decided, the newest first."""
    wanted = InboxFilter(entity_type, node, requester, _in_utc(since))
    with open_database(database_url) as database:
        caller = _read_caller(database, tenant, person)
        found = make_approvals(database).list_decided(caller, limit=limit, wanted=wanted)
    _write(found, [_describe_vote(one) for one in found], as_json=as_json)


def _read_caller(database: Database, tenant: UUID, person: str) -> Caller:
    return Caller(read_principal(database, tenant, person), VIA)


def _in_utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=UTC)


def _write(found: Sequence[Any], lines: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        write(write_json([simplify(asdict(one)) for one in found]))
        return
    for line in lines or ("nothing is listed",):
        write(line)


def _describe_item(one: InboxItem) -> str:
    standing = "may decide" if one.may_decide else "may reject" if one.may_reject else "may not decide"
    why = f": {escape(one.why_not.sentence)}" if one.why_not is not None else ""
    until = f"  until {describe_time(one.expire_at)}" if one.expire_at is not None else ""
    return (
        f"{one.request_id}  {_describe_document(one)}  asked by {escape(one.requester_id)}"
        f"  since {describe_time(one.since)}{until}  {standing}{why}"
    )


def _describe_vote(one: DecidedApproval) -> str:
    behalf = f" for {escape(one.on_behalf_of)}" if one.on_behalf_of is not None else ""
    reason = f": {escape(one.reason)}" if one.reason is not None else ""
    return (
        f"{one.request_id}  {_describe_document(one)}  {one.vote}{behalf}  {describe_time(one.decided_at)}"
        f"  the request is {one.request_status}, the document {escape(one.document_status)}{reason}"
    )


def _describe_document(one: InboxItem | DecidedApproval) -> str:
    title = f'  "{escape(one.title)}"' if one.title is not None else ""
    amount = f"  {_write_amount(one.amount)}" if one.amount is not None else ""
    subject = describe_subject(one.entity_type, one.document_id)
    return f"{subject}{title}{amount}  {describe_nodes([one.node_id])}"


def _write_amount(amount: ShownAmount) -> str:
    """Write the amount with its decimals.

    >>> _write_amount(ShownAmount("total", "Total", -260005, 2))
    '-2,600.05'
    """
    whole, rest = divmod(abs(amount.value), 10**amount.scale)
    decimals = f".{rest:0{amount.scale}d}" if amount.scale else ""
    return f"{'-' if amount.value < 0 else ''}{whole:,}{decimals}"
