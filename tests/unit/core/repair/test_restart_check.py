"""Restarts: where a document without a workflow begins again, what repeats, and what blocks it."""

from collections.abc import Mapping
from typing import Any

import pytest

from signet.core.repair.move_check import Report
from signet.core.repair.restart_check import (
    EndedPlace,
    RestartInput,
    assess_restart,
    choose_beginning,
    foresee_end,
    has_nothing_left,
    list_before_decision,
    list_repeated,
    list_sequels,
    refuse_repeated,
)
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.operator_actions import Sequel, check_end, only_goes_by_itself
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.projection import start_projection
from signet.core.runtime.workflow import Workflow
from tests.support.core.small_workflows import PATCH, compile_patch, compile_slot
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.repair.test_move_check import codes, define, load, without_block

REVIEW, BEHIND = "sys:state:submitted", "sys:slot:posting:in"


@pytest.fixture(scope="module")
def workflow() -> Workflow:
    return load()


def stood(*nodes: str) -> EndedPlace:
    return EndedPlace([Token("T", node, TokenState.FAILED, 1) for node in nodes])


def nodes_of(workflow: Workflow, slot: str) -> list[str]:
    return [node for node, named in workflow.content["slot_map"].items() if named == slot]


@pytest.mark.parametrize(
    ("nodes", "status", "begins"),
    [
        ((), "submitted", REVIEW),
        (("usr:approval:credit",), "submitted", REVIEW),
        (("sys:slot:posting:out",), "active", BEHIND),
        (("sys:end",), "active", "sys:state:active"),
        # Its own state is that of another status by now: the document decides.
        (("sys:state:draft",), "submitted", REVIEW),
        # An amendment begins where it came from.
        (("sys:state:amended",), "draft", "sys:state:amended"),
        (("sys:start",), "draft", "sys:state:draft"),
    ],
)
def test_it_begins_where_the_last_instance_stood(
    workflow: Workflow, nodes: tuple[str, ...], status: str, begins: str
) -> None:
    known = [node for node in nodes if node in workflow.nodes]
    assert known == list(nodes)
    assert choose_beginning(workflow, stood(*nodes), status, is_amendment=False) == begins


def test_a_settled_state_has_nothing_left(workflow: Workflow) -> None:
    assert has_nothing_left(workflow, "sys:state:active")
    assert not has_nothing_left(workflow, REVIEW) and not has_nothing_left(workflow, BEHIND)
    assert not has_nothing_left(workflow, "sys:state:gone")


def test_what_has_acted_since_there_acts_again(workflow: Workflow) -> None:
    acted = {"usr:approval:told": True, "usr:posting:task": False}
    assert list_repeated(workflow, acted, REVIEW) == ["usr:approval:told", "usr:posting:task"]
    assert list_repeated(workflow, acted, BEHIND) == ["usr:posting:task"]


def acted(nodes: Mapping[str, bool], *, is_decided: bool = False) -> EndedPlace:
    return EndedPlace(acted=nodes, is_decided=is_decided)


def test_what_was_approved_is_not_done_again_behind_its_gate(workflow: Workflow) -> None:
    """Refuse calls and actions that make documents; before a gate, people are asked again."""
    call, task = "usr:approval:credit", "usr:posting:task"
    told = next(name for name, node in workflow.nodes.items() if node.type.name == "notification")
    refused = refuse_repeated(workflow, acted({call: True, told: True, task: True}), "active", BEHIND)
    assert refused is not None and refused.code == "INSTANCE_TARGET_REPEATS"
    assert task in refused.message and call not in refused.message, "only what lies ahead acts again"
    assert "may have left" not in refused.message
    on_its_way = refuse_repeated(workflow, acted({task: False}), "active", BEHIND)
    assert on_its_way is not None
    assert f"may have left already, and would be sent again by {task}" in on_its_way.message
    assert refuse_repeated(workflow, acted({told: True}), "active", BEHIND) is None
    before = "draft", "sys:state:draft"
    assert refuse_repeated(workflow, acted({call: True}), *before) is None
    assert refuse_repeated(workflow, acted({call: True}, is_decided=True), *before) is not None


def judge(old: Workflow, new: Workflow, node: str = REVIEW, **more: Any) -> Report:
    facts = RestartInput(1, "submitted", **more)
    return assess_restart(define(old, 2), define(new, 1), node, facts)


def test_its_own_definition_and_the_one_in_force_serve(workflow: Workflow) -> None:
    assert judge(workflow, workflow, is_in_force=True).is_safe
    older = judge(workflow, workflow)
    assert codes(older) == ["DEFINITION_NOT_NEWER"]
    assert "its own definition" in older.obstacles[0].remedy


def test_a_slot_that_is_gone_blocks_it(workflow: Workflow) -> None:
    without = load(without_block)
    report = judge(workflow, without, "usr:approval:credit", is_in_force=True)
    assert codes(report) == ["NODE_GONE"]
    assert "its own definition" in report.assessments[0].obstacles[0].remedy


@pytest.mark.parametrize(
    ("status", "then", "code"),
    [
        ("submitted", None, "INSTANCE_SEQUEL_MISSING"),
        ("submitted", "leave", None),
        ("submitted", "restart", None),
        ("draft", None, None),
        ("active", None, None),
        (None, None, None),
        (None, "restart", "RESTART_NOT_POSSIBLE"),
    ],
)
def test_who_ends_an_instance_says_what_follows(
    workflow: Workflow, status: str | None, then: Sequel | None, code: str | None
) -> None:
    refused = check_end(workflow, status, then)
    assert (refused.code if refused is not None else None) == code


def test_a_state_with_a_request_is_no_dead_end(workflow: Workflow) -> None:
    assert CONTRACT["transitions"]["approve"]["kind"] == "automatic"
    assert only_goes_by_itself(workflow, "submitted") and not only_goes_by_itself(workflow, "draft")


@pytest.mark.parametrize(
    ("node", "status", "acted", "sequels"),
    [
        ("usr:approval:credit", "submitted", {}, ["restart", "leave"]),
        ("usr:approval:credit", None, {}, [None, "leave"]),
        (BEHIND, "active", {}, [None, "restart", "leave"]),
        # What was done once does not begin again: people ask for what leads on.
        (BEHIND, "active", {"usr:posting:task": True}, [None, "leave"]),
        ("sys:state:active", "active", {}, [None, "leave"]),
    ],
)
def test_an_end_names_what_may_follow(
    workflow: Workflow,
    node: str,
    status: str | None,
    acted: dict[str, bool],
    sequels: list[Sequel | None],
) -> None:
    execution = InstanceExecution(workflow, start_projection(node, 1))
    assert list_sequels(execution, acted, status, is_amendment=False) == sequels


@pytest.mark.parametrize(
    ("node", "status", "then", "follows"),
    [
        ("usr:approval:credit", "submitted", "restart", "restart"),
        ("usr:approval:credit", "submitted", "leave", "incident"),
        ("sys:state:draft", "draft", None, "request"),
        ("sys:state:draft", None, None, "nothing"),
        ("sys:state:cancelled", "cancelled", None, "nothing"),
        # Nobody can ask for anything: what is left undone is not lost.
        ("usr:posting:task", "active", None, "incident"),
        ("sys:state:active", "active", None, "nothing"),
    ],
)
def test_an_end_says_what_follows(
    workflow: Workflow, node: str, status: str | None, then: Sequel | None, follows: str
) -> None:
    assert foresee_end(workflow, stood(node), status, then, is_amendment=False) == follows


def test_what_no_approval_has_pinned_is_not_read(workflow: Workflow) -> None:
    report = judge(workflow, workflow, is_in_force=True, unpinned_reads=["vendor.iban"])
    assert [obstacle.code for obstacle in report.obstacles] == ["READS_UNPINNED"]
    assert "vendor.iban" in report.obstacles[0].sentence


def test_what_comes_before_a_decision_ends_at_an_approval() -> None:
    look = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "user", "user": "ada"}]}}
    asking = Workflow(compile_patch({**PATCH, "slots": {**PATCH["slots"], "approvals": {"nodes": [look]}}}))
    found = list_before_decision(asking, REVIEW)
    assert REVIEW in found and "usr:approvals:look" not in found
    assert "usr:posting:post" not in found
    assert "usr:posting:post" in list_before_decision(asking, BEHIND)


def test_a_gate_that_is_asked_about_is_not_passed_by_another_branch() -> None:
    """Ask in one branch alone: the other one comes to the gate, too."""
    look = {"id": "look", "type": "approval", "config": {"approvers": [{"by": "user", "user": "ada"}]}}
    note = {"id": "note", "type": "script", "config": {"set": {"a": "1"}}}
    split, join = {"id": "split", "type": "parallel_split"}, {"id": "both", "type": "parallel_join"}
    nodes = [split, look, note, {**join, "config": {"mode": "all"}}]
    pairs = (("split", "look"), ("split", "note"), ("look", "both"), ("note", "both"))
    edges = [{"source": source, "target": target} for source, target in pairs]
    asking = Workflow(compile_slot("approvals", nodes=nodes, edges=edges))
    found = list_before_decision(asking, REVIEW)
    assert "usr:approvals:note" in found
    assert asking.guarded_gates and not asking.guarded_gates & found
