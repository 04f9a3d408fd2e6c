"""Acts of people on a document that wanders: each may be refused, and that is an answer like any other."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, LiteralString

from signet.core.compiler.node_configurations import Vote
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Amend, Delete, RequestTransition, Update, WithdrawRequest
from signet.engine.instances.discards import Discards
from signet.engine.instances.effect_acts import EffectActs
from tests.support.repair.acts import move
from tests.support.wandering.world import PAUSED_BY_HAND, World, attempt
from tests.support.workflow_stage import Made

REASON = "it cannot stay there"
MAX_DOCUMENTS = 4
# The answers of those nodes that keep one.
ANSWERS: Mapping[str, Any] = MappingProxyType({"quote": {"status": 200, "body": {"ok": True}}})
SEATED: LiteralString = (
    "SELECT id FROM approval_requests WHERE document_id = %s AND status = 'open' ORDER BY id"
)
OPEN_REQUESTS: LiteralString = (
    "SELECT id, actor_id FROM transition_requests WHERE document_id = %s AND status = 'open'"
)
EFFECTS: LiteralString = (
    "SELECT e.id FROM workflow_side_effects_outbox e JOIN workflow_instances i"
    " ON (i.tenant_id, i.id) = (e.tenant_id, e.instance_id)"
    " WHERE i.entity_id = %s AND e.status IN ('pending', 'failed', 'dead_letter') ORDER BY e.id"
)
VOTERS = ("anna", "ben")
Act = Callable[[World, Made], object]


def _on_instance(name: str, *, with_token: bool = False) -> Act:
    def act(world: World, document: Made) -> None:
        row = world.scene.row_of(document)
        token = (world.scene.token_of(document),) if with_token else ()
        do: Callable[..., object] = getattr(world.scene.instances, name)
        do(world.operator(), row["id"], row["version"], *token, REASON)

    return act


def pause(world: World, document: Made) -> None:
    row = world.scene.row_of(document)
    world.scene.instances.pause(world.operator(), row["id"], row["version"], PAUSED_BY_HAND)


def resume(world: World, document: Made) -> None:
    row = world.scene.row_of(document)
    world.scene.instances.resume(world.operator(), row["id"], row["version"])


def skip(world: World, document: Made) -> None:
    skip_token(world, document, world.scene.token_of(document))


def skip_token(world: World, document: Made, token: str, *, dry_run: bool = False) -> None:
    row = world.scene.row_of(document)
    nodes = {one["id"]: one["node"] for one in row["active_tokens"]}
    answer = ANSWERS.get(nodes.get(token, "").rpartition(":")[2])
    skipping = world.scene.repairs.skip
    skipping(world.operator(), row["id"], row["version"], token, REASON, answer, dry_run=dry_run)


def go_to(world: World, document: Made) -> None:
    """Send it to the state of its document, or to one where it may have come from."""
    status = world.stage.status_of(document.id)
    node = world.chance.choice((status, status, "draft", "amended", "approved"))
    row = world.scene.row_of(document)
    world.scene.repairs.go_to(world.operator(), row["id"], row["version"], f"sys:state:{node}", REASON)


def ask_again(world: World, document: Made) -> None:
    row, token = world.scene.row_of(document), world.scene.token_of(document)
    world.scene.repairs.ask_again(world.operator(), row["id"], row["version"], token, REASON)


def correct(world: World, document: Made) -> None:
    version = world.stage.version_of(document.id)
    patch = {"amount": world.chance.randrange(100)}
    world.scene.corrections.correct(world.operator(), document.id, version, patch, REASON)


def cancel(world: World, document: Made) -> None:
    """End the instance, and say what follows where the server wants it."""
    row, caller = world.scene.row_of(document), world.operator()
    name, then = world.chance.choice(("cancel", "fail")), world.chance.choice(("leave", "restart"))
    end: Callable[..., object] = getattr(world.scene.instances, name)
    refused = attempt(lambda: end(caller, row["id"], row["version"], REASON))
    if refused == "INSTANCE_SEQUEL_MISSING":
        end(caller, row["id"], row["version"], REASON, then)


def restart(world: World, document: Made) -> None:
    version = world.stage.version_of(document.id)
    world.scene.restarts.restart(world.operator(), document.id, version, REASON)


def edit(world: World, document: Made) -> None:
    """Edit it; where that makes an amendment, it wanders too."""
    patch = {"amount": world.chance.randrange(100)}
    if len(world.documents) < MAX_DOCUMENTS:
        _keep(world, world.stage.mutate(Update(document.id, world.stage.version_of(document.id), patch)))


def amend(world: World, document: Made) -> None:
    patch = {"amount": world.chance.randrange(100)}
    if len(world.documents) < MAX_DOCUMENTS:
        _keep(
            world, world.stage.mutate(Amend(document.id, world.stage.version_of(document.id), patch, REASON))
        )


def _keep(world: World, applied: Any) -> None:
    if applied.original_id is not None and applied.instance_id is not None:
        world.documents.append(Made(applied.document_id, applied.instance_id))


def delete(world: World, document: Made) -> None:
    world.stage.mutate(Delete(document.id, world.stage.version_of(document.id)))


def withdraw_request(world: World, document: Made) -> None:
    for request_id, actor_id in world.stage.standing.rows(OPEN_REQUESTS, document.id):
        world.stage.mutate(WithdrawRequest(document.id, request_id, REASON), actor_id)


def drift(world: World, document: Made) -> None:
    """Edit in a stable region in spite of the edit window, as a defect or a server's owner could."""
    live, status = world.scene.live(document), world.stage.status_of(document.id)
    if live is None or status != "review" or not world.contract["slots"]["approval"].get("stable"):
        return
    world.stage.standing.run("UPDATE workflow_instances SET edit_window = 'editable' WHERE id = %s", live)
    world.stage.edit(document.id, amount=world.chance.randrange(100))


def move_on(world: World, document: Made) -> object:
    return move(world.scene, document)


def ask_for(transition: str) -> Act:
    def act(world: World, document: Made) -> None:
        version = world.stage.version_of(document.id)
        world.stage.mutate(RequestTransition(document.id, version, transition, REASON))

    return act


def _on_effect(name: str) -> Act:
    def act(world: World, document: Made) -> None:
        found = world.stage.standing.rows(EFFECTS, document.id)
        if not found:
            return
        (effect_id,) = world.chance.choice(found)
        acts = EffectActs(world.scene.database, world.stage.caches(), CompiledCache())
        getattr(acts, name)(world.operator(), effect_id, REASON)

    return act


def discard(world: World, document: Made) -> None:
    ids = [effect_id for (effect_id,) in world.stage.standing.rows(EFFECTS, document.id)]
    discards = Discards(world.scene.database, world.stage.caches(), CompiledCache())
    discards.discard(world.operator(), "effects", ids, REASON)


def vote(world: World, document: Made, given: Vote) -> bool:
    """Let the first person vote who may; return whether anybody did."""
    voted = False
    for (request_id,) in world.stage.standing.rows(SEATED, document.id):
        for user_id in VOTERS:
            if attempt(partial(world.scene.decide, request_id, given, user_id)) is None:
                voted = True
                break
    world.settle()
    return voted


ACTS: Mapping[str, Act] = MappingProxyType(
    {
        "retry": _on_instance("retry"),
        "skip": skip,
        "go_to": go_to,
        "ask_again": ask_again,
        "correct": correct,
        "cancel_token": _on_instance("cancel_token", with_token=True),
        "advance": _on_instance("advance", with_token=True),
        "wake": lambda world, document: world.scene.instances.wake(
            world.operator(), world.scene.row_of(document)["id"]
        ),
        "move": move_on,
        "interrupt": ask_for("void"),
        "reopen": ask_for("reopen"),
        "edit": edit,
        "amend": amend,
        "delete": delete,
        "withdraw_request": withdraw_request,
        "cancel": cancel,
        "restart": restart,
        "pause": pause,
        "resume": resume,
        "drift": drift,
        "try_now": _on_effect("try_now"),
        "withdraw": _on_effect("withdraw"),
        "discard": discard,
    }
)
