"""Held tokens: what fails or cannot act stays where it is, the others go on, and a retry begins there."""

from typing import Any

import pytest

from signet.core.runtime.decisions import Decision, DecisionInput
from signet.core.runtime.document_changes import find_sending_back
from signet.core.runtime.execution import Blocked, InstanceExecution
from signet.core.runtime.go_to_targets import check_go_to, list_targets
from signet.core.runtime.hold_change import HoldChange
from signet.core.runtime.operator_actions import (
    check_resume,
    check_retry,
    check_skip,
    decide_skip,
    list_acts,
)
from signet.core.runtime.position import Hold, Token, TokenState, parse_position
from signet.core.runtime.projection import Actor, Projection, Step, project, start_projection
from signet.core.runtime.tokens import name_retry
from tests.support.core.waiting_calls import BLOCK, begin, call, load, run

OLGA = Actor("olga", ("operator",))
SAVING = {**call("left"), "config": {"endpoint": "bureau", "save_as": "answer"}}
ANSWER = {"status": 200, "body": {"ok": True}}


def end(execution: InstanceExecution, node: str, outcome: str, reason: str | None = None) -> Step:
    """End the open step of a node, with the edges that its outcome fires."""
    step = next(step for step in execution.open.values() if step.node == f"usr:checks:{node}")
    edges = execution.workflow.nodes[step.node].edges.get(outcome, ())
    execution.end(step, Decision(outcome, edges, reason=reason), has_waited=True)
    return step


def rebuild(execution: InstanceExecution, node: str) -> Projection:
    return project(execution.workflow, node, 1, execution.changed.values())


def only_token(execution: InstanceExecution) -> str:
    [token] = execution.projection.position.tokens.values()
    return token.id


def test_a_failed_step_holds_its_token_and_pauses_the_instance() -> None:
    execution = begin({"nodes": [call("left")]}, "usr:checks:left")
    step = end(execution, "left", "error", "EFFECT_DEAD: refused")
    [token] = execution.projection.tokens()
    held = Hold(step.end_seq or 0, "EFFECT_DEAD: refused", "EFFECT_DEAD")
    assert token.state is TokenState.FAILED and token.hold == held
    assert execution.projection.status == "paused" and execution.projection.reason == "EFFECT_DEAD: refused"
    assert execution.projection.is_paused_by_holds and execution.takes_changes and not execution.is_running
    assert execution.projection.position.current_nodes() == ["usr:checks:left"]
    assert execution.agrees_with_steps


def test_a_retry_goes_on_at_the_same_place_with_a_key_of_its_own() -> None:
    execution = begin({"nodes": [call("left")]}, "usr:checks:left")
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    retried = execution.resume("retried", execution.projection.position.held(), "mended", OLGA)
    assert execution.is_running and only_token(execution) == f"T/r{retried.seq}"
    run(execution)
    end(execution, "left", "error", "EFFECT_DEAD: again")
    again = execution.resume("retried", execution.projection.position.held(), None, OLGA)
    assert only_token(execution) == f"T/r{again.seq}"  # it takes the place of the first retry
    run(execution)
    end(execution, "left", "delivered")
    run(execution)
    keys = [
        (step.node, step.token, step.version) for step in execution.changed.values() if not step.is_control
    ]
    assert len(keys) == len(set(keys))


def test_a_retried_token_of_a_branch_is_still_of_its_block() -> None:
    execution = begin(BLOCK, "usr:checks:fork")
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    execution.resume("retried", execution.projection.position.held(), None, OLGA)
    run(execution)
    end(execution, "left", "delivered")
    end(execution, "right", "delivered")
    run(execution)
    assert only_token(execution) == "T" and not execution.projection.position.held()


def test_a_failed_branch_leaves_the_other_running_until_nothing_else_can() -> None:
    execution = begin(BLOCK, "usr:checks:fork")
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    assert execution.is_running and execution.projection.reason is None
    end(execution, "right", "delivered")
    # The other branch has come to the join, which waits for both.
    assert execution.projection.is_paused_by_holds
    assert execution.projection.reason == "EFFECT_DEAD: refused"


def test_a_pause_of_two_holds_has_the_reason_of_the_first() -> None:
    execution = begin(BLOCK, "usr:checks:fork")
    end(execution, "right", "error", "EFFECT_DEAD: one")
    end(execution, "left", "error", "EFFECT_DEAD: two")
    assert execution.projection.reason == "EFFECT_DEAD: one"
    first = next(token for token in execution.projection.tokens() if token.node.endswith("right"))
    execution.resume("retried", [first], None, OLGA)
    assert execution.is_running and len(execution.projection.position.held()) == 1


def test_what_cannot_act_is_held_and_tried_again_under_its_name() -> None:
    execution = InstanceExecution(load({"nodes": [call("left")]}), start_projection("usr:checks:left", 1))
    run(execution, blocked="left")
    [token] = execution.projection.tokens()
    assert (
        token.state is TokenState.READY
        and not execution.list_ready()
        and execution.projection.is_paused_by_holds
    )
    run(execution)
    assert not execution.open  # nothing goes on by itself
    execution.resume("retried", [token], None, OLGA)
    run(execution)
    assert only_token(execution) == "T" and list(execution.open) == ["T"]


def test_a_wait_that_is_held_goes_on_when_it_is_in_order_again() -> None:
    execution = begin({"nodes": [call("left")]}, "usr:checks:left")
    execution.hold("T", Blocked("NOBODY: left", {"code": "NOBODY"}))
    before = len(execution.changed)
    execution.hold("T", Blocked("NOBODY: left"))
    assert len(execution.changed) == before  # the same reason is said once
    execution.hold("T", Blocked("NOBODY: at all"))
    assert execution.projection.position.tokens["T"].hold == Hold(
        execution.projection.version, "NOBODY: at all"
    )
    execution.let_go("T")
    assert execution.is_running and not execution.projection.position.held()
    execution.let_go("T")
    assert execution.projection.status == "running"


def test_a_rebuilt_row_has_the_same_holds() -> None:
    execution = begin(BLOCK, "usr:checks:fork")
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    assert rebuild(execution, "usr:checks:fork") == execution.projection
    end(execution, "right", "delivered")
    assert rebuild(execution, "usr:checks:fork") == execution.projection
    execution.resume("retried", execution.projection.position.held(), None, OLGA)
    run(execution, blocked="left")
    assert rebuild(execution, "usr:checks:fork") == execution.projection


def test_a_failure_of_an_older_release_still_ends_its_instance() -> None:
    execution = begin({"nodes": [call("left")]}, "usr:checks:left")
    step = end(execution, "left", "error", "EFFECT_DEAD: refused")
    step.is_held = False
    assert rebuild(execution, "usr:checks:left").status == "failed"


def test_a_hold_is_stored_with_its_step_and_its_token() -> None:
    execution = begin({"nodes": [call("left")]}, "usr:checks:left")
    step = end(execution, "left", "error", "EFFECT_DEAD: refused")
    [token] = execution.projection.tokens()
    assert token.to_json()["hold"] == {
        "seq": step.end_seq,
        "reason": "EFFECT_DEAD: refused",
        "code": "EFFECT_DEAD",
    }
    read = Step(step.seq, step.end_seq, step.node, step.token, "failed", 1, 1)
    read.parse_output(step.to_output())
    assert read.is_held


@pytest.mark.parametrize(
    ("hold", "code"),
    [
        ({"reason": "the rule says no", "code": "RULE_REJECTED"}, "RULE_REJECTED"),
        ({"reason": "the condition does not hold", "code": None}, None),
        # Of an older release.
        ({"reason": "APPROVAL_STALE: it has changed"}, "APPROVAL_STALE"),
    ],
)
def test_a_hold_has_its_code_when_it_is_read(hold: dict[str, Any], code: str | None) -> None:
    execution = begin({"nodes": [call("left")]}, "usr:checks:left")
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    [stored] = [token.to_json() for token in execution.projection.tokens()]
    [token] = parse_position([{**stored, "hold": {"seq": 4, **hold}}]).held()
    assert token.hold == Hold(4, hold["reason"], code)


def test_the_changes_of_holds_name_token_and_step() -> None:
    execution = begin(BLOCK, "usr:checks:fork")
    assert execution.hold_changes == []
    failed = end(execution, "left", "error", "EFFECT_DEAD: refused")
    [token] = execution.projection.position.held()
    retried = execution.resume("retried", [token], None, OLGA)
    assert execution.hold_changes == [
        HoldChange(token, failed, is_new=True),
        HoldChange(token, retried, is_new=False),
        HoldChange(None, retried, is_new=False),
    ]
    execution.hold_changes.clear()
    execution.pause(Blocked("DRIFT: of all"))
    [change] = execution.hold_changes
    assert change.token is None and change.is_new


def test_a_pause_by_a_person_opens_nothing() -> None:
    execution = begin(BLOCK, "usr:checks:fork")
    execution.control("paused", {"reason": "lunch"}, actor=OLGA)
    assert execution.hold_changes == [] and not execution.takes_changes


def test_the_name_of_a_retry_tells_the_step_and_not_the_number_of_tries() -> None:
    assert name_retry("T", 9) == "T/r9"
    assert name_retry("T/b7", 9) == "T/b7/r9"
    assert name_retry("T/5.0/r9", 12) == "T/5.0/r12"


def test_a_skipped_node_ends_as_if_it_had_acted() -> None:
    execution = begin({"nodes": [SAVING]}, "usr:checks:left")
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    [token] = execution.projection.position.held()
    assert check_skip(execution.workflow, token) is None
    node = execution.workflow.nodes[token.node]
    decision = decide_skip(execution.workflow, node, DecisionInput({}), ANSWER, "olga")
    execution.skip(token, decision, "it came by phone", OLGA, "otto")
    [control] = [step for step in execution.changed.values() if step.node == "sys:control:skipped"]
    assert control.data["claimed"] == "otto"
    step = execution.changed[max(execution.changed)]
    assert (step.status, step.outcome, step.evidence) == ("skipped", "delivered", {"skipped_by": "olga"})
    assert execution.is_running and execution.projection.context["answer"] == ANSWER
    assert only_token(execution) == step.token != "T"
    assert rebuild(execution, "usr:checks:left") == execution.projection


def test_what_decides_is_never_skipped() -> None:
    execution = InstanceExecution(load({"nodes": [call("left")]}), start_projection("sys:gate:submit", 1))
    execution.hold("T", Blocked("the condition does not hold"))
    [gate] = execution.projection.tokens()
    refused = check_skip(execution.workflow, gate)
    assert refused is not None and "decides" in refused.message
    waiting = begin({"nodes": [call("left")]}, "usr:checks:left").projection.position.tokens["T"]
    refused = check_skip(execution.workflow, waiting)
    assert refused is not None and "not held" in refused.message


def test_an_operator_may_send_it_back_but_not_on() -> None:
    execution = begin({"nodes": [call("left")]}, "usr:checks:left")
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    assert list_targets(execution, "draft") == ["sys:slot:checks:in", "sys:state:draft"]
    assert check_go_to(execution, "draft", "sys:slot:checks:in") is None
    for ahead in ("sys:gate:submit", "sys:state:submitted", "nowhere"):
        refused = check_go_to(execution, "draft", ahead)
        assert refused is not None and "sys:state:draft" in refused.remedy
    execution.projection.request = "asked"
    execution.go_to("sys:slot:checks:in", "once more", OLGA)
    assert execution.is_running and execution.projection.request == "asked"
    execution.go_to("sys:state:draft", "not now", OLGA)
    assert execution.projection.request is None and find_sending_back(execution) is not None
    assert execution.projection.actor == Actor("")  # it goes on in the name of the same person
    run(execution)
    assert list_targets(execution, "draft") == []
    refused = check_go_to(execution, "draft", "sys:state:draft")
    assert refused is not None and refused.remedy == "Ask for a transition instead."


def acts_on(
    execution: InstanceExecution,
    token: Token | None,
    *,
    is_paused_by_person: bool = False,
    is_behind: bool = False,
) -> list[str]:
    return list_acts(
        execution,
        token,
        "draft",
        is_paused_by_person=is_paused_by_person,
        is_behind=is_behind,
        is_correctable=True,
    )


def test_behind_an_edit_only_those_acts_are_listed_that_the_edit_cannot_change() -> None:
    """Leave out what rests on the place of a token, while the instance has not taken an edit in."""
    execution = begin({"nodes": [call("left")]}, "usr:checks:left")
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    [token] = execution.projection.position.held()
    left_out = set(acts_on(execution, token)) - set(acts_on(execution, token, is_behind=True))
    assert left_out == {"skip", "go_to", "correct"}


def test_the_acts_are_those_that_the_checks_accept() -> None:
    execution = begin({"nodes": [call("left")]}, "usr:checks:left")
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    [token] = execution.projection.position.held()
    assert acts_on(execution, token) == [
        "retry",
        "skip",
        "go_to",
        "correct",
        "cancel_token",
        "cancel",
        "fail",
    ]
    execution.resume("retried", [token], None, OLGA)
    execution.pause(Blocked("DRIFT: of all"))
    assert acts_on(execution, None) == ["retry", "cancel", "fail"]
    execution.control("failed", {"reason": "no"}, actor=OLGA)
    assert acts_on(execution, None) == []


def test_a_held_gate_can_only_be_retried_or_left() -> None:
    execution = InstanceExecution(load({"nodes": [call("left")]}), start_projection("sys:gate:submit", 1))
    execution.hold("T", Blocked("the condition does not hold"))
    [gate] = execution.projection.tokens()
    assert acts_on(execution, gate) == ["retry", "go_to", "correct", "cancel", "fail"]
    other = begin({"nodes": [call("left")]}, "usr:checks:left")
    [token] = other.projection.tokens()
    assert "skip" not in acts_on(other, token)


def test_what_a_person_has_paused_is_resumed_and_not_retried() -> None:
    execution = begin(BLOCK, "usr:checks:fork")
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    [token] = execution.projection.position.held()
    execution.control("paused", {"reason": "lunch"}, actor=OLGA)
    assert acts_on(execution, token, is_paused_by_person=True) == ["resume", "cancel", "fail"]
    refused = check_retry(execution, is_paused_by_person=True)
    assert refused is not None and refused.code == "INSTANCE_PAUSED_BY_PERSON"
    assert check_resume(execution) is None
    execution.control("resumed", {}, actor=OLGA)
    # The pause is lifted, and what is held stays held.
    assert execution.is_running and execution.projection.position.held() == [token]
    assert rebuild(execution, "usr:checks:fork") == execution.projection
    assert check_retry(execution, is_paused_by_person=True) is None


def test_what_is_held_is_retried_and_not_resumed() -> None:
    execution = begin({"nodes": [call("left")]}, "usr:checks:left")
    refusals = [check_retry(execution, is_paused_by_person=False), check_resume(execution)]
    assert [refused and refused.message for refused in refusals] == [
        "the instance is running: only a paused one can be retried",
        "the instance is running: only a paused one can be resumed",
    ]
    end(execution, "left", "error", "EFFECT_DEAD: refused")
    assert check_retry(execution, is_paused_by_person=True) is None
    refused = check_resume(execution)
    assert refused is not None and (refused.code, refused.remedy) == (
        "INSTANCE_NOT_PAUSED",
        "Retry it, and say why.",
    )


def test_a_retry_of_what_the_engine_paused_names_no_token() -> None:
    execution = begin(BLOCK, "usr:checks:fork")
    execution.pause(Blocked("DRIFT: of all"))
    retried = execution.resume("retried", [], "mended", OLGA)
    assert retried.data == {"reason": "mended"} and execution.is_running


def test_what_was_withdrawn_in_its_round_is_not_held() -> None:
    execution = InstanceExecution(load({"nodes": [call("left")]}), start_projection("usr:checks:left", 1))
    execution.run_pure_nodes(lambda token: DecisionInput({}), lambda node, token: Blocked("NOT_NOW: later"))
    execution.go_to("sys:state:draft", "not wanted", OLGA)
    execution.end_round()
    assert not execution.projection.position.held()
