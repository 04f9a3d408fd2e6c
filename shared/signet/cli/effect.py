"""`signet effect …`: what instances send to the outside, and the acts of an operator on it.

Exit codes: 0 done, 1 refused or not all of them, 2 wrong use or no answer.
"""

from typing import Annotated
from uuid import UUID

import typer

from signet.cli.console import FINE, FOUND_ERRORS, write
from signet.cli.instance import Actor, DatabaseUrl, Limit, Reason, Tenant, open_database
from signet.core.explain.vocabulary import escape
from signet.engine.access.command_line import read_command_line_caller
from signet.engine.instances.effect_acts import EffectActed, OutgoingEffect, list_effects_of
from signet.wiring.engine import make_discards, make_effect_acts

app = typer.Typer(help="What workflows send to the outside.", no_args_is_help=True)
Effect = Annotated[UUID, typer.Argument(metavar="EFFECT", help="The effect's id.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only report what would follow.")]


@app.command(name="list")
def list_command(
    database_url: DatabaseUrl,
    tenant: Tenant,
    instance: Annotated[UUID, typer.Argument(metavar="INSTANCE", help="The instance's id.")],
    limit: Limit = 50,
) -> None:
    """List the effects of an instance, the newest first, with the acts that are possible now."""
    with open_database(database_url) as database:
        found = list_effects_of(database, tenant, instance, limit=limit)
    for effect in found:
        write(_describe_effect(effect))


@app.command()
def try_now(
    database_url: DatabaseUrl,
    tenant: Tenant,
    effect: Effect,
    actor: Actor,
    reason: Reason,
    dry_run: DryRun = False,
) -> None:
    """Try an effect at once that waits for its next attempt (workflow:try_now)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        acted = make_effect_acts(database).try_now(caller, effect, reason, dry_run=dry_run)
    _describe_acted(acted)


@app.command()
def withdraw(
    database_url: DatabaseUrl,
    tenant: Tenant,
    effect: Effect,
    actor: Actor,
    reason: Reason,
    dry_run: DryRun = False,
) -> None:
    """Withdraw an effect that was not delivered; its step is told (workflow:withdraw)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        acted = make_effect_acts(database).withdraw(caller, effect, reason, dry_run=dry_run)
    _describe_acted(acted)


@app.command()
def discard(
    database_url: DatabaseUrl,
    tenant: Tenant,
    letter: Annotated[list[UUID], typer.Argument(metavar="LETTER...", help="Ids of dead letters.")],
    actor: Actor,
    reason: Reason,
    dry_run: DryRun = False,
) -> None:
    """Discard dead triggers and effects, so that nobody sends them again (workflow:discard)."""
    with open_database(database_url) as database:
        caller = read_command_line_caller(database, tenant, actor)
        discard_all = make_discards(database).discard_all
        done = discard_all(caller, letter, reason, dry_run=dry_run)
    word = "can be discarded" if dry_run else "discarded"
    for row_id in dict.fromkeys(letter):
        write(f"{row_id}  {word if row_id in done else 'is no dead letter'}")
    raise typer.Exit(FINE if done >= set(letter) else FOUND_ERRORS)


def _describe_acted(acted: EffectActed) -> None:
    sent = "  it may have left already" if acted.may_have_left else ""
    write(f"{acted.effect.id}  {acted.act} {acted.outcome}  then: {acted.follows}{sent}")


def _describe_effect(effect: OutgoingEffect) -> str:
    where = f"  endpoint {escape(effect.endpoint)}" if effect.endpoint else ""
    error = f"  {escape(effect.error)}" if effect.error else ""
    acts = f"  try: {', '.join(effect.acts)}" if effect.acts else ""
    tried = f"attempt {effect.attempts} of {effect.max_attempts}"
    # The word of the table for what failed and is tried again.
    status = "failed, tried again" if effect.status == "failed" else effect.status
    return f"{effect.id}  {effect.effect_type}  {status}  {tried}{where}{acts}{error}"
