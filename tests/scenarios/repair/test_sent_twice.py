"""No restart, go_to or move sends again unseen what has left, or may have left."""

from typing import Any, LiteralString

import pytest

from signet.core.errors import Rejected
from signet.core.runtime.operator_actions import Sequel
from signet.engine.instances.moves import MoveTarget
from signet.ids import make_id
from signet.outbound.connector import Delivery
from signet.store.outbox.queue import EFFECTS, ClaimedEffect, claim, complete
from tests.support.moved_instances import codes_of
from tests.support.repair.contract import CONTRACT, LOOK, PAUSE, RUN, slot
from tests.support.repair.scene import RepairScene
from tests.support.workflow_stage import CALL, Made, WorkflowStage

BUSY = Delivery(503, "ANSWERED: 503")
SENT = "usr:booking:call"
FIRST: LiteralString = (
    "SELECT coalesce(first_id, id) FROM workflow_side_effects_outbox WHERE instance_id = %s"
    " ORDER BY id DESC LIMIT 1"
)


@pytest.fixture
def scene(stage: WorkflowStage) -> RepairScene:
    """Make the scene of documents whose call lies behind an approval."""
    scene = RepairScene(stage)
    scene.hire()
    scene.publish(CONTRACT, {"approval": slot(LOOK), "booking": slot(CALL)})
    return scene


def approved(scene: RepairScene) -> Made:
    """Make a document that people approved, so that its call waits to be sent."""
    return approve(scene, scene.stage.create(scene.entity_type))


def approve(scene: RepairScene, document: Made) -> Made:
    stage = scene.stage
    stage.drain()
    stage.ask(document.id, "submit")
    stage.drain()
    scene.vote(document)
    stage.drain()
    assert scene.describe(document) == f"approved, waits at {SENT}"
    return document


def take(scene: RepairScene) -> list[ClaimedEffect]:
    """Let a worker take what is due: the bank has the call, and has not answered."""
    with scene.stage.database.transaction(scene.stage.tenant_id) as connection:
        return claim(connection, EFFECTS, at_most=9, lease_seconds=60, claim_id=make_id())


def cancel(scene: RepairScene, document: Made, then: Sequel | None, *, dry_run: bool = False) -> Any:
    row = scene.row_of(document)
    return scene.instances.cancel(scene.olga, row["id"], row["version"], "why", then, dry_run=dry_run)


def code_of(scene: RepairScene, document: Made, then: Sequel | None) -> str:
    with pytest.raises(Rejected) as refused:
        cancel(scene, document, then)
    assert SENT in refused.value.message and "skip" in refused.value.remedy
    return refused.value.code


@pytest.mark.parametrize("then", ["restart", "leave"])
@pytest.mark.parametrize("way", ["under way", "tried", "delivered"])
def test_a_call_that_may_have_left_is_not_sent_again_behind_its_approval(
    scene: RepairScene, way: str, then: Sequel
) -> None:
    document = approved(scene)
    if way == "tried":
        scene.deliver(BUSY)
    else:
        taken = take(scene)
        assert len(taken) == 1
    if way == "delivered":
        with scene.stage.database.transaction(scene.stage.tenant_id) as connection:
            (own,) = scene.stage.standing.row("SELECT claim_id FROM workflow_side_effects_outbox")
            complete(connection, EFFECTS, scene.stage.tenant_id, taken, own)
    assert code_of(scene, document, then) == "INSTANCE_TARGET_REPEATS"
    assert scene.live(document) is not None


def test_a_call_that_no_worker_has_taken_is_sent_once(scene: RepairScene) -> None:
    document = approved(scene)
    assert cancel(scene, document, "restart").repeats == []
    scene.stage.drain()
    scene.deliver()
    assert scene.describe(document) == "active" and len(scene.receiver.accepted) == 1


def test_an_ended_instance_that_has_sent_its_call_does_not_begin_again(scene: RepairScene) -> None:
    """An older release let it end there."""
    document = approved(scene)
    cancel(scene, document, "leave")
    run = scene.stage.standing.run
    run("ALTER TABLE workflow_side_effects_outbox DISABLE TRIGGER USER")
    run("UPDATE workflow_side_effects_outbox SET attempts = 1, left_at = now()")
    with pytest.raises(Rejected) as refused:
        scene.restarts.report(scene.olga, document.id)
    assert refused.value.code == "INSTANCE_TARGET_REPEATS" and SENT in refused.value.message


@pytest.fixture
def plain(scene: RepairScene) -> RepairScene:
    """Make the scene of documents whose call nobody approves."""
    scene.publish(CONTRACT, {"booking": slot(CALL)})
    return scene


def begun(scene: RepairScene) -> Made:
    document = scene.stage.create(scene.entity_type)
    scene.stage.drain()
    scene.stage.ask(document.id, "submit")
    scene.stage.drain()
    assert scene.describe(document) == f"approved, waits at {SENT}"
    return document


def test_without_an_approval_it_is_named_and_keeps_its_first_id(plain: RepairScene) -> None:
    document = begun(plain)
    (sent,) = take(plain)
    assert cancel(plain, document, "restart", dry_run=True).repeats == [SENT]
    assert cancel(plain, document, "restart").repeats == [SENT]
    plain.stage.drain()
    again = plain.stage.instance_of(document.id)
    assert plain.stage.standing.row(FIRST, again) == (sent.id,)
    # The second restart goes on from the first, though its own call has not left yet.
    assert cancel(plain, document, "leave").repeats == ()
    report = plain.restarts.report(plain.olga, document.id)
    assert (report.outcome, report.repeats) == ("safe", [SENT])
    plain.restarts.restart(plain.olga, document.id, plain.stage.version_of(document.id), "again")
    plain.stage.drain()
    assert plain.stage.standing.row(FIRST, plain.stage.instance_of(document.id)) == (sent.id,)
    plain.deliver()
    assert plain.describe(document) == "active" and plain.receiver.accepted == [sent.id]


def test_another_content_is_another_call(plain: RepairScene) -> None:
    document = begun(plain)
    (sent,) = take(plain)
    other = {**CALL, "config": {**CALL["config"], "payload": {"note": "another account"}}}
    newer = MoveTarget(plain.stage.publish_next(plain.entity_type, booking=slot(other)))
    cancel(plain, document, "leave")
    version = plain.stage.version_of(document.id)
    assert plain.restarts.restart(plain.olga, document.id, version, "again", newer).repeats == [SENT]
    plain.stage.drain()
    assert plain.stage.standing.row(FIRST, plain.stage.instance_of(document.id)) != (sent.id,)


def test_delivered_while_a_person_had_paused_it_is_named(plain: RepairScene) -> None:
    document = begun(plain)
    taken = take(plain)
    row = plain.row_of(document)
    plain.instances.pause(plain.olga, row["id"], row["version"], "wait")
    (own,) = plain.stage.standing.row("SELECT claim_id FROM workflow_side_effects_outbox")
    with plain.stage.database.transaction(plain.stage.tenant_id) as connection:
        complete(connection, EFFECTS, plain.stage.tenant_id, taken, own)
    cancel(plain, document, "leave")
    report = plain.restarts.report(plain.olga, document.id)
    assert (report.outcome, report.repeats) == ("safe", [SENT])


def test_go_to_names_what_is_sent_again(plain: RepairScene) -> None:
    document = begun(plain)
    take(plain)
    row = plain.row_of(document)
    go = plain.repairs.go_to
    target = "sys:slot:booking:in"
    assert go(plain.olga, row["id"], row["version"], target, "why", dry_run=True).repeats == [SENT]
    assert go(plain.olga, row["id"], row["version"], target, "why").repeats == [SENT]


PAY = {**CALL, "config": {**CALL["config"], "payload": {"amount": {"$expr": "entity.amount"}}}}
IDS: LiteralString = (
    "SELECT coalesce(first_id, id) FROM workflow_side_effects_outbox WHERE instance_id = %s ORDER BY id"
)


def held_behind_its_call(scene: RepairScene) -> Made:
    """Make a document whose call is delivered, and whose next node fails; nobody approves anything."""
    scene.publish(CONTRACT, {"booking": slot(PAY, RUN)})
    document = begun(scene)
    scene.is_broken = True
    scene.deliver()
    assert scene.describe(document) == "approved, held: ACTION_FAILED"
    return document


def list_ids(scene: RepairScene, document: Made) -> list[Any]:
    """Return the id that the receiver gets with each call, the oldest first."""
    return [row[0] for row in scene.stage.standing.rows(IDS, scene.row_of(document)["id"])]


def correct(scene: RepairScene, document: Made, *, dry_run: bool = False, **patch: Any) -> Any:
    version = scene.stage.version_of(document.id)
    return scene.corrections.correct(scene.olga, document.id, version, patch, "misread", dry_run=dry_run)


def send_back(scene: RepairScene, document: Made, node: str) -> Any:
    row = scene.row_of(document)
    return scene.repairs.go_to(scene.olga, row["id"], row["version"], node, "again")


def test_a_correction_names_what_is_sent_again_and_keeps_its_first_id(scene: RepairScene) -> None:
    document = held_behind_its_call(scene)
    assert correct(scene, document, dry_run=True, number="P2").repeats == [SENT]
    assert correct(scene, document, number="P2").repeats == [SENT]
    scene.stage.drain()
    first, again = list_ids(scene, document)
    assert again == first
    scene.deliver()
    # A second time, by another act: the way began where it began at first.
    assert send_back(scene, document, "sys:slot:booking:in").repeats == [SENT]
    scene.stage.drain()
    assert list_ids(scene, document) == [first] * 3
    scene.is_broken = False
    scene.deliver()
    assert scene.describe(document) == "active" and scene.receiver.accepted == [first] * 3
    scene.stage.check_rebuild(document.instance_id)


def test_a_correction_of_what_a_call_says_makes_another_call(scene: RepairScene) -> None:
    document = held_behind_its_call(scene)
    assert correct(scene, document, amount=2).repeats == [SENT]
    scene.stage.drain()
    first, again = list_ids(scene, document)
    assert again != first


def test_a_correction_names_what_is_on_its_way(scene: RepairScene) -> None:
    """The action is held, and the call beside it is with a worker."""
    ways = [("fork", "call"), ("fork", "run"), ("call", "both"), ("run", "both")]
    edges = [{"id": f"{source}_{target}", "source": source, "target": target} for source, target in ways]
    both = {"id": "both", "type": "parallel_join", "config": {"mode": "all"}}
    nodes = [{"id": "fork", "type": "parallel_split"}, PAY, RUN, both]
    scene.publish(CONTRACT, {"booking": {"nodes": nodes, "edges": edges}})
    scene.is_broken = True
    document = scene.stage.create(scene.entity_type)
    scene.stage.drain()
    scene.stage.ask(document.id, "submit")
    scene.stage.drain()
    take(scene)
    for is_dry_run in (True, False):
        done = correct(scene, document, dry_run=is_dry_run, number="P2")
        assert (done.repeats, done.may_have_left) == ([SENT], [SENT])
    scene.stage.drain()
    assert len(set(list_ids(scene, document))) == 1


def test_what_people_ask_for_again_is_another_call(scene: RepairScene) -> None:
    """They have rejected it between the two, so that the receiver is to act a second time."""
    scene.publish(CONTRACT, {"approval": slot(PAY, LOOK)})
    document = scene.stage.create(scene.entity_type)
    for vote in ("rejected", "approved"):
        scene.stage.drain()
        scene.stage.ask(document.id, "submit")
        scene.stage.drain()
        scene.deliver()
        scene.vote(document, vote)
        scene.stage.drain()
    first, second = list_ids(scene, document)
    assert first != second


def test_what_is_sent_back_keeps_the_id_of_its_own_round(scene: RepairScene) -> None:
    """The call of the round before was rejected; the one of this round is what repeats."""
    scene.publish(CONTRACT, {"approval": slot(RUN, PAY, LOOK)})
    document = scene.stage.create(scene.entity_type)
    scene.stage.drain()
    scene.stage.ask(document.id, "submit")
    scene.stage.drain()
    scene.deliver()
    scene.vote(document, "rejected")
    scene.stage.drain()
    scene.is_broken = True
    scene.stage.ask(document.id, "submit")
    scene.settle()
    assert scene.describe(document) == "review, held: ACTION_FAILED"
    scene.is_broken = False
    send_back(scene, document, "sys:state:review")
    scene.stage.drain()
    before, own = list_ids(scene, document)
    assert own != before
    send_back(scene, document, "sys:slot:approval:in")
    scene.stage.drain()
    assert list_ids(scene, document) == [before, own, own]


def test_a_move_counts_the_call_of_a_branch_that_was_cancelled(plain: RepairScene) -> None:
    """The newer definition has the call behind the wait: it would be made a second time."""
    any_of = {"id": "any", "type": "parallel_join", "config": {"mode": "any"}}
    ways = [("fork", "call"), ("fork", "pause"), ("call", "any"), ("pause", "any")]
    edges = [{"id": f"{source}_{target}", "source": source, "target": target} for source, target in ways]
    nodes = [{"id": "fork", "type": "parallel_split"}, CALL, PAUSE, any_of]
    plain.publish(CONTRACT, {"approval": {"nodes": nodes, "edges": edges}})
    document = plain.stage.create(plain.entity_type)
    plain.stage.drain()
    plain.stage.ask(document.id, "submit")
    plain.stage.drain()
    take(plain)
    row, call = plain.row_of(document), "usr:approval:call"
    done = plain.instances.cancel_token(plain.olga, row["id"], row["version"], call, "the bank is asked")
    assert done.may_have_left == [call]
    newer = plain.stage.publish_next(plain.entity_type, approval=slot(PAUSE, CALL))
    report = plain.moves.report(plain.olga, row["id"], MoveTarget(newer)).report
    assert report is not None and "DONE_AHEAD" in codes_of(report)
