"""Faults in who votes: seats without their role, and bars that asking again lifts (WF-03)."""

from tests.mutants.mutation import Mutation

CORE = "shared/signet/core"
NAMED = "tests/scenarios/authority/test_seats_with_a_role.py::test_"

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

VOTING = (*SEATS,)
