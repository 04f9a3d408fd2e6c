"""Acts that people try on a stranded document, each by the use case that the API calls."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from signet.core.errors import Rejected
from signet.engine.documents.commands import RequestTransition, Update
from signet.engine.instances.moves import MoveTarget
from tests.support.repair.scene import Act, RepairScene
from tests.support.workflow_stage import Made

REASON = "it cannot stay there"
# The requested transition that leaves a status, and an interrupt where there is one.
_ASKED = MappingProxyType({"draft": "submit", "active": "close"})


def _on_instance(name: str, *, with_token: bool = False) -> Act:
    """Return an act of operators on the instance, or on its token that is held."""

    def act(scene: RepairScene, document: Made) -> None:
        row = scene.row_of(document)
        do: Callable[..., object] = getattr(scene.instances, name)
        token = (scene.token_of(document),) if with_token else ()
        do(scene.olga, row["id"], row["version"], *token, REASON)

    return act


def wake(scene: RepairScene, document: Made) -> None:
    scene.instances.wake(scene.olga, scene.row_of(document)["id"])


def resume(scene: RepairScene, document: Made) -> None:
    row = scene.row_of(document)
    scene.instances.resume(scene.olga, row["id"], row["version"])


def skip(scene: RepairScene, document: Made) -> None:
    row, token = scene.row_of(document), scene.token_of(document)
    scene.repairs.skip(scene.olga, row["id"], row["version"], token, REASON)


def go_to(scene: RepairScene, document: Made) -> None:
    """Send it back to the state of its document."""
    row, status = scene.row_of(document), scene.stage.status_of(document.id)
    scene.repairs.go_to(scene.olga, row["id"], row["version"], f"sys:state:{status}", REASON)


def advance(scene: RepairScene, document: Made) -> None:
    row, token = scene.row_of(document), scene.token_of(document)
    scene.instances.advance(scene.olga, row["id"], row["version"], token, REASON)


def move(scene: RepairScene, document: Made) -> str | None:
    """Move it to the newest version of its definition, which does nothing where it stands."""
    row = scene.row_of(document)
    name, version = scene.stage.standing.row(
        "SELECT name, version FROM workflow_definitions WHERE entity_type = %s AND status = 'published'"
        " AND definition_kind IN ('effective', 'envelope') ORDER BY published_at DESC, id DESC LIMIT 1",
        scene.entity_type,
    )
    target = MoveTarget(version, name)
    outcome = scene.moves.move(scene.olga, row["id"], row["version"], target, REASON)
    if outcome.outcome == "moved":
        return None
    report = outcome.report
    assert report is not None, outcome
    found = [*report.obstacles, *(each for a in report.assessments for each in a.obstacles)]
    return found[0].code


def ask(scene: RepairScene, document: Made) -> str | None:
    """Ask for the transition that leaves its status; where the workflow alone leaves it, for the first."""
    return _request(scene, document, _ASKED.get(scene.stage.status_of(document.id), "submit"))


def interrupt(scene: RepairScene, document: Made) -> str | None:
    return _request(scene, document, "void")


def restart(scene: RepairScene, document: Made) -> str | None:
    version = scene.stage.version_of(document.id)
    outcome = scene.restarts.restart(scene.olga, document.id, version, REASON)
    return None if outcome.outcome == "restarted" else outcome.outcome


def correct(scene: RepairScene, document: Made) -> None:
    version = scene.stage.version_of(document.id)
    scene.corrections.correct(scene.olga, document.id, version, {"amount": 2}, REASON)


def ask_again(scene: RepairScene, document: Made) -> None:
    row, token = scene.row_of(document), scene.token_of(document)
    scene.repairs.ask_again(scene.olga, row["id"], row["version"], token, REASON)


def cancel(scene: RepairScene, document: Made) -> None:
    """End the instance, and say where the server wants it that the document is left."""
    row = scene.row_of(document)
    try:
        scene.instances.cancel(scene.olga, row["id"], row["version"], REASON)
    except Rejected as rejected:
        if rejected.code != "INSTANCE_SEQUEL_MISSING":
            raise
        scene.instances.cancel(scene.olga, row["id"], row["version"], REASON, "leave")


def edit(scene: RepairScene, document: Made) -> None:
    change = Update(document.id, scene.stage.version_of(document.id), {"amount": 2})
    scene.stage.mutate(change)


def _request(scene: RepairScene, document: Made, transition: str) -> str | None:
    """Say so where the request is refused, or stays open."""
    version = scene.stage.version_of(document.id)
    made = scene.stage.mutate(RequestTransition(document.id, version, transition, REASON))
    scene.stage.drain()
    rows = scene.stage.standing.rows("SELECT status FROM transition_requests WHERE id = %s", made.request_id)
    found = {"refused": "the request is refused", "open": "the request is open"}.get(rows[0][0])
    return f"{scene.describe(document)}; {found}" if found is not None else None


# In the order of the columns.
ACTS: Mapping[str, Act] = MappingProxyType(
    {
        "retry": _on_instance("retry"),
        "skip": skip,
        "go_to": go_to,
        "ask_again": ask_again,
        "correct": correct,
        "cancel_token": _on_instance("cancel_token", with_token=True),
        "advance": advance,
        "wake": wake,
        "move": move,
        "ask": ask,
        "interrupt": interrupt,
        "edit": edit,
        "cancel": cancel,
        "restart": restart,
    }
)
