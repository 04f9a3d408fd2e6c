"""Repeats behind a gate: the answer of the first time is taken, or the token is held."""

from typing import Any
from uuid import UUID

import pytest

from signet.core.contracts.contract import DeclaredAction
from signet.core.runtime.done_before import EarlierStep, Resent, find_done, find_done_elsewhere
from signet.core.runtime.execution import Blocked
from signet.core.runtime.go_to_targets import may_have_lasted
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.workflow import Workflow
from tests.support.core.waiting_calls import call
from tests.unit.core.runtime.test_go_to_targets import GOING_ON, LOOK, POST, compile_line, make_line

BACK = "T/b7"
FIRST, OTHER = UUID(int=1), UUID(int=2)


@pytest.fixture(scope="module")
def workflow() -> Workflow:
    slots = {
        "approval": make_line(LOOK),
        "posting": make_line(call("pay"), POST),
        "checks": make_line(call("pay")),
    }
    return Workflow(compile_line(GOING_ON, **slots))


def at(node: str, token: str = BACK) -> Token:
    return Token(token, node, TokenState.READY, 1)


def step(**changes: Any) -> EarlierStep:
    facts = {"token": "T", "is_own": True, "may_have_acted": True, "has_answer": True, "content": "same"}
    return EarlierStep("1", **{**facts, **changes})


def find(workflow: Workflow, *earlier: EarlierStep, token: str = BACK, content: str = "same") -> Any:
    node = workflow.nodes["usr:posting:pay"]
    return find_done(node, at(node.id, token), content, earlier)


def test_the_answer_of_the_first_time_is_taken(workflow: Workflow) -> None:
    first = step()
    assert find(workflow, first) is first
    assert find(workflow, step(may_have_acted=False)) is None and find(workflow) is None
    assert find(workflow, step(has_answer=False), first) is first


@pytest.mark.parametrize(
    "earlier",
    [
        step(has_answer=False),
        step(content="other"),
        step(has_answer=False, is_own=False),
        step(is_finished=True),
        step(has_answer=False, failed_id=FIRST, is_finished=True),
        step(has_answer=False, failed_id=FIRST, content="other"),
    ],
)
def test_without_an_answer_it_is_held(workflow: Workflow, earlier: EarlierStep) -> None:
    held = find(workflow, earlier)
    assert isinstance(held, Blocked) and held.reason.startswith("DONE_BEFORE: usr:posting:pay has acted")


def test_a_call_that_has_failed_goes_on_under_its_first_id(workflow: Workflow) -> None:
    failed = step(has_answer=False, failed_id=FIRST)
    assert find(workflow, failed) == Resent(FIRST)
    assert find(workflow, step(has_answer=False, failed_id=OTHER), failed) == Resent(FIRST)
    answered = step()
    assert find(workflow, failed, answered) is answered
    assert isinstance(find(workflow, step(has_answer=False), failed), Blocked), (
        "one is not known to have failed"
    )


def test_a_retry_goes_on_for_its_own_step(workflow: Workflow) -> None:
    failed = step(token=BACK, has_answer=False)
    assert find(workflow, failed, token=f"{BACK}/r9") is None
    again = step(token=f"{BACK}/r9", has_answer=False)
    assert find(workflow, again, failed, token=f"{BACK}/r12") is None
    other = step(token=BACK, has_answer=False, is_own=False)
    assert isinstance(find(workflow, other, token=f"{BACK}/r9"), Blocked)


def test_what_others_did_for_the_decision_is_named(workflow: Workflow) -> None:
    node = workflow.nodes["usr:posting:pay"]
    assert find_done_elsewhere(node, {}) is None
    held = find_done_elsewhere(node, {"usr:b:two": OTHER, "usr:a:one": FIRST})
    assert isinstance(held, Blocked)
    assert "usr:a:one, usr:b:two acted since people decided" in held.reason
    assert held.evidence == {"code": "DONE_BEFORE", "step": str(FIRST)}


@pytest.mark.parametrize(
    ("action", "has_lasted"), [(None, True), ("gone", True), ("make", True), ("stamp", False)]
)
def test_what_a_node_of_another_definition_did_may_last(action: str | None, has_lasted: bool) -> None:
    actions = {
        "make": DeclaredAction(kind="create", entity_type="thing", set={"number": "x"}),
        "stamp": DeclaredAction(kind="update", set={"number": "x"}),
    }
    assert may_have_lasted(actions, action) is has_lasted
