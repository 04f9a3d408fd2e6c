"""A personal value that is erased behind an approval: no condition takes the gap for an answer."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, LiteralString

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.documents.commands import RunAction
from signet.engine.documents.erase import Erasures
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, list_asked, submit, vote
from tests.scenarios.authority.test_done_once import withdraw
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
BOSS = {**LOOK, "id": "boss"}
PAY = {
    "id": "pay",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"to": "{entity.number}"}},
}
HOUSE = {**PAY, "id": "house"}
CHOICE = {"id": "choice", "type": "condition"}
WATCHED = "entity.contact == 'watch'"
# The clerk asks for the payment of what was approved.
PAYABLE: Mapping[str, Any] = {
    **CONTRACT,
    "states": {**CONTRACT["states"], "paid": {"edit": "locked", "settled": True}},
    "transitions": {
        **CONTRACT["transitions"],
        "pay": {"from": ["active"], "to": "paid", "kind": "requested"},
    },
    "slots": {
        "approval": {"transition": "approve"},
        "before": {"transition": "pay"},
        "after": {"transition": "approve", "position": "after"},
        "paying": {"transition": "pay", "position": "after"},
    },
    "actions": {
        "tell": {"kind": "create", "entity_type": "thing_none", "set": {"number": "{entity.number}"}}
    },
}
HELD = "READS_ERASED"


def linear(*nodes: Mapping[str, Any]) -> dict[str, Any]:
    pairs = pairwise(node["id"] for node in nodes)
    return {"nodes": list(nodes), "edges": [{"source": a, "target": b} for a, b in pairs]}


def choice(condition: str, then: Mapping[str, Any], other: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a slot that goes to one node where the condition holds, and to another or on elsewhere."""
    nodes = [CHOICE, then, *([other] if other else [])]
    edges = [
        {"source": "choice", "target": then["id"], "condition": condition},
        {"source": "choice", "target": other["id"] if other else "out"},
        *({"source": node["id"], "target": "out"} for node in nodes[1:]),
    ]
    return {"nodes": nodes, "edges": edges, "exit": "join"}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        names = ("bea", "ben", "carl")
        members = [Member(user_id=name, display_name=name, roles=("voter", "admin")) for name in names]
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, tuple(members), COMMAND_LINE)
        add_endpoint(made)
        yield made


def approved(stage: WorkflowStage, contract: Mapping[str, Any] = PAYABLE, **slots: Any) -> Made:
    """Make a document of a person who is watched, and have it approved."""
    slots = {"approval": linear(LOOK), "paying": linear(PAY), **slots}
    slots = {name: slot for name, slot in slots.items() if slot["nodes"]}
    document = stage.create(stage.publish(contract, **slots), "carl", contact="watch")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == "approved"
    assert stage.status_of(document.id) == "active"
    return document


def erase(stage: WorkflowStage, document: Made) -> None:
    company = stage.standing.company
    Erasures(company.database).erase(company.caller("carl", "admin"), document.id, None, "asked for")
    stage.drain()


def ask(stage: WorkflowStage, document: Made, transition: str = "pay") -> str:
    """Return the status after the request, or the code of the refusal."""
    try:
        stage.ask(document.id, transition, "carl")
    except Rejected as refused:
        return refused.code
    stage.drain()
    return stage.status_of(document.id)


def held(stage: WorkflowStage, document: Made) -> list[Any]:
    query: LiteralString = "SELECT code FROM incidents WHERE entity_id = %s AND closed_at IS NULL"
    return [row[0] for row in stage.standing.rows(query, document.id)]


def paid(stage: WorkflowStage, document: Made) -> list[Any]:
    query: LiteralString = (
        "SELECT s.node_id FROM workflow_side_effects_outbox o JOIN workflow_step_executions s"
        " ON s.tenant_id = o.tenant_id AND s.id = o.step_execution_id JOIN workflow_instances i"
        " ON i.tenant_id = o.tenant_id AND i.id = o.instance_id WHERE i.entity_id = %s"
    )
    return [row[0].rpartition(":")[2] for row in stage.standing.rows(query, document.id)]


def test_an_erased_field_skips_nobody_who_would_be_asked(stage: WorkflowStage) -> None:
    document = approved(stage, before=choice(WATCHED, BOSS))
    erase(stage, document)
    assert ask(stage, document) == "active"
    assert (held(stage, document), paid(stage, document)) == ([HELD], [])


def test_where_nothing_is_erased_the_person_is_asked(stage: WorkflowStage) -> None:
    """The lawful way: the value stands, and it chooses."""
    document = approved(stage, before=choice(WATCHED, BOSS))
    assert ask(stage, document) == "active"
    assert (held(stage, document), list_asked(stage, document)) == ([], ["@voter"])
    assert vote(stage, document.id, "ben") == "approved"
    assert (stage.status_of(document.id), paid(stage, document)) == ("paid", ["pay"])


def test_an_erased_field_chooses_no_other_account(stage: WorkflowStage) -> None:
    document = approved(stage, paying=choice("entity.contact != null", PAY, HOUSE))
    erase(stage, document)
    ask(stage, document)
    assert (held(stage, document), paid(stage, document)) == ([HELD], [])


def test_an_erased_field_opens_no_transition(stage: WorkflowStage) -> None:
    pay = {**PAYABLE["transitions"]["pay"], "condition": "entity.contact != 'watch'"}
    document = approved(stage, {**PAYABLE, "transitions": {**PAYABLE["transitions"], "pay": pay}})
    assert ask(stage, document) == "active"
    erase(stage, document)
    assert ask(stage, document) == HELD
    assert (stage.status_of(document.id), paid(stage, document)) == ("active", [])


@pytest.mark.parametrize("name", ["pay", "tell"])
def test_an_erased_field_gives_no_permission(stage: WorkflowStage, name: str) -> None:
    of_type = stage.publish()
    tell = {"kind": "create", "entity_type": of_type, "set": {"number": "{entity.number}"}}
    contract = {**PAYABLE, "actions": {"tell": tell}}
    entity_type = stage.publish(contract)
    conditions = {f"{entity_type}:{name}": "entity.contact != 'watch'"}
    stage.standing.company.definitions.create_contract(
        stage.standing.company.caller(),
        {**contract, "contract": entity_type, "version": 2, "conditions": conditions},
    )
    stage.standing.company.definitions.publish_contract(stage.standing.company.caller(), entity_type, 2)
    stage.publish_next(entity_type, 2, approval=linear(LOOK), paying=linear(PAY))
    document = stage.create(entity_type, "carl", contact="watch")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == "approved"
    assert _try(stage, document, name) == "PERMISSION_CONDITION"
    erase(stage, document)
    assert _try(stage, document, name) == HELD


def _try(stage: WorkflowStage, document: Made, name: str) -> str:
    if name == "pay":
        return ask(stage, document)
    try:
        stage.mutate(RunAction(document.id, stage.version_of(document.id), name, {}), "carl", "admin")
    except Rejected as refused:
        return refused.code
    return "done"


def test_a_script_takes_no_gap_to_a_later_condition(stage: WorkflowStage) -> None:
    script = {"id": "note", "type": "script", "config": {"set": {"who": "entity.contact"}}}
    slot = choice("context.who == 'watch'", BOSS)
    slot = {
        **slot,
        "nodes": [script, *slot["nodes"]],
        "edges": [{"source": "note", "target": "choice"}, *slot["edges"]],
    }
    document = approved(stage, before=slot)
    erase(stage, document)
    ask(stage, document)
    assert (held(stage, document), paid(stage, document)) == ([HELD], [])


def test_what_is_erased_while_a_call_is_under_way_chooses_no_way_behind_it(stage: WorkflowStage) -> None:
    slot = {
        "nodes": [PAY, HOUSE],
        "edges": [
            {"source": "pay", "target": "house", "condition": "entity.contact == null"},
            {"source": "pay", "target": "out"},
            {"source": "house", "target": "out"},
        ],
        "exit": "join",
    }
    document = approved(stage, paying=slot)
    assert ask(stage, document) == "paid"
    erase(stage, document)
    stage.answer(stage.instance_of(document.id), body={})
    stage.drain()
    assert (held(stage, document), paid(stage, document)) == ([HELD], ["pay"])


def test_an_erasure_in_what_a_step_made_of_it_chooses_no_way(stage: WorkflowStage) -> None:
    """The workflow of the payment asks nobody: what it says was approved with its order."""
    payment = stage.publish(PAYABLE, before=choice(WATCHED, BOSS), paying=linear(PAY))
    make = {"kind": "create", "entity_type": payment, "set": {"contact": "{entity.contact}"}}
    step = {"id": "make", "type": "action", "config": {"action": "make", "run_as": "system"}}
    approved(stage, {**PAYABLE, "actions": {"make": make}}, after=linear(step), paying=linear())
    query: LiteralString = (
        "SELECT d.id, i.id FROM documents d JOIN workflow_instances i ON i.entity_id = d.id"
        " WHERE d.entity_type = %s"
    )
    made = Made(*stage.standing.row(query, payment))
    assert stage.status_of(made.id) == "draft"
    submit(stage, made, "carl")
    assert stage.status_of(made.id) == "active"
    erase(stage, made)
    ask(stage, made)
    assert (held(stage, made), paid(stage, made)) == ([HELD], [])


def test_what_was_erased_before_the_decision_was_decided_about(stage: WorkflowStage) -> None:
    """The lawful way: people saw that the value is gone, and approved the document without it."""
    slots = {"approval": linear(LOOK), "before": choice(WATCHED, BOSS), "paying": linear(PAY)}
    document = stage.create(stage.publish(PAYABLE, **slots), "carl", contact="watch")
    submit(stage, document, "carl")
    erase(stage, document)
    assert vote(stage, document.id, "bea") == "approved"
    assert ask(stage, document) == "paid"
    assert (held(stage, document), paid(stage, document)) == ([], ["pay"])


def test_a_field_that_was_never_filled_is_an_answer(stage: WorkflowStage) -> None:
    slots = {"approval": linear(LOOK), "before": choice(WATCHED, BOSS), "paying": linear(PAY)}
    document = stage.create(stage.publish(PAYABLE, **slots), "carl")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == "approved"
    assert ask(stage, document) == "paid"


def test_a_definition_that_does_not_read_it_leads_on(stage: WorkflowStage) -> None:
    """The lawful way on: withdraw what is held, publish without the condition, and ask again."""
    document = approved(stage, before=choice(WATCHED, BOSS))
    erase(stage, document)
    assert ask(stage, document) == "active"
    assert held(stage, document) == [HELD]
    withdraw(stage, document)
    (entity_type,) = stage.standing.row("SELECT entity_type FROM documents WHERE id = %s", document.id)
    stage.publish_next(entity_type, approval=linear(LOOK), before=linear(BOSS), paying=linear(PAY))
    assert ask(stage, document) == "active"
    assert list_asked(stage, document) == ["@voter"]
    assert vote(stage, document.id, "ben") == "approved"
    assert (stage.status_of(document.id), paid(stage, document)) == ("paid", ["pay"])
