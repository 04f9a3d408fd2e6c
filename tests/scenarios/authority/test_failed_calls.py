"""A call that fails, and leads past an approval: who is asked behind it sees the call, and what it met."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from signet.core.tenants.principal import Principal
from signet.engine.approvals.inbox import Approvals
from signet.engine.approvals.request_view import FailedCall
from signet.engine.documents.read import DocumentsRead
from tests.scenarios.authority.acts import edit, list_asked, newest, submit, vote
from tests.scenarios.authority.test_erased_behind_gates import PAYABLE
from tests.scenarios.authority.test_failures_choose_no_way import APPROVED, BOSS, CALL, LOOK, skipping
from tests.scenarios.authority.test_failures_choose_no_way import stage as stage_of_failures
from tests.support.amended_documents import AMENDABLE, amend
from tests.support.workflow_stage import CONTRACT, Made, WorkflowStage

stage = stage_of_failures
# A clerk's call in front, and then a request that decides.
DECIDING: Mapping[str, Any] = {
    **CONTRACT,
    "transitions": {
        **CONTRACT["transitions"],
        "approve": {"from": ["submitted"], "to": "active", "kind": "requested"},
    },
    "separation_of_duties": {"deciding": ["approve"]},
}
AROUND: Mapping[str, Any] = {
    "nodes": [CALL, BOSS],
    "edges": [
        {"source": "step", "target": "boss"},
        {"source": "step", "target": "out", "on": "error"},
        {"source": "boss", "target": "out"},
    ],
    "exit": "join",
}
REFUSAL = {"message": "the kind R422 is not known"}


def failed_calls(stage: WorkflowStage, document: Made) -> Sequence[FailedCall]:
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    return approvals.read_request(company.caller("vlad"), newest(stage, document.id)).failed_calls


def refused(stage: WorkflowStage, contract: Mapping[str, Any] = CONTRACT, **slots: Any) -> Made:
    """Let the receiver refuse what the clerk has typed, so that the boss is left out."""
    entity_type = stage.publish(contract, **(slots or {"approval": skipping(CALL)}))
    document = stage.create(entity_type, "carl", number="R422")
    submit(stage, document, "carl")
    refuse(stage, document)
    return document


def refuse(stage: WorkflowStage, document: Made, error: str = "ANSWERED: 422") -> None:
    stage.answer(stage.instance_of(document.id), error=error, body=REFUSAL)
    stage.drain()


def where(calls: Sequence[FailedCall]) -> list[tuple[UUID, str]]:
    return [(call.document_id, call.node_id) for call in calls]


def test_the_approver_sees_the_call_that_was_refused(stage: WorkflowStage) -> None:
    document = refused(stage)
    assert list_asked(stage, document) == ["@voter"]
    (call,) = failed_calls(stage, document)
    assert (call.node_id, call.reason) == ("usr:approval:step", "EFFECT_DEAD: ANSWERED: 422")
    assert call.said is not None and REFUSAL["message"] in call.said
    assert vote(stage, document.id, "vlad") == APPROVED


def test_a_call_that_went_well_later_is_shown_no_more(stage: WorkflowStage) -> None:
    """The lawful way: the value is mended, the call goes out again, and the boss is asked."""
    document = refused(stage)
    edit(stage, document, "carl", number="known")
    stage.drain()
    stage.answer(document.instance_id, body={})
    stage.drain()
    assert (list_asked(stage, document), failed_calls(stage, document)) == (["@boss"], [])


def test_a_long_answer_is_cut(stage: WorkflowStage) -> None:
    document = stage.create(stage.publish(approval=skipping(CALL)), "carl")
    submit(stage, document, "carl")
    stage.answer(document.instance_id, error="ANSWERED: 500", body="x" * 400)
    stage.drain()
    (call,) = failed_calls(stage, document)
    assert call.said == "x" * 300


def paying(stage: WorkflowStage, before: Mapping[str, Any]) -> Made:
    """Let a document be approved past the boss, and let its payment be asked for: another instance begins."""
    document = refused(stage, PAYABLE, approval=skipping(CALL), before=before)
    assert vote(stage, document.id, "vlad") == APPROVED
    first = stage.instance_of(document.id)
    stage.ask(document.id, "pay", "carl")
    stage.drain()
    assert stage.instance_of(document.id) != first
    return document


FAILED_FIRST = "usr:approval:step"


def test_who_decides_in_a_later_instance_sees_it(stage: WorkflowStage) -> None:
    document = paying(stage, {"nodes": [LOOK]})
    assert where(failed_calls(stage, document)) == [(document.id, FAILED_FIRST)]


def test_who_has_decided_had_seen_what_failed_by_then(stage: WorkflowStage) -> None:
    document = paying(stage, skipping(CALL))
    seen = newest(stage, document.id)
    refuse(stage, document, "ANSWERED: 500")
    calls = failed_calls(stage, document)
    assert where(calls) == [(document.id, "usr:before:step"), (document.id, FAILED_FIRST)]
    company = stage.standing.company
    view = Approvals(company.database, stage.caches()).read_request(company.caller("vlad"), seen)
    assert where(view.failed_calls) == [(document.id, FAILED_FIRST)]


def making(of_type: str) -> Mapping[str, Any]:
    action = {"kind": "create", "entity_type": of_type, "set": {"number": "{entity.number}"}}
    return {**CONTRACT, "actions": {"make": action}}


def test_who_decides_about_what_was_made_of_it_sees_it(stage: WorkflowStage) -> None:
    """Over a document between them, too, which another step made."""
    make = {"nodes": [{"id": "make", "type": "action", "config": {"action": "make", "run_as": "system"}}]}
    payment = stage.publish(approval={"nodes": [LOOK]})
    between = stage.publish(making(payment), posting=make)
    document = refused(stage, making(between), approval=skipping(CALL), posting=make)
    assert vote(stage, document.id, "vlad") == APPROVED
    submit(stage, only(stage, between), "carl")
    made = only(stage, payment)
    submit(stage, made, "carl")
    assert list_asked(stage, made) == ["@voter"]
    assert where(failed_calls(stage, made)) == [(document.id, FAILED_FIRST)]


def only(stage: WorkflowStage, entity_type: str) -> Made:
    (document_id,) = stage.standing.row("SELECT id FROM documents WHERE entity_type = %s", entity_type)
    return Made(document_id, stage.instance_of(document_id))


def test_who_decides_about_its_amendment_sees_it(stage: WorkflowStage) -> None:
    document = refused(stage, AMENDABLE)
    assert vote(stage, document.id, "vlad") == APPROVED
    amendment = amend(stage, document, contact="a note")
    submit(stage, amendment, "carl")
    stage.answer(stage.instance_of(amendment.id), body={})
    stage.drain()
    assert list_asked(stage, amendment) == ["@boss"]
    assert where(failed_calls(stage, amendment)) == [(document.id, FAILED_FIRST)]


def test_who_decides_by_a_request_sees_it(stage: WorkflowStage) -> None:
    document = refused(stage, DECIDING, checks=AROUND)
    read = DocumentsRead(stage.standing.company.database)
    vlad = Principal(stage.tenant_id, "vlad", ("admin",))
    expected = [(document.id, "usr:checks:step")]
    assert where(read.read(vlad, document.id).failed_calls) == expected
    # Who reads, and decides nothing, is shown what they were shown before.
    stage.standing.run("INSERT INTO roles VALUES (%s, 'viewer', '{*:read}')", stage.tenant_id)
    reader = Principal(stage.tenant_id, "rita", ("viewer",))
    assert read.read(reader, document.id).failed_calls == ()
    applied = stage.ask(document.id, "approve", "vlad")
    stage.drain()
    assert stage.status_of(document.id) == "active"
    assert applied.request_id is not None
    assert where(read.read_request(vlad, applied.request_id).failed_calls) == expected
