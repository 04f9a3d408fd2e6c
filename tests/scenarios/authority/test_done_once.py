"""Behind a passed gate what was done is done once: the engine repeats no call by itself."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import WithdrawRequest
from signet.engine.documents.erase import Erasures
from signet.engine.instances.actions import Instances
from signet.engine.instances.document_restarts import Restarts
from signet.engine.instances.incidents import Incidents
from signet.engine.instances.repairs import Repairs
from signet.store.incidents.incidents import IncidentFilter
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import edit, list_asked, submit, vote
from tests.support.core.approval_policies import role
from tests.support.operated_instances import version
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
CONFIRM = {**LOOK, "id": "confirm"}
PAYLOAD: dict[str, Any] = {"number": "{entity.number}", "amount": {"$expr": "entity.amount"}}
PAY: dict[str, Any] = {
    "id": "pay",
    "type": "webhook_out",
    "config": {"endpoint": "erp", "payload": PAYLOAD, "save_as": "paid"},
}
# It waits for the receiver: nobody answers it here.
SETTLE = {"id": "settle", "type": "webhook_out", "config": {"endpoint": "erp", "payload": {"settle": "x"}}}
ANSWER = {"status": 200, "body": {"paid": True}, "duration_ms": 1.0}
APPROVED = "approved"
# After the approval the booking begins by itself; people may ask to reverse instead.
BOOKED: Mapping[str, Any] = {
    **CONTRACT,
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "approved": {"edit": "locked"},
        "active": {"edit": "locked", "settled": True},
    },
    "transitions": {
        "submit": {"from": ["draft"], "to": "approved", "kind": "requested"},
        "book": {"from": ["approved"], "to": "active", "kind": "automatic", "rejected_to": "draft"},
        "reverse": {"from": ["approved"], "to": "draft", "kind": "requested"},
    },
    "slots": {
        "approval": {"transition": "submit"},
        "booking": {"transition": "book"},
        "reversal": {"transition": "reverse"},
    },
}


@pytest.fixture
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = tuple(
            Member(user_id=name, display_name=name.title(), roles=("clerk", "voter", "admin"))
            for name in ("bea", "ben", "carl", "max", "otto")
        )
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        yield made


def operator(stage: WorkflowStage, user_id: str = "otto") -> Caller:
    return stage.standing.company.caller(user_id, "admin")


def linear(*nodes: Any) -> dict[str, Any]:
    edges = [{"source": a["id"], "target": b["id"]} for a, b in pairwise(nodes)]
    return {"nodes": list(nodes), "edges": edges}


def booked(stage: WorkflowStage, *nodes: Any, contract: Mapping[str, Any] = BOOKED, **data: Any) -> Made:
    """Let a document be approved, and its call be delivered behind the gate."""
    booking = linear(*(nodes or (PAY, SETTLE)))
    if contract["slots"]["booking"].get("position") == "after":
        rejected = {"source": "confirm", "target": "out", "on": "rejected"}
        last = {"source": nodes[-1]["id"], "target": "out"}
        booking = {**booking, "exit": "join", "edges": [*booking["edges"], rejected, last]}
    slots = {"approval": linear(LOOK), "booking": booking}
    if "reversal" in contract["slots"]:
        slots["reversal"] = linear(LOOK)
    document = stage.create(stage.publish(contract, **slots), "carl", number="P1", **data)
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    stage.answer(document.instance_id, body=ANSWER["body"])
    stage.drain()
    return document


def ask_reverse(stage: WorkflowStage, document: Made) -> None:
    stage.ask(document.id, "reverse", "carl")
    stage.drain()
    assert list_asked(stage, document) == ["@voter"]


def withdraw(stage: WorkflowStage, document: Made) -> None:
    (request,) = stage.standing.row(
        "SELECT id FROM transition_requests WHERE document_id = %s ORDER BY id DESC LIMIT 1", document.id
    )
    stage.mutate(WithdrawRequest(document.id, request), "carl")
    stage.drain()


def list_calls(stage: WorkflowStage, document: Made) -> list[tuple[Any, ...]]:
    """Return (status, payload) of each call of all instances of the document."""
    return stage.standing.rows(
        "SELECT q.status, q.payload_json -> 'payload' FROM workflow_side_effects_outbox q"
        " JOIN workflow_instances i ON i.tenant_id = q.tenant_id AND i.id = q.instance_id"
        " WHERE i.entity_id = %s ORDER BY q.id",
        document.id,
    )


def list_paid(stage: WorkflowStage, document: Made) -> list[str]:
    return [status for status, payload in list_calls(stage, document) if "amount" in payload]


def live(stage: WorkflowStage, document: Made) -> Made:
    return Made(document.id, stage.instance_of(document.id))


def where(stage: WorkflowStage, document: Made) -> list[str]:
    return list(stage.instance(stage.instance_of(document.id))["current_nodes"])


def held_by(stage: WorkflowStage, document: Made) -> list[tuple[str, str | None]]:
    """Return (code, node) of each open incident of the document."""
    return stage.standing.rows(
        "SELECT code, node_id FROM incidents WHERE entity_id = %s AND closed_at IS NULL ORDER BY id",
        document.id,
    )


def test_a_withdrawn_request_makes_no_call_again(stage: WorkflowStage) -> None:
    document = booked(stage)
    for _ in range(2):
        ask_reverse(stage, document)
        withdraw(stage, document)
        assert where(stage, document) == ["usr:booking:settle"]
        assert list_paid(stage, document) == ["completed"]
    assert stage.instance(document.instance_id)["context_json"]["paid"] == ANSWER
    assert held_by(stage, document) == []
    stage.check_rebuild(document.instance_id)


def test_a_rejected_request_makes_no_call_again(stage: WorkflowStage) -> None:
    document = booked(stage)
    ask_reverse(stage, document)
    assert vote(stage, document.id, "ben", "rejected") == "rejected"
    assert where(stage, document) == ["usr:booking:settle"]
    assert list_paid(stage, document) == ["completed"]


def test_a_rejected_request_in_a_new_instance_makes_no_call_again(stage: WorkflowStage) -> None:
    document = booked(stage)
    operators = Instances(stage.standing.company.database, stage.caches(), CompiledCache())
    operators.cancel(operator(stage), document.instance_id, version(stage, document), "x")
    stage.drain()
    ask_reverse(stage, document)
    assert stage.instance_of(document.id) != document.instance_id
    assert vote(stage, document.id, "ben", "rejected") == "rejected"
    assert where(stage, document) == ["usr:booking:settle"]
    assert list_paid(stage, document) == ["completed"]


def test_a_restart_looks_at_every_way_since_the_gate(stage: WorkflowStage) -> None:
    document = booked(stage)
    ask_reverse(stage, document)
    operators = Instances(stage.standing.company.database, stage.caches(), CompiledCache())
    operators.cancel(operator(stage), document.instance_id, version(stage, document), "x")
    stage.drain()
    restarts = Restarts(stage.standing.company.database, stage.caches(), CompiledCache())
    with pytest.raises(Rejected) as refused:
        restarts.restart(operator(stage), document.id, stage.version_of(document.id), "x")
    assert refused.value.code == "INSTANCE_TARGET_REPEATS" and "booking:pay" in refused.value.message


def test_a_restart_sends_nothing_that_may_have_left(stage: WorkflowStage) -> None:
    """It is refused, or its token is held where the call would be made."""
    slots = {"approval": linear(LOOK), "booking": linear(PAY, SETTLE), "reversal": linear(LOOK)}
    document = stage.create(stage.publish(BOOKED, **slots), "carl", number="P1")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET attempts = 1, left_at = now() WHERE instance_id = %s",
        document.instance_id,
    )
    operators = Instances(stage.standing.company.database, stage.caches(), CompiledCache())
    operators.cancel(operator(stage), document.instance_id, version(stage, document), "x")
    stage.drain()
    restarts = Restarts(stage.standing.company.database, stage.caches(), CompiledCache())
    try:
        restarts.restart(operator(stage), document.id, stage.version_of(document.id), "x")
    except Rejected as refused:
        assert refused.code == "INSTANCE_TARGET_REPEATS"
    stage.drain()
    assert list_paid(stage, document) == ["withdrawn"]


def test_a_new_approval_pays_again(stage: WorkflowStage) -> None:
    """The lawful way beside it: people have approved it again."""
    document = booked(stage)
    ask_reverse(stage, document)
    assert vote(stage, document.id, "ben") == APPROVED
    assert stage.status_of(document.id) == "draft"
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    stage.drain()
    assert list_paid(stage, document) == ["completed", "pending"]


def test_a_new_approval_after_a_rejection_pays_again(stage: WorkflowStage) -> None:
    """The gate is passed in the wave that comes to the call."""
    document = booked(stage, PAY, CONFIRM)
    assert vote(stage, document.id, "ben", "rejected") == "rejected"
    assert stage.status_of(document.id) == "draft"
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    stage.drain()
    assert list_paid(stage, document) == ["completed", "pending"]


def test_what_may_have_left_is_held(stage: WorkflowStage) -> None:
    """The answer of the call is not known: a person finds out, and says it."""
    slots = {"approval": linear(LOOK), "booking": linear(PAY, SETTLE), "reversal": linear(LOOK)}
    document = stage.create(stage.publish(BOOKED, **slots), "carl", number="P1")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    stage.standing.run(
        "UPDATE workflow_side_effects_outbox SET attempts = 1, left_at = now() WHERE instance_id = %s",
        document.instance_id,
    )
    ask_reverse(stage, document)
    withdraw(stage, document)
    assert list_paid(stage, document) == ["withdrawn"]
    assert held_by(stage, document) == [("DONE_BEFORE", "usr:booking:pay")]
    database, compiled = stage.standing.company.database, CompiledCache()
    shown = Incidents(database, compiled, Instances(database, stage.caches(), compiled))
    (incident,) = shown.list_newest(operator(stage).principal, IncidentFilter(), before=None, limit=9)
    assert "skip" in [act.name for act in incident.acts]
    repairs = Repairs(stage.standing.company.database, stage.caches(), CompiledCache())
    repairs.skip(
        operator(stage), document.instance_id, version(stage, document), "usr:booking:pay", "paid", ANSWER
    )
    stage.drain()
    assert where(stage, document) == ["usr:booking:settle"]
    ask_reverse(stage, document)
    withdraw(stage, document)
    assert where(stage, document) == ["usr:booking:settle"], "the answer by hand stays"
    assert list_paid(stage, document) == ["withdrawn"] and held_by(stage, document) == []


def test_what_was_not_sent_is_sent(stage: WorkflowStage) -> None:
    """The lawful way beside it: the call was withdrawn before any attempt."""
    slots = {"approval": linear(LOOK), "booking": linear(PAY, SETTLE), "reversal": linear(LOOK)}
    document = stage.create(stage.publish(BOOKED, **slots), "carl", number="P1")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    ask_reverse(stage, document)
    withdraw(stage, document)
    assert list_paid(stage, document) == ["withdrawn", "pending"]


def stale(stage: WorkflowStage, contract: Mapping[str, Any]) -> tuple[Made, Made]:
    """Let a call be delivered, and people be asked behind it about values of another document."""
    vendor = stage.publish()
    ref = {"type": "ref", "entity_type": vendor, "reads": {"number": {"type": "string"}}}
    fields = {**CONTRACT["fields"], "vendor": ref}
    bonus = {"to": "{entity.contact}", "iban": {"$expr": "entity.vendor.number"}}
    bonus_call = {"id": "bonus", "type": "webhook_out", "config": {"endpoint": "erp", "payload": bonus}}
    supplier = stage.create(vendor, "carl", number="GOOD")
    nodes = PAY, CONFIRM, bonus_call
    document = booked(
        stage, *nodes, contract={**contract, "fields": fields}, vendor=str(supplier.id), contact="Bob"
    )
    assert list_asked(stage, document) == ["@voter"]
    return document, supplier


AFTER: Mapping[str, Any] = {
    **BOOKED,
    "transitions": {
        "submit": {"from": ["draft"], "to": "approved", "kind": "requested"},
        "settle": {"from": ["approved"], "to": "active", "kind": "requested"},
    },
    "slots": {
        "approval": {"transition": "submit"},
        "booking": {"transition": "submit", "position": "after"},
    },
}


def change_vendor(stage: WorkflowStage, document: Made, supplier: Made) -> None:
    edit(stage, supplier, "max", number="NEW")
    assert vote(stage, document.id, "ben") == "APPROVAL_STALE"


def erase(stage: WorkflowStage, document: Made, supplier: Made) -> None:
    company = stage.standing.company
    Erasures(company.database).erase(operator(stage, "max"), document.id, None, "asked")
    stage.drain()


@pytest.mark.parametrize("contract", [BOOKED, AFTER])
@pytest.mark.parametrize("happens", [change_vendor, erase])
def test_people_who_are_asked_again_make_no_call_again(
    stage: WorkflowStage, contract: Mapping[str, Any], happens: Callable[[WorkflowStage, Made, Made], None]
) -> None:
    document, supplier = stale(stage, contract)
    happens(stage, document, supplier)
    stage.wake(document.instance_id)
    stage.drain()
    assert where(stage, document) == ["usr:booking:confirm"]
    assert list_asked(stage, document) == ["@voter"]
    assert list_paid(stage, document) == ["completed"]
    assert vote(stage, document.id, "ben") == APPROVED
    assert where(stage, document) == ["usr:booking:bonus"]


def test_a_call_that_would_say_something_else_is_held(stage: WorkflowStage) -> None:
    """It was sent with a value that was erased since: it is not sent again, nor taken as said."""
    pay = {**PAY, "config": {"endpoint": "erp", "payload": {**PAYLOAD, "to": "{entity.contact}"}}}
    document = booked(stage, pay, CONFIRM, contact="Bob")
    erase(stage, document, document)
    assert list_paid(stage, document) == ["completed"]
    assert held_by(stage, document) == [("DONE_BEFORE", "usr:booking:pay")]


@pytest.mark.parametrize("items", [None, "[1, 2]"])
def test_documents_are_made_once(stage: WorkflowStage, items: str | None) -> None:
    """A list is held: it cannot be told what it would make now."""
    made_type = stage.publish()
    config = {"action": "make", "run_as": "system", "save_as": "made"}
    if items is not None:
        config["for_each"] = items
    make = {"id": "make", "type": "action", "config": config}
    action = {"kind": "create", "entity_type": made_type, "set": {"number": "x"}}
    contract = {**BOOKED, "actions": {**CONTRACT["actions"], "make": action}}
    slots = {"approval": linear(LOOK), "booking": linear(make, SETTLE), "reversal": linear(LOOK)}
    document = stage.create(stage.publish(contract, **slots), "carl")
    submit(stage, document, "carl")
    assert vote(stage, document.id, "bea") == APPROVED
    (before,) = stage.standing.row("SELECT count(*) FROM documents WHERE entity_type = %s", made_type)
    ask_reverse(stage, document)
    withdraw(stage, document)
    after = stage.standing.row("SELECT count(*) FROM documents WHERE entity_type = %s", made_type)
    assert after == (before,)
    assert held_by(stage, document) == ([] if items is None else [("DONE_BEFORE", "usr:booking:make")])
