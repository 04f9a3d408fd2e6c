"""`signet instance …`: the state of workflows and its causes, and the acts of an operator.

Exit codes: 0 done (or nothing stuck), 1 refused (or something stuck), 2 wrong use or no answer.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Annotated, Any
from uuid import UUID

import typer

from signet.cli.console import FINE, FOUND_ERRORS, WRONG_USE, write, write_json
from signet.core.errors import Rejected, SignetError
from signet.core.explain.instance import write_instance
from signet.core.explain.phrases import end_sentence
from signet.core.explain.vocabulary import escape
from signet.core.repair.restart_check import Follows
from signet.core.runtime.operator_actions import Sequel
from signet.core.tenants.caller import Caller
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.cache import ContractCache
from signet.engine.instances.actions import Instances, InstanceState
from signet.engine.instances.explain import explain as explain_instance
from signet.engine.instances.lists import IDLE_SECONDS, LIVE, list_newest, list_stuck
from signet.store.database import Database, PoolSettings
from signet.store.schema.server import plain_errors
from signet.wiring.engine import make_instances, make_repairs

_FOLLOWS: Mapping[Follows, str] = MappingProxyType(
    {
        "restart": "a new instance begins",
        "incident": "the document rests, with an incident: restart it",
        "request": "the next request begins a new instance",
        "nothing": "nothing follows",
    }
)
app = typer.Typer(help="Workflows under way.", no_args_is_help=True)
DatabaseUrl = Annotated[str, typer.Option("--database-url", envvar="SIGNET_DATABASE_URL")]
Tenant = Annotated[UUID, typer.Option("--tenant", help="The tenant's id.")]
Instance = Annotated[UUID, typer.Argument(metavar="INSTANCE", help="The instance's id.")]
Token = Annotated[str, typer.Argument(metavar="TOKEN", help="The token's id, or the node where it stands.")]
Actor = Annotated[
    str, typer.Option(help="The person who says that they act, for the audit trail; it gives no right.")
]
Version = Annotated[int, typer.Option("--version", min=0, help="The instance's version that you saw.")]
Reason = Annotated[str, typer.Option(help="The reason, for people and the audit trail.")]
Then = Annotated[
    Sequel | None,
    typer.Option(help="What follows for a document in a status where nobody can ask for a transition."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only check and report; nothing is changed.")]
# More are told by the number in the message.
MAX_SHOWN_MISTAKES = 20
Limit = Annotated[int, typer.Option(min=1, max=200)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@contextmanager
def open_database(database_url: str) -> Iterator[Database]:
    try:
        with plain_errors():
            database = Database(database_url, PoolSettings())
            try:
                yield database
            finally:
                database.close()
    except SignetError as error:
        write(f"signet: {end_sentence(error.message)} {escape(error.remedy)}".strip(), sys.stderr)
        for mistake in error.fields[:MAX_SHOWN_MISTAKES]:
            write(f"  {escape(mistake.pointer)} {escape(mistake.message)}", sys.stderr)
        raise typer.Exit(FOUND_ERRORS if isinstance(error, Rejected) else WRONG_USE) from None


@contextmanager
def _operating(database_url: str, tenant: UUID, actor: str) -> Iterator[tuple[Instances, Caller]]:
    with open_database(database_url) as database:
        yield make_instances(database), read_command_line_caller(database, tenant, actor)


@app.command(
    help="Explain where an instance is and why: what it waits for, which conditions led there,"
    " what would move it."
)
def explain(database_url: DatabaseUrl, tenant: Tenant, instance: Instance, as_json: AsJson = False) -> None:
    with open_database(database_url) as database:
        explained = explain_instance(database, ContractCache(), tenant, instance)
    write(write_json(simplify(asdict(explained))) if as_json else "\n".join(write_instance(explained)))


@app.command(name="list")
def list_command(
    database_url: DatabaseUrl,
    tenant: Tenant,
    status: Annotated[
        list[str] | None,
        typer.Option(help="Only in this status; may be repeated. By default running and paused."),
    ] = None,
    document: Annotated[UUID | None, typer.Option(help="Every instance of this document.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List instances, the newest first."""
    with open_database(database_url) as database:
        listed = list_newest(database, tenant, statuses=status or LIVE, document_id=document, limit=limit)
    if as_json:
        write(write_json([simplify(asdict(row)) for row in listed]))
        return
    for row in listed:
        reason = f"  {escape(row.reason)}" if row.reason else ""
        subject = describe_subject(row.entity_type, row.document_id)
        where = describe_nodes(row.current_nodes)
        write(f"{row.id}  {row.status:<9}  version {row.version}  {subject}  {where}{reason}")


@app.command()
def stuck(
    database_url: DatabaseUrl,
    tenant: Tenant,
    idle_seconds: Annotated[
        float, typer.Option(min=0, help="Only where nothing has happened for so many seconds.")
    ] = IDLE_SECONDS,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List instances that should go on and that nothing will wake, with what may help."""
    with open_database(database_url) as database:
        rows = list_stuck(database, tenant, idle_seconds=idle_seconds, limit=limit)
    if as_json:
        write(write_json([simplify(asdict(row)) for row in rows]))
    else:
        for row in rows:
            since = f"{row.idle_since.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
            write(
                f"{row.id}  {row.why}  since {since}  version {row.version}"
                f"  {describe_subject(row.entity_type, row.document_id)}"
                f"  {describe_nodes(row.current_nodes)}"
                f"{f'  {row.reason}' if row.reason else ''}  try: {', '.join(row.remedies)}"
            )
        if not rows:
            write("nothing is stuck")
    raise typer.Exit(FOUND_ERRORS if rows else FINE)


@app.command()
def pause(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Instance,
    actor: Actor,
    version: Version,
    reason: Reason,
    dry_run: DryRun = False,
) -> None:
    """Pause an instance where it is (workflow:pause)."""
    with _operating(database_url, tenant, actor) as (instances, caller):
        describe_state(instances.pause(caller, instance, version, reason, dry_run=dry_run))


@app.command()
def resume(
    database_url: DatabaseUrl, tenant: Tenant, instance: Instance, actor: Actor, version: Version
) -> None:
    """Lift the pause of an instance; what is held stays so until it is retried (workflow:resume)."""
    with _operating(database_url, tenant, actor) as (instances, caller):
        describe_state(instances.resume(caller, instance, version))


@app.command()
def fail(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Instance,
    actor: Actor,
    version: Version,
    reason: Reason,
    then: Then = None,
    dry_run: DryRun = False,
) -> None:
    """Give an instance up for good; its document stays as it is (workflow:fail)."""
    with _operating(database_url, tenant, actor) as (instances, caller):
        describe_state(instances.fail(caller, instance, version, reason, then, dry_run=dry_run))


@app.command()
def retry(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Instance,
    actor: Actor,
    version: Version,
    reason: Reason,
    dry_run: DryRun = False,
) -> None:
    """Try again what made the engine pause an instance, with fresh attempts (workflow:retry)."""
    with _operating(database_url, tenant, actor) as (instances, caller):
        describe_state(instances.retry(caller, instance, version, reason, dry_run=dry_run))


@app.command()
def cancel(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Instance,
    actor: Actor,
    version: Version,
    reason: Reason,
    then: Then = None,
    dry_run: DryRun = False,
) -> None:
    """End an instance that nobody wants any more; its document stays as it is (workflow:cancel)."""
    with _operating(database_url, tenant, actor) as (instances, caller):
        describe_state(instances.cancel(caller, instance, version, reason, then, dry_run=dry_run))


@app.command()
def cancel_token(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Instance,
    token: Token,
    actor: Actor,
    version: Version,
    reason: Reason,
    dry_run: DryRun = False,
) -> None:
    """Stop one branch, as if it had been rejected (workflow:cancel_token)."""
    with _operating(database_url, tenant, actor) as (instances, caller):
        describe_state(instances.cancel_token(caller, instance, version, token, reason, dry_run=dry_run))


@app.command()
def advance(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Instance,
    token: Token,
    actor: Actor,
    version: Version,
    reason: Reason,
    payload: Annotated[str | None, typer.Option(help="What the event or the answer brings, as JSON.")] = None,
    dry_run: DryRun = False,
) -> None:
    """End a wait for a time, an event, an answer or a delivery, as if it had come (workflow:advance)."""
    with _operating(database_url, tenant, actor) as (instances, caller):
        describe_state(
            instances.advance(
                caller, instance, version, token, reason, _read_payload(payload), dry_run=dry_run
            )
        )


@app.command()
def skip(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Instance,
    token: Token,
    actor: Actor,
    version: Version,
    reason: Reason,
    payload: Annotated[str | None, typer.Option(help="The answer that it would have given, as JSON.")] = None,
    dry_run: DryRun = False,
) -> None:
    """Skip a node that failed or cannot act, as if it had acted (workflow:skip)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        repairs, answer = make_repairs(database), _read_payload(payload)
        describe_state(repairs.skip(caller, instance, version, token, reason, answer, dry_run=dry_run))


@app.command()
def go_to(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Instance,
    node: Annotated[str, typer.Argument(metavar="NODE", help="One of the targets of its incident.")],
    actor: Actor,
    version: Version,
    reason: Reason,
    dry_run: DryRun = False,
) -> None:
    """Send an instance back, or to the state of its document (workflow:go_to)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        describe_state(make_repairs(database).go_to(caller, instance, version, node, reason, dry_run=dry_run))


@app.command()
def wake(database_url: DatabaseUrl, tenant: Tenant, instance: Instance, actor: Actor) -> None:
    """Wake an instance, so that it goes on where it can (workflow:wake)."""
    with _operating(database_url, tenant, actor) as (instances, caller):
        describe_state(instances.wake(caller, instance))


@app.command(help="Make an instance's row again from its steps, and wake it (workflow:rebuild).")
def rebuild(database_url: DatabaseUrl, tenant: Tenant, instance: Instance, actor: Actor) -> None:
    with _operating(database_url, tenant, actor) as (instances, caller):
        was_other = instances.rebuild(caller, instance).was_other
    write("its row differed from its steps" if was_other else "its row was right")


@app.command()
def requeue(
    database_url: DatabaseUrl,
    tenant: Tenant,
    trigger: Annotated[list[UUID], typer.Argument(metavar="TRIGGER...", help="Ids of dead triggers.")],
    actor: Actor,
) -> None:
    """Try dead triggers again, and resume instances that their failure had paused (workflow:requeue)."""
    with _operating(database_url, tenant, actor) as (instances, caller):
        done = instances.requeue(caller, trigger)
    for row_id in dict.fromkeys(trigger):
        write(f"{row_id}  {'requeued' if row_id in done.triggers else 'is no dead trigger'}")
    for row_id in done.resumed:
        write(f"{row_id}  resumed")
    raise typer.Exit(FINE if done.triggers.issuperset(trigger) else FOUND_ERRORS)


def _read_payload(text: str | None) -> Any:
    try:
        return json.loads(text) if text is not None else None
    except (ValueError, RecursionError):
        raise Rejected("FIELDS_INVALID", "the payload is no JSON") from None


def describe_state(state: InstanceState) -> None:
    """Write about an instance after an act: its state, and what acts again, may have left, and follows."""
    write(f"{state.id}  {state.status}  version {state.version}")
    write_acted(state.repeats, state.may_have_left)
    _write_named("left undone", state.undone)
    if state.follows is not None:
        write(f"  {_FOLLOWS[state.follows]}")


def write_acted(repeats: Sequence[str], may_have_left: Sequence[str]) -> None:
    """Write which nodes act again, and which call or message may have left already."""
    _write_named("acts again", repeats)
    _write_named("may have left already", may_have_left)


def _write_named(what: str, nodes: Sequence[str]) -> None:
    if nodes:
        write(f"  {what}: {', '.join(map(escape, nodes))}")


def describe_subject(entity_type: str | None, document_id: UUID | None) -> str:
    return f"{escape(entity_type)} {document_id}" if document_id is not None else "no document"


def describe_nodes(nodes: Sequence[str]) -> str:
    return f"at {', '.join(map(escape, nodes))}" if nodes else "nowhere"


def simplify(value: Any) -> Any:
    """Return the value with its ids and moments as texts."""
    match value:
        case dict():
            return {name: simplify(inner) for name, inner in value.items()}
        case list() | tuple():
            return [simplify(inner) for inner in value]
        case datetime():
            return value.astimezone(UTC).isoformat()
        case UUID():
            return str(value)
        case _:
            return value
