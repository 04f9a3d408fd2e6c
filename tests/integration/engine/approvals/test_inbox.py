"""The inbox, the view of a request, and the notifications of each person."""

from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest

from signet.core.errors import Rejected
from signet.engine.access.read import MAX_PAGE
from signet.engine.integrations.notifications import Notifications
from signet.ids import make_id
from tests.support.approval_requests import Asking
from tests.support.company import make_company


def waiting_for(asking: Asking, user_id: str) -> list[UUID]:
    return [item.request_id for item in asking.approvals.inbox(asking.company.caller(user_id, "clerk"))]


# --- the inbox ---


def test_what_waits_for_a_person_and_for_his_roles_the_oldest_first(asking: Asking) -> None:
    own, of_role = asking.ask("ben"), asking.ask("@finance")
    asking.ask("dora")
    both = asking.ask("@finance", "ben")
    assert waiting_for(asking, "ben") == [own, of_role, both]
    assert waiting_for(asking, "cleo") == [of_role, both]
    assert waiting_for(asking, "nobody") == []


def test_an_item_says_what_it_is_about(asking: Asking) -> None:
    made = asking.create()
    request_id = asking.ask("anna", made=made)
    (item,) = asking.approvals.inbox(asking.company.caller("anna"))
    ((since,),) = asking.rows("SELECT created_at FROM approval_requests")
    assert (item.request_id, item.document_id, item.entity_type) == (request_id, made.document_id, "invoice")
    assert (item.document_version, item.node_id, item.stage) == (1, "usr:approval:finance", 1)
    assert (item.requester_id, item.since, item.on_behalf_of) == ("rita", since, None)
    assert (item.may_decide, item.may_reject, item.why_not) == (True, True, None)


def test_what_one_stands_in_for_is_there_with_the_name_and_ones_own_goes_first(asking: Asking) -> None:
    asking.delegate("anna", "dora")
    asking.delegate("cleo", "dora", "order")
    request_id, both = asking.ask("anna"), asking.ask("anna", "dora")
    asking.ask("cleo")
    items = asking.approvals.inbox(asking.company.caller("dora"))
    assert [(item.request_id, item.on_behalf_of) for item in items] == [(request_id, "anna"), (both, None)]


def test_a_delegates_delegate_sees_nothing_nor_does_who_has_left(asking: Asking) -> None:
    asking.delegate("anna", "dora")
    asking.delegate("dora", "emil")
    asking.ask("anna")
    assert waiting_for(asking, "emil") == []
    asking.run("UPDATE members SET status = 'disabled' WHERE user_id = 'anna'")
    assert waiting_for(asking, "anna") == waiting_for(asking, "dora") == []


def test_what_was_decided_voided_or_edited_waits_for_nobody(asking: Asking) -> None:
    made = asking.create()
    asking.ask("anna", made=made)
    asking.edit(made, 1)
    decided = asking.ask("anna")
    asking.decide(decided, "anna")
    voided = asking.ask("anna")
    asking.run("UPDATE approval_requests SET status = 'voided', ended_at = now() WHERE id = %s", voided)
    assert waiting_for(asking, "anna") == []


def test_who_is_counted_is_not_asked_again(asking: Asking) -> None:
    request_id = asking.ask("@finance", "@finance", "dora")
    asking.decide(request_id, "ben")
    assert waiting_for(asking, "ben") == []
    assert waiting_for(asking, "cleo") == [request_id]
    asking.delegate("dora", "ben")
    assert waiting_for(asking, "ben") == []


def test_what_waits_is_what_one_may_decide_unless_duties_bar_it(asking: Asking) -> None:
    """Compare the inbox with the answers to decisions, person by person."""
    created = asking.create("anna")
    asking.ask("anna", "@finance", made=created)
    asking.ask("@approver", "dora")
    asking.delegate("cleo", "emil")
    for person in ("anna", "ben", "cleo", "dora", "emil", "rita"):
        for item in asking.approvals.inbox(asking.company.caller(person)):
            if item.why_not is None:
                assert item.may_decide
                asking.decide(item.request_id, person, "abstained")
                assert item.request_id not in waiting_for(asking, person)
                continue
            with pytest.raises(Rejected) as caught:
                asking.decide(item.request_id, person)
            assert caught.value.code == item.why_not.code == "SEPARATION_OF_DUTIES"
            assert not item.may_decide


def test_pages_meet_without_gap_or_repetition(asking: Asking) -> None:
    asking.delegate("anna", "ben")
    wanted = [asking.ask("@finance" if number % 3 else "anna") for number in range(7)]
    caller, seen, after = asking.company.caller("ben"), list[UUID](), None
    while page := asking.approvals.inbox(caller, limit=2, after=after):
        assert len(page) <= 2
        seen += [item.request_id for item in page]
        after = seen[-1]
    assert seen == wanted


def test_another_tenants_inbox_is_its_own(asking: Asking) -> None:
    asking.ask("anna")
    other = make_company(asking.company.database)
    assert asking.approvals.inbox(other.caller("anna")) == []


# --- a request ---


def test_a_request_shows_what_was_pinned_and_what_was_decided(asking: Asking) -> None:
    made = asking.create(vendor_contact="Erna Example")
    request_id = asking.ask("anna", "dora", made=made)
    asking.decide(request_id, "anna", reason="fine")
    asking.edit(made, 1, grand_total=7)
    request = asking.approvals.read_request(asking.company.caller("dora", "clerk"), request_id)
    assert (request.document_version, request.current_version) == (1, 2)
    assert request.document["data"]["grand_total"] == 60000
    assert request.document["data"]["vendor_contact"] == "Erna Example"
    assert [(seat.holder_user_id, seat.status) for seat in request.seats] == [
        ("anna", "approved"),
        ("dora", "open"),
    ]
    assert [(each.decided_by, each.reason) for each in request.decisions] == [("anna", "fine")]
    assert request.policy.stage(1).quorum == "all"


def test_of_an_erased_value_nothing_is_shown(asking: Asking) -> None:
    request_id = asking.ask("anna", made=asking.create(vendor_contact="Erna Example"))
    asking.run("UPDATE personal_values SET salt = NULL, value = NULL, erased_at = now()")
    request = asking.approvals.read_request(asking.company.caller("anna", "clerk"), request_id)
    assert request.document["data"]["vendor_contact"] is None


@pytest.mark.parametrize("person", ["anna", "cleo", "dora", "rita"])
def test_who_is_asked_or_has_asked_may_read_it(asking: Asking, person: str) -> None:
    request_id = asking.ask("anna", "@finance")
    asking.delegate("anna", "dora", "invoice")
    assert asking.approvals.read_request(asking.company.caller(person, "clerk"), request_id).seats


def test_for_others_it_is_not_there(asking: Asking) -> None:
    request_id = asking.ask("anna")
    asking.delegate("anna", "dora", "order")
    for person in ("emil", "dora"):
        for wanted in (request_id, uuid4()):
            with pytest.raises(Rejected) as caught:
                asking.approvals.read_request(asking.company.caller(person, "clerk"), wanted)
            assert caught.value.code == "APPROVAL_NOT_FOUND"
    assert asking.approvals.read_request(asking.company.caller("emil", "reader"), request_id).seats


# --- notifications ---


def tell(asking: Asking, *whom: str) -> list[UUID]:
    told = []
    for name in whom:
        told.append(make_id())
        asking.run(
            "INSERT INTO notifications (tenant_id, id, user_id, role, kind, created_at)"
            " VALUES (%s, %s, %s, %s, 'approval_requested', now())",
            asking.tenant_id,
            told[-1],
            None if name.startswith("@") else name,
            name[1:] if name.startswith("@") else None,
        )
    return told


def ids(rows: Sequence[object]) -> list[object]:
    return [row.id for row in rows]  # type: ignore[attr-defined]


def test_one_is_told_what_is_for_him_and_his_roles_the_newest_first(asking: Asking) -> None:
    notifications = Notifications(asking.company.database)
    own, of_role, _, of_other_role, last = tell(asking, "ben", "@finance", "dora", "@admin", "ben")
    caller = asking.company.caller("ben")
    assert ids(notifications.list_of(caller)) == [last, of_role, own]
    assert ids(notifications.list_of(caller, limit=1)) == [last]
    assert ids(notifications.list_of(caller, before=last)) == [of_role, own]
    assert of_other_role not in ids(notifications.list_of(caller))


def test_only_who_was_told_reads_it_and_once(asking: Asking) -> None:
    notifications = Notifications(asking.company.database)
    own, of_role, others = tell(asking, "ben", "@finance", "dora")
    caller = asking.company.caller("ben")
    assert notifications.mark_read(caller, [own, others]) == 1
    assert notifications.mark_read(caller, [own, of_role, others]) == 1
    assert asking.rows("SELECT id FROM notifications WHERE read_at IS NULL") == [(others,)]
    assert [row.read_at is None for row in notifications.list_of(caller)] == [False, False]
    with pytest.raises(Rejected, match="at most"):
        notifications.mark_read(caller, [own] * 201)


def test_the_unread_alone_page_by_page(asking: Asking) -> None:
    notifications = Notifications(asking.company.database)
    first, read, of_role, read_of_role, last = tell(asking, "ben", "ben", "@finance", "@finance", "ben")
    caller = asking.company.caller("ben")
    # One member marks a notification of the role as read for all.
    assert notifications.mark_read(asking.company.caller("cleo"), [read_of_role]) == 1
    assert notifications.mark_read(caller, [read]) == 1
    assert ids(notifications.list_of(caller, is_unread=True)) == [last, of_role, first]
    assert ids(notifications.list_of(caller, is_unread=True, limit=1)) == [last]
    assert ids(notifications.list_of(caller, is_unread=True, before=last, limit=1)) == [of_role]
    assert ids(notifications.list_of(caller)) == [last, read_of_role, of_role, read, first]


def test_a_page_may_hold_one_more_than_is_shown_and_no_more(asking: Asking) -> None:
    """Return one row more than a page, which tells that another page follows."""
    notifications = Notifications(asking.company.database)
    tell(asking, *["ben"] * (MAX_PAGE + 2))
    assert len(notifications.list_of(asking.company.caller("ben"), limit=10_000)) == MAX_PAGE + 1
