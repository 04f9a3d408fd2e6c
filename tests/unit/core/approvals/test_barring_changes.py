"""Changes of eligibility that bar a vote, one by one, and those beside them that bar nothing."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from signet.core.approvals.barring_changes import (
    CODE,
    MAX_CHANGES,
    REQUEST_CODE,
    VoteBasis,
    find_barring_change,
    make_request_basis,
)
from signet.core.tenants.eligibility_changes import ELIGIBILITY_KINDS, EligibilityChange, EligibilityKind

OPENED = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = OPENED + timedelta(hours=1)
# Ben votes from a seat of finance. Dina has a seat of her own, and lena one by a line. Mia wrote it all.
BASIS = VoteBasis(
    voter="ben",
    represented=None,
    roles={"ben": ("finance", "clerk")},
    own_seat_roles=("finance",),
    is_by_line=False,
    is_seated=False,
    holder_ids=("dina", "lena"),
    seat_roles=("finance",),
    line_holders=("lena",),
    responsible=("mia",),
    needed_permissions=("invoice:approve",),
    reads_roles=False,
    asked_since=OPENED,
)
DELEGATED = replace(BASIS, voter="dora", represented="ben", roles={**BASIS.roles, "dora": ("clerk",)})
BY_LINE = replace(BASIS, is_by_line=True, own_seat_roles=(), line_holders=("ben", "lena"))
SEATED = replace(BASIS, is_seated=True, own_seat_roles=())


def change(kind: EligibilityKind, by: str = "mia", **more: Any) -> EligibilityChange:
    return EligibilityChange(kind, more.pop("at", LATER), by, more.pop("persons", (by,)), **more)


def is_barred(basis: VoteBasis, *changes: EligibilityChange) -> bool:
    denial = find_barring_change(basis, changes)
    assert denial is None or denial.code == CODE
    return denial is not None


# The roles that grant now what a vote needs.
APPROVE = "invoice:approve"
BY_CLERK, BY_FINANCE = {APPROVE: ["clerk"]}, {APPROVE: ["finance"]}
GIVEN_TO_THE_VOTER = [
    change("role_given", user_id="ben", role="finance"),
    change("member_enabled", user_id="ben"),
    change("role_given", user_id="ben", role="clerk", granting=BY_CLERK),
]
GIVEN_TO_THE_VOTER_BY_A_ROLE = [
    change("role_widened", role="finance", granting=BY_FINANCE),
    change("role_widened", role="clerk", granting=BY_CLERK),
]
CLEARING_THE_BENCH = [
    change("role_taken", user_id="anton", role="finance"),
    change("member_disabled", user_id="anton", role="finance"),
    change("member_disabled", user_id="dina"),
    change("role_permissions_changed", role="finance"),
    change("role_deleted", role="finance"),
    change("role_taken", user_id="anton", role="warehouse", takes_permission=True),
    change("role_permissions_changed", role="warehouse", takes_permission=True),
    change("role_given", user_id="anton", role="warehouse", takes_permission=True),
    change("manager_set", user_id="lena", other_user_id="mia"),
]
BESIDE_THE_VOTE = [
    change("role_given", user_id="ben", role="clerk", granting={APPROVE: []}),
    change("role_given", user_id="ben", role="gone"),
    change("role_widened", role="clerk", granting={APPROVE: ["warehouse"]}),
    change("role_widened", role="clerk", granting=BY_CLERK, gave=[APPROVE]),
    change("role_widened", role="finance"),
    change("role_permissions_changed", role="clerk", granting=BY_CLERK, gave=[APPROVE]),
    change("manager_set", user_id="ben", other_user_id="mia"),
    change("seat_given", user_id="ben", other_user_id="anna"),
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
    change("role_widened", role="warehouse", granting={APPROVE: ["warehouse"]}),
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
    assert not is_barred(replace(BASIS, judges_takings=False), taken)


@pytest.mark.parametrize("given", [*GIVEN_TO_THE_VOTER, *GIVEN_TO_THE_VOTER_BY_A_ROLE], ids=lambda g: g.kind)
def test_a_gate_asks_what_was_given_to_the_voter(given: EligibilityChange) -> None:
    assert is_barred(replace(BASIS, judges_takings=False), given)


@pytest.mark.parametrize("given", BESIDE_THE_VOTE, ids=lambda one: f"{one.kind} {one.user_id} {one.role}")
def test_a_change_that_the_vote_does_not_rest_on_bars_nothing(given: EligibilityChange) -> None:
    assert not is_barred(BASIS, given)


@pytest.mark.parametrize("kind", ["role_widened", "role_permissions_changed"])
def test_a_role_that_the_voter_has_besides_may_give_the_permission(kind: EligibilityKind) -> None:
    """The holders had before it what the role gave before it."""
    changed = change(kind, role="clerk", granting=BY_CLERK)
    assert is_barred(BASIS, changed)
    assert is_barred(BASIS, replace(changed, gave=["invoice:pay"]))
    assert is_barred(BASIS, replace(changed, gave=[APPROVE]), changed), "one of many gave it"
    assert not is_barred(BASIS, replace(changed, gave=[APPROVE]))
    assert not is_barred(replace(BASIS, needed_permissions=()), changed), "a seat alone is needed"
    assert not is_barred(replace(BASIS, roles={"ben": ("finance",)}), changed)


REDUNDANT = [
    change("role_given", user_id="ben", role="clerk", granting={APPROVE: ["clerk", "finance"]}),
    change("role_widened", role="clerk", granting={APPROVE: ["clerk", "finance"]}),
]


@pytest.mark.parametrize("given", REDUNDANT, ids=lambda one: one.kind)
def test_what_the_voter_has_by_another_role_they_have_not_by_the_gift(given: EligibilityChange) -> None:
    """The other role may have been given to them by a third person, and not by the document's people."""
    assert not is_barred(BASIS, given)
    assert not is_barred(DELEGATED, given) or given.kind == "role_widened", "dora is a clerk alone"
    also = change("role_given", user_id="ben", role="finance", granting=given.granting)
    without_a_seat = replace(BASIS, own_seat_roles=())
    assert not is_barred(without_a_seat, given, replace(also, persons=("hana",)))
    assert not is_barred(without_a_seat, given, replace(also, changed_at=OPENED - timedelta(seconds=1)))
    assert not is_barred(without_a_seat, given, replace(also, user_id="dora"))
    assert is_barred(without_a_seat, given, also), "both are given"
    wider = change("role_widened", role="finance", granting=given.granting)
    assert is_barred(without_a_seat, given, wider)
    assert not is_barred(without_a_seat, given, replace(wider, gave=[APPROVE]))
    undone = change("role_permissions_changed", by="frank", role="finance", at=LATER + timedelta(hours=1))
    assert not is_barred(without_a_seat, given, wider, undone)


def test_each_permission_is_needed() -> None:
    both = replace(BASIS, needed_permissions=(APPROVE, "invoice:pay"))
    given = change(
        "role_given",
        user_id="ben",
        role="clerk",
        granting={APPROVE: ["clerk", "finance"], "invoice:pay": ["clerk"]},
    )
    assert is_barred(both, given)
    assert not is_barred(BASIS, given)


def test_a_role_by_which_the_seat_is_not_filled_is_no_seat() -> None:
    """The stage asks warehouse too: ben votes from a seat of finance."""
    given = change("role_given", user_id="ben", role="warehouse")
    asked = replace(BASIS, seat_roles=("finance", "warehouse"))
    assert not is_barred(asked, given)
    assert is_barred(replace(asked, own_seat_roles=("warehouse",)), given)


def test_a_condition_that_reads_roles_rests_on_each_of_them() -> None:
    """The last giving counts, where a person without a part has given it again."""
    given = change("role_given", user_id="ben", role="warehouse", given_by=("mia",))
    by_roles = replace(BASIS, reads_roles=True)
    assert not is_barred(BASIS, given)
    assert is_barred(by_roles, given)
    assert is_barred(by_roles, replace(given, given_by=("ben",)))
    assert not is_barred(by_roles, replace(given, given_by=("hana",)))
    assert not is_barred(by_roles, change("role_widened", role="clerk")), "a role is none of its permissions"


def test_a_role_that_only_gains_permissions_is_taken_from_nobody() -> None:
    """The seat asks for finance. It bars those who have the role, and nobody else of the stage."""
    widened = change("role_widened", role="finance", granting=BY_FINANCE)
    assert is_barred(BASIS, widened)
    assert not is_barred(replace(BASIS, roles={"ben": ("clerk",)}), widened)


def test_a_line_bars_where_a_seat_came_by_it() -> None:
    """It bars the whole stage, until a person without a part sets it again: the one that stands counts."""
    own = change("manager_set", user_id="ben", other_user_id="mia", given_by=("mia",))
    assert is_barred(BY_LINE, own)
    assert is_barred(replace(BY_LINE, judges_takings=False, line_holders=()), own)
    assert is_barred(BY_LINE, replace(own, given_by=None)), "ben manages them no more"
    assert not is_barred(BY_LINE, replace(own, given_by=("frank",)))
    assert not is_barred(BY_LINE, replace(own, user_id="pia"))
    assert not is_barred(replace(DELEGATED, is_by_line=True), replace(own, user_id="dora"))
    of_another = replace(own, user_id="lena")
    assert is_barred(BASIS, of_another)
    assert not is_barred(BASIS, replace(of_another, given_by=("frank",)))
    own = replace(of_another, persons=("lena", "mia"), is_given_up=True)
    assert not is_barred(BASIS, own), "lena gave it up"


def test_a_seat_by_break_glass_bars_a_vote_from_it() -> None:
    given = change("seat_given", user_id="ben")
    assert is_barred(SEATED, given), "also one that was handed over"
    assert not is_barred(SEATED, replace(given, user_id="pia"))
    assert not is_barred(BASIS, given), "ben has a seat by his role"


@pytest.mark.parametrize("given", GIVEN_TO_THE_VOTER, ids=lambda one: one.kind)
def test_a_delegate_votes_by_what_the_delegator_has(given: EligibilityChange) -> None:
    """Each of the two needs the permission. The seat is that of the delegator."""
    assert is_barred(DELEGATED, given)
    assert is_barred(DELEGATED, replace(given, user_id="dora")) == (given.role != "finance")
    assert is_barred(DELEGATED, replace(given, persons=("dora",))), "the delegate gave it"
    assert is_barred(DELEGATED, replace(given, persons=("ben",))), "the delegator gave it"


GIVING_BACK: dict[EligibilityKind, tuple[EligibilityKind, ...]] = {
    "role_taken": ("role_given",),
    "member_disabled": ("member_enabled",),
    "role_permissions_changed": ("role_permissions_changed", "role_widened"),
    "role_deleted": ("role_permissions_changed", "role_widened"),
    "role_widened": ("role_permissions_changed",),
    "role_given": ("role_taken",),
}
LASTING = [one for one in CLEARING_THE_BENCH if one.kind != "manager_set"]


@pytest.mark.parametrize("taken", [*LASTING, *GIVEN_TO_THE_VOTER_BY_A_ROLE], ids=lambda t: t.kind)
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


@pytest.mark.parametrize("taken", CLEARING_THE_BENCH, ids=lambda one: f"{one.kind} {one.user_id}")
def test_to_take_back_what_a_person_of_the_document_gave_meanwhile_bars_nothing(
    taken: EligibilityChange,
) -> None:
    """That giving lets nobody vote. The voter's own giving is another thing: others may vote by it."""
    is_taking = taken.kind not in ("role_given", "manager_set")
    assert is_barred(BASIS, replace(taken, given_by=("mia",))) != is_taking
    assert is_barred(BASIS, replace(taken, given_by=("ada", "mia"))) != is_taking
    for others in (("ben",), ("frank",)) if is_taking else ():
        assert is_barred(BASIS, replace(taken, given_by=others)), "others may vote by it"
        assert is_barred(BASIS, taken, replace(taken, given_by=("mia",))), "it was taken before too"


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
    "role_given": "mia gave ",
    "member_enabled": "mia made ben an active member",
    "manager_set": "mia changed who manages mia",
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
    denial = find_barring_change(SEATED, [change("seat_given", user_id="ben")])
    assert denial is not None and denial.sentence.startswith("mia gave ben a seat")


@pytest.mark.parametrize(
    ("done", "remedy"),
    [
        (CLEARING_THE_BENCH[0], "gives it back, and takes it again if they agree with it"),
        (CLEARING_THE_BENCH[-2], "takes it away, and gives it again if they agree with it"),
        (CLEARING_THE_BENCH[-1], "sets the manager again"),
        (GIVEN_TO_THE_VOTER_BY_A_ROLE[0], "takes it away, and gives it again if they agree with it"),
        (GIVEN_TO_THE_VOTER[0], None),
    ],
    ids=lambda one: getattr(one, "kind", ""),
)
def test_the_refusal_says_what_undoes_the_change(done: EligibilityChange, remedy: str | None) -> None:
    denial = find_barring_change(BASIS, [done])
    assert denial is not None
    after = "after this approval was asked for"
    if remedy is None:
        assert denial.sentence.endswith(after)
    else:
        assert denial.sentence.endswith(f"{after}: a person without a part in the document {remedy}")


def test_a_request_that_decides_rests_on_its_permission_alone() -> None:
    """It has no seat, and no bench that could be cleared. Changes count since its document was made."""
    given = change("role_given", user_id="ben", role="clerk", granting=BY_CLERK)
    terms: dict[str, Any] = {"permission": APPROVE, "reads_roles": False, "made_at": OPENED}
    basis = make_request_basis("ben", ("clerk", "finance"), ("mia",), **terms)
    denial = find_barring_change(basis, [given])
    assert denial is not None
    assert (denial.code, denial.sentence) == (
        REQUEST_CODE,
        "mia gave ben the role 'clerk' at 2026-01-01 13:00:00 UTC, after the document was made",
    )
    seat = change("role_given", user_id="ben", role="finance")
    assert find_barring_change(basis, [seat, *CLEARING_THE_BENCH]) is None
    by_role = make_request_basis("ben", ("clerk", "finance"), ("mia",), **{**terms, "reads_roles": True})
    assert find_barring_change(by_role, [seat]) is not None


def test_every_kind_is_tried() -> None:
    tried = {one.kind for one in (*BARRING, *BESIDE_THE_VOTE)}
    assert tried == set(ELIGIBILITY_KINDS)
