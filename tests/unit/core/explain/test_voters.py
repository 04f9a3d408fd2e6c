"""The people of a request in words: what a vote needs, lapsed votes, and what keeps people."""

from dataclasses import replace
from typing import Any

from signet.core.approvals.eligibility import Seat
from signet.core.explain.instance_record import LapsedVoteRecord, VoterRecord
from signet.core.explain.voters import MAX_SHOWN_PEOPLE, describe_obstacles
from tests.support.core.instance_records import CONTRACT
from tests.unit.core.explain.test_approval_requests import FINANCE_SEAT, REQUEST, explained, said
from tests.unit.core.explain.test_stuck_stages import STUCK


def kept(person: str, **more: Any) -> VoterRecord:
    return VoterRecord(person, obstacle="needs the permission 'a:b'", code="PERMISSION_DENIED", **more)


def test_the_terms_of_voters_are_told() -> None:
    request = replace(REQUEST, voter_permissions=["invoice:approve"], allows_same_person=True)
    sentences = said(request)
    assert "A voter needs the permission invoice:approve." in sentences
    assert "One person may approve more than once here (same_person: allowed)." in sentences
    assert "invoice:approve" not in CONTRACT.conditions


def test_a_lapsed_vote_for_another_names_both() -> None:
    lapsed = [LapsedVoteRecord(1, 2, "dora", "fiona", "fiona is no active member any more")]
    request = explained(replace(REQUEST, lapsed=lapsed, seats=[FINANCE_SEAT]))
    (vote,) = request.lapsed
    assert (vote.stage, vote.seat, vote.by, vote.on_behalf_of) == (1, 2, "dora", "fiona")
    assert vote.text in request.text
    assert vote.text == (
        "The vote of dora for fiona in stage 1, seat 2, has lapsed (VOTE_NO_LONGER_VALID): a gate could not"
        " use it, and the seat is asked again. Now: fiona is no active member any more."
    )


def test_a_seat_that_needs_a_role_says_so() -> None:
    sentences = said(replace(REQUEST, seats=[Seat(1, 1, "ada", needed_role="finance")]))
    assert any("ada, as long as they hold the role finance" in sentence for sentence in sentences)


def test_what_takes_no_vote_names_nobody() -> None:
    sentences = said(replace(REQUEST, seats=[Seat(1, 1, "ada")], refusal="the time to decide is over"))
    assert sentences[-1] == "Nobody can vote now: the time to decide is over."


def test_of_many_people_who_are_kept_the_first_are_named_and_all_others_counted() -> None:
    people = [kept(f"p{number:02}", may_reject=number == 0) for number in range(MAX_SHOWN_PEOPLE + 3)]
    sentences = list(describe_obstacles([VoterRecord("ada"), *people]))
    assert sentences[0] == "Not p00: needs the permission 'a:b'."
    assert len(sentences) == MAX_SHOWN_PEOPLE + 2
    assert sentences[-2:] == ["Nor 3 more.", "p00 may still reject it."]


def test_between_two_stages_nobody_is_asked() -> None:
    stuck = replace(STUCK, request_id=REQUEST.id)
    assert any(
        "Stage 1 is decided, and stage 2 cannot begin: nobody may decide it." in sentence
        for sentence in said(REQUEST, stuck_stages=[stuck])
    )


def test_who_has_rejected_the_same_content_is_asked_alone() -> None:
    rejected = Seat(1, 1, holder_role="finance", status="rejected", decided_by="ada")
    seat = Seat(1, 1, "ada", needed_role="finance")
    told = " ".join(said(replace(REQUEST, seats=[seat], rejected_seats=[rejected])))
    assert "ada alone is asked there, because they have rejected the same content." in told
    another = " ".join(said(replace(REQUEST, seats=[seat], rejected_seats=[replace(rejected, position=2)])))
    assert "alone" not in another
