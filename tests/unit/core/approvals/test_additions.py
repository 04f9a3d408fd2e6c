"""Members who could be added to a stage: nothing keeps them but the role that is asked."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from signet.core.approvals.additions import (
    choose_added_seat,
    find_bar_of_everybody,
    list_additions,
    list_given_by_others,
    list_helpers,
    list_needed_later,
    list_seatable,
)
from signet.core.approvals.eligibility import Allowed, Seat
from signet.core.approvals.entitlement import VoteCheck
from signet.core.tenants.eligibility_changes import EligibilityChange
from tests.support.core.approval_policies import make_policy, make_stage, role, user
from tests.unit.core.contracts.test_compiled_contract import load

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Document:
    entity_type: str = "invoice"
    creator_responsible: tuple[str, ...] = ("carl",)
    editor_responsible: tuple[str, ...] = ()
    requester_responsible: tuple[str, ...] = ("rita",)


CHECK = VoteCheck(
    contract=load(separation_of_duties={}),
    document=Document(),
    requesters=frozenset({"rolf"}),
    asked_since=NOW,
    pins={},
    needed_permissions=(),
    approved_elsewhere=("app1",),
    stage=make_stage(role("approver")),
    seats=(Seat(1, 1, None, "approver", status="approved", decided_by="app2"), Seat(1, 2, None, "approver")),
    now=NOW,
    make_env=lambda person, roles: {"actor": {"user_id": person, "roles": sorted(roles)}},
)


def test_duties_another_approval_and_a_vote_in_the_stage_rule_a_member_out() -> None:
    members = dict.fromkeys(("app1", "app2", "carl", "dora", "emil", "rita", "rolf"), ())
    assert list_additions(CHECK, members, ["approver"]) == ["dora", "emil"]


def test_a_condition_is_asked_of_them_with_the_role() -> None:
    conditions = {"invoice:approve": "!('owner' in actor.roles) && 'approver' in actor.roles"}
    contract = load(conditions=conditions, separation_of_duties={})
    needed = ("invoice:approve", "invoice:sign")
    check = replace(CHECK, contract=contract, needed_permissions=needed)
    members = {"dora": ("clerk",), "emil": ("owner",)}
    assert list_additions(check, members, ["approver"]) == ["dora"]
    assert list_additions(check, members, ["finance"]) == []


def test_who_holds_the_role_already_is_kept_by_something_else() -> None:
    members = {"dora": ("approver", "clerk"), "emil": ("clerk",)}
    assert list_additions(CHECK, members, ["approver"]) == ["emil"]
    assert list_additions(CHECK, members, ["approver", "boss"]) == ["dora", "emil"], "one of two roles"


def test_who_would_be_barred_by_a_change_is_left_out() -> None:
    enabled = EligibilityChange("member_enabled", NOW, "carl", ("carl",), "dora")
    check = replace(CHECK, changes=(enabled,))
    assert list_additions(check, {"dora": (), "emil": ()}, ["approver"]) == ["emil"]
    assert find_bar_of_everybody(check, ["approver"]) is None
    taken = EligibilityChange("role_taken", NOW, "carl", ("carl",), "anton", "approver")
    check = replace(CHECK, changes=(taken,))
    assert list_additions(check, {"dora": (), "emil": ()}, ["approver"]) == []
    bar = find_bar_of_everybody(check, ["approver"])
    assert bar is not None and bar.sentence.startswith("carl took the role 'approver' from anton")


def test_who_may_change_members_without_a_part_can_help() -> None:
    permissions = {"carl": ["*:*"], "emil": ["*:edit"], "rolf": ["member:edit"], "sam": ["member:*"]}
    assert list_helpers(CHECK, permissions, ["member:edit"]) == ["sam"]


def test_who_gives_a_role_must_have_what_it_brings() -> None:
    permissions = {"sam": ["member:*"], "sue": ["member:*", "*:approve"]}
    assert list_helpers(CHECK, permissions, ["member:edit", "invoice:approve"]) == ["sue"]


def test_nobody_gives_a_role_to_themselves() -> None:
    assert list_given_by_others(["sam", "xena"], ["xena"]) == ["sam"]
    assert list_given_by_others(["sam", "xena"], ["sam", "xena"]) == ["sam", "xena"]
    assert list_given_by_others(["sam"], []) == ["sam"], "an operator can add a helper"


def test_the_only_one_of_a_later_stage_is_left_for_it() -> None:
    first, second = make_stage(role("approver")), make_stage(role("boss"))
    members = {"xena": ("boss",), "carl": ("boss",), "app1": ("boss",), "dora": ("clerk",)}
    assert list_needed_later(CHECK, make_policy(first, second), 1, members) == ["xena"]
    assert list_needed_later(CHECK, make_policy(first, second), 2, members) == []
    assert list_needed_later(CHECK, make_policy(first, make_stage(user("xena"))), 1, members) == []
    two = {**members, "dora": ("boss",)}
    assert list_needed_later(CHECK, make_policy(first, second), 1, two) == []
    allowed = make_policy(first, second).model_copy(update={"same_person": "allowed"})
    assert list_needed_later(CHECK, allowed, 1, members) == []


def test_a_seat_by_break_glass_helps_who_may_vote_and_has_none() -> None:
    check = replace(CHECK, seats=[CHECK.seats[1]], roles=dict.fromkeys(("app1", "carl", "dora", "emil"), ()))
    assert list_seatable(check) == ["dora", "emil"]
    assert isinstance(choose_added_seat(replace(check, seats=[]), "dora"), Allowed)
