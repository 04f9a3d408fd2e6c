"""The acts that an explanation names where no incident holds an instance."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from signet.core.explain.incidents import ExplainedAct
from signet.core.explain.instance import explain_instance
from signet.core.explain.instance_record import (
    ApprovalRecord,
    EffectRecord,
    ExplainedTransitionRequest,
    InstanceRecords,
    OpenAmendment,
    VoterRecord,
)
from tests.support.core.instance_records import (
    CONTRACT,
    DOCUMENT,
    DRAFT,
    FINANCE,
    LATER,
    NOW,
    WORKFLOW,
    control,
    record,
    step,
    tell,
    token,
)
from tests.support.core.small_workflows import CONTRACT as PLAIN
from tests.support.core.small_workflows import PATCH, compile_patch, make_contract

TENANT = UUID(int=9)
ASKED = ExplainedTransitionRequest(UUID(int=6), "submit", "carl", None, NOW)
EFFECT = EffectRecord(UUID(int=4), "webhook", "erp", "failed", 1, 5, LATER, None, UUID(int=8))
OPEN = ApprovalRecord(
    id=UUID(int=7),
    step_execution_id=UUID(int=4),
    node_id=FINANCE,
    document_version=1,
    snapshot_hash="a",
    definition_hash="b",
    policy_hash="c",
    chain_name=None,
    chain_version=None,
    requester_id="carl",
    responsible=("carl",),
    pins=None,
    stage=1,
    status="open",
    outcome=None,
    applied=None,
    escalate_at=None,
    expire_at=None,
    created_at=NOW,
    ended_at=None,
    voters=[VoterRecord("anna"), VoterRecord("carl", obstacle="asked for it")],
)


def acts(found: InstanceRecords) -> tuple[ExplainedAct, ...]:
    return explain_instance(WORKFLOW, CONTRACT, found).acts


def test_a_state_names_what_people_may_ask_for() -> None:
    found = record(tokens=[token(DRAFT)], steps=[step(DRAFT, is_open=True)], tenant_id=TENANT)
    ask, cancel = acts(found)
    assert '"transition": "cancel"' in cancel.request
    assert (ask.name, ask.permission, ask.command) == ("ask", "invoice:submit", "")
    place = f"POST /v1/documents/{UUID(int=3)}/requests"
    assert ask.request == place + '  If-Match: "1"  {"transition": "submit"}'
    lines = tell(found).splitlines()
    assert f"    {ask.request}" in lines[lines.index("What people can do") :]


def test_a_reason_is_asked_for_where_the_transition_wants_one() -> None:
    plain = make_contract()
    wanted = replace_reason(plain)
    ask, _ = explain_instance(WORKFLOW, wanted, record(tokens=[token(DRAFT)])).acts
    assert '"reason": "…"' in ask.request
    ask, _ = explain_instance(WORKFLOW, None, record(tokens=[token(DRAFT)])).acts
    assert '"reason"' not in ask.request


def replace_reason(contract: Any) -> Any:
    submit = contract.transitions["submit"].model_copy(update={"reason_required": True})
    return contract.model_copy(update={"transitions": {**contract.transitions, "submit": submit}})


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens": [token(DRAFT)], "document": replace(DOCUMENT, is_deleted=True)},
        {"tokens": [token(DRAFT)], "document": None},
        {"tokens": [token(DRAFT)], "document": replace(DOCUMENT, status="gone")},
    ],
)
def test_nothing_is_named_that_would_be_refused(changes: dict[str, Any]) -> None:
    assert acts(record(**changes)) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens": [token(DRAFT)], "request": ASKED},
        {"tokens": [{**token(DRAFT), "hold": {"reason": "x", "seq": 1}}]},
        {"tokens": [token(FINANCE)]},
        {"tokens": [token(FINANCE)], "approvals": [replace(OPEN, voters=())]},
        {"tokens": [token(FINANCE)], "approvals": [replace(OPEN, is_stale=True)]},
        {"tokens": [token(FINANCE)], "approvals": [replace(OPEN, status="approved")]},
        {"tokens": [token(FINANCE)], "effects": [replace(EFFECT, status="processing")]},
        {"tokens": [token(FINANCE)], "effects": [replace(EFFECT, held_by="ENDPOINT_DISABLED")]},
        {"tokens": [token(DRAFT)], "status": "paused", "reason": "WORKFLOW_VERSION_DRIFT"},
    ],
)
def test_what_is_under_way_or_held_takes_interrupts_alone(changes: dict[str, Any]) -> None:
    (cancel,) = acts(record(**changes))
    assert '{"transition": "cancel", "reason": "…"}' in cancel.request
    assert (cancel.name, cancel.permission) == ("ask", "invoice:cancel")
    assert cancel.text == 'asks for "cancel", which ends what is under way'


def test_who_is_asked_may_vote() -> None:
    vote, _ = acts(record(tokens=[token(FINANCE)], approvals=[OPEN]))
    assert (vote.name, vote.text) == ("vote", "anna may decide: approved, rejected or abstained")
    assert vote.request == f'POST /v1/approvals/{UUID(int=7)}/decision  {{"vote": "approved"}}'


def test_what_waits_for_its_next_attempt_is_tried_now() -> None:
    attempt, _ = acts(record(tokens=[token(FINANCE)], effects=[EFFECT], tenant_id=TENANT))
    assert (attempt.name, attempt.permission) == ("try_now", "workflow:try_now")
    assert attempt.command.startswith(f"signet effect try-now {UUID(int=8)} --tenant {TENANT}")
    assert attempt.request.startswith(f"POST /v1/effects/{UUID(int=8)}/try_now")


def test_a_pause_by_a_person_is_lifted() -> None:
    pause = replace(control("paused", reason="look"), run_as="actor")
    found = record(tokens=[token(DRAFT)], status="paused", reason="look", steps=[pause], tenant_id=TENANT)
    (resume,) = acts(found)
    assert resume.command.startswith(f"signet instance resume {UUID(int=1)}")


def test_an_ended_workflow_begins_again_by_a_request() -> None:
    ask, _ = acts(record(status="cancelled", reason="no"))
    assert ask.text.endswith("; a new workflow begins at the document's status")


RENEW = {"from": ["active"], "to": "active", "kind": "requested"}
AMENDED_BY = OpenAmendment(UUID(int=20), "draft", 3, UUID(int=21))


def original(while_open: str, **changes: Any) -> tuple[Any, Any, InstanceRecords]:
    """Return an active invoice that an amendment is open on, with its workflow and its contract."""
    transitions = {**PLAIN["transitions"], "renew": RENEW}
    amendment = {"from": ["active"], "while_open": while_open}
    contract = make_contract(transitions=transitions, amendment=amendment)
    document = replace(DOCUMENT, status="active", version=5)
    values = {"amendment": AMENDED_BY, "document": document, "tokens": [token("sys:state:active")]} | changes
    found = record(steps=[step("sys:state:active", is_open=True)], **values)
    return compile_patch(PATCH, contract), contract, found


@pytest.mark.parametrize(("while_open", "renews"), [("suspended", False), ("in_force", True)])
def test_an_original_names_what_its_open_amendment_leaves_free(while_open: str, renews: bool) -> None:
    workflow, contract, found = original(while_open)
    own, other = str(found.instance.entity_id), str(AMENDED_BY.document_id)
    asked = explain_instance(workflow, contract, found).acts
    assert any('"renew"' in act.request for act in asked) is renews
    assert any(own in act.request and '"cancel"' in act.request for act in asked)
    of_amendment = [act for act in asked if f'{other}/requests  If-Match: "3"' in act.request]
    assert [act.text for act in of_amendment] == [
        'asks for "submit", of the amendment',
        'asks for "cancel", of the amendment',
    ]
    text = tell(found, workflow, contract)
    assert f'An amendment is open: document {other}, which is "draft": instance {UUID(int=21)}.' in text
    assert ('may ask for "renew"' in text) is renews
    assert ("people can only interrupt this one" in text) is not renews


def test_an_original_without_a_workflow_says_the_same() -> None:
    amendment = replace(AMENDED_BY, instance_id=None)
    workflow, contract, found = original("suspended", amendment=amendment, status="completed", tokens=[])
    text = tell(found, workflow, contract)
    assert 'which is "draft", without a workflow.' in text
    assert 'A request for "cancel" begins a new workflow' in text
    assert '"transition": "submit"' in text


@pytest.mark.parametrize("changes", [{"is_paused": True}, {"status": "gone"}])
def test_a_paused_amendment_is_left_to_its_own_explanation(changes: dict[str, Any]) -> None:
    workflow, contract, found = original("suspended", amendment=replace(AMENDED_BY, **changes))
    asked = explain_instance(workflow, contract, found).acts
    assert not any(str(AMENDED_BY.document_id) in act.request for act in asked)


def test_what_the_contract_has_no_more_is_not_named() -> None:
    workflow, _, found = original("in_force")
    text = tell(found, workflow, make_contract())
    assert "renew" not in text


@pytest.mark.parametrize(
    ("own", "status", "stays"),
    [
        ({}, "active", "this one stays in force until that settles"),
        ({"permission": "invoice:change"}, "draft", "this one ends at once"),
    ],
)
def test_who_may_amend_is_told_so(own: dict[str, Any], status: str, stays: str) -> None:
    contract = make_contract(amendment={"from": [status], **own})
    document = replace(DOCUMENT, status=status, version=5)
    found = record(document=document, tokens=[token(f"sys:state:{status}")])
    amend = explain_instance(compile_patch(PATCH, contract), contract, found).acts[-1]
    assert (amend.name, amend.permission) == ("amend", own.get("permission", "invoice:amend"))
    assert stays in amend.text
    place = f"POST /v1/documents/{found.instance.entity_id}/amendments"
    assert amend.request == f'{place}  If-Match: "5"  {{"patch": {{}}, "reason": "…"}}'


@pytest.mark.parametrize(
    ("while_open", "changes", "is_named"),
    [
        ("in_force", {"amendment": None}, True),
        ("in_force", {}, False),
        ("suspended", {"amendment": None}, False),
        ("suspended", {"amendment": None, "status": "completed", "tokens": []}, True),
    ],
)
def test_an_amendment_is_named_where_the_server_takes_one(
    while_open: str, changes: dict[str, Any], is_named: bool
) -> None:
    """One is open at a time, and none suspends a workflow that is under way."""
    workflow, contract, found = original(while_open, **changes)
    asked = explain_instance(workflow, contract, found).acts
    assert ("amend" in [act.name for act in asked]) is is_named
