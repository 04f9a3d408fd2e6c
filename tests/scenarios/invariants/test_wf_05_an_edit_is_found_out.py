"""WF-05: an instance that has not seen the document's present version pauses or starts its region again.

In a stable region edits are forbidden, so it pauses. Elsewhere its work was about another version: the token
returns to the state or slot where that work began.
"""

from copy import deepcopy
from typing import Any

import pytest

from signet.authoring.actions import ActionInput, ActionResult
from signet.core.runtime.projection import DRIFT
from tests.support.workflow_stage import CALL, CONTRACT, Made, WorkflowStage

POST = {"id": "post", "type": "action", "config": {"action": "post"}}
RUN = {"id": "run", "type": "action", "config": {"action": "run"}}


def with_slot(name: str, **changes: Any) -> dict[str, Any]:
    contract = deepcopy(dict(CONTRACT))
    contract["slots"][name] |= changes
    return contract


def under_way(stage: WorkflowStage, contract: dict[str, Any] | None = None, **slots: Any) -> Made:
    """Submit a document that waits for a call in one of the slots."""
    document = stage.create(stage.publish(contract, **slots))
    stage.ask(document.id, "submit")
    stage.drain()
    assert stage.instance(document.instance_id)["current_nodes"] != []
    return document


def edit_past_the_window(stage: WorkflowStage, document: Made, **patch: Any) -> None:
    """Edit in spite of the edit window, as a defect or a server's owner could."""
    change = "UPDATE workflow_instances SET edit_window = 'editable' WHERE id = %s"
    stage.standing.run(change, document.instance_id)
    stage.edit(document.id, **patch)


@pytest.mark.parametrize("is_answered", [False, True], ids=["woken", "answered"])
def test_wf_05_drift_in_a_stable_region_pauses(stage: WorkflowStage, is_answered: bool) -> None:
    contract = with_slot("approval", edit="locked", stable=True)
    document = under_way(stage, contract, approval={"nodes": [CALL]})
    seen = stage.instance(document.instance_id)["entity_version"]
    edit_past_the_window(stage, document, amount=9)
    before = stage.steps(document.instance_id)
    if is_answered:
        stage.answer(document.instance_id)
    stage.drain()
    instance = stage.instance(document.instance_id)
    assert (instance["status"], instance["reason"]) == ("paused", DRIFT)
    assert DRIFT == "WORKFLOW_VERSION_DRIFT"
    assert stage.steps(document.instance_id) == [*before, ("sys:control:paused", "", "completed")]
    said = stage.whole_steps(document.instance_id)[-1]["output_json"]
    assert said == {
        "reason": DRIFT,
        "seen": seen,
        "found": seen + 1,
        "node": "usr:approval:call",
    }
    assert stage.status_of(document.id) == "submitted"
    stage.check_rebuild(document.instance_id)


def test_wf_05_an_edit_on_the_way_of_a_request_goes_back_to_its_state(stage: WorkflowStage) -> None:
    """Supersede the request, which was made for another version; it may be made again."""
    document = under_way(stage, checks={"nodes": [CALL]})
    stage.edit(document.id, amount=9)
    stage.drain()
    assert stage.requests(document.id) == [("submit", "superseded")]
    *_, call, edited, sent, rest = stage.whole_steps(document.instance_id)
    assert (call["node_id"], call["status"]) == ("usr:checks:call", "cancelled")
    assert edited["output_json"] == {"seen": 1, "found": 2}
    assert sent["output_json"] == {"node": "sys:state:draft", "because": "edited"}
    assert (rest["node_id"], rest["status"], rest["entity_version"]) == ("sys:state:draft", "running", 2)
    assert rest["token_id"] == f"T/b{sent['seq']}"
    stage.check_rebuild(document.instance_id)
    stage.ask(document.id, "submit")
    stage.drain()
    again = stage.whole_steps(document.instance_id)[-1]
    assert (again["node_id"], again["status"], again["entity_version"]) == ("usr:checks:call", "running", 2)


def test_wf_05_an_edit_and_a_new_request_before_the_worker_looks(stage: WorkflowStage) -> None:
    document = under_way(stage, checks={"nodes": [CALL]})
    stage.edit(document.id, amount=9)
    stage.ask(document.id, "submit")
    stage.drain()
    assert stage.requests(document.id) == [("submit", "superseded"), ("submit", "open")]
    assert stage.steps(document.instance_id)[-3:] == [
        ("sys:state:draft", "T/b6", "completed"),
        ("sys:slot:checks:in", "T/b6", "completed"),
        ("usr:checks:call", "T/b6", "running"),
    ]
    assert stage.instance(document.instance_id)["entity_version"] == 2


def test_wf_05_an_edit_on_an_automatic_way_begins_its_slot_anew(stage: WorkflowStage) -> None:
    """Start the slot again by itself on the new version, as there was no request."""
    document = under_way(stage, approval={"nodes": [CALL]})
    stage.edit(document.id, amount=9)
    stage.drain()
    calls = [
        (step["entity_version"], step["status"])
        for step in stage.whole_steps(document.instance_id)
        if step["node_id"] == "usr:approval:call"
    ]
    assert calls == [(2, "cancelled"), (3, "running")]
    stage.answer(document.instance_id)  # the outdated call is withdrawn
    stage.drain()
    assert stage.status_of(document.id) == "active"
    stage.check_rebuild(document.instance_id)


def test_wf_05_an_edit_behind_a_gate_begins_the_slot_behind_it_anew(stage: WorkflowStage) -> None:
    """Keep the transition; the slot after it starts again on the new version."""
    contract = with_slot("posting", edit="editable")
    contract["states"]["active"]["edit"] = "editable"
    document = under_way(stage, contract, posting={"nodes": [CALL]})
    assert stage.status_of(document.id) == "active"
    stage.edit(document.id, amount=9)
    stage.drain()
    assert stage.steps(document.instance_id)[-2:] == [
        ("sys:slot:posting:in", "T/b9", "completed"),
        ("usr:posting:call", "T/b9", "running"),
    ]
    assert stage.status_of(document.id) == "active"


def test_wf_05_an_edit_at_rest_is_on_record_and_moves_nobody(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish())
    stage.drain()
    for amount in (7, 8):
        stage.edit(document.id, amount=amount)
    stage.drain()
    assert stage.steps(document.instance_id)[1:] == [
        ("sys:state:draft", "T", "running"),
        ("sys:control:edited", "", "completed"),
    ]
    assert stage.instance(document.instance_id)["entity_version"] == 3
    stage.check_rebuild(document.instance_id)


@pytest.mark.parametrize("node", [POST, RUN], ids=["update", "python"])
def test_wf_05_what_the_instance_itself_changes_is_no_drift(
    stage: WorkflowStage, node: dict[str, Any]
) -> None:
    """Let an action change the document: its version and the instance's move in one transaction."""

    def run(given: ActionInput) -> ActionResult:
        return ActionResult(changes={"amount": 3}, output={"total": 3})

    contract = with_slot("approval", edit="locked", stable=True)
    entity_type = stage.publish(contract, approval={"nodes": [node, CALL], "edges": [
        {"source": node["id"], "target": "call"}]})  # fmt: skip
    stage.registry.action(entity_type, "run")(run)
    document = stage.create(entity_type)
    stage.ask(document.id, "submit")
    stage.drain()
    instance = stage.instance(document.instance_id)
    assert instance["current_nodes"] == ["usr:approval:call"]
    assert instance["entity_version"] == stage.version_of(document.id) == 3
    stage.answer(document.instance_id)
    stage.drain()
    assert (stage.status_of(document.id), stage.version_of(document.id)) == ("active", 4)
    assert [node for node in stage.nodes(document.instance_id) if node.startswith("sys:control:")] == []
