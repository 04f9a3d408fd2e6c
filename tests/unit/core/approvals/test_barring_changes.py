"""Changes of eligibility that bar a vote, one by one, and those beside them that bar nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from signet.core.approvals.barring_changes import CODE, MAX_CHANGES, VoteBasis, find_barring_change
from signet.core.tenants.eligibility_changes import ELIGIBILITY_KINDS, EligibilityChange, EligibilityKind

OPENED = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = OPENED + timedelta(hours=1)
# Ben votes from a seat of finance; dina has a seat of her own. Mia wrote the document.
BASIS = VoteBasis(
    voter="ben",
    represented=None,
    own_roles=("finance", "clerk"),
    holder_ids=("dina",),
    seat_roles=("finance",),
    responsible=("mia",),
    asked_roles=("finance",),
    needed_permissions=("invoice:approve",),
    reads_roles=False,
    asked_since=OPENED,
)
DELEGATED = replace(BASIS, voter="dora", represented="ben")


def change(kind: EligibilityKind, by: str = "mia", **more: Any) -> EligibilityChange:
    return EligibilityChange(kind, more.pop("at", LATER), by, more.pop("persons", (by,)), **more)


def is_barred(basis: VoteBasis, *changes: EligibilityChange) -> bool:
    denial = find_barring_change(basis, changes)
    assert denial is None or denial.code == CODE
    return denial is not None


GIVEN_TO_THE_VOTER = [
    change("role_given", user_id="ben", role="finance"),
    change("member_enabled", user_id="ben"),
    change("manager_set", user_id="ben", other_user_id="mia"),
    change("seat_given", user_id="ben", other_user_id="anna"),
]
APPROVING = ("invoice:read", "*:approve")
GIVEN_TO_THE_VOTER_BY_A_ROLE = [
    change("role_widened", role="finance"),
    change("role_widened", role="clerk", role_permissions=APPROVING),
]
CLEARING_THE_BENCH = [
    change("role_taken", user_id="anton", role="finance"),
    change("member_disabled", user_id="anton", role="finance"),
    change("member_disabled", user_id="dina"),
    change("role_permissions_changed", role="finance"),
    change("role_deleted", role="finance"),
    change("role_taken", user_id="anton", role="warehouse", takes_permission=True),
    change("role_permissions_changed", role="warehouse", takes_permission=True),
]
BESIDE_THE_VOTE = [
    change("role_given", user_id="ben", role="clerk", role_permissions=("invoice:read",)),
    change("role_given", user_id="ben", role="gone"),
    change("role_widened", role="clerk", role_permissions=("invoice:read",)),
    change("role_permissions_changed", role="clerk", role_permissions=()),
    change("role_given", user_id="pia", role="finance"),
    change("member_enabled", user_id="pia"),
    change("manager_set", user_id="pia", other_user_id="mia"),
    change("seat_given", user_id="pia", other_user_id="anna"),
    change("role_taken", user_id="anton", role="warehouse"),
    change("role_taken", user_id="ben", role="warehouse"),
    change("role_taken", user_id="dina", role="warehouse"),
    change("member_disabled", user_id="anton", role="warehouse"),
    change("member_disabled", user_id="anton"),
    change("role_permissions_changed", role="warehouse"),
    change("role_widened", role="warehouse"),
    change("delegation_given", user_id="ben", other_user_id="anton"),
    change("delegation_revoked", user_id="ben", other_user_id="dora"),
]


BARRING = [*GIVEN_TO_THE_VOTER, *GIVEN_TO_THE_VOTER_BY_A_ROLE, *CLEARING_THE_BENCH]


@pytest.mark.parametrize("given", BARRING, ids=lambda one: one.kind)
def test_nobody_votes_by_what_the_documents_people_gave_or_took(given: EligibilityChange) -> None:
    assert is_barred(BASIS, given)
    assert is_barred(BASIS, replace(given, actor_id="key:erp", persons=("ada", "mia"))), "by a key of theirs"
    assert is_barred(BASIS, replace(given, changed_at=OPENED))
    assert not is_barred(BASIS, replace(given, changed_at=OPENED - timedelta(seconds=1)))
    assert not is_barred(BASIS, replace(given, persons=("hana",))), "a third person may"


@pytest.mark.parametrize("given", BARRING, ids=lambda one: one.kind)
def test_nor_by_what_they_gave_themselves_or_took_from_others(given: EligibilityChange) -> None:
    assert is_barred(BASIS, replace(given, persons=("ben",)))


@pytest.mark.parametrize("taken", CLEARING_THE_BENCH, ids=lambda one: one.kind)
def test_a_gate_does_not_ask_what_was_taken_from_others(taken: EligibilityChange) -> None:
    """A role that has lost permissions may have given them to the voter before: that it asks."""
    at_the_gate = replace(BASIS, judges_takings=False)
    is_of_the_voter = taken.kind == "role_permissions_changed" and taken.role in BASIS.own_roles
    assert is_barred(at_the_gate, taken) == is_of_the_voter


@pytest.mark.parametrize("given", BESIDE_THE_VOTE, ids=lambda one: f"{one.kind} {one.user_id} {one.role}")
def test_a_change_that_the_vote_does_not_rest_on_bars_nothing(given: EligibilityChange) -> None:
    assert not is_barred(BASIS, given)


def test_a_role_that_the_voter_has_besides_may_give_the_permission() -> None:
    changed = change("role_permissions_changed", role="clerk", role_permissions=APPROVING)
    assert is_barred(BASIS, changed)
    assert not is_barred(replace(BASIS, needed_permissions=()), changed), "a seat alone is needed"
    assert not is_barred(replace(BASIS, own_roles=("finance",)), changed)


def test_a_role_that_was_given_bars_by_what_it_grants_now() -> None:
    given = change("role_given", user_id="ben", role="clerk", role_permissions=APPROVING)
    assert is_barred(BASIS, given)
    assert not is_barred(replace(BASIS, needed_permissions=()), given)


def test_a_condition_that_reads_roles_rests_on_each_of_them() -> None:
    given = change("role_given", user_id="ben", role="warehouse", role_permissions=())
    assert not is_barred(BASIS, given)
    assert is_barred(replace(BASIS, reads_roles=True), given)


def test_a_role_that_only_gains_permissions_is_taken_from_nobody() -> None:
    """The seat asks for finance. It bars those who have the role, and nobody else of the stage."""
    widened = change("role_widened", role="finance")
    assert is_barred(BASIS, widened)
    assert not is_barred(replace(BASIS, own_roles=("clerk",)), widened)


@pytest.mark.parametrize("given", GIVEN_TO_THE_VOTER, ids=lambda one: one.kind)
def test_a_delegate_votes_by_what_the_delegator_has(given: EligibilityChange) -> None:
    assert is_barred(DELEGATED, given)
    assert is_barred(DELEGATED, replace(given, user_id="dora"))
    assert is_barred(DELEGATED, replace(given, persons=("dora",))), "the delegate gave it"
    assert is_barred(DELEGATED, replace(given, persons=("ben",))), "the delegator gave it"


@pytest.mark.parametrize(("user_id", "other"), [("ben", "dora"), ("dora", "ben")])
def test_a_delegation_bars_unless_the_delegator_gave_it(user_id: str, other: str) -> None:
    given = change("delegation_given", user_id=user_id, other_user_id=other)
    assert is_barred(DELEGATED, given)
    assert is_barred(DELEGATED, replace(given, persons=("dora",)))
    assert not is_barred(DELEGATED, replace(given, persons=("ben",))), "their own voice is theirs to give"
    assert not is_barred(BASIS, given), "a vote from one's own seat rests on no delegation"
    assert not is_barred(DELEGATED, replace(given, other_user_id="emil"))


GIVING_BACK: dict[EligibilityKind, tuple[EligibilityKind, ...]] = {
    "role_taken": ("role_given",),
    "member_disabled": ("member_enabled",),
    "role_permissions_changed": ("role_permissions_changed", "role_widened"),
    "role_deleted": ("role_permissions_changed", "role_widened"),
    "role_widened": ("role_permissions_changed",),
}


@pytest.mark.parametrize("taken", [*CLEARING_THE_BENCH, *GIVEN_TO_THE_VOTER_BY_A_ROLE], ids=lambda t: t.kind)
def test_what_was_taken_bars_until_a_person_gives_it_back_who_is_not_concerned(
    taken: EligibilityChange,
) -> None:
    """The same holds for what a role gained, until such a person takes it away."""
    later = LATER + timedelta(hours=1)
    for kind in ELIGIBILITY_KINDS:
        back = replace(taken, kind=kind, changed_at=later, persons=("frank",), actor_id="frank")
        assert is_barred(BASIS, taken, back) == (kind not in GIVING_BACK[taken.kind]), kind
    back = replace(taken, kind=GIVING_BACK[taken.kind][-1], changed_at=later, persons=("frank",))
    assert is_barred(BASIS, taken, replace(back, changed_at=LATER)), "it was there before"
    assert is_barred(BASIS, taken, replace(back, persons=("frank", "mia"))), "a person of the document"
    assert is_barred(BASIS, taken, replace(back, persons=("ben",))), "the voter"
    other = replace(back, user_id="another") if taken.user_id is not None else replace(back, role="another")
    assert is_barred(BASIS, taken, other), "something else"
    assert is_barred(BASIS, taken, back, replace(taken, changed_at=later + timedelta(hours=1)))


@pytest.mark.parametrize("given", GIVEN_TO_THE_VOTER, ids=lambda one: one.kind)
def test_what_was_given_to_a_person_stays_given(given: EligibilityChange) -> None:
    for kind in ELIGIBILITY_KINDS:
        later = replace(given, kind=kind, changed_at=LATER + timedelta(hours=1), persons=("frank",))
        assert is_barred(BASIS, given, later), kind


GIVING_BEFORE: dict[EligibilityKind, tuple[EligibilityKind, ...]] = {
    "role_taken": ("role_given",),
    "member_disabled": ("role_given", "member_enabled"),
}


@pytest.mark.parametrize("taken", CLEARING_THE_BENCH, ids=lambda one: f"{one.kind} {one.user_id}")
def test_to_take_back_what_a_person_of_the_document_gave_meanwhile_bars_nothing(
    taken: EligibilityChange,
) -> None:
    """That giving lets nobody vote. The voter's own giving is another thing: others may vote by it."""
    taken = replace(taken, changed_at=LATER + timedelta(hours=1))
    for kind in ELIGIBILITY_KINDS:
        given = replace(taken, kind=kind, changed_at=LATER)
        excused = kind in GIVING_BEFORE.get(taken.kind, ())
        assert is_barred(BASIS, given, taken) != excused, kind
    for kind in GIVING_BEFORE.get(taken.kind, ()):
        given = replace(taken, kind=kind, changed_at=LATER)
        assert not is_barred(BASIS, replace(given, changed_at=OPENED), taken)
        assert is_barred(BASIS, replace(given, changed_at=OPENED - timedelta(seconds=1)), taken), "before"
        assert is_barred(BASIS, replace(given, changed_at=taken.changed_at), taken), "not before it"
        assert is_barred(BASIS, replace(given, persons=("ben",)), taken), "the voter gave it"
        assert is_barred(BASIS, replace(given, persons=("frank",)), taken), "a third person gave it"
        assert is_barred(BASIS, replace(given, user_id="another"), taken)
        assert is_barred(BASIS, replace(given, role="another"), taken)
        assert is_barred(BASIS, replace(taken, changed_at=OPENED), given, taken), "it was taken before too"
        newer = replace(given, changed_at=LATER + timedelta(minutes=1), persons=("ben",))
        assert is_barred(BASIS, given, newer, taken), "the newest giving counts"


def test_more_changes_than_can_be_judged_bar_a_vote() -> None:
    """A person could hide one of them behind many others."""
    beside = [change("role_given", user_id="pia", role=f"r{number}") for number in range(MAX_CHANGES + 1)]
    assert is_barred(BASIS, *beside)
    assert not is_barred(BASIS, *beside[1:])


def test_the_refusal_says_who_changed_what_and_when() -> None:
    changes = [
        change("role_given", by="mia", user_id="ben", role="finance", at=LATER + timedelta(hours=1)),
        change("role_taken", by="key:hr", persons=("mia",), user_id="anton", role="finance"),
    ]
    denial = find_barring_change(BASIS, changes)
    assert denial is not None
    assert denial.sentence == (
        "key:hr took the role 'finance' from anton at 2026-01-01 13:00:00 UTC,"
        " after this approval was asked for: a person without a part in the document gives it back,"
        " and takes it again if they agree with it"
    )


SENTENCES = {
    "role_given": "mia gave ben the role 'finance'",
    "member_enabled": "mia made ben an active member",
    "manager_set": "mia changed who manages mia",
    "seat_given": "mia gave ben a seat",
    "member_disabled": "mia disabled ",
    "role_taken": "mia took the role '",
    "role_permissions_changed": "mia changed the role '",
    "role_widened": "mia added permissions to the role '",
    "role_deleted": "mia deleted the role 'finance'",
}


def test_each_kind_that_bars_has_a_sentence() -> None:
    for given in BARRING:
        denial = find_barring_change(BASIS, [given])
        assert denial is not None
        assert denial.sentence.startswith(SENTENCES[given.kind])
    given = change("delegation_given", user_id="dora", other_user_id="ben")
    denial = find_barring_change(DELEGATED, [given])
    assert denial is not None and denial.sentence.startswith("mia gave dora a delegation")


def test_every_kind_is_tried() -> None:
    tried = {one.kind for one in (*BARRING, *BESIDE_THE_VOTE)}
    assert tried == set(ELIGIBILITY_KINDS)
