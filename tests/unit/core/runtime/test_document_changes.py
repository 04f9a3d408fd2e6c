"""The table of what becomes of a transition request; requests while paused, withdrawals, corrections."""

from itertools import product
from typing import Any

import pytest

from signet.core.runtime.decisions import TransitionRequest
from signet.core.runtime.document_changes import (
    DocumentState,
    RequestAction,
    apply_document_changes,
    choose_request_action,
    take_correction,
)
from signet.core.runtime.execution import Blocked, InstanceExecution
from signet.core.runtime.projection import Actor, Step, start_projection
from tests.support.core.waiting_calls import BLOCK, call
from tests.support.core.waiting_calls import begin as begin_calls
from tests.unit.core.runtime.test_execution import approval, load, look

ANY = (True, False)
GATES = (None, True, False)
# Columns: a gate can pass, a state can be left, one is being entered, it is under way, it can go back.
TABLE = (
    (((False,), ANY, ANY, ANY, ANY), RequestAction.REFUSE),
    (((None, True), (True,), ANY, ANY, ANY), RequestAction.LEAVE_STATE),
    (((None, True), (False,), (True,), ANY, ANY), RequestAction.LEAVE_TO_STATE),
    (((True,), (False,), (False,), ANY, ANY), RequestAction.INTERRUPT),
    (((None,), (False,), (False,), (True,), ANY), RequestAction.ASK_AGAIN),
    (((None,), (False,), (False,), (False,), (True,)), RequestAction.SEND_BACK),
    (((None,), (False,), (False,), (False,), (False,)), RequestAction.REFUSE),
)
CASES = [(facts, action) for line, action in TABLE for facts in product(*line)]


@pytest.mark.parametrize(("facts", "action"), CASES)
def test_a_request_becomes_what_its_line_says(
    facts: tuple[bool | None, bool, bool, bool, bool], action: RequestAction
) -> None:
    can_pass_gate, can_leave_state, is_entering, is_under_way, can_return = facts
    assert (
        choose_request_action(
            can_pass_gate=can_pass_gate,
            can_leave_state=can_leave_state,
            is_entering=is_entering,
            is_under_way=is_under_way,
            can_return=can_return,
        )
        is action
    )


def test_the_table_says_each_case_once() -> None:
    assert sorted(map(str, (facts for facts, _ in CASES))) == sorted(map(str, product(GATES, *[ANY] * 4)))


# --- while the instance is paused, and after a withdrawal ---

CANCEL = TransitionRequest("r", "cancel", Actor("ann"))
SUBMIT = TransitionRequest("r", "submit", Actor("ann"))


def begin_at(node: str) -> InstanceExecution:
    workflow = load({"approval": {"nodes": [approval("first")]}, "posting": {"nodes": [call("tell")]}})
    return InstanceExecution(workflow, start_projection(node, 1))


def change(execution: InstanceExecution, state: DocumentState, why: str | None = None) -> Step | None:
    return apply_document_changes(execution, state, look, lambda gate, asker: why)


def paused_at(node: str) -> InstanceExecution:
    execution = begin_at(node)
    execution.pause(Blocked("a trigger is dead"))
    return execution


def test_an_interrupt_goes_past_a_pause_by_the_engine() -> None:
    execution = paused_at("usr:approval:first")
    assert change(execution, DocumentState(1, "submitted", CANCEL)) is None
    assert execution.is_running
    assert execution.projection.position.current_nodes() == ["sys:gate:cancel"]


def test_an_interrupt_that_cannot_pass_leaves_the_pause() -> None:
    execution = paused_at("usr:approval:first")
    step = change(execution, DocumentState(1, "submitted", CANCEL), "the amount is too low")
    assert step is not None and step.data["reason"] == "the amount is too low"
    assert execution.projection.status == "paused"


@pytest.mark.parametrize(("request_", "by_person"), [(CANCEL, True), (SUBMIT, False), (SUBMIT, True)])
def test_what_is_not_served_while_it_is_paused_is_refused(
    request_: TransitionRequest, by_person: bool
) -> None:
    execution = paused_at("usr:approval:first")
    state = DocumentState(1, "submitted", request_, is_paused_by_person=by_person)
    step = change(execution, state)
    assert step is not None
    assert step.data["reason"] == "INSTANCE_PAUSED: the workflow is paused: a trigger is dead"
    assert execution.projection.status == "paused"


@pytest.mark.parametrize(
    ("node", "back"),
    [
        ("usr:checks:left", "sys:state:draft"),
        ("sys:gate:submit", "sys:state:draft"),
        # A gate that nobody asks for, a state, and what follows a gate are left alone.
        ("sys:gate:approve", "sys:gate:approve"),
        ("sys:slot:posting:in", "sys:slot:posting:in"),
        ("sys:state:submitted", "sys:state:submitted"),
    ],
)
def test_a_withdrawn_request_leads_back_to_its_state(node: str, back: str) -> None:
    execution = begin_calls(BLOCK, "usr:checks:fork") if node == "usr:checks:left" else begin_at(node)
    status = "draft" if back == "sys:state:draft" else "submitted"
    assert change(execution, DocumentState(1, status)) is None
    assert change(execution, DocumentState(1, status, is_withdrawn=True)) is None
    assert execution.projection.position.current_nodes() == [back]


def test_an_instance_that_has_ended_is_not_sent_anywhere() -> None:
    execution = begin_at("sys:gate:submit")
    execution.control("cancelled", {"reason": "over"})
    assert change(execution, DocumentState(1, "draft", is_withdrawn=True)) is None
    assert change(execution, DocumentState(1, "draft", SUBMIT)) is None
    assert execution.projection.status == "cancelled"


@pytest.mark.parametrize(
    ("node", "ended"), [("sys:state:submitted", "cancelled"), ("sys:state:active", "running")]
)
def test_what_began_for_a_request_that_came_to_nothing_ends(node: str, ended: str) -> None:
    """Expect its end where it would go an automatic way: elsewhere it rests, or ends by itself."""
    status = node.removeprefix("sys:state:")
    for state in (
        DocumentState(1, status, CANCEL, begins_for_request=True),
        DocumentState(1, status, begins_for_request=True),
    ):
        execution = begin_at(node)
        change(execution, state, "the amount is too low")
        assert execution.projection.status == ended
        is_left = [hold.step.data.get("then") for hold in execution.hold_changes if hold.is_new]
        assert is_left == (["leave"] if ended == "cancelled" else [])


def test_what_began_for_a_request_that_is_served_goes_on() -> None:
    execution = begin_at("sys:state:submitted")
    change(execution, DocumentState(1, "submitted", CANCEL, begins_for_request=True))
    assert execution.is_running


# --- what an operator corrects, and what is not finished ---

OLGA = Actor("olga")


def correct(execution: InstanceExecution, **state: Any) -> list[str]:
    again = take_correction(execution, DocumentState(2, "submitted", **state), "misread", OLGA)
    sent = [step.data["node"] for step in execution.changed.values() if step.outcome == "sent_to"]
    assert sent == ([again] if again is not None else [])
    return [step.node.removeprefix("sys:control:") for step in execution.changed.values() if step.is_control]


def test_in_front_of_a_gate_a_correction_begins_the_way_again() -> None:
    execution = begin_at("usr:approval:first")
    execution.hold("T", Blocked("nobody is there"))
    assert correct(execution) == ["held", "edited", "sent_to"]
    assert execution.projection.position.current_nodes() == ["sys:state:submitted"]
    assert execution.projection.entity_version == 2


def test_behind_a_gate_a_correction_tries_again_what_is_held() -> None:
    execution = begin_at("usr:posting:tell")
    execution.hold("T", Blocked("nobody is there"))
    assert correct(execution) == ["held", "edited", "retried"]
    assert execution.projection.position.current_nodes() == ["usr:posting:tell"]
    assert not execution.projection.position.held()


def test_a_correction_keeps_the_pins_that_it_has_not_changed() -> None:
    execution = begin_at("sys:gate:approve")
    execution.projection.pins = {"order": {"inherited_from": "x"}, "vendor": {}}
    assert correct(execution, unchanged_refs=["order", "vendor"]) == ["edited", "sent_to"]
    assert list(execution.projection.pins) == ["order"]


@pytest.mark.parametrize(("is_held", "what"), [(True, "Have an operator retry"), (False, "Let them end")])
def test_what_is_asked_before_a_slot_behind_a_gate_is_done_hears_so(is_held: bool, what: str) -> None:
    execution = begin_at("usr:posting:tell")
    if is_held:
        execution.hold("T", Blocked("nobody is there"))
    step = change(execution, DocumentState(1, "active", SUBMIT))
    assert step is not None
    said = str(step.data["reason"])
    assert said.startswith("steps behind the last transition are not finished: usr:posting:tell.")
    assert what in said


@pytest.mark.parametrize(
    ("state", "data"),
    [
        ({"changed_refs": ("vendor", "payer")}, {"refs": ["payer", "vendor"]}),
        ({"erased_fields": ("name",)}, {"refs": [], "erased": ["name"]}),
    ],
)
def test_what_people_are_asked_about_has_changed(state: dict[str, Any], data: dict[str, Any]) -> None:
    execution = begin_at("usr:approval:first")
    assert change(execution, DocumentState(1, "submitted", **state)) is None
    controls = [step for step in execution.changed.values() if step.is_control]
    (told,) = [step for step in controls if step.node == "sys:control:references_changed"]
    assert {name: told.data[name] for name in data} == data
