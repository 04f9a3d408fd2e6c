"""Votes about what the voter answered by hand: refused, and the answer is shown to those who decide."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.principal import make_command_line
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.inbox import Approvals
from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Update
from signet.engine.instances.actions import Instances
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import newest, submit, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

APPROVED, DUTIES = "approved", "SEPARATION_OF_DUTIES"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
CALL = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "bank"}}
ANSWER = {"status": 200, "body": {"iban": "DE-OF-APP1"}}
THEN: Mapping[str, Any] = {"nodes": [CALL, LOOK], "edges": [{"source": "call", "target": "look"}]}
BESIDE: Mapping[str, Any] = {
    "nodes": [
        {"id": "fork", "type": "parallel_split"},
        LOOK,
        CALL,
        {"id": "join", "type": "parallel_join", "config": {"mode": "all"}},
    ],
    "edges": [
        {"source": "fork", "target": "look"},
        {"source": "fork", "target": "call"},
        {"source": "look", "target": "join"},
        {"source": "call", "target": "join"},
    ],
}
ALLOWED = {**CONTRACT, "separation_of_duties": {"may_decide": ["editor"]}}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = tuple(
            Member(user_id=name, display_name=name.title(), roles=("clerk", "voter", "admin"))
            for name in ("app1", "app2", "dave", "carl")
        )
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        yield made


def asked(stage: WorkflowStage, slot: Mapping[str, Any], contract: Any = None) -> Made:
    document = stage.create(stage.publish(contract, approval=slot))
    submit(stage, document, "carl")
    return document


def answer(stage: WorkflowStage, document: Made, person: str | Caller, node: str = "call") -> str:
    """Return "ended", or the code of the refusal."""
    company = stage.standing.company
    caller = company.caller(person, "admin") if isinstance(person, str) else person
    instances = Instances(company.database, stage.caches(), CompiledCache())
    version = stage.instance(document.instance_id)["version"]
    try:
        instances.advance(
            caller, document.instance_id, version, f"usr:approval:{node}", "the bank said so", ANSWER
        )
    except Rejected as refused:
        assert refused.remedy
        return refused.code
    stage.drain()
    return "ended"


def test_who_answers_for_the_bank_does_not_approve(stage: WorkflowStage) -> None:
    document = asked(stage, THEN)
    assert answer(stage, document, "app1") == "ended"
    assert vote(stage, document.id, "app1") == DUTIES
    assert vote(stage, document.id, "app2") == APPROVED
    assert stage.status_of(document.id) == "active"
    stage.check_rebuild(document.instance_id)


def test_who_answers_beside_an_approval_does_not_approve(stage: WorkflowStage) -> None:
    document = asked(stage, BESIDE)
    assert answer(stage, document, "app1") == "ended"
    assert vote(stage, document.id, "app1") == DUTIES
    assert vote(stage, document.id, "app2") == APPROVED
    assert stage.status_of(document.id) == "active"


def test_who_has_approved_answers_no_more(stage: WorkflowStage) -> None:
    """Refuse a voter whose approval waits for its gate, and let another operator end the wait."""
    document = asked(stage, BESIDE)
    assert vote(stage, document.id, "app1") == APPROVED
    assert answer(stage, document, "app1") == DUTIES
    assert answer(stage, document, "app2") == "ended"
    assert stage.status_of(document.id) == "active"


def test_a_contract_that_lets_editors_decide_lets_them_answer(stage: WorkflowStage) -> None:
    first, second = (asked(stage, BESIDE, ALLOWED) for _ in range(2))
    assert answer(stage, first, "app1") == "ended"
    assert vote(stage, first.id, "app1") == APPROVED
    assert vote(stage, second.id, "app1") == APPROVED
    assert answer(stage, second, "app1") == "ended"


def test_an_operator_may_end_more_than_one_wait(stage: WorkflowStage) -> None:
    """Bar them by their own answers from votes alone; an edit of theirs bars them from answers too."""
    more = {**CALL, "id": "more", "config": {"endpoint": "erp", "save_as": "again"}}
    edges = [("call", "more"), ("more", "look")]
    slot = {"nodes": [CALL, more, LOOK], "edges": [{"source": a, "target": b} for a, b in edges]}
    document = asked(stage, slot)
    command_line = make_command_line(stage.tenant_id, "postgres", "local")
    by_app1 = Caller(command_line, "cli", claimed="app1")
    assert answer(stage, document, by_app1) == "ended"
    assert answer(stage, document, by_app1, "more") == "ended"
    assert vote(stage, document.id, "app1") == DUTIES
    edited = asked(stage, slot)
    assert answer(stage, edited, "app1") == "ended"
    stage.mutate(Update(edited.id, stage.version_of(edited.id), {"amount": 2}), "app2", "admin")
    stage.drain()
    assert answer(stage, edited, "app2") == DUTIES
    assert answer(stage, edited, "app1") == "ended"
    stage.mutate(Update(edited.id, stage.version_of(edited.id), {"amount": 3}), "app1", "admin")
    stage.drain()
    assert answer(stage, edited, "app1") == DUTIES
    assert answer(stage, edited, "dave") == "ended"


def test_what_is_made_of_the_answer_is_theirs_too(stage: WorkflowStage) -> None:
    """Bar them from a document that a later step makes of the one with the answer."""
    bill = stage.publish(approval={"nodes": [LOOK]})
    spawn = {"kind": "create", "entity_type": bill, "set": {"number": "{entity.number}"}}
    contract = {**CONTRACT, "actions": {**CONTRACT["actions"], "spawn": spawn}}
    make = {"id": "make", "type": "action", "config": {"action": "spawn", "run_as": "system"}}
    slot = {"nodes": [CALL, make], "edges": [{"source": "call", "target": "make"}]}
    document = asked(stage, slot, contract)
    assert answer(stage, document, "app1") == "ended"
    (derived,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", bill)
    submit(stage, Made(derived, stage.instance_of(derived)), "dave")
    assert vote(stage, derived, "app1") == DUTIES
    assert vote(stage, derived, "app2") == APPROVED


def test_those_who_decide_see_what_was_answered(stage: WorkflowStage) -> None:
    document = asked(stage, THEN)
    assert answer(stage, document, "app1") == "ended"
    company = stage.standing.company
    request_id: UUID = newest(stage, document.id)
    view = Approvals(company.database, stage.caches()).read_request(company.caller("app2"), request_id)
    (shown,) = view.answered_by_hand
    assert (shown.node_id, shown.reason, shown.variables) == (
        "usr:approval:call",
        "the bank said so",
        {"bank": ANSWER},
    )
    assert (shown.answered_by.user_id, shown.answered_by.display_name) == ("app1", "App1")
    assert [person.user_id for person in view.responsible.editors] == ["app1"]
    untouched = stage.create(stage.publish(approval={"nodes": [LOOK]}))
    submit(stage, untouched, "carl")
    view = Approvals(company.database, stage.caches()).read_request(
        company.caller("app2"), newest(stage, untouched.id)
    )
    assert view.answered_by_hand == []


def test_who_changed_what_the_definition_reads_answers_nothing(stage: WorkflowStage) -> None:
    """app1 changes the vendor's account, which the call sends; the last person who did has a part in it."""
    vendor_type = stage.publish()
    account = {"type": "ref", "entity_type": vendor_type, "reads": {"number": {"type": "string"}}}
    contract = {**CONTRACT, "fields": {**CONTRACT["fields"], "vendor": account}}
    sent = {"endpoint": "erp", "save_as": "bank", "payload": {"account": "{entity.vendor.number}"}}
    call = {"id": "call", "type": "webhook_out", "config": sent}
    entity_type = stage.publish(contract, approval={**THEN, "nodes": [call, LOOK]})
    vendor = stage.create(vendor_type, "dave", number="DE-1")
    stage.mutate(Update(vendor.id, 1, {"number": "DE-2"}), "app1")
    document = stage.create(entity_type, "carl", vendor=str(vendor.id))
    submit(stage, document, "carl")
    assert answer(stage, document, "app1") == DUTIES
    assert answer(stage, document, "app2") == "ended"
