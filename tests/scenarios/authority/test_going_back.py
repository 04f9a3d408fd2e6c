"""Acts of operators behind a gate: it is done once, and an approval there is not gone around."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Amend, RequestTransition
from signet.engine.documents.mutate import Documents
from signet.engine.instances.actions import Instances, InstanceState
from signet.engine.instances.dead_effects import DeadEffects
from signet.engine.instances.repairs import Repairs
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import list_asked, submit, vote
from tests.support.core.approval_policies import role
from tests.support.operated_instances import version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
PAY = {"id": "pay", "type": "webhook_out", "config": {"endpoint": "erp", "payload": {"sum": "x"}}}
RUN = {"id": "run", "type": "action", "config": {"action": "run", "run_as": "system"}}
POST = {"id": "post", "type": "action", "config": {"action": "post", "run_as": "system"}}
TELL = {
    "id": "tell",
    "type": "notification",
    "config": {"channel": "in_app", "to": [{"by": "user", "user": "eve"}], "text": "x"},
}
APPROVED = "approved"
BEGINNING, ACTIVE = "sys:slot:posting:in", "sys:state:active"
TRANSITIONS: Mapping[str, Any] = CONTRACT["transitions"]
# A payment is asked for by another transition, behind the slot behind the gate.
PAID: Mapping[str, Any] = {
    **CONTRACT,
    "states": {
        **CONTRACT["states"],
        "active": {"edit": "locked"},
        "paid": {"edit": "locked", "final": True},
    },
    "transitions": {**TRANSITIONS, "pay": {"from": ["active"], "to": "paid", "kind": "requested"}},
}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = tuple(
            Member(user_id=name, display_name=name.title(), roles=("clerk", "voter", "admin"))
            for name in ("app1", "app2", "carl", "olga", "eve")
        )
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        yield made


def attempt(stage: WorkflowStage, act: Callable[[], InstanceState]) -> str:
    """Return the code of the refusal, or the status of the instance after its waves."""
    try:
        state = act()
    except Rejected as refused:
        return refused.code
    stage.drain()
    return str(stage.instance(state.id)["status"])


def operator(stage: WorkflowStage, user_id: str) -> Caller:
    return stage.standing.company.caller(user_id, "admin")


def instances(stage: WorkflowStage) -> Instances:
    return Instances(stage.standing.company.database, stage.caches(), CompiledCache())


def go_to(stage: WorkflowStage, document: Made, user_id: str, node: str) -> str:
    repairs = Repairs(stage.standing.company.database, stage.caches(), CompiledCache())
    caller, seen = operator(stage, user_id), version(stage, document)
    return attempt(stage, lambda: repairs.go_to(caller, document.instance_id, seen, node, "why"))


def end(stage: WorkflowStage, document: Made, user_id: str, act: str) -> str:
    caller, seen = operator(stage, user_id), version(stage, document)
    ending = getattr(instances(stage), act)
    return attempt(stage, lambda: ending(caller, document.instance_id, seen, "why"))


def ask(stage: WorkflowStage, document: Made, transition: str, caller: Caller) -> tuple[str, str | None]:
    """Return how the request ended, and with what outcome."""
    operation = RequestTransition(document.id, stage.version_of(document.id), transition)
    Documents(stage.standing.company.database).mutate(caller, operation)
    stage.drain()
    query = "SELECT status, outcome FROM transition_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1"
    status, outcome = stage.standing.row(query, document.id)
    return str(status), outcome


def list_effects(stage: WorkflowStage, document: Made) -> list[str]:
    rows = stage.standing.rows(
        "SELECT status FROM workflow_side_effects_outbox WHERE instance_id = %s ORDER BY id",
        document.instance_id,
    )
    return [row[0] for row in rows]


# --- amendments ---


def amend(stage: WorkflowStage, **changes: Any) -> Made:
    """Amend an active document in a workflow that asks for an approval of amendments alone."""
    contract = {**CONTRACT, "amendment": {"from": ["active"]}, **changes}
    contract["slots"] = {**CONTRACT["slots"], "amending": {"transition": "submit", "from": "amended"}}
    contract["slots"]["checks"] = {"transition": "submit", "from": "draft"}
    original = stage.create(stage.publish(contract, amending={"nodes": [LOOK]}), "carl", amount=1)
    submit(stage, original, "carl")
    assert stage.status_of(original.id) == "active"
    made = stage.mutate(Amend(original.id, stage.version_of(original.id), {"amount": 1_000}), "carl")
    assert made.document_id is not None
    return Made(made.document_id, stage.instance_of(made.document_id))


def test_an_amendment_is_not_sent_to_the_beginning_of_others(stage: WorkflowStage) -> None:
    amendment = amend(stage)
    assert go_to(stage, amendment, "olga", "sys:state:draft") == "INSTANCE_TARGET_NOT_POSSIBLE", (
        "at its start"
    )
    stage.drain()
    submit(stage, amendment, "carl")
    assert list_asked(stage, amendment) == ["@voter"]
    assert go_to(stage, amendment, "carl", "sys:state:draft") == "INSTANCE_TARGET_NOT_POSSIBLE"
    assert go_to(stage, amendment, "carl", "sys:state:amended") == "running"
    submit(stage, amendment, "carl")
    assert stage.status_of(amendment.id) == "draft" and vote(stage, amendment.id, "app1") == APPROVED
    assert stage.status_of(amendment.id) == "active"


@pytest.mark.parametrize("act", ["cancel", "fail"])
def test_an_amendment_begins_again_as_an_amendment(stage: WorkflowStage, act: str) -> None:
    amendment = amend(stage)
    stage.drain()
    submit(stage, amendment, "carl")
    assert end(stage, amendment, "carl", act) in ("cancelled", "failed")
    submit(stage, amendment, "carl")
    assert stage.status_of(amendment.id) == "draft" and list_asked(stage, amendment) == ["@voter"]
    assert vote(stage, amendment.id, "app1") == APPROVED and stage.status_of(amendment.id) == "active"


def test_a_rejected_amendment_begins_again_as_an_amendment(stage: WorkflowStage) -> None:
    """Its transition names the first state of others as the one for what is rejected."""
    transitions = {**TRANSITIONS, "submit": {**TRANSITIONS["submit"], "rejected_to": "draft"}}
    amendment = amend(stage, transitions=transitions)
    stage.drain()
    submit(stage, amendment, "carl")
    assert vote(stage, amendment.id, "app1", "rejected") == "rejected"
    assert stage.instance(amendment.instance_id)["current_nodes"] == ["sys:state:amended"]
    submit(stage, amendment, "carl")
    assert stage.status_of(amendment.id) == "draft" and list_asked(stage, amendment) == ["app1"]


# --- what was done behind a gate ---


def paid_and_held(stage: WorkflowStage) -> Made:
    """Let a payment be delivered behind the gate, and what follows it fail."""
    slot = {"nodes": [PAY, POST], "edges": [{"source": "pay", "target": "post"}]}
    entity_type = stage.publish(approval={"nodes": [LOOK]}, posting=slot)
    stage.add_rule(entity_type, "closed", "entity.is_posted == true", on="action")
    document = stage.create(entity_type, "carl", amount=1)
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == APPROVED
    stage.answer(document.instance_id)
    stage.drain()
    assert stage.instance(document.instance_id)["status"] == "paused"
    return document


def test_nobody_sends_a_payment_again_by_going_back(stage: WorkflowStage) -> None:
    document = paid_and_held(stage)
    for person in ("carl", "app1", "olga"):
        assert go_to(stage, document, person, BEGINNING) == "INSTANCE_TARGET_REPEATS"
    retry = instances(stage).retry
    caller, seen = operator(stage, "carl"), version(stage, document)
    assert attempt(stage, lambda: retry(caller, document.instance_id, seen, "mended")) == "paused"
    assert list_effects(stage, document) == ["completed"], "a retry begins behind it"


def test_nobody_makes_documents_again_by_going_back(stage: WorkflowStage) -> None:
    made_type = stage.publish()
    make = {"id": "make", "type": "action", "config": {"action": "make", "run_as": "system"}}
    action = {"kind": "create", "entity_type": made_type, "set": {"number": "x"}}
    contract = {**CONTRACT, "actions": {**CONTRACT["actions"], "make": action}}
    slot = {"nodes": [make, POST], "edges": [{"source": "make", "target": "post"}]}
    entity_type = stage.publish(contract, approval={"nodes": [LOOK]}, posting=slot)
    document = stage.create(entity_type, "carl")
    submit(stage, document, "carl")
    stage.add_rule(entity_type, "closed", "entity.is_posted == true", on="action")
    assert vote(stage, document.id, "app1") == APPROVED
    assert stage.instance(document.instance_id)["current_nodes"] == ["usr:posting:post"]
    assert go_to(stage, document, "olga", BEGINNING) == "INSTANCE_TARGET_REPEATS"
    assert stage.standing.row("SELECT count(*) FROM documents WHERE entity_type = %s", made_type) == (1,)


def test_people_with_a_part_send_nothing_back_behind_a_gate(stage: WorkflowStage) -> None:
    """A person who made it, asked for it or approved it does not say what is left out behind its gate."""
    document = paid_and_held(stage)
    for person in ("carl", "app1"):
        assert go_to(stage, document, person, ACTIVE) == "SEPARATION_OF_DUTIES"
    assert go_to(stage, document, "olga", ACTIVE) == "completed"
    assert list_effects(stage, document) == ["completed"]


def test_people_with_a_part_cancel_no_token_behind_a_gate(stage: WorkflowStage) -> None:
    contract = {**PAID, "slots": {**CONTRACT["slots"], "paying": {"transition": "pay"}}}
    paying = {"nodes": [PAY, RUN], "edges": [{"source": "pay", "target": "run"}]}
    document = stage.create(
        stage.publish(contract, approval={"nodes": [LOOK]}, paying=paying), "carl", amount=1
    )
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == APPROVED
    stage.ask(document.id, "pay", "carl")
    stage.drain()
    stage.answer(document.instance_id)
    stage.drain()
    assert go_to(stage, document, "olga", "sys:slot:paying:in") == "INSTANCE_TARGET_REPEATS"
    cancel, seen = instances(stage).cancel_token, version(stage, document)
    outcomes = [
        attempt(
            stage,
            partial(cancel, operator(stage, person), document.instance_id, seen, "usr:paying:run", "why"),
        )
        for person in ("carl", "app1", "olga")
    ]
    assert outcomes == ["SEPARATION_OF_DUTIES", "SEPARATION_OF_DUTIES", "running"]


def test_before_the_gate_people_send_back_as_before(stage: WorkflowStage) -> None:
    """The lawful way beside it: the approval is asked again."""
    document = stage.create(stage.publish(approval={"nodes": [LOOK]}), "carl")
    submit(stage, document, "carl")
    assert go_to(stage, document, "carl", "sys:slot:approval:in") == "running"
    assert list_asked(stage, document) == ["@voter"]


# --- approvals behind a gate ---


def asked_behind_gate(stage: WorkflowStage, contract: Mapping[str, Any] = PAID) -> Made:
    slot = {
        "exit": "join",
        "nodes": [LOOK, TELL],
        "edges": [
            {"source": "look", "target": "out"},
            {"source": "look", "target": "tell", "on": "rejected"},
            {"source": "tell", "target": "out"},
        ],
    }
    document = stage.create(stage.publish(contract, posting=slot), "carl", amount=1)
    submit(stage, document, "carl")
    assert stage.status_of(document.id) == "active" and list_asked(stage, document) == ["@voter"]
    return document


@pytest.mark.parametrize("person", ["carl", "olga"])
def test_an_approval_behind_a_gate_is_left_by_its_decision_alone(stage: WorkflowStage, person: str) -> None:
    document = asked_behind_gate(stage)
    status, outcome = ask(stage, document, "pay", operator(stage, "carl"))
    assert status == "refused" and outcome is not None and "usr:posting:look is decided" in outcome
    assert go_to(stage, document, person, ACTIVE) == "INSTANCE_APPROVAL_AHEAD"
    for act in ("cancel", "fail"):
        assert end(stage, document, person, act) == "INSTANCE_APPROVAL_AHEAD"
    assert ask(stage, document, "pay", operator(stage, "carl"))[0] == "refused"
    assert vote(stage, document.id, "app1") == APPROVED
    assert ask(stage, document, "pay", operator(stage, "carl"))[0] == "performed"


def test_an_instance_ends_where_nothing_is_left_to_ask_for(stage: WorkflowStage) -> None:
    """The lawful way beside it: nothing follows that the approval would protect."""
    document = asked_behind_gate(stage, CONTRACT)
    assert end(stage, document, "olga", "cancel") == "cancelled"


# --- calls that were given up ---


def given_up(stage: WorkflowStage, instead: Mapping[str, Any] = POST) -> Made:
    """Let a payment be given up, and the document go on by the edge for errors."""
    slot = {
        "exit": "join",
        "nodes": [PAY, instead],
        "edges": [
            {"source": "pay", "target": "out"},
            {"source": "pay", "target": instead["id"], "on": "error"},
            {"source": instead["id"], "target": "out"},
        ],
    }
    document = stage.create(stage.publish(approval={"nodes": [LOOK]}, posting=slot), "carl", amount=1)
    submit(stage, document, "carl")
    assert vote(stage, document.id, "app1") == APPROVED
    stage.answer(document.instance_id, error="gone")
    stage.drain()
    assert list_effects(stage, document)[0] == "dead_letter"
    return document


def requeue(
    stage: WorkflowStage, document: Made, user_id: str, reason: str | None = "the bank is back"
) -> str:
    (ids,) = stage.standing.row(
        "SELECT array_agg(id) FROM workflow_side_effects_outbox WHERE instance_id = %s", document.instance_id
    )
    effects = DeadEffects(stage.standing.company.database, stage.caches(), CompiledCache())
    try:
        return f"{len(effects.requeue(operator(stage, user_id), ids, reason))} sent"
    except Rejected as refused:
        return refused.code


@pytest.mark.parametrize("person", ["carl", "olga"])
def test_a_payment_of_a_cancelled_document_is_not_sent(stage: WorkflowStage, person: str) -> None:
    document = given_up(stage)
    stage.ask(document.id, "cancel", "app1")
    stage.drain()
    assert stage.status_of(document.id) == "cancelled"
    assert requeue(stage, document, person) == "EFFECT_LEFT_BEHIND"
    assert list_effects(stage, document) == ["dead_letter"]


def test_a_payment_of_a_document_that_has_not_moved_is_sent_again(stage: WorkflowStage) -> None:
    """The lawful way beside it: the document is still on the way of its approval."""
    assert requeue(stage, given_up(stage), "olga") == "1 sent"


@pytest.mark.parametrize("person", ["carl", "app1"])
def test_a_person_with_a_part_does_not_send_what_chooses_the_way(stage: WorkflowStage, person: str) -> None:
    """Neither who made the document nor who approved it."""
    document = given_up(stage)
    assert requeue(stage, document, person) == "SEPARATION_OF_DUTIES"
    assert list_effects(stage, document) == ["dead_letter"]


def test_what_chooses_the_way_is_sent_with_a_reason(stage: WorkflowStage) -> None:
    document = given_up(stage)
    for reason in (None, " "):
        assert requeue(stage, document, "olga", reason) == "FIELDS_INVALID"
    assert requeue(stage, document, "olga") == "1 sent"
    noted = (
        "SELECT content::jsonb ->> 'reason' FROM audit_log"
        " WHERE subject_id = %s AND content::jsonb ->> 'action' = 'requeue'"
    )
    assert stage.standing.rows(noted, str(document.instance_id)) == [("the bank is back",)]


@pytest.mark.parametrize("person", ["olga", "app1"])
def test_a_payment_that_was_made_another_way_is_not_sent(stage: WorkflowStage, person: str) -> None:
    """One approval is one payment: the edge for errors has paid in the place of the call."""
    document = given_up(stage, {**PAY, "id": "fallback"})
    refused = "EFFECT_LEFT_BEHIND" if person == "olga" else "SEPARATION_OF_DUTIES"
    for answered in (False, True):
        if answered:
            stage.answer(document.instance_id, body={"paid": True})
            stage.drain()
        assert requeue(stage, document, person) == refused
    assert list_effects(stage, document) == ["dead_letter", "completed"]
