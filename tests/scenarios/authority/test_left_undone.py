"""A request that comes to nothing loses nothing that is left undone behind a gate."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from signet.core.explain.instance import write_instance
from signet.engine.cache import ContractCache
from signet.engine.instances.explain import explain
from tests.scenarios.authority.acts import submit, vote
from tests.scenarios.authority.test_done_once import (
    APPROVED,
    BOOKED,
    LOOK,
    PAY,
    held_by,
    linear,
    list_paid,
    withdraw,
)
from tests.scenarios.authority.test_done_once import stage as stage
from tests.scenarios.authority.test_restarts_behind_gates import cancel, restart
from tests.support.workflow_stage import Made, WorkflowStage

LEFT = [("DOCUMENT_WITHOUT_WORKFLOW", None)]
FAIL = {"id": "act", "type": "action", "config": {"action": "run", "run_as": "system"}}
# The call stands behind the gate of the approval, and people may ask to reverse it.
BEHIND: Mapping[str, Any] = {
    **BOOKED,
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "active": {"edit": "locked", "settled": True},
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "active", "kind": "requested"},
        "reverse": {"from": ["active"], "to": "draft", "kind": "requested"},
    },
    "slots": {
        "approval": {"transition": "submit"},
        "booking": {"transition": "submit", "position": "after"},
        "reversal": {"transition": "reverse"},
    },
}
RESTING: Mapping[str, Any] = {
    **BEHIND,
    "states": {**BEHIND["states"], "active": {"edit": "locked"}, "done": {"edit": "locked", "settled": True}},
    "transitions": {
        **BEHIND["transitions"],
        "close": {"from": ["active"], "to": "done", "kind": "requested"},
    },
}


# Nothing leads out of the last status.
LAST: Mapping[str, Any] = {
    **BEHIND,
    "transitions": {"submit": BEHIND["transitions"]["submit"]},
    "slots": {name: BEHIND["slots"][name] for name in ("approval", "booking")},
}
FINAL: Mapping[str, Any] = {
    **LAST,
    "states": {**LAST["states"], "active": {"edit": "locked", "final": True}},
}


def left(stage: WorkflowStage, contract: Mapping[str, Any]) -> Made:
    """Let an operator cancel what has failed before the call behind the gate."""
    drawn = {"approval": linear(LOOK), "booking": linear(FAIL, PAY), "reversal": linear(LOOK)}
    slots = {name: drawn[name] for name in contract["slots"]}
    document = stage.create(stage.publish(contract, **slots), "carl", number="P1")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    assert cancel(stage, document) == "done"
    assert held_by(stage, document) == LEFT
    return document


def explain_text(stage: WorkflowStage, document: Made) -> str:
    found = explain(
        stage.standing.company.database, ContractCache(), stage.tenant_id, stage.instance_of(document.id)
    )
    return "\n".join(write_instance(found))


def reject(stage: WorkflowStage, document: Made) -> None:
    assert vote(stage, document.id, "ben", "rejected") == "rejected"


def end(stage: WorkflowStage, document: Made) -> None:
    assert cancel(stage, Made(document.id, stage.instance_of(document.id))) == "done"


@pytest.mark.parametrize("contract", [BEHIND, RESTING], ids=["settled", "resting"])
@pytest.mark.parametrize("come_to_nothing", [withdraw, reject, end])
def test_a_request_that_comes_to_nothing_leaves_it_open(
    stage: WorkflowStage,
    contract: Mapping[str, Any],
    come_to_nothing: Callable[[WorkflowStage, Made], None],
) -> None:
    document = left(stage, contract)
    for _ in range(2):
        stage.ask(document.id, "reverse", "carl")
        stage.drain()
        assert held_by(stage, document) == []
        come_to_nothing(stage, document)
        assert held_by(stage, document) == LEFT
    begun = restart(stage, document)
    assert (begun.outcome, begun.node) == ("restarted", "sys:slot:booking:in")
    assert held_by(stage, document) == [("ACTION_NOT_LOADED", "usr:booking:act")]


def test_a_document_that_goes_another_way_leaves_nothing_behind(stage: WorkflowStage) -> None:
    """The lawful way: people have decided that it goes back, and it is paid by its next approval."""
    document = left(stage, BEHIND)
    stage.ask(document.id, "reverse", "carl")
    stage.drain()
    assert vote(stage, document.id, "ben") == APPROVED
    assert stage.status_of(document.id) == "draft" and held_by(stage, document) == []
    assert list_paid(stage, document) == []


@pytest.mark.parametrize("contract", [LAST, FINAL], ids=["settled", "final"])
def test_what_is_left_undone_in_a_last_status_is_not_lost(
    stage: WorkflowStage, contract: Mapping[str, Any]
) -> None:
    """A request is not possible there: the incident alone says that the call was never made."""
    document = left(stage, contract)
    shown = explain_text(stage, document)
    assert "DOCUMENT_WITHOUT_WORKFLOW" in shown and "Nothing: it is over." not in shown
    begun = restart(stage, document)
    assert (begun.outcome, begun.node) == ("restarted", "sys:slot:booking:in")
    assert held_by(stage, document) == [("ACTION_NOT_LOADED", "usr:booking:act")]


def test_what_was_done_in_a_last_status_leaves_nothing(stage: WorkflowStage) -> None:
    """The lawful way beside it: what is left undone would not be done by a restart either."""
    slots = {"approval": linear(LOOK), "booking": linear(PAY)}
    document = stage.create(stage.publish(LAST, **slots), "carl", number="P1")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    stage.standing.run("UPDATE workflow_side_effects_outbox SET attempts = 1, left_at = now()")
    assert cancel(stage, document) == "done"
    assert held_by(stage, document) == []
