"""Variables that were set before a person changed the document: nothing goes by them unseen.

What a request decides about is no other than its maker has seen either.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from signet.engine.execution.nodes import outdated_variables
from tests.scenarios.authority.acts import edit, list_asked, submit, vote
from tests.scenarios.authority.variables import (
    CHECK,
    CHOICE,
    HELD,
    LARGE,
    LOOK,
    OLGA,
    PAY,
    PAY_SUM,
    SCORE,
    SUM,
    choosing,
    incidents,
    paid,
    stage_of_variables,
    submitted,
)
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with stage_of_variables(server_url) as made:
        yield made


def test_a_condition_goes_by_no_amount_of_before_an_edit(stage: WorkflowStage) -> None:
    """Carl submits 10, and makes it 999,999 while the check is under way."""
    made = submitted(stage, 10, checks={"nodes": [SUM]}, approval=choosing(LARGE))
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    assert (incidents(stage, made), paid(stage, made), stage.status_of(made.id)) == (HELD, [], "submitted")
    stage.check_rebuild(made.instance_id)
    edit(stage, made, "carl", amount=10)
    stage.drain()
    assert incidents(stage, made) == []
    stage.answer(stage.instance_of(made.id))
    stage.drain()
    assert (stage.status_of(made.id), paid(stage, made)) == ("active", ["10"])


def test_the_next_person_to_ask_is_chosen_by_no_older_amount(stage: WorkflowStage) -> None:
    """Large amounts go to Olga before all others. After the edit nobody is asked without her."""
    edges = [
        {"source": "choice", "target": "olga", "condition": LARGE},
        {"source": "choice", "target": "look"},
        {"source": "olga", "target": "look"},
    ]
    slot = {"nodes": [CHOICE, OLGA, LOOK], "edges": edges}
    made = submitted(stage, 10, checks={"nodes": [SUM]}, approval=slot)
    assert list_asked(stage, made) == ["@voter"]
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    assert (incidents(stage, made), list_asked(stage, made)) == (HELD, [])


def test_a_variable_that_its_slot_sets_again_is_read(stage: WorkflowStage) -> None:
    """The lawful way: the script stands in the slot that reads, and the large amount is asked about."""
    made = submitted(stage, 10, approval=choosing(LARGE, SUM))
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    assert (incidents(stage, made), list_asked(stage, made)) == ([], ["@voter"])
    assert vote(stage, made.id, "app1") == "approved"
    assert paid(stage, made) == ["999999"]


def test_an_edit_of_what_its_slot_does_not_read_leaves_a_variable_as_it_is(stage: WorkflowStage) -> None:
    made = submitted(stage, 10, checks={"nodes": [SUM]}, approval=choosing(LARGE))
    edit(stage, made, "carl", number="N-7")
    stage.drain()
    assert incidents(stage, made) == []
    stage.answer(stage.instance_of(made.id))
    stage.drain()
    assert (stage.status_of(made.id), paid(stage, made)) == ("active", ["10"])


def test_a_variable_of_the_way_that_was_gone_is_older_too(stage: WorkflowStage) -> None:
    """The script writes no amount, and yet it stands where it does because of the amount."""
    small, large = (
        {"id": name, "type": "script", "config": {"set": {"is_large": value}}}
        for name, value in (("small", "false"), ("large", "true"))
    )
    edges = [
        {"source": "size", "target": "large", "condition": "entity.amount > 1000"},
        {"source": "size", "target": "small"},
        {"source": "large", "target": "out"},
        {"source": "small", "target": "out"},
    ]
    first = {"nodes": [{**CHOICE, "id": "size"}, small, large], "edges": edges, "exit": "join"}
    made = submitted(stage, 10, checks=first, approval=choosing("context.is_large"))
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    assert incidents(stage, made) == HELD


def test_a_variable_is_not_made_younger_by_another_script(stage: WorkflowStage) -> None:
    again = {"id": "again", "type": "script", "config": {"set": {"copied": "context.payable"}}}
    slot = choosing("context.copied > 1000", again)
    made = submitted(stage, 10, checks={"nodes": [SUM]}, approval=slot)
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    assert incidents(stage, made) == [("VARIABLE_OUTDATED", "usr:approval:again")]


def test_an_answer_of_before_an_edit_is_not_fetched_again(stage: WorkflowStage) -> None:
    """The score is of 10: it chooses no way for 999,999, and the call is made once."""
    made = stage.create(
        stage.publish(
            checks={"nodes": [SCORE]}, approval=choosing("context.score.body > 50"), posting={"nodes": [PAY]}
        ),
        "carl",
        amount=10,
    )
    stage.ask(made.id, "submit", "carl")
    stage.drain()
    stage.answer(made.instance_id, body=7)
    stage.drain()
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    assert incidents(stage, made) == HELD
    calls = stage.standing.rows(
        "SELECT 1 FROM workflow_side_effects_outbox"
        " WHERE instance_id = %s AND payload_json -> 'payload' ? 'amount'",
        made.instance_id,
    )
    assert len(calls) == 1


def test_a_call_says_no_amount_of_before_an_edit(stage: WorkflowStage) -> None:
    """Show that a value which people were not shown is told to no receiver either."""
    slot = {"nodes": [CHECK, PAY_SUM], "edges": [{"source": "check", "target": "pay"}]}
    made = stage.create(stage.publish(checks={"nodes": [SUM]}, approval=slot), "carl", amount=10)
    submit(stage, made, "carl")
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    stage.answer(made.instance_id)
    stage.drain()
    assert (incidents(stage, made), paid(stage, made)) == ([("VARIABLE_OUTDATED", "usr:approval:pay")], [])


@pytest.mark.parametrize("step", [CHOICE, PAY_SUM], ids=["condition", "call"])
def test_behind_a_rejection_nothing_goes_by_an_amount_of_before_an_edit(
    stage: WorkflowStage, step: dict[str, Any]
) -> None:
    """Show the gate beside it, which sends back what was rejected."""
    name = step["id"]
    edges = [
        {"source": "look", "target": "out"},
        {"source": "look", "target": name, "on": "rejected"},
        {"source": name, "target": "check", **({"condition": LARGE} if step is CHOICE else {})},
        *([{"source": name, "target": "out"}] if step is CHOICE else []),
        {"source": "check", "target": "out"},
    ]
    slot = {"nodes": [LOOK, step, CHECK], "edges": edges, "exit": "join"}
    made = submitted(stage, 10, checks={"nodes": [SUM]}, approval=slot)
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    vote(stage, made.id, "app1", "rejected")
    stage.drain()
    assert incidents(stage, made) == [("VARIABLE_OUTDATED", f"usr:approval:{name}")]
    assert paid(stage, made) == []


def test_an_unedited_document_costs_no_statement(stage: WorkflowStage, monkeypatch: Any) -> None:
    monkeypatch.setattr(outdated_variables, "list_outdated", lambda *_: pytest.fail("it asked"))
    slot = {"nodes": [CHECK, PAY_SUM], "edges": [{"source": "check", "target": "pay"}]}
    made = submitted(stage, 10, checks={"nodes": [SUM]}, approval=slot)
    stage.answer(made.instance_id)
    stage.drain()
    assert (incidents(stage, made), paid(stage, made)) == ([], ["10"])


def test_what_people_have_approved_as_older_chooses_the_way(stage: WorkflowStage) -> None:
    """They were shown that 10 is older than the document."""
    edges = [
        {"source": "look", "target": "choice"},
        {"source": "choice", "target": "olga", "condition": LARGE},
        {"source": "choice", "target": "out"},
        {"source": "olga", "target": "out"},
    ]
    slot = {"nodes": [LOOK, CHOICE, OLGA], "edges": edges, "exit": "join"}
    later = {"nodes": [CHECK, PAY_SUM], "edges": [{"source": "check", "target": "pay"}]}
    made = submitted(stage, 10, checks={"nodes": [SUM]}, approval=slot, posting=later)
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    assert vote(stage, made.id, "app1") == "approved"
    assert (incidents(stage, made), stage.status_of(made.id)) == ([], "active")
    stage.answer(made.instance_id)
    stage.drain()
    assert (incidents(stage, made), paid(stage, made)) == ([], ["10"])


SETTLED = {
    **CONTRACT,
    "states": {
        **CONTRACT["states"],
        "active": {"edit": "editable", "settled": True, "after_approval": "editable"},
        "closed": {"edit": "locked", "settled": True},
    },
    "transitions": {
        **CONTRACT["transitions"],
        "pay": {"from": ["active"], "to": "closed", "kind": "requested"},
    },
    "slots": {**CONTRACT["slots"], "paying": {"transition": "pay"}},
}


def test_an_edit_between_two_instances_makes_a_variable_older(stage: WorkflowStage) -> None:
    """The workflow has ended when Carl edits: the next request begins another one with its variables."""
    name = stage.publish(
        SETTLED,
        approval={"nodes": [SUM, LOOK], "edges": [{"source": "sum", "target": "look"}]},
        paying=choosing(LARGE),
    )
    made = stage.create(name, "carl", amount=10)
    submit(stage, made, "carl")
    assert vote(stage, made.id, "app1") == "approved"
    assert stage.status_of(made.id) == "active"
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    stage.ask(made.id, "pay", "carl")
    stage.drain()
    assert incidents(stage, made) == [("VARIABLE_OUTDATED", "usr:paying:choice")]


def test_what_the_workflow_itself_changes_makes_no_variable_older(stage: WorkflowStage) -> None:
    contract = {
        **CONTRACT,
        "actions": {**CONTRACT["actions"], "clear": {"kind": "update", "set": {"amount": 0}}},
    }
    clear = {"id": "clear", "type": "action", "config": {"action": "clear", "run_as": "system"}}
    edges = [{"source": "sum", "target": "clear"}, {"source": "clear", "target": "check"}]
    slot = {"nodes": [SUM, clear, CHECK], "edges": edges}
    made = stage.create(
        stage.publish(contract, checks=slot, approval=choosing(LARGE)), "carl", amount=999_999
    )
    submit(stage, made, "carl")
    stage.answer(made.instance_id)
    stage.drain()
    assert (incidents(stage, made), list_asked(stage, made)) == ([], ["@voter"])


DECIDED = {
    **CONTRACT,
    "transitions": {
        **CONTRACT["transitions"],
        "approve": {"from": ["submitted"], "to": "active", "kind": "requested"},
    },
    "separation_of_duties": {"deciding": ["approve"]},
}


def release(stage: WorkflowStage, made: Made, person: str = "app1") -> tuple[Any, ...]:
    """Let a person ask for the transition that decides; return the request and the status."""
    stage.ask(made.id, "approve", person)
    stage.drain()
    query = "SELECT status, outcome FROM transition_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1"
    return (*stage.standing.row(query, made.id), stage.status_of(made.id))


REFUSED = (
    "refused",
    "what is done behind it reads context.payable, and amount was changed since",
    "submitted",
)


def test_a_request_decides_about_no_variable_of_before_an_edit(stage: WorkflowStage) -> None:
    """App1 reads 1, and the call would pay 999,999. What people see is approved once the amount is back."""
    made = stage.create(
        stage.publish(DECIDED, checks={"nodes": [SUM]}, posting={"nodes": [PAY_SUM]}), "carl", amount=999_999
    )
    submit(stage, made, "carl")
    edit(stage, made, "carl", amount=1)
    stage.drain()
    assert release(stage, made) == REFUSED
    assert (paid(stage, made), incidents(stage, made)) == ([], [])
    edit(stage, made, "carl", amount=999_999)
    stage.drain()
    assert release(stage, made)[2] == "active"
    assert paid(stage, made) == ["999999"]
    stage.check_rebuild(made.instance_id)


def test_a_request_decides_about_a_variable_that_is_set_in_its_slot(stage: WorkflowStage) -> None:
    made = stage.create(
        stage.publish(DECIDED, approval={"nodes": [SUM]}, posting={"nodes": [PAY_SUM]}),
        "carl",
        amount=999_999,
    )
    submit(stage, made, "carl")
    edit(stage, made, "carl", amount=1)
    stage.drain()
    assert release(stage, made)[2] == "active"
    assert paid(stage, made) == ["1"]


def test_an_interrupt_that_decides_goes_by_no_older_variable(stage: WorkflowStage) -> None:
    contract = {
        **CONTRACT,
        "slots": {**CONTRACT["slots"], "ending": {"transition": "cancel", "position": "after"}},
        "separation_of_duties": {"deciding": ["cancel"]},
    }
    slots = {"checks": {"nodes": [SUM]}, "approval": {"nodes": [LOOK]}, "ending": {"nodes": [PAY_SUM]}}
    made = stage.create(stage.publish(contract, **slots), "carl", amount=999_999)
    submit(stage, made, "carl")
    for amount, expected in ((1, "submitted"), (999_999, "cancelled")):
        edit(stage, made, "carl", amount=amount)
        stage.drain()
        stage.ask(made.id, "cancel", "app1")
        stage.drain()
        assert stage.status_of(made.id) == expected
    assert paid(stage, made) == ["999999"]


def test_a_step_before_the_gate_changes_nothing_that_was_decided(stage: WorkflowStage) -> None:
    """App1 reads 7, and the step that they ask for writes 999,999. App2 has seen that."""
    contract = {
        **DECIDED,
        "actions": {**CONTRACT["actions"], "raise": {"kind": "update", "set": {"amount": 999_999}}},
    }
    step = {"id": "raise", "type": "action", "config": {"action": "raise", "run_as": "system"}}
    made = stage.create(
        stage.publish(contract, approval={"nodes": [step]}, posting={"nodes": [PAY]}), "carl", amount=7
    )
    submit(stage, made, "carl")
    assert release(stage, made) == (
        "refused",
        "a step has changed amount since this was asked for",
        "submitted",
    )
    assert paid(stage, made) == []
    assert release(stage, made, "app2")[2] == "active"
    assert paid(stage, made) == ["999999"]
