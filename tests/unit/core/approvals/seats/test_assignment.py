"""Approvers become seats. An approver who cannot be found is reported, and never makes an approval easier."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.seats.assignment import (
    MAX_SEATS,
    ApproverData,
    Deadlock,
    SeatAssignment,
    UnseatedApprover,
    UnseatedReason,
    list_needs,
    seat_escalation,
    seat_stage,
)
from signet.core.approvals.seats.foreign_seats import comes_by_line, is_drawn, is_handed
from signet.core.compiler.node_configurations import Escalation, Quorum
from tests.support.core.approval_policies import expression, make_stage, manager, role, sit, user

FACTS = ApproverData(
    values={"actor.user_id": "ann", "entity.owner": "own", "entity.none": None},
    managers={"ann": "mia", "mia": "max", "max": "top"},
    members={"clerk": ["c2", "c1", "c3"], "empty": []},
    turns={"clerk": 0, "empty": 5},
)


def seat(
    *approvers: Mapping[str, Any], quorum: Quorum = "any", approver_data: ApproverData = FACTS
) -> SeatAssignment:
    return seat_stage(1, make_stage(*approvers, quorum=quorum), approver_data)


def list_holders(assignment: SeatAssignment) -> list[str]:
    return [seat.holder_user_id or f"@{seat.holder_role}" for seat in assignment.seats]


def valued(value: Any) -> ApproverData:
    return ApproverData(values={"context.people": value})


@pytest.mark.parametrize(
    ("approver", "holder"),
    [
        (user("ada"), "ada"),
        (role("cfo"), "@cfo"),
        (role("empty"), "@empty"),  # a person may hold it by the time of deciding
        (role("clerk", "round_robin"), "c1"),
        (manager(), "mia"),
        (manager(levels=3), "top"),
        (manager("entity.owner", 1), None),
        (expression("entity.owner"), "own"),
    ],
)
def test_each_resolver(approver: dict[str, Any], holder: str | None) -> None:
    assert list_holders(seat(approver)) == ([] if holder is None else [holder])


ESCALATED = Escalation.model_validate({"after": "P1D", "to": user("ada")})


@pytest.mark.parametrize(
    ("approver", "seat", "is_one"),
    [
        (user("ann"), Seat(1, 1, "ann"), True),
        (user("ann"), Seat(1, 1, "bob"), False),
        (user("ann"), Seat(1, 1, "bob", handed_over_from="ann"), True),
        (role("clerk"), Seat(1, 1, holder_role="clerk"), True),
        (role("clerk"), Seat(1, 1, "ann", needed_role="clerk"), True),
        (role("clerk"), Seat(1, 1, "ann"), False),
        (role("clerk"), Seat(1, 1, holder_role="boss"), False),
        (manager("actor.user_id"), Seat(1, 1, "mia"), True),
        (manager("actor.user_id"), Seat(1, 1, holder_role="clerk"), False),
        (expression("entity.owner"), Seat(1, 1, "own"), True),
        ({**expression("entity.owner"), "who": "boss"}, Seat(1, 1, "own"), False),
        ({**expression("entity.owner"), "who": "boss"}, Seat(1, 1, "own", needed_role="boss"), True),
        (user("ann"), Seat(1, 1, "zoe", origin="break_glass"), True),
        (user("ann"), Seat(1, 1, "ann", origin="escalated"), False),
        (user("ann"), Seat(1, 1, "ada", origin="escalated"), True),
    ],
)
def test_a_policy_draws_its_own_seats(approver: dict[str, Any], seat: Seat, is_one: bool) -> None:
    stage = make_stage(approver, quorum="any").model_copy(update={"escalate": ESCALATED})
    assert is_drawn(stage, seat) == is_one
    alone = stage.model_copy(update={"escalate": None})
    assert is_drawn(alone, seat) == (is_one and seat.origin != "escalated")


@pytest.mark.parametrize(
    ("seat", "is_by_line"),
    [
        (Seat(1, 1, "mia"), True),
        (Seat(1, 1, "zoe", handed_over_from="mia"), True),
        (Seat(1, 1, holder_role="clerk"), False),
        (Seat(1, 1, "zoe", origin="break_glass"), False),
        (Seat(1, 1, "ann"), False),
        (Seat(1, 1, "zoe", handed_over_from="ann"), False),
        (Seat(1, 1, "ada", origin="escalated"), False),
    ],
)
def test_a_seat_may_come_by_a_reporting_line(seat: Seat, is_by_line: bool) -> None:
    """The policy names ann, who has a seat without any line. It escalates to ada by name."""
    stage = make_stage(user("ann"), manager("actor.user_id"), role("clerk"), quorum="any")
    stage = stage.model_copy(update={"escalate": ESCALATED})
    assert comes_by_line(stage, seat) == is_by_line
    without = stage.model_copy(update={"approvers": stage.approvers[:1]})
    assert not comes_by_line(without, seat)
    higher = ESCALATED.model_copy(update={"to": stage.approvers[1]})
    is_wider = seat.origin == "escalated"
    assert comes_by_line(without.model_copy(update={"escalate": higher}), seat) == is_wider


def test_people_seat_others_by_break_glass_and_in_place_of_who_has_left() -> None:
    assert is_handed(Seat(1, 1, "zoe", origin="break_glass"))
    assert is_handed(Seat(1, 1, "zoe", handed_over_from="ann"))
    assert not is_handed(Seat(1, 1, "zoe"))


def test_seats_are_numbered_from_one_and_open() -> None:
    seats = seat_stage(3, make_stage(user("ada"), role("cfo")), FACTS).seats
    assert [(s.stage, s.position, s.origin, s.status) for s in seats] == [
        (3, 1, "resolved", "open"),
        (3, 2, "resolved", "open"),
    ]


@pytest.mark.parametrize(
    ("approver", "gap", "who", "lines"),
    [
        (manager(levels=4), UnseatedReason.NO_MANAGER, "ann", ("ann", "mia", "max", "top")),
        (manager(levels=9), UnseatedReason.NO_MANAGER, "ann", ("ann", "mia", "max", "top")),
        (manager("entity.none"), UnseatedReason.NOT_A_USER, "entity.none", ()),
        (expression("entity.none"), UnseatedReason.NOT_A_USER, "entity.none", ()),
        (role("empty", "round_robin"), UnseatedReason.NO_MEMBER, "empty", ()),
    ],
)
def test_who_is_not_found_is_said(
    approver: dict[str, Any], gap: UnseatedReason, who: str, lines: tuple[str, ...]
) -> None:
    assignment = seat(user("ada"), approver)
    assert list_holders(assignment) == ["ada"]
    assert assignment.missing == (UnseatedApprover(1, gap, who, lines),)
    assert who in assignment.missing[0].sentence
    assert assignment.deadlock is None


@pytest.mark.parametrize(
    ("value", "holders", "gaps"),
    [
        ("ada", ["ada"], []),
        (["ada", "bob"], ["ada", "bob"], []),
        (("ada", "bob"), ["ada", "bob"], []),
        (["ada", "bob", "ada"], ["ada", "bob"], [UnseatedReason.TWICE]),
        (["ada", None, None], ["ada"], [UnseatedReason.NOT_A_USER]),
        (["ada", 7, True, {}, ["bob"]], ["ada"], [UnseatedReason.NOT_A_USER]),
        (["", "x" * 201, "x" * 200], ["x" * 200], [UnseatedReason.NOT_A_USER]),
        ([], [], [UnseatedReason.NOT_A_USER]),
        (None, [], [UnseatedReason.NOT_A_USER]),
        (7, [], [UnseatedReason.NOT_A_USER]),
        ({"ada": 1}, [], [UnseatedReason.NOT_A_USER]),
    ],
)
def test_what_an_expression_gives(value: Any, holders: list[str], gaps: list[UnseatedReason]) -> None:
    assignment = seat(expression("context.people"), approver_data=valued(value))
    assert list_holders(assignment) == holders
    assert [each.gap for each in assignment.missing] == gaps
    assert assignment.deadlock == (None if holders else Deadlock.NOBODY_FOUND)


@pytest.mark.parametrize(
    ("value", "holders", "gaps"),
    [
        ("ada", ["ada"], []),
        ("bob", [], [UnseatedReason.NOT_OF_ROLE]),
        ("stranger", [], [UnseatedReason.NOT_OF_ROLE]),
        (["bob", "ada", 7], ["ada"], [UnseatedReason.NOT_OF_ROLE, UnseatedReason.NOT_A_USER]),
    ],
)
def test_an_expression_with_a_role_seats_its_holders(
    value: Any, holders: list[str], gaps: list[UnseatedReason]
) -> None:
    asked = {**expression("context.people"), "who": "cfo"}
    assert list_needs(make_stage(asked).approvers).filtered == ("context.people",)
    known = replace(valued(value), roles={"ada": ["clerk", "cfo"], "bob": ["clerk"]})
    assignment = seat(asked, approver_data=known)
    assert [(each.holder_user_id, each.needed_role) for each in assignment.seats] == [
        (person, "cfo") for person in holders
    ]
    assert [each.gap for each in assignment.missing] == gaps
    everybody = seat(asked, quorum="all", approver_data=known)
    assert (everybody.deadlock is None) == (not gaps), "nobody who is asked is left out in silence"


def test_a_seat_by_turn_needs_its_role() -> None:
    assert [each.needed_role for each in seat(role("clerk", "round_robin")).seats] == ["clerk"]


def test_a_person_counts_once_and_a_role_as_often_as_it_is_asked() -> None:
    assignment = seat(user("mia"), manager(), role("cfo"), role("cfo"), user("cfo"))
    assert list_holders(assignment) == ["mia", "@cfo", "@cfo", "cfo"]
    assert assignment.missing == (UnseatedApprover(1, UnseatedReason.TWICE, "mia", ("ann",)),)
    assert [seat.position for seat in assignment.seats] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("quorum", "approvers", "deadlock"),
    [
        # A person who is asked twice is not missing, but a quorum counts people.
        ("all", [user("mia"), manager()], None),
        (1, [user("mia"), manager()], None),
        (2, [user("mia"), manager()], Deadlock.QUORUM_UNREACHABLE),
        # A person who cannot be found would have had to approve.
        ("all", [user("ada"), manager(levels=9)], Deadlock.APPROVER_MISSING),
        ("all", [user("ada"), expression("entity.none")], Deadlock.APPROVER_MISSING),
        ("all", [user("ada"), role("empty", "round_robin")], Deadlock.APPROVER_MISSING),
        ("any", [user("ada"), manager(levels=9)], None),
        (1, [user("ada"), manager(levels=9)], None),
        (2, [user("ada"), user("bob"), manager(levels=9)], None),
        (2, [user("ada"), manager(levels=9)], Deadlock.QUORUM_UNREACHABLE),
        ("all", [manager(levels=9)], Deadlock.NOBODY_FOUND),
        (1, [manager(levels=9)], Deadlock.NOBODY_FOUND),
    ],
)
def test_what_is_missing_never_makes_an_approval_easier(
    quorum: Quorum, approvers: list[dict[str, Any]], deadlock: Deadlock | None
) -> None:
    assignment = seat(*approvers, quorum=quorum)
    assert assignment.deadlock == deadlock
    assert (assignment.seats == ()) == (deadlock is not None)


def list_lines(*approvers: Mapping[str, Any], **more: Any) -> list[tuple[str, ...]]:
    return [tuple(each.lines or ()) for each in seat(*approvers, **more).seats]


def test_a_seat_tells_the_lines_that_were_climbed_to_it() -> None:
    assert list_lines(user("ada"), manager(), manager(levels=3)) == [(), ("ann",), ("ann", "mia", "max")]
    of_key = replace(FACTS, managers={**FACTS.managers, "key:1": "mia"}, owners={"key:1": "ann"})
    of_key = replace(of_key, values={**FACTS.values, "actor.user_id": "key:1"})
    assert list_lines(manager(levels=2), approver_data=of_key) == [("ann", "mia")], "of its owner"


def test_each_seat_tells_the_lines_that_led_to_nobody_else() -> None:
    """A person may have taken a seat from another by such a line."""
    assert list_lines(role("cfo"), manager(levels=9)) == [("ann", "mia", "max", "top")]
    assert list_lines(manager(), manager("entity.owner")) == [("ann", "own")]
    again = replace(FACTS, managers={**FACTS.managers, "own": "mia"})
    assert list_lines(manager(), manager("entity.owner"), approver_data=again) == [("ann", "own")], (
        "mia twice"
    )


def test_every_gap_and_every_deadlock_has_a_sentence() -> None:
    assert all(
        UnseatedApprover(0, gap, "them").sentence.startswith(("the", "them", "nobody"))
        for gap in UnseatedReason
    )
    assert len({deadlock.sentence for deadlock in Deadlock}) == len(Deadlock)


@pytest.mark.parametrize("extra", [0, 1, 10_000])
@pytest.mark.parametrize("last", [[], [role("cfo")]], ids=["people", "people and a role"])
def test_a_stage_has_a_hundred_seats_at_most(extra: int, last: list[dict[str, Any]]) -> None:
    people = [f"u{n}" for n in range(MAX_SEATS - len(last) + extra)]
    assignment = seat(expression("context.people"), *last, approver_data=valued(people))
    if extra == 0:
        assert (len(assignment.seats), assignment.missing, assignment.deadlock) == (MAX_SEATS, (), None)
    else:
        assert (assignment.seats, assignment.deadlock) == ((), Deadlock.TOO_MANY_SEATS)
        assert {each.gap for each in assignment.missing} == {UnseatedReason.TOO_MANY}


def test_members_take_turns() -> None:
    picks = []
    for turn in range(-1, 7):
        approver_data = ApproverData(members=FACTS.members, turns={"clerk": turn})
        picks += list_holders(seat(role("clerk", "round_robin"), approver_data=approver_data))
    assert picks == ["c3", "c1", "c2", "c3", "c1", "c2", "c3", "c1"]


def test_nobody_has_two_turns_in_one_stage_while_there_are_others() -> None:
    clerk = role("clerk", "round_robin")
    assert list_holders(seat(user("c1"), clerk, clerk)) == ["c1", "c2", "c3"]
    crowded = seat(clerk, clerk, clerk, clerk, quorum="all")
    assert list_holders(crowded) == ["c1", "c2", "c3"]
    assert [each.gap for each in crowded.missing] == [UnseatedReason.TWICE]


def test_who_is_barred_has_no_turn() -> None:
    barred = ApproverData(members=FACTS.members, turns={"clerk": 0}, barred={"c1", "c3"})
    assert list_holders(seat(role("clerk", "round_robin"), approver_data=barred)) == ["c2"]
    nobody = ApproverData(members=FACTS.members, turns={"clerk": 0}, barred={"c1", "c2", "c3"})
    assert seat(role("clerk", "round_robin"), approver_data=nobody).missing == (
        UnseatedApprover(0, UnseatedReason.NO_MEMBER, "clerk"),
    )


@given(st.sets(st.text("abcdef", min_size=1), min_size=1), st.integers(0, 1_000))
def test_turns_are_fair(members: set[str], start: int) -> None:
    def pick(turn: int) -> str:
        approver_data = ApproverData(members={"clerk": members}, turns={"clerk": turn})
        return list_holders(seat(role("clerk", "round_robin"), approver_data=approver_data))[0]

    assert {pick(start + n) for n in range(len(members))} == members


def escalate(to: dict[str, Any], *existing: str, approver_data: ApproverData = FACTS) -> SeatAssignment:
    escalation = Escalation.model_validate_json(json.dumps({"after": "P1D", "to": to}))
    return seat_escalation(2, escalation, approver_data, sit(*existing))


def test_an_escalation_adds_seats_behind_those_that_are() -> None:
    assignment = escalate(expression("entity.owner"), "ada", "@cfo")
    assert [(s.stage, s.position, s.holder_user_id, s.origin) for s in assignment.seats] == [
        (2, 3, "own", "escalated")
    ]
    assert assignment.deadlock is None
    assert [s.position for s in escalate(user("boss")).seats] == [1]


def test_an_escalation_tells_the_lines_of_a_stage_that_could_not_begin() -> None:
    escalation = Escalation.model_validate_json(json.dumps({"after": "P1D", "to": manager("entity.owner")}))
    known = replace(FACTS, managers={**FACTS.managers, "own": "mia"})
    in_vain = seat(manager(levels=9)).in_vain
    (added,) = seat_escalation(1, escalation, known, (), in_vain).seats
    assert (in_vain[0], added.lines) == ("ann", ("own", *in_vain))


def test_an_escalation_gives_a_turn_to_somebody_else() -> None:
    assert list_holders(escalate(role("clerk", "round_robin"), "c1")) == ["c2"]


def test_an_escalation_to_nobody_is_said() -> None:
    assignment = escalate(manager(levels=9), "ada")
    assert (assignment.seats, assignment.deadlock) == ((), Deadlock.NOBODY_FOUND)
    assert [each.gap for each in assignment.missing] == [UnseatedReason.NO_MANAGER]
    crowd = escalate(
        expression("context.people"), approver_data=valued([f"u{n}" for n in range(MAX_SEATS + 1)])
    )
    assert (crowd.seats, crowd.deadlock) == ((), Deadlock.TOO_MANY_SEATS)


def test_what_must_be_known_before_there_are_seats() -> None:
    stage = make_stage(
        user("ada"),
        role("cfo"),
        role("clerk", "round_robin"),
        role("clerk", "round_robin"),
        manager("entity.owner", 3),
        manager("entity.owner", 2),
        manager(),
        expression("entity.owner"),
        expression("entity.budget"),
    )
    needs = list_needs(stage.approvers)
    assert needs.expressions == ("entity.owner", "actor.user_id", "entity.budget")
    assert needs.managers_of == {"entity.owner": 3, "actor.user_id": 1}
    assert needs.turns == ("clerk",)
