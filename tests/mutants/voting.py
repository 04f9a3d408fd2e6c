"""Faults in who votes: seats without their role, and bars that asking again lifts (WF-03)."""

from tests.mutants.mutation import Mutation

CORE = "shared/signet/core"
NAMED = "tests/scenarios/authority/test_seats_with_a_role.py::test_"
AGAIN = "tests/scenarios/authority/test_asking_again.py::test_"
LAPSED = "tests/scenarios/authority/test_votes_that_lapse.py::test_"

SEATS = (
    Mutation(
        "a person whom a field names needs no role for a seat",
        3,
        f"{CORE}/approvals/seats.py",
        "elif approver.who is None or approver.who in approver_data.roles.get(person, ()):",
        "elif True:",
        (f"{NAMED}a_person_without_the_role_gets_no_seat",),
    ),
    Mutation(
        "the role of a seat is not asked of its voter",
        3,
        f"{CORE}/approvals/eligibility.py",
        "if self.needed_role is not None and self.needed_role not in roles:",
        "if False:",
        (f"{NAMED}who_has_lost_the_role_decides_no_more",),
    ),
    Mutation(
        "the role of a seat is not asked at the gate",
        3,
        f"{CORE}/approvals/proof.py",
        "    if needed is None or needed in roles.get(holder, ()):",
        "    if True:",
        (f"{NAMED}a_vote_lapses_at_the_gate_when_its_role_is_lost",),
    ),
)

ASKED_AGAIN = (
    Mutation(
        "a delegate who rejected is asked again themselves",
        3,
        f"{CORE}/approvals/seats.py",
        "        holder_user_id=rejected.on_behalf_of or rejected.decided_by,\n",
        "        holder_user_id=rejected.decided_by,\n",
        (f"{AGAIN}a_delegate_who_rejected_gets_no_seat_of_their_own",),
    ),
    Mutation(
        "a seat that is asked again forgets its role",
        3,
        f"{CORE}/approvals/seats.py",
        "        needed_role=rejected.holder_role or rejected.needed_role,\n",
        "",
        (f"{AGAIN}who_rejected_needs_the_role_to_decide_again",),
    ),
)

LAPSED_VOTES = (
    Mutation(
        "an instance moves while a lapsed vote is asked again",
        3,
        "shared/signet/engine/approvals/requests.py",
        'r for r in live if r.status == "open" and r.is_reopened)]',
        "r for r in live if False)]",
        (f"{LAPSED}an_instance_that_waits_for_a_lapsed_vote_does_not_move",),
    ),
    Mutation(
        "an old rejection rejects what is asked again",
        3,
        "shared/signet/engine/execution/nodes/lifecycle_gate.py",
        "        request.is_reopened\n        and request.document_version == version\n        and ",
        "        ",
        (f"{LAPSED}a_branch_that_lost_its_join_rejects_nothing",),
    ),
)

STRANGERS = (
    Mutation(
        "a stranger learns what became of an approval",
        3,
        "shared/signet/engine/approvals/decide.py",
        "    if not is_asked(person, (*locked.seats, *locked.other_seats), roles, locked.delegations):",
        "    if False:",
        ("tests/integration/engine/approvals/test_strangers.py::test_a_stranger_learns_nothing",),
    ),
)

VOTING = (*STRANGERS, *LAPSED_VOTES, *SEATS, *ASKED_AGAIN)
