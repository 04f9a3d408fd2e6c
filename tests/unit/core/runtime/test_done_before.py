"""Repeats behind a gate: the answer of the first time is taken, or the token is held."""

from typing import Any
from uuid import UUID

import pytest

from signet.core.runtime.done_before import (
    EarlierStep,
    Resent,
    StepElsewhere,
    find_done,
    find_done_elsewhere,
)
from signet.core.runtime.execution import Blocked
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


LINE = {"approval": make_line(LOOK), "checks": make_line(call("ask"))}


def drawn(*posting: Any, **slots: Any) -> Workflow:
    """Compile what is drawn behind the gate, and beside it."""
    return Workflow(compile_line(GOING_ON, **{**LINE, "posting": make_line(*posting), **slots}))


def renamed(name: str, like: str, **config: Any) -> dict[str, Any]:
    made = call(like)
    return {**made, "id": name, "config": {**made["config"], **config}}


def parted(*conditions: str) -> dict[str, Any]:
    """Draw a call that a condition may lead past."""
    edges = [{"source": "if", "target": "tell", "condition": text} for text in conditions]
    edges += [{"source": "if", "target": "out"}, {"source": "tell", "target": "out"}]
    return {"nodes": [{"id": "if", "type": "condition"}, call("tell")], "edges": edges, "exit": "join"}


PAY, TELL = call("pay"), renamed("tell", "tell", payload={"told": "x"})


def hold(older: Workflow | None, newer: Workflow, content: str = "other", *acted: str) -> Any:
    """Let nodes of an older definition have said `said`, and another one come under the newer."""
    steps = [
        StepElsewhere(UUID(int=index + 1), name, older, "said")
        for index, name in enumerate(acted or ("usr:posting:pay",))
    ]
    return find_done_elsewhere(newer, newer.nodes["usr:posting:tell"], content, steps)


def test_what_others_did_for_the_decision_is_named() -> None:
    older = drawn(call("one"), call("two"))
    held = hold(older, drawn(TELL), "other", "usr:posting:two", "usr:posting:one", "usr:posting:two")
    assert isinstance(held, Blocked)
    assert "usr:posting:one, usr:posting:two acted since people decided" in held.reason
    assert held.evidence == {"code": "DONE_BEFORE", "step": str(OTHER)}
    newer = drawn(TELL)
    assert find_done_elsewhere(newer, newer.nodes["usr:posting:tell"], "said", ()) is None


def test_a_node_that_may_be_one_that_has_acted_is_held() -> None:
    said = drawn(PAY, renamed("tell", "tell", payload={"told": "y"}))
    assert hold(None, drawn(TELL)) is not None, "its definition is not known"
    assert hold(drawn(PAY), drawn(TELL)) is not None, "the other has gone"
    assert hold(said, drawn(TELL)) is not None, "the id said something else"
    assert hold(said, drawn(PAY, TELL)) is None, "the other is kept, and said something else"
    assert hold(said, drawn(PAY, TELL), "said") is not None, "the other is kept, and has said the same"
    changed = renamed("pay", "pay", payload={"more": "1"})
    assert hold(said, drawn(changed, TELL)) is not None, "the other does something else now"


def test_a_node_that_both_definitions_draw_alike_is_none_of_the_others() -> None:
    assert hold(drawn(PAY, TELL), drawn(TELL)) is None
    assert hold(drawn(PAY, TELL), drawn(PAY, TELL), "said") is None
    assert hold(drawn(PAY, TELL), drawn(TELL), "said") is not None, "one of them is gone"
    patient = renamed("tell", "tell", payload={"told": "x"}, retry={"attempts": 2})
    assert hold(drawn(PAY, TELL), drawn(patient)) is None, "it is only more patient"


@pytest.mark.parametrize(
    ("newer", "is_held"),
    [
        (parted("entity.grand_total > 5"), False),
        (parted("entity.grand_total > 6"), True),
        (make_line(call("tell")), True),
    ],
)
def test_a_node_on_another_way_is_another_node(newer: dict[str, Any], is_held: bool) -> None:
    older, now = drawn(PAY, checks=parted("entity.grand_total > 5")), drawn(call("x"), checks=newer)
    step = StepElsewhere(FIRST, "usr:posting:pay", older, "said")
    found = find_done_elsewhere(now, now.nodes["usr:checks:tell"], "other", [step])
    assert (found is not None) == is_held


def test_what_does_not_last_holds_nothing() -> None:
    older = drawn(PAY, POST)
    assert hold(older, drawn(TELL), "said", "usr:posting:post") is None
    assert hold(older, drawn(TELL), "other", "usr:posting:unknown") is not None
