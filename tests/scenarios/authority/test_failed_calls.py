"""A call that fails, and leads past an approval: who is asked behind it sees the call, and what it met."""

from collections.abc import Sequence

from signet.engine.approvals.inbox import Approvals
from signet.engine.approvals.request_view import FailedCall
from tests.scenarios.authority.acts import edit, list_asked, newest, submit, vote
from tests.scenarios.authority.test_failures_choose_no_way import APPROVED, CALL, skipping
from tests.scenarios.authority.test_failures_choose_no_way import stage as stage_of_failures
from tests.support.workflow_stage import Made, WorkflowStage

stage = stage_of_failures
REFUSAL = {"message": "the kind R422 is not known"}


def failed_calls(stage: WorkflowStage, document: Made) -> Sequence[FailedCall]:
    company = stage.standing.company
    approvals = Approvals(company.database, stage.caches())
    return approvals.read_request(company.caller("vlad"), newest(stage, document.id)).failed_calls


def refused(stage: WorkflowStage) -> Made:
    """Let the receiver refuse what the clerk has typed, so that the boss is left out."""
    document = stage.create(stage.publish(approval=skipping(CALL)), "carl", number="R422")
    submit(stage, document, "carl")
    stage.answer(document.instance_id, error="ANSWERED: 422", body=REFUSAL)
    stage.drain()
    assert list_asked(stage, document) == ["@voter"]
    return document


def test_the_approver_sees_the_call_that_was_refused(stage: WorkflowStage) -> None:
    document = refused(stage)
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
