"""Answers by hand: given by nobody who has decided or asked for anything in any instance of the document."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.eligibility_changes import COMMAND_LINE
from signet.core.tenants.tenant_file import Member
from signet.engine.cache import CompiledCache
from signet.engine.instances.repairs import Repairs
from signet.store.tenants.tenants import save_members
from tests.scenarios.authority.acts import add_endpoint, vote
from tests.support.core.approval_policies import role
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage, standing_stage

APPROVED, DUTIES, DONE = "approved", "SEPARATION_OF_DUTIES", "done"
LOOK = {"id": "look", "type": "approval", "config": {"approvers": [role("voter")]}}
LOOKUP = {"id": "lookup", "type": "webhook_out", "config": {"endpoint": "erp", "save_as": "bank"}}
TO_ACCOUNT = {"iban": {"$expr": "context.bank.body.iban"}}
PAY = {"id": "pay", "type": "webhook_out", "config": {"endpoint": "erp", "payload": TO_ACCOUNT}}
PAID: Mapping[str, Any] = {"nodes": [LOOKUP, PAY], "edges": [{"source": "lookup", "target": "pay"}]}
PAYABLE: Mapping[str, Any] = {
    "version": 1,
    "fields": CONTRACT["fields"],
    "states": {
        "draft": {"edit": "editable", "initial": True},
        "active": {"edit": "locked", "settled": True},
        "paid": {"edit": "locked", "settled": True},
    },
    "transitions": {
        "release": {"from": ["draft"], "to": "active", "kind": "requested"},
        "pay": {"from": ["active"], "to": "paid", "kind": "requested"},
    },
    "slots": {"checks": {"transition": "release"}, "prepay": {"transition": "pay"}},
}


@pytest.fixture(scope="module")
def stage(server_url: str) -> Iterator[WorkflowStage]:
    with standing_stage(server_url) as made:
        members = tuple(
            Member(user_id=name, display_name=name.title(), roles=("clerk", "voter", "admin"))
            for name in ("felix", "fiona", "kora", "cora", "otis", "carl")
        )
        with made.standing.company.database.transaction(made.tenant_id) as connection:
            save_members(connection, made.tenant_id, members, COMMAND_LINE)
        add_endpoint(made)
        yield made


def held_for_payment(stage: WorkflowStage, duties: Mapping[str, Any], released_by: str, **slots: Any) -> Made:
    """Have cora ask for the payment of what another person asked to be released; its first call fails."""
    contract = {**PAYABLE, "separation_of_duties": duties}
    document = stage.create(stage.publish(contract, prepay=PAID, **slots), "carl")
    stage.ask(document.id, "release", released_by)
    stage.drain()
    if slots:
        assert vote(stage, document.id, "fiona") == APPROVED
    stage.ask(document.id, "pay", "cora")
    stage.drain()
    made = Made(document.id, stage.instance_of(document.id))
    assert made.instance_id != document.instance_id
    stage.answer(made.instance_id, error="gone")
    stage.drain()
    return made


def skip(stage: WorkflowStage, document: Made, person: str) -> str:
    company, seen = stage.standing.company, stage.instance(document.instance_id)["version"]
    said = {"status": 200, "body": {"iban": "DE-FRAUD"}}
    repairs = Repairs(company.database, stage.caches(), CompiledCache())
    try:
        repairs.skip(
            company.caller(person, "admin"), document.instance_id, seen, "usr:prepay:lookup", "by phone", said
        )
    except Rejected as refused:
        assert refused.remedy
        return refused.code
    stage.drain()
    return DONE


def test_who_decided_by_a_request_names_no_account_later(stage: WorkflowStage) -> None:
    document = held_for_payment(stage, {"deciding": ["release"]}, "felix")
    assert skip(stage, document, "felix") == DUTIES
    assert skip(stage, document, "otis") == DONE


def test_who_decided_is_no_mere_requester(stage: WorkflowStage) -> None:
    """Let requesters decide: it is a person who has decided that gives no answer."""
    duties = {"deciding": ["release"], "may_decide": ["requester"]}
    document = held_for_payment(stage, duties, "felix")
    assert skip(stage, document, "felix") == DUTIES
    assert skip(stage, document, "cora") == DONE


def test_who_asked_for_an_earlier_transition_names_no_account(stage: WorkflowStage) -> None:
    document = held_for_payment(stage, {}, "kora", checks={"nodes": [LOOK]})
    assert [skip(stage, document, person) for person in ("kora", "cora", "fiona", "carl")] == [DUTIES] * 4
    assert skip(stage, document, "otis") == DONE


def test_a_contract_that_lets_requesters_decide_lets_them_answer(stage: WorkflowStage) -> None:
    document = held_for_payment(stage, {"may_decide": ["requester"]}, "kora", checks={"nodes": [LOOK]})
    assert skip(stage, document, "kora") == DONE
