"""People are asked again, and every act of an operator can be tried before it is done."""

from collections.abc import Callable
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.engine.cache import CompiledCache
from signet.engine.documents.read import DocumentsRead
from signet.engine.instances.actions import Instances, InstanceState
from signet.engine.instances.moves import InstanceMoves
from signet.engine.instances.repairs import Repairs
from tests.support.moved_instances import ASK, CALLING, decide, move, olga, version_of
from tests.support.operated_instances import check, submitted
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

ASKING: dict[str, Any] = {"nodes": [ASK]}
NODE = "usr:approval:ask"
WHY = "anna is away"


def asked(who: str) -> dict[str, Any]:
    return {"nodes": [{**ASK, "config": {"approvers": [{"by": "user", "user": who}]}}]}


@pytest.fixture(autouse=True)
def asked_person(anna: str) -> str:
    return anna


@pytest.fixture
def repairs(stage: WorkflowStage) -> Repairs:
    return Repairs(stage.standing.company.database, stage.caches(), CompiledCache())


def ask_again(stage: WorkflowStage, repairs: Repairs, made: Made, node: str = NODE) -> InstanceState:
    seen = version_of(stage, made)
    return repairs.ask_again(olga(stage), made.instance_id, seen, node, WHY)


def approvals(stage: WorkflowStage, made: Made) -> list[str]:
    rows = stage.standing.rows(
        "SELECT status FROM approval_requests WHERE document_id = %s ORDER BY id", made.id
    )
    return [status for (status,) in rows]


def test_people_are_asked_again_by_the_roles_of_today(stage: WorkflowStage, repairs: Repairs) -> None:
    made = submitted(stage, approval=ASKING)
    assert ask_again(stage, repairs, made).status == "running"
    stage.drain()
    assert approvals(stage, made) == ["voided", "open"]
    row = stage.instance(made.instance_id)
    assert (row["status"], row["current_nodes"]) == ("running", [NODE])
    check(stage, made)


def test_r17_where_all_abstained_they_are_asked_again(
    stage: WorkflowStage, repairs: Repairs, anna: str
) -> None:
    made = submitted(stage, approval=ASKING)
    decide(stage, made, anna, "abstained")
    row = stage.instance(made.instance_id)
    assert row["status"] == "paused" and row["reason"].startswith("APPROVAL_ALL_ABSTAINED")
    ask_again(stage, repairs, made)
    stage.drain()
    decide(stage, made, anna)
    assert (stage.status_of(made.id), approvals(stage, made)) == ("active", ["voided", "approved"])
    incident = stage.standing.row(
        "SELECT code, closing, closed_by FROM incidents WHERE entity_id = %s", made.id
    )
    assert incident == ("APPROVAL_ALL_ABSTAINED", "retried", "olga")
    check(stage, made)


def test_r17_others_are_asked_under_a_newer_definition(
    stage: WorkflowStage, repairs: Repairs, operators: Instances, moves: InstanceMoves
) -> None:
    made = submitted(stage, approval=ASKING)
    (entity_type,) = stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", made.id)
    stage.add_member("paul")
    version = stage.publish_next(entity_type, approval=asked("paul"))
    operators.pause(olga(stage), made.instance_id, version_of(stage, made), WHY)
    assert move(moves, stage, made, version).outcome == "blocked"
    assert ask_again(stage, repairs, made).status == "paused"
    assert move(moves, stage, made, version).outcome == "moved"
    operators.resume(olga(stage), made.instance_id, version_of(stage, made))
    stage.drain()
    assert approvals(stage, made) == ["voided", "open"]
    seats = stage.standing.rows(
        "SELECT s.holder_user_id FROM approval_seats s JOIN approval_requests r ON r.id = s.request_id"
        " WHERE r.document_id = %s AND r.status = 'open'",
        made.id,
    )
    assert seats == [("paul",)]
    check(stage, made)


def test_where_nobody_is_asked_nobody_is_asked_again(stage: WorkflowStage, repairs: Repairs) -> None:
    made = submitted(stage, approval=CALLING)
    with pytest.raises(Rejected) as refused:
        ask_again(stage, repairs, made, "usr:approval:call")
    assert refused.value.code == "INSTANCE_TOKEN_ASKS_NOBODY"


def test_an_act_is_tried_before_it_is_done(
    stage: WorkflowStage, repairs: Repairs, operators: Instances
) -> None:
    asking, calling = submitted(stage, approval=ASKING), submitted(stage, approval=CALLING)
    broken = submitted(
        stage, approval={"nodes": [{"id": "act", "type": "action", "config": {"action": "run"}}]}
    )
    tries: list[tuple[Made, Callable[..., InstanceState], tuple[Any, ...]]] = [
        (asking, operators.pause, (WHY,)),
        (asking, operators.cancel, (WHY, "restart")),
        (asking, operators.fail, (WHY, "leave")),
        (asking, operators.cancel_token, (NODE, WHY)),
        (asking, repairs.ask_again, (NODE, WHY)),
        (asking, repairs.go_to, ("sys:state:submitted", WHY)),
        (calling, operators.advance, ("usr:approval:call", WHY)),
        (broken, operators.retry, (WHY,)),
        (broken, repairs.skip, ("usr:approval:act", WHY)),
    ]
    for made, act, more in tries:
        before = stage.instance(made.instance_id)
        state = act(olga(stage), made.instance_id, before["version"], *more, dry_run=True)
        assert state.version > before["version"], act
        assert stage.instance(made.instance_id) == before
        assert stage.instance_of(made.id) == made.instance_id
        with pytest.raises(Rejected) as denied:
            clerk = stage.standing.company.caller("carl", "clerk")
            act(clerk, made.instance_id, before["version"], *more, dry_run=True)
        assert denied.value.code == "PERMISSION_DENIED"
    with pytest.raises(Rejected) as refused:
        operators.cancel(olga(stage), asking.instance_id, version_of(stage, asking), WHY, dry_run=True)
    assert refused.value.code == "INSTANCE_SEQUEL_MISSING"


def test_r18_what_is_cancelled_while_it_is_held_goes_the_way_of_a_rejection(
    stage: WorkflowStage, operators: Instances, repairs: Repairs
) -> None:
    approve = {**CONTRACT["transitions"]["approve"], "rejected_to": None}
    contract = {**CONTRACT, "transitions": {**CONTRACT["transitions"], "approve": approve}}
    with_way = submitted(stage, approval=asked("nobody"))
    without = submitted(stage, contract, approval=CALLING)
    stage.answer(without.instance_id, error="gone")
    stage.drain()
    assert stage.instance(with_way.instance_id)["status"] == "paused"
    seen = version_of(stage, with_way)
    assert operators.cancel_token(olga(stage), with_way.instance_id, seen, NODE, WHY).status == "running"
    stage.drain()
    check(stage, with_way)
    # It does not stay paused for the reason of before.
    assert stage.status_of(with_way.id) == "draft"
    # Where the gate takes no rejection, the token is kept; the way begins again.
    seen = version_of(stage, without)
    with pytest.raises(Rejected) as caught:
        operators.cancel_token(olga(stage), without.instance_id, seen, "usr:approval:call", WHY)
    assert (
        caught.value.code == "INSTANCE_TOKEN_NOT_CANCELLABLE" and "sys:gate:approve" in caught.value.message
    )
    repairs.go_to(olga(stage), without.instance_id, seen, "sys:state:submitted", WHY)
    stage.drain()
    assert stage.instance(without.instance_id)["current_nodes"] == ["usr:approval:call"]


def test_r16_what_is_not_finished_behind_a_gate_is_said(stage: WorkflowStage) -> None:
    pay = {"from": ["active"], "to": "cancelled", "kind": "requested"}
    contract = {**CONTRACT, "transitions": {**CONTRACT["transitions"], "pay": pay}}
    made = submitted(stage, contract, posting=CALLING)
    waits = stage.ask(made.id, "pay")
    stage.drain()
    stage.answer(made.instance_id, error="gone")
    stage.drain()
    held = stage.ask(made.id, "pay")
    stage.drain()
    said = "steps behind the last transition are not finished: usr:posting:call."
    for asked_for, what in ((waits, "Let them end"), (held, "Have an operator retry or skip them")):
        status, outcome = stage.standing.row(
            "SELECT status, outcome FROM transition_requests WHERE id = %s", asked_for.request_id
        )
        assert (status, outcome) == ("refused", f"{said} {what}, then ask again")
    principal = olga(stage).principal
    read = DocumentsRead(stage.standing.company.database).read
    assert read(principal, made.id).unfinished == ["usr:posting:call"]
    resting = submitted(stage, approval=ASKING)
    assert read(principal, resting.id).unfinished == []
