"""The explanation of approvals: each state of a request, and each way in which it can be overtaken."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from signet.core.approvals.eligibility import Delegation, Seat
from signet.core.explain.approval_requests import RequestExplanation
from signet.core.explain.instance import explain_instance
from signet.core.explain.instance_record import (
    AddedSeatRecord,
    ApprovalRecord,
    DecisionRecord,
    EditRecord,
    ExplainedStep,
    LapsedVoteRecord,
    VoterRecord,
)
from signet.core.explain.voters import MAX_SHOWN_PEOPLE
from tests.support.core.instance_records import CONTRACT, FINANCE, LATER, NOW, WORKFLOW, record, step, tell

ASKED = UUID(int=50)
OWNER, GATE = "usr:approvals:owner", "sys:gate:approve"
REQUEST = ApprovalRecord(
    id=UUID(int=40),
    step_execution_id=ASKED,
    node_id=FINANCE,
    document_version=1,
    snapshot_hash="5" * 64,
    definition_hash="d" * 64,
    policy_hash="b" * 64,
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
)
DECISION = DecisionRecord(UUID(int=41), 1, 1, "approved", None, "fiona", None, NOW)
DELEGATION = Delegation(UUID(int=42), "fiona", "dora", None, NOW, LATER)
FINANCE_SEAT = Seat(1, 1, holder_role="finance_manager")


def request(**changes: Any) -> ApprovalRecord:
    return replace(REQUEST, **changes)


def asked(end_seq: int | None = 10, status: str = "cancelled", **changes: Any) -> ExplainedStep:
    """Make the step that the request belongs to."""
    return step(FINANCE, "approval", id=ASKED, seq=8, end_seq=end_seq, status=status, **changes)


def later(node: str, node_type: str, seq: int, **changes: Any) -> ExplainedStep:
    return step(node, node_type, id=UUID(int=100 + seq), **{"seq": seq, "end_seq": seq, **changes})


def control(name: str, seq: int = 10, **data: Any) -> ExplainedStep:
    return later(f"sys:control:{name}", "control", seq, output_json=data, entity_version=2)


def explained(approval: ApprovalRecord, *steps: ExplainedStep, **changes: Any) -> RequestExplanation:
    found = record(steps=list(steps), approvals=[approval], **changes)
    (only,) = explain_instance(WORKFLOW, CONTRACT, found).approvals
    return only


def said(approval: ApprovalRecord, *steps: ExplainedStep, **changes: Any) -> list[str]:
    return list(explained(approval, *steps, **changes).text)


# --- its state ---


def test_it_says_how_a_seat_came_about_also_after_the_request_has_ended() -> None:
    """Two operators gave one, and another was handed over; a vote from a third had lapsed."""
    added = AddedSeatRecord(1, 2, "otis", "rita", "all are away")
    given = replace(FINANCE_SEAT, holder_role=None, holder_user_id="gina", handed_over_from="fiona")
    lapsed = LapsedVoteRecord(1, 1, "dora", None)
    ended = request(
        status="approved",
        seats=[replace(given, status="approved", decided_by="gina"), given],
        added_seats=[added],
        lapsed=[lapsed],
    )
    text = said(ended)
    assert text[2:] == [
        "Seat 2 of stage 1 came by break-glass: otis proposed it, and rita consented."
        " The reason: all are away.",
        "Seat 1 of stage 1 was handed over from fiona to gina.",
        "The vote of dora in stage 1, seat 1, lapsed (VOTE_NO_LONGER_VALID): a gate could not use it, and the"
        " seat was asked again.",
    ]


def test_a_stage_that_had_only_abstentions_says_what_leads_on() -> None:
    abstained = replace(FINANCE_SEAT, status="abstained", decided_by="fiona")
    text = said(request(seats=[abstained]))
    assert text[-4:] == [
        "Everybody who may decide stage 1 has abstained. Nobody is asked now.",
        "Give the role finance_manager to another person, and retry the instance: they are asked then.",
        "Or send the token back to the state before (go_to): then the same people are asked again.",
        "Or cancel the token (cancel_token) and retry the instance: it goes on as rejected.",
    ]
    named = replace(abstained, holder_role=None, holder_user_id="fiona")
    assert not any("Give the role" in line for line in said(request(seats=[named])))


def test_it_begins_with_how_it_stands_and_what_it_is_about() -> None:
    assert said(request(chain_name="payable", chain_version=3, status="expired")) == [
        f'The approval "Finance", request {REQUEST.id}: expired.',
        "Requested by carl at 2026-03-01 12:00:00 UTC, by version 3 of the chain payable."
        " It is about version 1 of the"
        f" document (snapshot {'5' * 64}), under the definition {'d' * 64} and the policy {'b' * 64}.",
    ]


def test_it_is_a_chapter_of_the_whole_where_there_is_any() -> None:
    assert "Its approvals" not in tell(record())
    text = tell(record(approvals=[request(status="rejected")]))
    assert (
        f'\n\nIts approvals\n  The approval "Finance", request {REQUEST.id}: rejected.\n    Requested' in text
    )


@pytest.mark.parametrize(
    ("applied", "steps", "sentence"),
    [
        (False, (), "approved, used by no gate yet."),
        # The step is further back than the history that was read, or was never left.
        (True, (), "approved, used up by a gate."),
        (True, (asked(None, "running"),), "approved, used up by a gate."),
        (True, (asked(10, "completed"),), "approved, used up by a gate."),
        (
            True,
            (
                later(GATE, "lifecycle_gate", 3, output_json={"outcome": "passed"}),
                asked(10, "completed"),
                later(GATE, "lifecycle_gate", 11, output_json={"outcome": "rejected"}),
                later(GATE, "lifecycle_gate", 12),
                later(GATE, "lifecycle_gate", 13, output_json={"outcome": "passed"}),
            ),
            'approved, and used up by the gate "Approval" (step 13).',
        ),
    ],
)
def test_which_gate_used_it_up(applied: bool, steps: tuple[ExplainedStep, ...], sentence: str) -> None:
    assert said(request(status="approved", applied=applied), *steps)[0].endswith(sentence)


# --- its decisions ---


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "fiona approved at 2026-03-01 12:00:00 UTC (stage 1, seat 1)."),
        (
            {"decision": "rejected", "reason": "too much!"},
            'fiona rejected at 2026-03-01 12:00:00 UTC (stage 1, seat 1): "too much!".',
        ),
        (
            {"decided_by": "dora", "on_behalf_of": "fiona", "delegation": DELEGATION},
            "dora approved for fiona at 2026-03-01 12:00:00 UTC (stage 1, seat 1), under the delegation"
            " 00000000-0000-0000-0000-00000000002a from fiona to dora about all documents, from"
            " 2026-03-01 12:00:00 UTC to 2026-03-01 13:00:00 UTC.",
        ),
        (
            {"delegation": replace(DELEGATION, entity_type="credit_note", is_revoked=True)},
            'about documents of the type "credit note", from 2026-03-01 12:00:00 UTC to 2026-03-01 13:00:00'
            " UTC; it has been revoked since.",
        ),
    ],
)
def test_who_decided_for_whom_by_what_right(changes: Any, sentence: str) -> None:
    vote = said(request(status="rejected", decisions=[replace(DECISION, **changes)]))[2]
    assert vote.endswith(sentence)


# --- the people who may still decide ---


def test_whom_it_waits_for() -> None:
    seats = [
        FINANCE_SEAT,
        Seat(1, 2, holder_user_id="olga"),
        Seat(1, 3, holder_user_id="ada", status="closed"),
    ]
    voters = [
        VoterRecord("dora", "fiona", UUID(int=42)),
        VoterRecord("fred", obstacle="he created it"),
        VoterRecord("olga"),
    ]
    waiting = request(seats=seats, voters=voters, escalate_at=NOW, expire_at=LATER)
    assert said(waiting)[2:] == [
        "Seat 1 of stage 1 is open, for the role finance_manager.",
        "Seat 2 of stage 1 is open, for olga.",
        "Who may decide now: dora for fiona (delegation 00000000-0000-0000-0000-00000000002a) and olga.",
        "Not fred: he created it.",
        "If it is still undecided, it goes to a wider circle at 2026-03-01 12:00:00 UTC.",
        "It expires at 2026-03-01 13:00:00 UTC.",
    ]
    assert explained(waiting).open_seats == tuple(seats[:2])
    reminding = said(replace(waiting, reminders=2, remind_at=LATER))
    assert reminding[6:8] == [
        "Those who have not decided were reminded 2 times.",
        "Who has not decided is reminded at 2026-03-01 13:00:00 UTC.",
    ]


def test_a_circle_is_widened_once() -> None:
    wider = Seat(1, 2, holder_user_id="ada", origin="escalated")
    sentences = said(request(seats=[FINANCE_SEAT, wider], escalate_at=NOW))
    assert sentences[3:] == [
        "Seat 2 of stage 1 is open, for ada, of the wider circle.",
        "Nobody may fill it now.",
    ]


def test_seats_that_were_added_or_handed_over_say_so() -> None:
    handed = Seat(1, 2, holder_user_id="ada", handed_over_from="olga")
    broken = Seat(1, 3, holder_user_id="emil", origin="break_glass")
    assert said(request(seats=[handed, broken]))[2:4] == [
        "Seat 2 of stage 1 is open, for ada, handed over from olga.",
        "Seat 3 of stage 1 is open, for emil, seated by break-glass of two operators.",
    ]


def test_of_many_people_the_first_are_named() -> None:
    people = [VoterRecord(f"p{number:02}") for number in range(MAX_SHOWN_PEOPLE + 3)]
    sentence = said(request(seats=[FINANCE_SEAT], voters=people))[-1]
    assert sentence.startswith("Who may decide now: p00, p01")
    assert sentence.endswith("p19 and 3 more.")


def test_when_the_workflow_has_to_move_first() -> None:
    assert said(request(document_version=7, seats=[FINANCE_SEAT]))[2:] == [
        "The document is at version 1 by now: nobody can decide about version 7 any more."
    ]
    closed = replace(FINANCE_SEAT, status="approved", decided_by="fiona")
    assert said(request(seats=[closed]))[2:] == [
        "Nobody is asked any more: the workflow has not taken the decision yet."
    ]
    assert said(request(seats=[closed]), document=None)[2:] == said(request(seats=[closed]))[2:]


# --- the reasons why it was voided ---

EDITS = [EditRecord(version, who, LATER) for version, who in ((2, "anna"), (3, "carl"), (4, "eve"))]
VOTED = {"decisions": [DECISION, replace(DECISION, decided_by="frank"), DECISION]}


@pytest.mark.parametrize(
    ("steps", "sentence", "cause"),
    [
        (
            (
                control("edited", 9, seen=1, found=3),
                asked(),
                control("sent_to", node=FINANCE, because="edited"),
            ),
            "anna and carl edited the document (version 3 at 2026-03-01 13:00:00 UTC)",
            ("edited", ("anna", "carl"), 3, 9),
        ),
        # An edit of another version voided nothing, nor did a change that the workflow only noted.
        (
            (
                asked(),
                control("edited", 9, seen=4, found=5),
                control("paused", reason="why"),
                control("sent_to", node=FINANCE, because="another request"),
                control("amended", 11, diff={}),
            ),
            "carl amended the document (version 2 at 2026-03-01 12:00:00 UTC)",
            ("amended", ("carl",), 2, 11),
        ),
        (
            (asked(), replace(control("deleted"), completed_at=None)),
            "carl deleted the document (version 2)",
            ("deleted", ("carl",), 2, 10),
        ),
        (
            (asked(), control("failed", actor={"id": "olga"}, reason="over")),
            "olga gave the workflow up (at 2026-03-01 12:00:00 UTC)",
            ("failed", ("olga",), None, 10),
        ),
        (
            (asked(), replace(control("failed", reason="over"), completed_at=None)),
            "carl gave the workflow up",
            ("failed", ("carl",), None, 10),
        ),
        (
            (asked(), control("cancelled", actor={"id": "olga"}, reason="over")),
            "olga cancelled the workflow (at 2026-03-01 12:00:00 UTC)",
            ("cancelled", ("olga",), None, 10),
        ),
        (
            (asked(), control("token_cancelled", node=FINANCE, actor={"id": "olga"}, reason="over")),
            'olga cancelled the approval "Finance" (at 2026-03-01 12:00:00 UTC)',
            ("token_cancelled", ("olga",), None, 10),
        ),
        (
            (asked(), control("renewed", node=FINANCE, actor={"id": "olga"}, reason="anna is away")),
            'olga had people asked again at the approval "Finance" (at 2026-03-01 12:00:00 UTC)',
            ("renewed", ("olga",), None, 10),
        ),
        (
            (asked(), control("sent_to", node=GATE, transition="cancel", actor={"id": "olga"})),
            'olga asked for "cancel" (at 2026-03-01 12:00:00 UTC)',
            ("asked", ("olga",), None, 10),
        ),
        # A step that ended with it and was not withdrawn itself.
        (
            (
                asked(),
                later("usr:approvals:single", "approval", 7, end_seq=10, status="cancelled"),
                later(OWNER, "approval", 9, end_seq=10, output_json={"outcome": "rejected"}),
            ),
            'The approval "owner" ended as rejected',
            ("withdrawn", (), None, 9),
        ),
        (
            (asked(), later(OWNER, "approval", 9), later(OWNER, "approval", 9, end_seq=10)),
            'The approval "owner" ended',
            ("withdrawn", (), None, 9),
        ),
        # The request was approved, and then the document took another edge.
        (
            (
                asked(10, "completed"),
                later(OWNER, "approval", 11, output_json={"outcome": "rejected"}),
                later(GATE, "lifecycle_gate", 12, output_json={"outcome": "rejected"}),
            ),
            'The gate "Approval" ended as rejected',
            ("another_way", (), None, 12),
        ),
        ((asked(),), "Amended", ("unknown", (), None, None)),
        ((asked(None, "running"),), "Amended", ("unknown", (), None, None)),
        ((), "Amended", ("unknown", (), None, None)),
    ],
)
def test_what_voided_it(steps: tuple[ExplainedStep, ...], sentence: str, cause: tuple[Any, ...]) -> None:
    void = request(status="voided", outcome="amended", **VOTED)
    overtaken = explained(void, *steps, edits=EDITS).overtaken
    assert overtaken is not None
    assert overtaken.text == f"{sentence}: nothing that fiona and frank decided counts any longer."
    assert (overtaken.because, overtaken.by, overtaken.version, overtaken.step) == cause


@pytest.mark.parametrize("completed_at", [NOW, None])
def test_who_edited_may_be_further_back_than_what_was_read(completed_at: Any) -> None:
    edited = replace(control("edited", 9, seen=1, found=2), completed_at=completed_at)
    when = " at 2026-03-01 12:00:00 UTC" if completed_at else ""
    sentence = f"The document was edited (version 2{when}): the request no longer counts."
    assert said(request(status="voided"), edited, asked())[-1] == sentence


def test_without_a_cause_on_record_the_outcome_says_it() -> None:
    assert said(request(status="voided"))[-1] == "It was withdrawn: the request no longer counts."
