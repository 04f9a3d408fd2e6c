"""Corrections of what people have decided: refused wherever the decision would be used without them."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.cache import CompiledCache
from signet.engine.instances.corrections import Corrections
from signet.engine.instances.incidents import IncidentFilter, list_open
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

APPROVED, REFUSED, DONE = "approved", "CORRECTION_NOT_POSSIBLE", "done"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
PAY = {
    "id": "pay",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": {"iban": {"$expr": "entity.number"}}},
}
PAID: Mapping[str, Any] = {"nodes": [PAY]}
LOOKED: Mapping[str, Any] = {"nodes": [LOOK]}
# Behind a gate the author draws where a rejection leads.
LOOKED_BEHIND: Mapping[str, Any] = {
    "nodes": [LOOK],
    "edges": [{"source": "look", "target": "out"}, {"source": "look", "target": "out", "on": "rejected"}],
    "exit": "join",
}
LOOKED_THEN_PAID: Mapping[str, Any] = {
    "nodes": [LOOK, PAY],
    "edges": [
        {"source": "look", "target": "pay"},
        {"source": "pay", "target": "out"},
        {"source": "look", "target": "out", "on": "rejected"},
    ],
    "exit": "join",
}
CONTRACT_OF_PAYMENTS: Mapping[str, Any] = {
    "version": 1,
    "fields": CONTRACT["fields"],
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "active": {"edit": "locked"},
        "paid": {"edit": "locked", "settled": True},
    },
    "transitions": {
        "release": {"from": ["draft"], "to": "active", "kind": "requested"},
        # A way that asks nobody, so that the definition alone does not say what was approved.
        "enter": {"from": ["draft"], "to": "active", "kind": "requested"},
        "pay": {"from": ["active"], "to": "paid", "kind": "requested", "rejected_to": "draft"},
    },
    "amendment": {"from": ["paid"]},
    "slots": {
        "checks": {"transition": "release"},
        "post": {"transition": "release", "position": "after"},
        "prepay": {"transition": "pay"},
        "postpay": {"transition": "pay", "position": "after"},
    },
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = tuple(
            Member(user_id=name, display_name=name.title(), roles=("clerk", "voter", "admin"))
            for name in ("fiona", "felix", "otis", "carl", "cora")
        )
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        add_endpoint(made)
        yield made


def correct(stage: WorkflowStage, document: Made, person: str = "otis") -> str:
    """Return "done", or the code of the refusal."""
    company = stage.standing.company
    corrections = Corrections(company.database, stage.caches(), CompiledCache())
    seen, is_offered = stage.version_of(document.id), "correct" in list_acts(stage, document)
    try:
        corrections.correct(
            company.caller(person, "admin"), document.id, seen, {"number": "DE-FRAUD"}, "misread"
        )
    except Rejected as refused:
        assert (is_offered, bool(refused.remedy)) == (False, True)
        return refused.code
    assert is_offered
    stage.drain()
    return DONE


def list_acts(stage: WorkflowStage, document: Made) -> set[str]:
    """List the acts that the open incidents of the document offer."""
    wanted = IncidentFilter(instance_id=stage.instance_of(document.id))
    found = list_open(stage.standing.company.database, stage.tenant_id, wanted, limit=10)
    return {act.name for incident in found for act in incident.acts}


def give_up(stage: WorkflowStage, document: Made) -> None:
    """Give up the call of the newest instance, so that it is held."""
    instance_id: UUID = stage.instance_of(document.id)
    stage.answer(instance_id, error="gone")
    stage.drain()
    assert stage.instance(instance_id)["status"] == "paused"


def asked(stage: WorkflowStage, document: Made, transition: str, person: str = "carl") -> None:
    stage.ask(document.id, transition, person)
    stage.drain()


def released(stage: WorkflowStage, contract: Any = CONTRACT_OF_PAYMENTS, **slots: Any) -> Made:
    """Have a document released that fiona approves in the slot of the request."""
    document = stage.create(stage.publish(contract, **slots), number="DE-OWN")
    asked(stage, document, "release")
    assert vote(stage, document.id, "fiona") == APPROVED
    return document


def released_free(stage: WorkflowStage, **slots: Any) -> Made:
    """Have a document released that fiona approves behind the gate."""
    document = stage.create(stage.publish(CONTRACT_OF_PAYMENTS, **slots), number="DE-OWN")
    asked(stage, document, "release")
    assert stage.status_of(document.id) == "active"
    assert vote(stage, document.id, "fiona") == APPROVED
    return document


def correct_held(stage: WorkflowStage, document: Made) -> str:
    give_up(stage, document)
    return correct(stage, document)


def deliver(stage: WorkflowStage, document: Made) -> None:
    stage.answer(stage.instance_of(document.id), body={})
    stage.drain()


def with_first_state(edit: str) -> dict[str, Any]:
    states = {**CONTRACT_OF_PAYMENTS["states"], "draft": {"edit": edit, "initial": True}}
    return {**CONTRACT_OF_PAYMENTS, "states": states}


@pytest.mark.parametrize("edit", ["editable", "amend_only", "locked"])
@pytest.mark.parametrize("slot", ["post", "prepay", "postpay"])
def test_what_was_approved_for_a_request_is_not_corrected(stage: WorkflowStage, edit: str, slot: str) -> None:
    document = released(stage, with_first_state(edit), checks=LOOKED, **{slot: PAID})
    if slot != "post":
        asked(stage, document, "pay")
    give_up(stage, document)
    assert correct(stage, document) == REFUSED
    assert correct(stage, document, "fiona") == REFUSED
    assert correct(stage, document, "carl") == REFUSED


def test_what_was_approved_behind_the_gate_is_not_corrected(stage: WorkflowStage) -> None:
    """Ask behind the gate; the call follows there, or for a later request."""
    document = released_free(stage, post=LOOKED_THEN_PAID)
    assert correct_held(stage, document) == REFUSED
    document = released_free(stage, post=LOOKED_BEHIND, prepay=PAID)
    asked(stage, document, "pay")
    assert correct_held(stage, document) == REFUSED


def test_a_second_instance_uses_what_people_approved_in_the_first(stage: WorkflowStage) -> None:
    """End the first instance, and have another call fail: fiona is not asked again on that way."""
    states = {**CONTRACT_OF_PAYMENTS["states"], "active": {"edit": "locked", "settled": True}}
    document = released(stage, {**CONTRACT_OF_PAYMENTS, "states": states}, checks=LOOKED, prepay=PAID)
    asked(stage, document, "pay")
    assert stage.instance_of(document.id) != document.instance_id
    assert correct_held(stage, document) == REFUSED


@pytest.mark.parametrize("is_amendable", [False, True])
def test_what_the_definition_let_through_is_not_corrected(stage: WorkflowStage, is_amendable: bool) -> None:
    """Have a small amount ask nobody. The free way of amendments is no way of this document."""
    transitions = {name: CONTRACT_OF_PAYMENTS["transitions"][name] for name in ("release", "pay")}
    contract = {**CONTRACT_OF_PAYMENTS, "transitions": transitions}
    if not is_amendable:
        del contract["amendment"]
    checks = {
        "nodes": [{"id": "size", "type": "condition"}, LOOK],
        "edges": [
            {"source": "size", "target": "look", "condition": "entity.amount > 5"},
            {"source": "size", "target": "out"},
            {"source": "look", "target": "out"},
        ],
        "exit": "join",
    }
    document = stage.create(stage.publish(contract, checks=checks, post=PAID), amount=1)
    asked(stage, document, "release")
    assert stage.status_of(document.id) == "active"
    assert correct_held(stage, document) == REFUSED


TWO_WAYS: Mapping[str, Any] = {
    **CONTRACT_OF_PAYMENTS,
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "checked": {"edit": "locked"},
        "paid": {"edit": "locked", "settled": True},
    },
    "transitions": {
        "release": {"from": ["draft"], "to": "checked", "kind": "requested"},
        "enter": {"from": ["draft"], "to": "checked", "kind": "requested"},
        "pay": {"from": ["checked"], "to": "paid", "kind": "requested"},
    },
    "slots": {
        "checks": {"transition": "release"},
        "prepay": {"transition": "pay"},
        "postpay": {"transition": "pay", "position": "after"},
    },
}
SMALL, BY_PERSON = "entity.amount < 1000", "entity.creator == actor.user_id"


def with_condition_of(place: str, condition: str) -> dict[str, Any]:
    """Return the contract with a condition on the way that asks nobody, or on its permission."""
    if place == "transition":
        enter = {**TWO_WAYS["transitions"]["enter"], "condition": condition}
        return {**TWO_WAYS, "transitions": {**TWO_WAYS["transitions"], "enter": enter}}
    permitted = {**TWO_WAYS["transitions"]["enter"], "permission": "entering:enter"}
    return {
        **TWO_WAYS,
        "transitions": {**TWO_WAYS["transitions"], "enter": permitted},
        "conditions": {"entering:enter": condition},
    }


@pytest.mark.parametrize("slot", ["prepay", "postpay"])
@pytest.mark.parametrize("place", ["transition", "permission"])
@pytest.mark.parametrize(("condition", "answer"), [(SMALL, REFUSED), (BY_PERSON, DONE)])
def test_what_a_condition_let_past_an_approval_is_not_corrected(
    stage: WorkflowStage, place: str, slot: str, condition: str, answer: str
) -> None:
    """Let small amounts past fiona, by a way of their own. A correction does not change who made it."""
    contract = with_condition_of(place, condition)
    document = stage.create(stage.publish(contract, checks=LOOKED, **{slot: PAID}), amount=10)
    asked(stage, document, "enter")
    assert stage.status_of(document.id) == "checked"
    asked(stage, document, "pay")
    assert correct_held(stage, document) == answer


def test_what_a_condition_let_past_a_request_that_decides_is_not_corrected(stage: WorkflowStage) -> None:
    contract = {**with_condition_of("transition", SMALL), "separation_of_duties": {"deciding": ["release"]}}
    document = stage.create(stage.publish(contract, prepay=PAID), amount=10)
    asked(stage, document, "enter")
    asked(stage, document, "pay")
    assert correct_held(stage, document) == REFUSED


def test_before_anybody_has_approved_it_is_corrected(stage: WorkflowStage) -> None:
    first = {"nodes": [PAY, LOOK], "edges": [{"source": "pay", "target": "look"}]}
    document = stage.create(stage.publish(CONTRACT_OF_PAYMENTS, checks=first), number="DE-OWN")
    asked(stage, document, "release")
    assert correct_held(stage, document) == DONE


def test_what_waits_for_its_gate_is_asked_about_again(stage: WorkflowStage) -> None:
    then = {"nodes": [LOOK, PAY], "edges": [{"source": "look", "target": "pay", "on": "approved"}]}
    document = released(stage, checks=then)
    assert correct_held(stage, document) == DONE
    assert vote(stage, document.id, "fiona") == APPROVED
    deliver(stage, document)
    assert stage.status_of(document.id) == "active"


def test_what_was_sent_back_is_corrected(stage: WorkflowStage) -> None:
    """Have felix reject the payment: it goes back to where fiona is asked again."""
    checks = {"nodes": [LOOK, PAY], "edges": [{"source": "look", "target": "pay", "on": "approved"}]}
    document = released(stage, checks=checks, prepay=LOOKED, postpay=PAID)
    deliver(stage, document)
    asked(stage, document, "pay")
    assert vote(stage, document.id, "felix", "rejected") == "rejected"
    assert stage.status_of(document.id) == "draft"
    asked(stage, document, "release")
    assert vote(stage, document.id, "fiona") == APPROVED
    assert correct_held(stage, document) == DONE
    assert vote(stage, document.id, "fiona") == APPROVED
    deliver(stage, document)
    asked(stage, document, "pay")
    assert vote(stage, document.id, "felix") == APPROVED
    assert stage.status_of(document.id) == "paid"
    assert correct_held(stage, document) == REFUSED


# --- what an action made of it ---

PAYMENT: Mapping[str, Any] = {
    "version": 1,
    "fields": CONTRACT["fields"],
    "states": {
        "ready": {"edit": "locked", "initial": True},
        "paid": {"edit": "locked", "settled": True},
    },
    "transitions": {"go": {"from": ["ready"], "to": "paid", "kind": "automatic"}},
    "slots": {"pre": {"transition": "go"}},
}
MAKE = {"id": "make", "type": "action", "config": {"action": "make", "run_as": "system"}}


def making(entity_type: str, contract: Mapping[str, Any] = CONTRACT_OF_PAYMENTS) -> dict[str, Any]:
    """Return the contract with an action that makes a document of this type."""
    make = {"kind": "create", "entity_type": entity_type, "set": {"number": "{entity.number}"}}
    return {**contract, "actions": {"make": make}}


def newest_of(stage: WorkflowStage, entity_type: str) -> Made:
    query = "SELECT id FROM documents WHERE entity_type = %s ORDER BY created_at DESC LIMIT 1"
    document_id: UUID = stage.standing.row(query, entity_type)[0]
    return Made(document_id, stage.instance_of(document_id))


@pytest.mark.parametrize("slot", ["post", "prepay"])
def test_what_was_made_behind_an_approval_is_not_corrected(stage: WorkflowStage, slot: str) -> None:
    payment = stage.publish(PAYMENT, pre=PAID)
    order = released(stage, making(payment), checks=LOOKED, **{slot: {"nodes": [MAKE]}})
    if slot == "prepay":
        asked(stage, order, "pay")
    made = newest_of(stage, payment)
    give_up(stage, made)
    assert [correct(stage, made, person) for person in ("otis", "fiona", "carl")] == [REFUSED] * 3


def test_what_was_made_of_that_is_not_corrected(
    stage: WorkflowStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    payment = stage.publish(PAYMENT, pre=PAID)
    middle = stage.publish(making(payment, PAYMENT), pre={"nodes": [MAKE]})
    released(stage, making(middle), checks=LOOKED, post={"nodes": [MAKE]})
    assert correct_held(stage, newest_of(stage, payment)) == REFUSED
    # Of a line without an end nobody can say what was approved.
    order = stage.create(stage.publish(making(payment), checks={"nodes": [MAKE]}), number="DE-1")
    asked(stage, order, "release")
    made = newest_of(stage, payment)
    give_up(stage, made)
    monkeypatch.setattr("signet.store.approvals.given_decisions.MAX_LINE", 1)
    assert correct(stage, made) == REFUSED
    monkeypatch.undo()
    assert correct(stage, made) == DONE


def test_what_was_made_before_the_approval_is_corrected(stage: WorkflowStage) -> None:
    payment = stage.publish(PAYMENT, pre=PAID)
    checks = {"nodes": [MAKE, LOOK], "edges": [{"source": "make", "target": "look"}]}
    released(stage, making(payment), checks=checks)
    assert correct_held(stage, newest_of(stage, payment)) == DONE


# --- requests that decide ---

DECIDING = {**CONTRACT_OF_PAYMENTS, "separation_of_duties": {"deciding": ["release"]}}


def test_a_request_that_decides_is_asked_anew_after_a_correction(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish(DECIDING, checks=PAID), number="DE-OWN")
    asked(stage, document, "release", "fiona")
    assert correct_held(stage, document) == DONE
    assert (stage.requests(document.id), stage.status_of(document.id)) == (
        [("release", "superseded")],
        "draft",
    )
    assert stage.instance(document.instance_id)["current_nodes"] == ["sys:state:draft"]
    asked(stage, document, "release", "felix")
    deliver(stage, document)
    assert stage.status_of(document.id) == "active"
    stage.check_rebuild(document.instance_id)


def test_a_request_that_decides_nothing_stays(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish(CONTRACT_OF_PAYMENTS, checks=PAID), number="DE-OWN")
    asked(stage, document, "release", "fiona")
    assert correct_held(stage, document) == DONE
    assert stage.requests(document.id) == [("release", "open")]


@pytest.mark.parametrize("slot", ["post", "prepay"])
def test_what_was_decided_by_a_request_is_not_corrected(stage: WorkflowStage, slot: str) -> None:
    document = stage.create(stage.publish(DECIDING, **{slot: PAID}), number="DE-OWN")
    asked(stage, document, "release", "fiona")
    if slot == "prepay":
        asked(stage, document, "pay")
    assert correct_held(stage, document) == REFUSED


def test_what_was_made_behind_a_request_that_decides_is_not_corrected(stage: WorkflowStage) -> None:
    payment = stage.publish(PAYMENT, pre=PAID)
    contract = {**making(payment), "separation_of_duties": {"deciding": ["release"]}}
    order = stage.create(stage.publish(contract, post={"nodes": [MAKE]}), number="DE-OWN")
    asked(stage, order, "release", "fiona")
    assert correct_held(stage, newest_of(stage, payment)) == REFUSED
