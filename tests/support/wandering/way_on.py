"""The way on of documents: each cause is removed, and then what an explanation names is done."""

from collections.abc import Iterator, Sequence
from typing import Any, LiteralString

from signet.core.errors import Rejected
from signet.core.explain.incidents import ExplainedAct, ExplainedIncident
from signet.engine.cache import ContractCache
from signet.engine.instances.explain import explain
from signet.outbound.connector import Delivery
from tests.support.wandering.acts import ACTS, REASON, ask_for, skip_token, vote
from tests.support.wandering.oracle import DONE
from tests.support.wandering.world import PAUSED_BY_HAND, World, attempt
from tests.support.workflow_stage import Made

HELD: LiteralString = (
    "SELECT n.id, n.code, n.instance_id, i.version FROM incidents n JOIN workflow_instances i"
    " ON (i.tenant_id, i.id) = (n.tenant_id, n.instance_id)"
    " WHERE n.entity_id = %s AND n.closed_at IS NULL ORDER BY n.id"
)
# What ends an instance and leaves its document is no repair.
NO_REPAIRS = frozenset(("cancel", "fail"))
MAX_REPAIRS = 10
DRIFT = "WORKFLOW_VERSION_DRIFT"
# Nothing lets such an amendment settle: people withdraw it for good.
GONE = "ORIGINAL_GONE"
ACCEPTED = Delivery(200, None, {"ok": True})
# Where an author lets a document be: at an end, in force, or with those who may ask for what is next.
PLACES = DONE | {"draft"}


def list_explained(world: World, document: Made) -> Sequence[ExplainedIncident]:
    """List the incidents that the explanation of the document's last instance names, and all of them."""
    held = world.stage.standing.rows(HELD, document.id)
    if not held:
        return ()
    instance_id = world.scene.live(document) or world.stage.instance_of(document.id)
    found = explain(world.scene.database, ContractCache(), world.stage.tenant_id, instance_id)
    assert {incident.id for incident in found.incidents} == {row[0] for row in held}, held
    return found.incidents


def list_repairs(incident: ExplainedIncident) -> list[ExplainedAct]:
    return [act for act in incident.acts if act.name not in NO_REPAIRS]


def perform(
    world: World, document: Made, incident: ExplainedIncident, act: ExplainedAct, *, dry_run: bool = False
) -> None:
    """Perform an act that an explanation names; a refusal is an error of the explanation."""
    if act.name == "restart":
        _restart(world, document, dry_run=dry_run)
        return
    if act.name == "correct":
        version = world.stage.version_of(document.id)
        patch = {"amount": 100 + world.chance.randrange(100)}
        world.scene.corrections.correct(
            world.operator(), document.id, version, patch, REASON, dry_run=dry_run
        )
        return
    _perform_on_instance(world, document, incident, act, dry_run=dry_run)


def _restart(world: World, document: Made, *, dry_run: bool) -> None:
    if dry_run:
        outcome = world.scene.restarts.report(world.operator(), document.id).outcome
    else:
        version = world.stage.version_of(document.id)
        outcome = world.scene.restarts.restart(world.operator(), document.id, version, REASON).outcome
    assert outcome in ("safe", "restarted"), outcome


def _perform_on_instance(
    world: World, document: Made, incident: ExplainedIncident, act: ExplainedAct, *, dry_run: bool
) -> None:
    row, caller, scene = world.scene.row_of(document), world.operator(), world.scene
    token = incident.token or ""
    match act.name:
        case "skip":
            skip_token(world, document, token, dry_run=dry_run)
        case "go_to":
            target = world.chance.choice(act.targets)
            scene.repairs.go_to(caller, row["id"], row["version"], target, REASON, dry_run=dry_run)
        case "ask_again":
            scene.repairs.ask_again(caller, row["id"], row["version"], token, REASON, dry_run=dry_run)
        case "cancel_token":
            scene.instances.cancel_token(caller, row["id"], row["version"], token, REASON, dry_run=dry_run)
        case "resume":
            if not dry_run:
                scene.instances.resume(caller, row["id"], row["version"])
        case _:
            scene.instances.retry(caller, row["id"], row["version"], REASON, dry_run=dry_run)


def find_wrong_explanations(world: World, seen: set[tuple[Any, ...]]) -> Iterator[str]:
    """Find incidents without a repair, and repairs that are named and refused, but for those `seen`."""
    for document in world.documents:
        held = tuple(world.stage.standing.rows(HELD, document.id))
        if held in seen:
            continue
        seen.add(held)
        for incident in list_explained(world, document):
            repairs = list_repairs(incident)
            if not repairs and incident.code not in (DRIFT, GONE):
                yield f"nothing repairs the incident {incident.code}"
            for act in repairs:
                try:
                    perform(world, document, incident, act, dry_run=True)
                except Rejected as rejected:
                    yield f"{incident.code}: {act.name} is named and refused: {rejected.code} {rejected}"


def bring_on(world: World, document: Made) -> str:
    """Remove each cause, and do what is named, until nothing is held; return the status."""
    for number in range(MAX_REPAIRS):
        if _is_at_rest(world, document):
            break
        _bring_on_once(world, document, by_chance=number < 2)
    place = world.scene.describe(document)
    assert not list_explained(world, document), place
    return world.stage.status_of(document.id)


def _is_at_rest(world: World, document: Made) -> bool:
    place = world.scene.describe(document)
    return place.removesuffix(", no workflow") in (*world.contract["states"], "amended")


def _bring_on_once(world: World, document: Made, *, by_chance: bool) -> None:
    row = world.scene.row_of(document)
    if row["status"] == "paused" and row["reason"] == PAUSED_BY_HAND:
        ACTS["resume"](world, document)
        world.settle()
    for incident in list_explained(world, document)[:1]:
        if incident.code == DRIFT:
            # What was decided before is not about what the document says now: its remedy names this.
            scene = world.scene
            scene.instances.cancel(world.operator(), row["id"], row["version"], REASON, "restart")
            world.settle()
            break
        if incident.code == GONE:
            ask_for("void")(world, document)
            world.settle()
            break
        repairs = list_repairs(incident)
        if by_chance and repairs:
            repairs = [world.chance.choice(repairs)]
        before = world.scene.describe(document)
        for act in repairs:
            perform(world, document, incident, act)
            world.settle()
            if world.scene.describe(document) != before:
                break
    world.deliver(ACCEPTED)
    vote(world, document, "approved")


def take_home(world: World, document: Made) -> str:
    """Let people take a document that has come back to them to where it is in force."""
    status = bring_on(world, document)
    if status == "draft":
        attempt(lambda: ACTS["edit"](world, document))
        world.settle()
        attempt(lambda: ask_for("submit")(world, document))
        world.settle()
        status = bring_on(world, document)
    return status
