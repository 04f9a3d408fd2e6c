"""Transition requests while a document's workflow is under way: served, refused, superseded, ended."""

from copy import deepcopy
from typing import Any

import pytest

from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage


def with_transition(name: str, **changes: Any) -> dict[str, Any]:
    contract = deepcopy(dict(CONTRACT))
    contract["transitions"][name] |= changes
    return contract


@pytest.mark.parametrize("is_under_way", [False, True], ids=["at rest", "under way"])
def test_whoever_may_ask_for_an_interrupt_is_not_refused_for_who_came_before(
    stage: WorkflowStage, is_under_way: bool
) -> None:
    """Try the gate as the requester, not as the person the workflow runs for so far."""
    contract = with_transition("cancel", permission="docs:cancel")
    contract["conditions"] = {"docs:cancel": "actor.user_id != 'carl'"}
    document = stage.create(stage.publish(contract, approval={"nodes": [CALL]}))
    if is_under_way:
        stage.ask(document.id, "submit")
    stage.drain()
    stage.ask(document.id, "cancel", "mona", "admin")
    stage.drain()
    assert stage.requests(document.id)[-1] == ("cancel", "performed")
    assert stage.status_of(document.id) == "cancelled"


@pytest.mark.parametrize("transition", ["submit", "cancel"])
def test_a_rule_that_is_against_a_transition_is_not_against_its_refusal(
    stage: WorkflowStage, transition: str
) -> None:
    """Add the rule after the request: the document stays where it was, and can be edited and asked again."""
    entity_type = stage.publish()
    document = stage.create(entity_type)
    stage.ask(document.id, transition)
    stage.add_rule(entity_type, "small", "entity.amount < 5", on="transition")
    stage.drain()
    assert stage.requests(document.id) == [(transition, "refused")]
    assert stage.nodes(document.instance_id)[-1] == "sys:state:draft"
    stage.edit(document.id, amount=7)
    stage.ask(document.id, "submit")
    stage.drain()
    assert stage.status_of(document.id) == "active"


def test_a_rejection_that_a_rule_is_against_pauses_with_the_reason(stage: WorkflowStage) -> None:
    """Block both the gate and the rejection edge: a person is needed, not another try."""
    ask_rule = {"id": "solvent", "type": "rule", "config": {"rules": ["solvent"]}}
    entity_type = stage.publish(approval={"nodes": [ask_rule]})
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    stage.add_rule(entity_type, "solvent", "entity.amount == 1", on="delete")
    stage.add_rule(entity_type, "forward", "entity.status == 'draft'", on="transition")
    stage.drain()
    instance = stage.instance(document.instance_id)
    assert (instance["status"], instance["reason"]) == ("paused", "forward is against it")
    assert stage.triggers(document.instance_id) == [("completed", 1), ("completed", 1)]
    stage.check_rebuild(document.instance_id)


def test_a_refusal_is_a_step_and_the_audit_trail_names_it(stage: WorkflowStage) -> None:
    contract = with_transition("cancel", condition="entity.amount > 5")
    document = stage.create(stage.publish(contract))
    stage.drain()
    stage.ask(document.id, "cancel")
    stage.drain()
    *_, step = stage.whole_steps(document.instance_id)
    assert (step["node_id"], step["status"], step["run_as"]) == ("sys:control:refused", "completed", "system")
    assert step["output_json"]["transition"] == "cancel"
    assert step["output_json"]["reason"] == "the condition 'entity.amount > 5' does not hold"
    audited = stage.standing.rows(
        "SELECT content::json ->> 'step_id' FROM audit_log WHERE action = 'transition:cancel'"
        " AND subject_id = %s",
        str(document.id),
    )
    assert audited == [(step["id"],)]
    stage.check_rebuild(document.instance_id)


def test_an_instance_that_leaves_the_wave_refuses_nothing(stage: WorkflowStage) -> None:
    """Drop an instance at its first step, and its refusal with it; the others go on."""
    contract = with_transition("cancel", condition="entity.amount > 5")
    entity_type = stage.publish(contract)
    documents = [stage.create(entity_type) for _ in range(3)]
    stage.drain()
    for document in documents:
        stage.ask(document.id, "cancel")
    broken = documents[1].instance_id
    # Its waiting step names a node that its workflow does not have.
    stage.standing.run("ALTER TABLE workflow_step_executions DISABLE TRIGGER USER")
    stage.standing.run(
        "UPDATE workflow_step_executions SET node_id = 'sys:nowhere' WHERE instance_id = %s AND seq = 2",
        broken,
    )
    stage.standing.run("ALTER TABLE workflow_step_executions ENABLE TRIGGER USER")
    stage.drain()
    assert [stage.requests(document.id)[0][1] for document in documents] == [
        "refused",
        "open",
        "refused",
    ]
    assert "sys:control:refused" not in stage.nodes(broken)
    assert stage.triggers(broken) == [("completed", 1), ("failed", 1)]


@pytest.mark.parametrize("node", ["call", "run"])
def test_a_request_stays_open_while_a_step_on_its_way_is_held(stage: WorkflowStage, node: str) -> None:
    """Serve another request meanwhile: it withdraws what is held."""
    run = {"id": "run", "type": "action", "config": {"action": "run"}}
    document = stage.create(stage.publish(checks={"nodes": [CALL if node == "call" else run]}))
    stage.ask(document.id, "submit")
    stage.drain()
    if node == "call":
        stage.answer(document.instance_id, error="gone")
        stage.drain()
    assert stage.instance(document.instance_id)["status"] == "paused"
    assert stage.requests(document.id) == [("submit", "open")]
    stage.check_rebuild(document.instance_id)
    again = stage.ask(document.id, "cancel")
    assert again.instance_id == document.instance_id
    stage.drain()
    assert stage.status_of(document.id) == "cancelled"
    assert stage.requests(document.id) == [("submit", "superseded"), ("cancel", "performed")]
    stage.check_rebuild(document.instance_id)


def test_a_document_may_rest_for_months(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish())
    stage.drain()
    stage.standing.run(
        "UPDATE workflow_step_executions SET started_at = started_at - interval '300 days'"
        " WHERE instance_id = %s AND status = 'running'",
        document.instance_id,
    )
    stage.ask(document.id, "submit")
    stage.drain()
    assert stage.status_of(document.id) == "active"
    rested = stage.whole_steps(document.instance_id)[1]
    assert rested["duration_ms"] > 300 * 24 * 60 * 60 * 1000


def settled(stage: WorkflowStage, contract: dict[str, Any] | None = None) -> Made:
    """Create a document in its last state, its workflow completed."""
    document = stage.create(stage.publish(contract))
    stage.ask(document.id, "submit")
    stage.drain()
    assert stage.status_of(document.id) == "active"
    return document


def test_a_settled_document_is_taken_up_again_where_it_stands(stage: WorkflowStage) -> None:
    document = settled(stage)
    again = stage.ask(document.id, "cancel")
    assert again.instance_id not in (None, document.instance_id)
    stage.drain()
    instance_id = stage.instance_of(document.id)
    assert stage.nodes(instance_id) == [
        "sys:state:active",
        "sys:gate:cancel",
        "sys:state:cancelled",
        "sys:end",
    ]
    assert stage.requests(document.id) == [("submit", "performed"), ("cancel", "performed")]
    stage.check_rebuild(instance_id)


def test_a_settled_document_stays_settled_when_its_request_is_refused(stage: WorkflowStage) -> None:
    document = settled(stage, with_transition("cancel", condition="entity.amount > 5"))
    stage.ask(document.id, "cancel")
    stage.drain()
    instance_id = stage.instance_of(document.id)
    assert stage.instance(instance_id)["status"] == "completed"
    assert stage.nodes(instance_id) == ["sys:control:refused", "sys:state:active", "sys:end"]
    assert (stage.status_of(document.id), stage.requests(document.id)[1]) == ("active", ("cancel", "refused"))
    stage.check_rebuild(instance_id)
    # It can be asked for again, by an instance of its own.
    stage.ask(document.id, "cancel")
    stage.drain()
    assert stage.requests(document.id)[2] == ("cancel", "refused")


def test_a_second_request_before_the_worker_looks_replaces_the_first(stage: WorkflowStage) -> None:
    document = settled(stage)
    for _ in range(2):
        stage.ask(document.id, "cancel")
    stage.drain()
    statuses = [status for _, status in stage.requests(document.id)]
    assert statuses == ["performed", "superseded", "performed"]
    assert stage.status_of(document.id) == "cancelled"


def test_who_asks_again_has_what_is_held_tried_again(stage: WorkflowStage) -> None:
    """Go on at the step that failed: what was done before it is not repeated."""
    document = stage.create(stage.publish(checks={"nodes": [CALL]}))
    stage.ask(document.id, "submit")
    stage.drain()
    stage.answer(document.instance_id, error="gone")
    stage.drain()
    assert stage.instance(document.instance_id)["status"] == "paused"
    stage.ask(document.id, "submit")
    stage.drain()
    assert stage.instance_of(document.id) == document.instance_id
    _, token, status = stage.steps(document.instance_id)[-1]
    assert (token.startswith("T/r"), status) == (True, "running")
    stage.answer(document.instance_id)
    stage.drain()
    assert stage.status_of(document.id) == "active"
    assert stage.requests(document.id) == [("submit", "superseded"), ("submit", "performed")]
    stage.check_rebuild(document.instance_id)


def test_a_request_for_another_exit_takes_the_way_back(stage: WorkflowStage) -> None:
    """Cancel the step of the first exit, and follow the other exit from the state."""
    contract = with_transition("cancel", **{"from": ["draft", "parked"]})
    contract["states"]["parked"] = {"edit": "editable"}
    contract["transitions"]["park"] = {"from": ["draft"], "to": "parked", "kind": "requested"}
    document = stage.create(stage.publish(contract, checks={"nodes": [CALL]}))
    stage.ask(document.id, "submit")
    stage.drain()
    stage.ask(document.id, "park", "mona", "admin")
    stage.drain()
    assert stage.requests(document.id) == [("submit", "superseded"), ("park", "performed")]
    assert stage.steps(document.instance_id)[3:] == [
        ("usr:checks:call", "T", "cancelled"),
        ("sys:control:sent_to", "", "completed"),
        ("sys:state:draft", "T/b5", "completed"),
        ("sys:gate:park", "T/b5", "completed"),
        ("sys:state:parked", "T/b5", "running"),
    ]
    assert stage.instance(document.instance_id)["actor_id"] == "mona"
    stage.check_rebuild(document.instance_id)


def test_what_is_held_does_not_shut_an_instance_to_requests(stage: WorkflowStage) -> None:
    contract = with_transition("approve", condition="entity.amount > 5")
    document = stage.create(stage.publish(contract))
    stage.ask(document.id, "submit")
    stage.drain()
    paused = stage.instance(document.instance_id)
    assert (paused["status"], paused["current_nodes"]) == ("paused", ["sys:gate:approve"])
    stage.ask(document.id, "cancel")
    stage.drain()
    assert stage.status_of(document.id) == "cancelled"
    assert stage.requests(document.id)[-1] == ("cancel", "performed")
    stage.check_rebuild(document.instance_id)
