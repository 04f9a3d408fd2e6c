"""Ways out of a stage that nobody may decide, by what keeps the people and where it stands."""

from dataclasses import replace
from uuid import UUID

import pytest

from signet.core.explain.instance import explain_instance, write_instance
from signet.core.explain.instance_record import StuckStageRecord, VoterRecord
from signet.core.explain.stuck_stages import StuckStage
from tests.support.core.instance_records import CONTRACT, DOCUMENT, FINANCE, WORKFLOW, record
from tests.unit.core.runtime.test_go_to_targets import GOING_ON, LOOK, PLAIN, POST, compile_line, make_line

HISTORY = "How it came here (steps in the order of their ends)"
REQUEST = UUID(int=40)
STUCK = StuckStageRecord(
    node_id=FINANCE,
    stage=2,
    request_id=REQUEST,
    roles=["approver"],
    permissions=["invoice:approve"],
    chain_name=None,
    voters=[VoterRecord("ada", obstacle="ada has approved this before", code="APPROVAL_SAME_PERSON")],
    additions=["dora", "emil"],
    unseated=["the organisation names no such manager of carl"],
    lacks_another_person=True,
    helpers=["sam"],
    seatable=["emil"],
)
ADD = "Give the role approver to dora or emil, or to a new member: nothing else keeps them."
NOBODY = "Add a new member with the role approver: something else keeps every member of today."
BY_NAME = "People are asked by name here, so that no other member can be added."
CANCEL = "Or cancel the workflow, where nobody wants this any more."
KEEPS = "An open request keeps its policy: for another one the workflow must be cancelled."
AGAIN = "Then ask for submit again."
AMENDMENT = (
    "Nobody can ask for it again then in the state 'submitted'. An edit of the document makes an amendment:"
    " a new document, which begins again."
)
ANEW = (
    "Nobody can ask for it again then in the state 'active'. Cancel the workflow with `then: leave`,"
    " and restart the document under the definition with that policy."
)
HELPERS = "That can be done by sam."
NO_HELPERS = (
    "No active member without a part in the document may do that (member:edit, and what the role brings):"
    " an operator can add one by the tenant's file."
)
BAR = "carl took the role 'approver' from ben: a person without a part in the document gives it back"
BARRED = "Until then that bars every vote of this stage, also of a new member."
MOVE = "Then move the instance to the definition with that policy."
CHAIN = "The chain large is read again when the instance is retried."
BREAK_GLASS = "If the tenant can do none of this, two operators may seat emil by break-glass."
STAYS = "The instance cannot move to it, for it is so: it must be cancelled."
LATER = "Do not take xena: a later stage would have nobody, for it wants another person."
KEPT_BEHIND = "An open request keeps its policy, and behind a gate its workflow cannot be cancelled."
RETRY = "When nothing keeps the people any more, retry the instance."


def explained(stuck: StuckStageRecord, status: str = "paused") -> StuckStage:
    found = record(stuck_stages=[stuck], status=status)
    (only,) = explain_instance(WORKFLOW, CONTRACT, found).stuck_stages
    return only


def test_it_names_the_stage_what_keeps_each_person_and_the_ways_out() -> None:
    stage = explained(STUCK)
    assert (stage.node, stage.stage, stage.request_id) == (FINANCE, 2, REQUEST)
    assert stage.additions == ("dora", "emil")
    assert stage.text[0].endswith("nobody may decide stage 2.")
    assert stage.text[1:3] == (
        "the organisation names no such manager of carl.",
        "Not ada: ada has approved this before.",
    )
    assert stage.text[3:] == stage.remedies
    assert stage.remedies == (
        ADD,
        "Their roles must grant invoice:approve.",
        "A person must do that who is not responsible for the document: otherwise it bars the vote.",
        HELPERS,
        CANCEL,
        "Or publish a policy with fewer stages or with same_person: allowed.",
        KEEPS,
        AGAIN,
        BREAK_GLASS,
        RETRY,
    )
    lines = write_instance(explain_instance(WORKFLOW, CONTRACT, record(stuck_stages=[STUCK])))
    assert lines.index("What to do where nobody may decide") < lines.index(HISTORY)
    assert f"    {ADD}" in lines


@pytest.mark.parametrize(
    ("stuck", "has", "has_not"),
    [
        (replace(STUCK, additions=[], permissions=[]), {NOBODY}, {ADD}),
        (replace(STUCK, roles=[]), {BY_NAME}, {ADD, NOBODY}),
        (replace(STUCK, rejecters=["ada", "ben"]), {"Or reject it: ada or ben may."}, set()),
        (replace(STUCK, request_id=None, seatable=[]), {MOVE}, {KEEPS, BREAK_GLASS}),
        (replace(STUCK, needed_later=["xena"]), {ADD, LATER}, set()),
        (replace(STUCK, request_id=None, chain_name="large"), {CHAIN}, {MOVE, KEEPS}),
        (replace(STUCK, request_id=None, immovable="it is so"), {STAYS, AGAIN}, {MOVE}),
        (replace(STUCK, bar=BAR, seatable=[]), {BARRED, HELPERS}, {ADD, BREAK_GLASS}),
        (replace(STUCK, helpers=[]), {NO_HELPERS}, {HELPERS}),
        (replace(STUCK, lacks_another_person=False), {"Or publish a policy with fewer stages."}, set()),
    ],
)
def test_each_way_stands_where_it_helps(stuck: StuckStageRecord, has: set[str], has_not: set[str]) -> None:
    remedies = set(explained(stuck).remedies)
    assert has <= remedies
    assert remedies.isdisjoint(has_not)


def test_what_helps_stands_first() -> None:
    remedies = explained(replace(STUCK, bar=BAR)).remedies
    assert remedies[:3] == (f"Undo this first: {BAR}.", BARRED, HELPERS)


@pytest.mark.parametrize(
    ("status", "sentence"), [("draft", AGAIN), ("submitted", AMENDMENT), ("active", ANEW), ("amended", None)]
)
def test_what_can_follow_a_cancelled_workflow_is_told_for_the_state(
    status: str, sentence: str | None
) -> None:
    found = record(stuck_stages=[STUCK], document=replace(DOCUMENT, status=status))
    (only,) = explain_instance(WORKFLOW, CONTRACT, found).stuck_stages
    assert {AGAIN, AMENDMENT, ANEW}.intersection(only.remedies) == ({sentence} if sentence else set())
    (unknown,) = explain_instance(WORKFLOW, None, found).stuck_stages
    assert {AGAIN, AMENDMENT, ANEW}.isdisjoint(unknown.remedies)


def test_what_is_not_paused_needs_no_retry() -> None:
    assert RETRY not in explained(STUCK, "running").remedies


def test_behind_a_gate_an_approval_is_not_got_rid_of_by_ending_its_workflow() -> None:
    """The acts refuse that where the document could go on, and no remedy may name it."""
    line = make_line(LOOK, POST, is_behind=True)
    found = record(stuck_stages=[replace(STUCK, node_id="usr:posting:look")])
    for contract, is_possible in ((GOING_ON, False), (PLAIN, True)):
        artifact = compile_line(contract, posting=line)
        (only,) = explain_instance(artifact, None, found).stuck_stages
        told = {CANCEL, KEEPS} <= set(only.remedies), KEPT_BEHIND in only.remedies
        assert told == (is_possible, not is_possible)


def test_where_people_are_asked_by_name_each_named_remedy_is_told() -> None:
    named = replace(STUCK, roles=[], named_remedies=["Hand the seat over"])
    remedies = explained(named).remedies
    assert remedies[remedies.index(BY_NAME) + 1] == "Hand the seat over."
