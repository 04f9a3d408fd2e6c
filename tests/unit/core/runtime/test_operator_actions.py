"""A person cancels one token or ends one wait: its next place, and tokens for which that is refused."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from signet.core.compiler.node_types import NODE_TYPES
from signet.core.errors import Rejected
from signet.core.runtime.decisions import NOT_APPROVED, Decision, DecisionInput, decide
from signet.core.runtime.execution import ActionPlan, Blocked, InstanceExecution
from signet.core.runtime.operator_actions import (
    OUTCOME_OF_WAIT,
    check_advance,
    check_cancel,
    decide_advance,
    find_token,
)
from signet.core.runtime.position import Token, TokenState
from signet.core.runtime.projection import Actor, project, start_projection
from signet.core.runtime.workflow import Workflow, WorkflowNode
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.runtime.test_execution import CFO, approval, changed, load

OLGA = Actor("olga", ("admin",))
CALL = {"type": "webhook_out", "config": {"endpoint": "erp"}}
# Nothing in it can reject, so it has no edges for rejections.
UNREJECTED = deepcopy(CONTRACT)
del UNREJECTED["transitions"]["approve"]["rejected_to"]


def look(token: Token) -> DecisionInput:
    return DecisionInput({"entity": {"grand_total": 1}, "context": {"kept": 1}}, permissions=("*:*",))


def begin(workflow: Workflow, node: str) -> InstanceExecution:
    """Begin an execution in which acting nodes wait; gates do not act here, they decide."""
    execution = InstanceExecution(workflow, start_projection(node, 1))
    go_on(execution)
    return execution


def go_on(execution: InstanceExecution) -> list[str]:
    """Run the execution on, and return the gates it has come to, with their decisions."""

    def prepare(node: WorkflowNode, token: Token) -> ActionPlan | Blocked:
        if node.type.name != "lifecycle_gate":
            return ActionPlan()
        decision = decide(execution.workflow, token, look(token))
        return ActionPlan(decision) if decision.outcome is not None else Blocked(decision.reason or "")

    passed = []
    for pending in execution.run_pure_nodes(look, prepare):
        if pending.node.type.name == "lifecycle_gate":
            passed.append(f"{pending.node.id} {pending.plan.outcome}")
            execution.end(pending.step, pending.plan, 1)
    execution.end_round()
    return passed


def cancel(execution: InstanceExecution, node: str, *, is_taken: bool = True) -> list[str]:
    """Cancel a token; where nothing takes the rejection, as a step of an older release."""
    token = find_token(execution, node)
    assert isinstance(token, Token)
    assert (check_cancel(execution.workflow, token) is None) == is_taken
    execution.cancel_token(token, "not needed", OLGA)
    return go_on(execution)


def fill(slot: str, mode: str = "all", nodes: dict[str, dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return a slot with branches `a`, `b` … of these nodes side by side."""
    branches = nodes or {"a": CALL, "b": CALL}
    return {
        slot: {
            "nodes": [
                {"id": "fork", "type": "parallel_split"},
                *({"id": name, **node} for name, node in branches.items()),
                {"id": "join", "type": "parallel_join", "config": {"mode": mode}},
            ],
            "edges": [
                *({"source": "fork", "target": name} for name in branches),
                *({"source": name, "target": "join"} for name in branches),
            ],
        }
    }


def statuses(execution: InstanceExecution, node: str) -> list[str]:
    return [step.status for step in changed(execution) if step.node == node]


def check_sum(execution: InstanceExecution, node: str) -> None:
    assert project(execution.workflow, node, 1, changed(execution)) == execution.projection


# --- the next place of a cancelled token ---


def test_in_a_slot_of_a_request_the_gate_refuses_and_the_document_stays() -> None:
    execution = begin(load({"checks": {"nodes": [{"id": "a", **CALL}]}}), "sys:slot:checks:in")
    assert cancel(execution, "usr:checks:a") == ["sys:gate:submit rejected"]
    go_on(execution)
    assert execution.projection.position.current_nodes() == ["sys:state:draft"]
    assert statuses(execution, "usr:checks:a") == ["cancelled"]
    check_sum(execution, "sys:slot:checks:in")


def test_an_automatic_gate_takes_its_way_for_rejections() -> None:
    execution = begin(load({"approval": {"nodes": [approval("a")]}}), "sys:slot:approval:in")
    assert cancel(execution, "usr:approval:a") == ["sys:gate:approve rejected"]


def test_an_automatic_gate_without_such_a_way_pauses_and_stays_shut() -> None:
    workflow = load({"approval": {"nodes": [{"id": "a", **CALL}]}}, UNREJECTED)
    execution = begin(workflow, "sys:slot:approval:in")
    assert cancel(execution, "usr:approval:a", is_taken=False) == []
    for _ in range(2):
        assert (execution.projection.status, execution.projection.reason) == ("paused", NOT_APPROVED)
        assert execution.projection.position.current_nodes() == ["sys:gate:approve"]
        execution.control("retried", {"reason": "again"}, actor=OLGA)
        assert go_on(execution) == []
    check_sum(execution, "sys:slot:approval:in")


@pytest.mark.parametrize("contract", [CONTRACT, UNREJECTED])
def test_a_block_of_all_ends_with_the_first_that_is_cancelled(contract: dict[str, Any]) -> None:
    execution = begin(load(fill("approval"), contract), "sys:slot:approval:in")
    passed = cancel(execution, "usr:approval:a", is_taken=contract is CONTRACT)
    assert passed == (["sys:gate:approve rejected"] if contract is CONTRACT else [])
    assert statuses(execution, "usr:approval:b") == ["cancelled"]
    assert [step.outcome for step in changed(execution) if step.node == "usr:approval:join"] == ["rejected"]
    check_sum(execution, "sys:slot:approval:in")


def test_a_block_of_any_ends_when_every_branch_was_cancelled() -> None:
    execution = begin(load(fill("approval", "any"), UNREJECTED), "sys:slot:approval:in")
    assert cancel(execution, "usr:approval:a") == []
    assert execution.is_running and statuses(execution, "usr:approval:b") == ["running"]
    assert cancel(execution, "usr:approval:b") == []
    assert execution.projection.reason == NOT_APPROVED
    check_sum(execution, "sys:slot:approval:in")


def test_a_block_of_any_goes_on_with_what_is_left() -> None:
    execution = begin(load(fill("approval", "any"), UNREJECTED), "sys:slot:approval:in")
    cancel(execution, "usr:approval:a")
    left = find_token(execution, "usr:approval:b")
    assert isinstance(left, Token)
    edges = execution.workflow.nodes[left.node].edges["delivered"]
    execution.end(execution.open[left.id], Decision("delivered", edges), 1, has_waited=True)
    assert go_on(execution) == ["sys:gate:approve passed"]


def test_a_block_within_a_block_hands_it_on() -> None:
    slots = fill("approval", nodes={"a": CALL, "inner": {"type": "parallel_split"}})
    slot = slots["approval"]
    slot["nodes"] += [{"id": "c", **CALL}, {"id": "d", **CALL}]
    slot["nodes"] += [{"id": "both", "type": "parallel_join", "config": {"mode": "all"}}]
    slot["edges"] = [edge for edge in slot["edges"] if edge["source"] != "inner"]
    slot["edges"] += [{"source": "inner", "target": name} for name in "cd"]
    slot["edges"] += [{"source": name, "target": "both"} for name in "cd"]
    slot["edges"] += [{"source": "both", "target": "join"}]
    execution = begin(load(slots, UNREJECTED), "sys:slot:approval:in")
    assert cancel(execution, "usr:approval:d", is_taken=False) == []
    assert [statuses(execution, f"usr:approval:{name}") for name in "acd"] == [["cancelled"]] * 3
    assert execution.projection.reason == NOT_APPROVED
    check_sum(execution, "sys:slot:approval:in")


def test_one_that_had_not_begun_is_on_record_as_cancelled() -> None:
    workflow = load({"approval": {"nodes": [approval("a")]}})
    execution = InstanceExecution(workflow, start_projection("usr:approval:a", 1))
    token = find_token(execution, "T")
    assert isinstance(token, Token) and token is find_token(execution, "usr:approval:a")
    execution.cancel_token(token, "no", OLGA)
    assert [(step.seq, step.node, step.status) for step in changed(execution)] == [
        (1, "sys:control:token_cancelled", "completed"),
        (2, "usr:approval:a", "cancelled"),
    ]
    assert changed(execution)[0].to_output() == {
        "token": "T",
        "node": "usr:approval:a",
        "reason": "no",
        "actor": {"id": "olga", "roles": ["admin"], "responsible": ["olga"]},
    }
    assert execution.projection.actor == Actor("")  # the instance acts for the same person as before
    check_sum(execution, "usr:approval:a")


# --- tokens that cannot be cancelled ---


@pytest.mark.parametrize(
    ("node", "state", "remedy"),
    [
        ("sys:state:draft", TokenState.WAITING, "Request a transition"),
        ("sys:gate:submit", TokenState.READY, "Ask for another transition"),
        ("sys:gate:approve", TokenState.WAITING, "Ask for another transition"),
        ("sys:slot:approval:out", TokenState.READY, "Cancel the whole instance"),
        ("sys:start", TokenState.READY, "Cancel the whole instance"),
        ("usr:posting:tell", TokenState.WAITING, "Cancel the whole instance"),
        ("usr:approval:fork", TokenState.PARTED, "Cancel its branches"),
        ("usr:approval:join", TokenState.JOINED, "Cancel the other branches"),
    ],
)
def test_what_cannot_be_cancelled_says_what_to_do_instead(node: str, state: TokenState, remedy: str) -> None:
    tell = {"channel": "email", "to": CFO, "text": "x", "await": True}
    posting = {"nodes": [{"id": "tell", "type": "notification", "config": tell}]}
    workflow = load({**fill("approval"), "posting": posting})
    rejected = check_cancel(workflow, Token("T", node, state, 1))
    assert rejected is not None and rejected.code == "INSTANCE_TOKEN_NOT_CANCELLABLE"
    assert remedy in rejected.remedy


def test_a_gate_that_sends_back_takes_the_rejection_itself() -> None:
    execution = InstanceExecution(load(fill("approval")), start_projection("sys:gate:approve", 1))
    (token,) = execution.projection.position.tokens.values()
    assert check_cancel(execution.workflow, token) is None
    execution.cancel_token(token, "it is not wanted", OLGA)
    assert list(execution.projection.position.tokens.values()) == [replace(token, rejected=True)]


def test_a_token_that_is_not_there_is_not_found() -> None:
    execution = begin(load(fill("approval")), "sys:slot:approval:in")
    for name in ("", "T/9", "usr:approval:fork", "x" * 1_000_000, "\0"):
        found = find_token(execution, name)
        assert isinstance(found, Rejected) and found.code == "INSTANCE_TOKEN_NOT_FOUND"
        assert len(found.message) < 100


# --- ending a wait ---


def test_every_wait_for_the_outside_can_be_ended_and_no_other_node() -> None:
    asks_people = {"state", "approval"}
    assert OUTCOME_OF_WAIT.keys() == {name for name, kind in NODE_TYPES.items() if kind.waits} - asks_people
    assert all(outcome in NODE_TYPES[name].outcomes for name, outcome in OUTCOME_OF_WAIT.items())


WAITS: dict[str, dict[str, Any]] = {
    "wait_timer": {"for": "P1D"},
    "wait_event": {"key": "k", "save_as": "got", "timeout": "P1D"},
    "webhook_out": {"endpoint": "erp", "save_as": "got"},
    "notification": {"channel": "email", "to": CFO, "text": "x", "await": True},
}


def waiting_at(node_type: str, **changes: Any) -> tuple[InstanceExecution, Token]:
    node = {"id": "a", "type": node_type, "config": {**WAITS[node_type], **changes}}
    slot: dict[str, Any] = {"nodes": [node]}
    if node_type == "wait_event":
        slot["edges"] = [{"source": "a", "target": "out", "on": "timeout"}]
    execution = begin(load({"checks": slot}), "sys:slot:checks:in")
    token = find_token(execution, "usr:checks:a")
    assert isinstance(token, Token)
    return execution, token


def advance(execution: InstanceExecution, token: Token, payload: Any = None) -> None:
    assert check_advance(execution, token) is None
    node = execution.workflow.nodes[token.node]
    decision = decide_advance(execution.workflow, node, look(token), payload, "olga")
    execution.advance(execution.open[token.id], decision, "long enough", OLGA)


@pytest.mark.parametrize("node_type", WAITS)
def test_a_wait_ends_as_if_what_it_waits_for_had_come(node_type: str) -> None:
    execution, token = waiting_at(node_type)
    keeps = "save_as" in WAITS[node_type]
    advance(execution, token, {"status": 200} if keeps else None)
    waited = next(step for step in changed(execution) if step.node == "usr:checks:a")
    assert (waited.status, waited.outcome) == ("completed", OUTCOME_OF_WAIT[node_type])
    assert waited.evidence == {"advanced_by": "olga"}
    assert waited.variables == ({"got": {"status": 200}} if keeps else {})
    control = changed(execution)[-1] if changed(execution)[-1].is_control else changed(execution)[-2]
    assert (control.node, control.actor, control.data["node"]) == (
        "sys:control:advanced",
        OLGA,
        "usr:checks:a",
    )
    assert waited.end_seq == control.seq + 1
    assert execution.projection.actor == Actor("")
    assert go_on(execution) == ["sys:gate:submit passed"]
    check_sum(execution, "sys:slot:checks:in")


def test_nobody_decides_for_those_who_were_asked() -> None:
    execution = begin(load({"approval": {"nodes": [approval("a")]}}), "sys:slot:approval:in")
    token = find_token(execution, "usr:approval:a")
    assert isinstance(token, Token)
    rejected = check_advance(execution, token)
    assert rejected is not None and rejected.code == "INSTANCE_TOKEN_NOT_ADVANCEABLE"
    assert "decided by those who were asked" in rejected.remedy


@pytest.mark.parametrize(
    ("node", "remedy"),
    [
        ("sys:state:draft", "Request a transition"),
        ("sys:gate:submit", "Change what holds the gate"),
        ("sys:slot:checks:in", "Wake the instance"),
        ("usr:checks:a", "Wake the instance"),
    ],
)
def test_what_does_not_wait_for_the_outside_cannot_be_ended(node: str, remedy: str) -> None:
    workflow = load({"checks": {"nodes": [{"id": "a", **CALL}]}})
    execution = InstanceExecution(workflow, start_projection(node, 1))
    rejected = check_advance(execution, execution.projection.position.tokens["T"])
    assert rejected is not None and rejected.code == "INSTANCE_TOKEN_NOT_ADVANCEABLE"
    assert remedy in rejected.remedy


def test_what_is_held_is_not_advanced() -> None:
    workflow = load({"approval": {"nodes": [{"id": "call", **CALL}]}})
    execution = InstanceExecution(workflow, start_projection("usr:approval:call", 1))
    execution.run_pure_nodes(look, lambda node, token: Blocked("no"))
    execution.end_round()
    rejected = check_advance(execution, execution.projection.position.tokens["T"])
    assert rejected is not None and rejected.remedy == "Retry it, or skip it where that is listed."
