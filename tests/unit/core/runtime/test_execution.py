"""Blocked tokens, requests and rejections of an instance: each the plainest case that went wrong once."""

from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

import pytest

from signet.core.errors import Defect
from signet.core.runtime import execution as execution_module
from signet.core.runtime.decisions import Decision, DecisionInput, TransitionRequest
from signet.core.runtime.document_changes import DocumentState, apply_document_changes
from signet.core.runtime.execution import ActionPlan, Blocked, InstanceExecution
from signet.core.runtime.position import Token
from signet.core.runtime.projection import Actor, Step, start_projection
from signet.core.runtime.workflow import Workflow
from signet.core.simulation import Simulation, simulate
from signet.core.simulation.world import WorldScript
from tests.support.core.valid_workflow import CONTRACT, compile_patch, read_envelope

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CFO = [{"by": "role", "role": "cfo"}]


def approval(node_id: str) -> dict[str, Any]:
    return {"id": node_id, "type": "approval", "config": {"approvers": CFO}}


def load(slots: dict[str, Any], contract: dict[str, Any] = CONTRACT) -> Workflow:
    patch = {"patch": "p", "base": {"entity_type": "invoice", "envelope_version": 3}, "slots": slots}
    artifact = compile_patch(patch, read_envelope(contract)).artifact
    assert artifact is not None
    return Workflow(artifact)


def run(slots: dict[str, Any], contract: dict[str, Any] = CONTRACT, **script: Any) -> Simulation:
    return simulate(load(slots, contract), {"grand_total": 1, "posted": False}, WorldScript(**script), NOW)


def test_a_block_behind_a_rejection_is_not_cancelled_by_it() -> None:
    """No approver inside the block said no; the second one is asked and withdrawn at the same time."""
    simulation = run(
        {
            "approval": {
                "nodes": [
                    approval("first"),
                    {"id": "fork", "type": "parallel_split"},
                    approval("second"),
                    {"id": "tell", "type": "notification",
                     "config": {"channel": "email", "to": CFO, "text": "First said no"}},
                    {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
                ],
                "edges": [
                    {"source": "in", "target": "first"},
                    {"source": "first", "target": "out", "on": "approved"},
                    {"source": "first", "target": "fork", "on": "rejected"},
                    {"source": "fork", "target": "tell"},
                    {"source": "fork", "target": "second"},
                    {"source": "tell", "target": "both"},
                    {"source": "second", "target": "both"},
                    {"source": "both", "target": "out"},
                ],
                "exit": "join",
            }
        },
        requests=["submit"],
        approvals={"first": "rejected"},
    )  # fmt: skip
    assert [waiting.node for waiting in simulation.waiting] == ["usr:approval:second"]


def test_a_request_for_cancelling_that_cannot_pass_is_refused() -> None:
    """It must neither end the approval that is open nor leave the instance paused at the gate."""
    contract = deepcopy(CONTRACT)
    contract["transitions"]["cancel"]["condition"] = "entity.posted"
    simulation = run({"approval": {"nodes": [approval("first")]}}, contract, requests=["submit", "cancel"])
    assert simulation.status == "running"
    assert [waiting.node for waiting in simulation.waiting] == ["usr:approval:first"]


def test_the_same_request_again_does_not_begin_the_slot_anew() -> None:
    """The document was not edited and no other exit requested, so the approver stays asked."""
    simulation = run({"checks": {"nodes": [approval("look")]}}, requests=["submit", "submit"])
    looks = [step.step.status for step in simulation.steps if step.step.node == "usr:checks:look"]
    assert looks == ["running"]


def test_what_was_begun_before_a_hold_is_done_or_ended() -> None:
    """A step that is begun and never acts waits for ever, also after the instance is resumed."""
    workflow = load(
        {
            "approval": {
                "nodes": [
                    {"id": "fork", "type": "parallel_split"},
                    {"id": "call", "type": "webhook_out", "config": {"endpoint": "bureau"}},
                    approval("held"),
                    {"id": "both", "type": "parallel_join", "config": {"mode": "all"}},
                ],
                "edges": [
                    {"id": "a", "source": "fork", "target": "call"},
                    {"id": "b", "source": "fork", "target": "held"},
                    {"source": "call", "target": "both"},
                    {"source": "held", "target": "both"},
                ],
            }
        },
    )
    execution = InstanceExecution(workflow, start_projection("usr:approval:fork", 1))
    pending_actions = execution.run_pure_nodes(
        lambda token: DecisionInput({}),
        lambda node, token: Blocked("nobody") if "held" in node.id else ActionPlan(),
    )
    assert execution.is_running and [pending.node.id for pending in pending_actions] == ["usr:approval:call"]
    dead = [intent.node.id for intent in pending_actions if not execution.is_due(intent)]
    assert [step.node for step in execution.open.values() if step.node in dead] == []
    execution.end_round()
    assert execution.is_running  # the other branch waits for its answer
    [held] = execution.projection.position.held()
    assert held.node == "usr:approval:held" and held.hold is not None and held.hold.reason == "nobody"
    assert [change.reason for change in execution.hold_changes] == ["nobody"]


def test_a_pause_of_the_whole_says_its_reason() -> None:
    execution = begin("usr:approval:first")
    execution.pause(Blocked("drift"))
    assert [(change.token, change.reason) for change in execution.hold_changes] == [(None, "drift")]


def begin(node: str) -> InstanceExecution:
    return InstanceExecution(load({"approval": {"nodes": [approval("first")]}}), start_projection(node, 1))


def changed(execution: InstanceExecution) -> list[Step]:
    return list(execution.changed.values())


def look(token: Token) -> DecisionInput:
    return DecisionInput({"entity": {"grand_total": 1}})


def test_a_chain_without_a_wait_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken graph is the only one that goes on like this."""
    monkeypatch.setattr(execution_module, "MAX_CHAIN_STEPS", 0)
    with pytest.raises(Defect, match="without a wait"):
        begin("sys:start").run_pure_nodes(look, lambda node, token: ActionPlan())


def test_a_step_ends_once() -> None:
    execution = begin("usr:approval:first")
    (pending,) = execution.run_pure_nodes(look, lambda node, token: ActionPlan())
    (edge,) = execution.workflow.nodes["usr:approval:first"].edges["approved"]
    decision = Decision("approved", edges=(edge,))
    execution.end(pending.step, decision)
    with pytest.raises(KeyError, match="has ended"):
        execution.end(pending.step, decision)


def test_items_of_a_list_that_is_withdrawn_are_cancelled_with_it() -> None:
    execution = begin("usr:approval:first")
    (pending,) = execution.run_pure_nodes(look, lambda node, token: ActionPlan(item_count=2))
    execution.control("cancelled", {"reason": "over"})
    assert not execution.is_due(pending)
    assert [item.status for item in pending.items] == ["cancelled", "cancelled"]


def test_an_automation_goes_on_and_reads_the_new_version() -> None:
    execution = begin("usr:approval:first")
    execution.workflow.stable_nodes = frozenset()
    execution.workflow.kind = "automation"
    assert (
        apply_document_changes(execution, DocumentState(2, "submitted"), look, lambda gate, asker: None)
        is None
    )
    assert [step.node for step in changed(execution)] == ["sys:control:edited"]
    assert execution.projection.position.current_nodes() == ["usr:approval:first"]


def test_the_same_request_again_finds_it_at_its_gate() -> None:
    execution = begin("sys:gate:submit")
    request = TransitionRequest("r", "submit", Actor("ann"))
    assert (
        apply_document_changes(execution, DocumentState(1, "draft", request), look, lambda gate, asker: None)
        is None
    )
    assert [step.outcome for step in changed(execution)] == ["asked_again"]
    assert execution.projection.request == "r"


def test_who_has_decided_sends_it_back_by_asking_for_it() -> None:
    execution = begin("sys:gate:submit")
    request = TransitionRequest("r", "submit", Actor("ann"))
    document_state = DocumentState(1, "draft", request, deciders=["ann"])
    assert apply_document_changes(execution, document_state, look, lambda gate, asker: None) is None
    assert changed(execution)[0].outcome == "sent_to"
    assert execution.projection.position.current_nodes() == ["sys:state:draft"]


def test_a_gate_goes_back_to_the_state_before_it_where_there_is_one() -> None:
    workflow = load({"approval": {"nodes": [approval("first")]}})
    homes = {node.id: workflow.return_state_of(node.id) for node in workflow.nodes.values()}
    gates = {node_id: home for node_id, home in homes.items() if node_id.startswith("sys:gate:")}
    assert None in gates.values()  # an interrupt, from anywhere
    assert {home for home in gates.values() if home is not None} <= {
        node_id for node_id in workflow.nodes if node_id.startswith("sys:state:")
    }
