"""Delegations: the people and the time they are for, and no circle among them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from signet.core.approvals.eligibility import Delegation
from signet.core.errors import Rejected
from signet.engine.approvals.delegations import MAX_OPEN, Delegations
from signet.engine.audit.verify import verify_tenant
from tests.support.approval_requests import Asking
from tests.support.company import make_company

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


@pytest.fixture
def delegations(asking: Asking) -> Delegations:
    return Delegations(asking.company.database)


def give(
    asking: Asking, user_id: str, delegate_id: str, *, by: str = "", role: str = "clerk", **terms: Any
) -> Delegation:
    caller = asking.company.caller(by or user_id, role)
    wanted = {"from_time": datetime.now(UTC), "to_time": NOW + DAY, **terms}
    return Delegations(asking.company.database).delegate(caller, user_id, delegate_id, **wanted)


def code_of(asking: Asking, *people: str, **terms: Any) -> str:
    before = asking.rows("SELECT count(*) FROM approval_delegations")
    with pytest.raises(Rejected) as caught:
        give(asking, *people, **terms)
    assert asking.rows("SELECT count(*) FROM approval_delegations") == before
    return caught.value.code


def test_what_one_gives_lets_the_other_decide_and_is_on_record(asking: Asking) -> None:
    given = give(asking, "anna", "dora", entity_type="invoice", reason="on leave")
    assert asking.decide(asking.ask("anna"), "dora").delegation_id == given.id
    ((content,),) = asking.rows("SELECT content::jsonb FROM audit_log WHERE subject_type = 'delegation'")
    assert (content["subject_id"], content["action"]) == (str(given.id), "delegate")
    assert (content["actor_id"], content["on_behalf_of"], content["reason"]) == ("anna", None, "on leave")
    assert content["detail"]["delegate_id"] == "dora"
    assert verify_tenant(asking.company.database, asking.tenant_id).is_sound


def test_for_another_only_with_the_permission(asking: Asking) -> None:
    assert code_of(asking, "anna", "dora", by="emil") == "PERMISSION_DENIED"
    give(asking, "anna", "dora", by="emil", role="admin")
    ((content,),) = asking.rows("SELECT content::jsonb FROM audit_log WHERE subject_type = 'delegation'")
    assert (content["actor_id"], content["on_behalf_of"]) == ("emil", "anna")


@pytest.mark.parametrize(
    ("pointer", "terms"),
    [
        ("/to_time", {"to_time": NOW - DAY}),
        ("/to_time", {"to_time": NOW + 367 * DAY}),
        ("/from_time", {"from_time": NOW - 3 * DAY, "to_time": NOW - 2 * DAY}),
        ("/from_time", {"from_time": NOW - timedelta(hours=1)}),
        ("/from_time", {"from_time": NOW.replace(year=NOW.year - 1, month=1, day=1)}),
        ("/from_time", {"from_time": NOW + 367 * DAY, "to_time": NOW + 368 * DAY}),
        ("/from_time", {"from_time": NOW.replace(tzinfo=None)}),
        ("/entity_type", {"entity_type": "In voice"}),
        ("/reason", {"reason": "x" * 4_001}),
    ],
)
def test_terms_that_are_none(asking: Asking, pointer: str, terms: dict[str, Any]) -> None:
    with pytest.raises(Rejected) as caught:
        give(asking, "anna", "dora", **terms)
    assert [field.pointer for field in caught.value.fields] == [pointer]


def test_an_administrator_is_neither_side_of_what_they_make_for_others(asking: Asking) -> None:
    """Let emil, who may delegate for others, try to take a voice, and give it from one to another."""
    assert code_of(asking, "anna", "emil", by="emil", role="admin") == "SELF_GRANT_REFUSED"
    given = give(asking, "anna", "dora", by="emil", role="admin")
    assert asking.decide(asking.ask("anna"), "dora").delegation_id == given.id
    give(asking, "emil", "dora")


def test_a_key_gives_no_voice(asking: Asking) -> None:
    for user_id, delegate_id in (("anna", "dora"), ("anna", "emil")):
        assert code_of(asking, user_id, delegate_id, by="key:erp", role="admin") == "PERMISSION_DENIED"


def test_a_beginning_of_just_now_is_now(asking: Asking) -> None:
    before = datetime.now(UTC)
    given = give(asking, "anna", "dora", from_time=before - timedelta(seconds=30))
    assert given.from_time >= before - timedelta(seconds=1), "nothing is backdated"


def test_both_are_told_of_what_is_given_and_what_is_revoked(asking: Asking, delegations: Delegations) -> None:
    given = give(asking, "anna", "dora", by="emil", role="admin")
    delegations.revoke(asking.company.caller("anna", "clerk"), given.id)
    told = asking.rows("SELECT user_id, kind, data FROM notifications ORDER BY kind, user_id")
    about = {"delegation_id": str(given.id), "user_id": "anna", "delegate_id": "dora"}
    assert told == [
        ("anna", "delegation_given", {**about, "by": "emil"}),
        ("dora", "delegation_given", {**about, "by": "emil"}),
        ("anna", "delegation_revoked", {**about, "by": "anna"}),
        ("dora", "delegation_revoked", {**about, "by": "anna"}),
    ]


def test_only_between_two_active_members(asking: Asking) -> None:
    assert code_of(asking, "anna", "anna") == "FIELDS_INVALID"
    assert code_of(asking, "anna", "nobody") == "MEMBER_NOT_FOUND"
    asking.run("UPDATE members SET status = 'disabled' WHERE user_id = 'dora'")
    assert code_of(asking, "anna", "dora") == "MEMBER_NOT_FOUND"


def test_a_circle_is_refused_where_it_would_close(asking: Asking) -> None:
    give(asking, "anna", "ben")
    give(asking, "ben", "cleo", entity_type="invoice")
    assert code_of(asking, "cleo", "anna") == "DELEGATION_CYCLE"
    assert code_of(asking, "cleo", "anna", entity_type="invoice") == "DELEGATION_CYCLE"
    give(asking, "cleo", "anna", entity_type="order")
    give(asking, "cleo", "anna", from_time=NOW + DAY, to_time=NOW + 2 * DAY)


def test_a_revoked_one_closes_none(asking: Asking, delegations: Delegations) -> None:
    given = give(asking, "anna", "ben")
    delegations.revoke(asking.company.caller("anna", "clerk"), given.id)
    give(asking, "ben", "anna")


def test_nobody_gives_or_takes_more_than_can_be_looked_at(asking: Asking) -> None:
    for _ in range(MAX_OPEN):
        asking.delegate("anna", "dora", "order")
    assert code_of(asking, "anna", "emil") == "DELEGATION_TOO_MANY"
    assert code_of(asking, "emil", "dora") == "DELEGATION_TOO_MANY"
    # As many delegations lead on from anna, which is the most that is followed; then comes one more.
    give(asking, "emil", "anna")
    give(asking, "dora", "ben")
    assert code_of(asking, "cleo", "anna") == "DELEGATION_TOO_MANY"


def test_who_gave_it_revokes_it_and_who_may_delegate_for_others(
    asking: Asking, delegations: Delegations
) -> None:
    first = give(asking, "anna", "dora")
    for stranger in ("dora", "emil"):
        with pytest.raises(Rejected, match="there is no delegation"):
            delegations.revoke(asking.company.caller(stranger, "clerk"), first.id)
    delegations.revoke(asking.company.caller("anna", "clerk"), first.id)
    second = give(asking, "anna", "dora")
    delegations.revoke(asking.company.caller("emil"), second.id)
    delegations.revoke(asking.company.caller("emil"), second.id)
    assert asking.rows("SELECT count(*) FROM audit_log WHERE action = 'revoke'") == [(2,)]
    with pytest.raises(Rejected) as caught:
        asking.decide(asking.ask("anna"), "dora")
    assert caught.value.code == "APPROVAL_NOT_YOURS"


def test_another_tenant_revokes_nothing(asking: Asking, delegations: Delegations) -> None:
    given, other = give(asking, "anna", "dora"), make_company(asking.company.database)
    for wanted in (given.id, uuid4()):
        with pytest.raises(Rejected) as caught:
            delegations.revoke(other.caller(), wanted)
        assert caught.value.code == "DELEGATION_NOT_FOUND"
    assert asking.rows("SELECT revoked_at FROM approval_delegations") == [(None,)]


def test_one_sees_what_one_gave_and_took(asking: Asking, delegations: Delegations) -> None:
    given, taken = give(asking, "anna", "dora"), give(asking, "ben", "anna")
    give(asking, "cleo", "dora")
    revoked = give(asking, "anna", "emil")
    delegations.revoke(asking.company.caller("anna"), revoked.id)
    anna = asking.company.caller("anna")
    assert [each.id for each in delegations.list_given(anna)] == [given.id]
    assert [each.id for each in delegations.list_taken(anna)] == [taken.id]


# --- lists ---


def test_who_gave_and_who_took_are_listed_the_newest_first(asking: Asking, delegations: Delegations) -> None:
    first = give(asking, "anna", "dora", reason="on leave", entity_type="invoice")
    future = give(asking, "anna", "emil", from_time=NOW + DAY, to_time=NOW + 2 * DAY)
    revoked = give(asking, "anna", "ben")
    theirs = give(asking, "cleo", "dora")
    anna, dora = (asking.company.caller(name, "clerk") for name in ("anna", "dora"))
    delegations.revoke(anna, revoked.id)
    given = delegations.list_given(anna)
    assert [each.id for each in given] == [future.id, first.id]
    assert (given[1].delegate_id, given[1].entity_type, given[1].reason, given[1].created_by) == (
        "dora",
        "invoice",
        "on leave",
        "anna",
    )
    assert [each.id for each in delegations.list_taken(dora)] == [theirs.id, first.id]
    assert delegations.list_taken(anna) == delegations.list_given(dora) == []


def test_a_page_goes_on_where_the_one_before_has_ended(asking: Asking, delegations: Delegations) -> None:
    people = ("ben", "cleo", "dora")
    made = [give(asking, "anna", person).id for person in people]
    anna = asking.company.caller("anna", "clerk")
    (newest,) = delegations.list_given(anna, limit=1)
    give(asking, "anna", "emil")
    rest = delegations.list_given(anna, limit=2, before=newest.id)
    assert [newest.id, *(each.id for each in rest)] == made[::-1]


def test_those_of_another_are_for_who_may_delegate_for_them(asking: Asking, delegations: Delegations) -> None:
    made = give(asking, "anna", "dora")
    emil = asking.company.caller("emil", "clerk")
    for read in (delegations.list_given, delegations.list_taken):
        with pytest.raises(Rejected) as caught:
            read(emil, "anna")
        assert caught.value.code == "PERMISSION_DENIED"
    admin = asking.company.caller("emil", "admin")
    assert [each.id for each in delegations.list_given(admin, "anna")] == [made.id]
    assert [each.id for each in delegations.list_taken(admin, "dora")] == [made.id]
    other = make_company(asking.company.database).caller("anna")
    assert delegations.list_given(other) == []
