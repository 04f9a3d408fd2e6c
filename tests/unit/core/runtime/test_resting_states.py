"""The state that a document begins again at: an amendment has a beginning of its own."""

from signet.core.runtime.decisions import DecisionInput, TransitionRequest
from signet.core.runtime.document_changes import DocumentState, apply_document_changes
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.projection import Actor, start_projection
from signet.core.runtime.resting_states import begins_amendments, find_reentry, find_resting_state
from tests.support.core.valid_workflow import CONTRACT
from tests.unit.core.runtime.test_go_to_targets import PLAIN, stand

AMENDED, DRAFT = "sys:state:amended", "sys:state:draft"


def test_an_amendment_rests_at_its_own_beginning_in_the_first_status_alone() -> None:
    workflow = stand("sys:start", CONTRACT).workflow
    assert begins_amendments(workflow, "draft") and not begins_amendments(workflow, "submitted")
    assert find_resting_state(workflow, "draft", is_amendment=True) == AMENDED
    assert find_resting_state(workflow, "submitted", is_amendment=True) == "sys:state:submitted"
    assert find_resting_state(workflow, "draft", is_amendment=False) == DRAFT
    assert find_resting_state(stand("sys:start", PLAIN).workflow, "draft", is_amendment=True) == DRAFT


def test_a_new_instance_of_an_amendment_begins_there_too() -> None:
    assert find_reentry("draft", amendments_begin="draft", is_amendment=True) == AMENDED
    assert find_reentry("draft", amendments_begin="draft", is_amendment=False) == DRAFT
    assert find_reentry("submitted", amendments_begin="draft", is_amendment=True) == "sys:state:submitted"
    assert find_reentry("draft", amendments_begin=None, is_amendment=True) == DRAFT


def test_an_edit_at_a_gate_of_many_states_sends_an_amendment_to_its_beginning() -> None:
    for is_amendment, beginning in ((True, AMENDED), (False, DRAFT)):
        workflow = stand("sys:start", CONTRACT).workflow
        execution = InstanceExecution(workflow, start_projection("sys:gate:cancel", 1))
        state = DocumentState(2, "draft", is_amendment=is_amendment)
        apply_document_changes(execution, state, lambda token: DecisionInput({}), lambda gate, actor: None)
        assert execution.projection.position.current_nodes() == [beginning]


def test_another_request_at_such_a_gate_begins_there() -> None:
    workflow = stand("sys:start", CONTRACT).workflow
    execution = InstanceExecution(workflow, start_projection("sys:gate:cancel", 1))
    request = TransitionRequest("asked", "submit", Actor("carl"))
    state = DocumentState(1, "draft", request, is_amendment=True)
    apply_document_changes(execution, state, lambda token: DecisionInput({}), lambda gate, actor: None)
    assert execution.projection.position.current_nodes() == [AMENDED]


def test_a_rejected_amendment_goes_to_its_own_beginning() -> None:
    submit = {**CONTRACT["transitions"]["submit"], "rejected_to": "draft"}
    contract = {**CONTRACT, "transitions": {**CONTRACT["transitions"], "submit": submit}}
    nodes = stand("sys:start", contract).workflow.nodes
    found = {gate: nodes[f"sys:gate:submit{gate}"].edges["rejected"][0].target for gate in ("", ":amended")}
    assert found == {"": DRAFT, ":amended": AMENDED}
