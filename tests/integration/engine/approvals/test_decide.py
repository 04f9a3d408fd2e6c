"""The right to decide, and the effects of a vote: one transaction, or nothing at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import pytest

from signet.core.approvals.pins import hash_pins
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.engine.approvals.decide import Ballot
from signet.engine.audit.verify import verify_tenant
from tests.support.approval_requests import Asking
from tests.support.company import make_company
from tests.support.core.approval_policies import make_policy, make_stage, user


@contextmanager
def refused(asking: Asking, code: str) -> Iterator[list[Rejected]]:
    """Expect a rejection with this code, and nothing written."""
    before, caught = asking.written(), list[Rejected]()
    with pytest.raises(Rejected) as raised:
        yield caught
    caught.append(raised.value)
    assert raised.value.code == code
    assert asking.written() == before


# --- the rows of a vote ---


def test_a_vote_that_decides_ends_the_request_and_wakes_the_workflow(asking: Asking) -> None:
    made = asking.create()
    request_id = asking.ask("anna", made=made)
    decided = asking.decide(request_id, "anna", reason="as agreed")
    assert (decided.stage_state, decided.request_status, decided.position) == ("approved", "approved", 1)
    assert asking.request(request_id) == ("approved", False, True)
    assert asking.seats(request_id) == [("approved", "anna", None)]
    assert asking.triggers() == [{"request_id": str(request_id), "stage": 1, "state": "approved"}]
    assert asking.rows("SELECT version FROM documents WHERE id = %s", made.document_id) == [(1,)]


def test_a_decision_says_what_was_decided_about_and_under_what(asking: Asking) -> None:
    request_id = asking.ask("anna")
    decided = asking.decide(request_id, "anna", "rejected", "too dear")
    columns = asking.rows(
        "SELECT x.id, x.decision, x.reason, x.decided_by, x.document_version = r.document_version,"
        " x.snapshot_hash = r.snapshot_hash, x.definition_hash = r.definition_hash,"
        " x.policy_hash = r.policy_hash, x.trace_id"
        " FROM approval_decisions x JOIN approval_requests r ON r.id = x.request_id"
    )
    assert columns == [
        (decided.decision_id, "rejected", "too dear", "anna", True, True, True, True, "00-test")
    ]
    assert asking.request(request_id) == ("rejected", None, True)


def test_the_audit_row_of_the_document_tells_the_decision_and_its_chain_holds(asking: Asking) -> None:
    made = asking.create()
    request_id = asking.ask("anna", made=made)
    delegation_id = asking.delegate("anna", "dora")
    decided = asking.decide(request_id, "dora", reason="she is away")
    ((content,),) = asking.rows("SELECT content::jsonb FROM audit_log WHERE action = 'decide:approved'")
    assert (content["actor_id"], content["on_behalf_of"]) == ("dora", "anna")
    assert content["reason"] == "she is away"
    hashes = asking.rows(
        "SELECT snapshot_hash, definition_hash, policy_hash FROM approval_requests WHERE id = %s", request_id
    )
    assert content["detail"]["approval"] == {
        "request_id": str(request_id),
        "decision_id": str(decided.decision_id),
        "node": "usr:approval:finance",
        "stage": 1,
        "seat": 1,
        "delegation_id": str(delegation_id),
        "stage_state": "approved",
        "request_status": "approved",
        "document_version": 1,
        "snapshot_hash": hashes[0][0],
        "definition_hash": hashes[0][1],
        "policy_hash": hashes[0][2],
        "pins_hash": hash_pins({}),
        "entitled_by": {
            "holder_user_id": "anna",
            "holder_role": None,
            "origin": "resolved",
            "permissions": [],
            "roles": {"anna": ["approver"], "dora": []},
        },
    }
    found = asking.rows(
        "SELECT seq, action FROM audit_log WHERE subject_id = %s ORDER BY seq", str(made.document_id)
    )
    assert found == [(1, "create"), (2, "decide:approved")]
    assert verify_tenant(asking.company.database, asking.tenant_id).is_sound


# --- quorums ---


def test_all_waits_for_everybody(asking: Asking) -> None:
    request_id = asking.ask("anna", "dora", "emil")
    assert asking.decide(request_id, "anna").stage_state == "open"
    assert asking.decide(request_id, "dora", "abstained").stage_state == "open"
    assert asking.triggers() == []
    assert asking.request(request_id) == ("open", None, False)
    assert asking.decide(request_id, "emil").stage_state == "approved"
    assert [status for status, _, _ in asking.seats(request_id)] == ["approved", "abstained", "approved"]


def test_of_all_the_first_rejection_rejects_and_closes_the_other_seats(asking: Asking) -> None:
    request_id = asking.ask("anna", "dora", "emil")
    asking.decide(request_id, "dora", "rejected", "no")
    assert asking.request(request_id) == ("rejected", None, True)
    assert [status for status, _, _ in asking.seats(request_id)] == ["closed", "rejected", "closed"]


def test_any_is_decided_by_the_first(asking: Asking) -> None:
    request_id = asking.ask("anna", "dora", quorum="any")
    assert asking.decide(request_id, "dora").request_status == "approved"
    with refused(asking, "APPROVAL_CLOSED"):
        asking.decide(request_id, "anna")


def test_a_number_is_approved_when_reached_and_rejected_when_out_of_reach(asking: Asking) -> None:
    reached = asking.ask("anna", "dora", "emil", quorum=2)
    assert asking.decide(reached, "anna").stage_state == "open"
    assert asking.decide(reached, "emil").stage_state == "approved"
    missed = asking.ask("anna", "dora", "emil", quorum=2)
    assert asking.decide(missed, "anna", "rejected", "no").stage_state == "open"
    assert asking.decide(missed, "emil", "rejected", "no").stage_state == "rejected"


def test_when_everybody_abstains_the_workflow_is_told_and_the_request_stays_open(asking: Asking) -> None:
    request_id = asking.ask("anna", "dora")
    asking.decide(request_id, "anna", "abstained")
    assert asking.decide(request_id, "dora", "abstained").stage_state == "deadlocked"
    assert asking.triggers() == [{"request_id": str(request_id), "stage": 1, "state": "deadlocked"}]
    assert asking.request(request_id) == ("open", None, False)


def test_when_nobody_is_left_who_may_the_workflow_is_told(asking: Asking) -> None:
    """Give the second seat to a role whose only other member created the document."""
    made = asking.create("cleo")
    request_id = asking.ask("@finance", "@finance", made=made)
    assert asking.decide(request_id, "ben").stage_state == "deadlocked"


def test_a_seat_of_a_large_role_is_not_taken_for_nobodys(asking: Asking) -> None:
    """Let the first members that are looked at be barred."""
    asking.hire({**{f"aa{n}": ("crowd",) for n in range(4)}, "zoe": ("crowd",)})
    made = asking.create("aa0")
    for number in range(1, 4):
        asking.edit(made, number, f"aa{number}")
    request_id = asking.ask("anna", "@crowd", made=made)
    assert asking.decide(request_id, "anna").stage_state == "open"
    assert asking.decide(request_id, "zoe").stage_state == "approved"


def test_a_stage_that_is_approved_leaves_the_request_open_for_the_next(asking: Asking) -> None:
    policy = make_policy(make_stage(user("anna"), user("dora"), quorum="any"), make_stage(user("emil")))
    request_id = asking.ask("anna", "dora", policy=policy)
    decided = asking.decide(request_id, "anna")
    assert (decided.stage_state, decided.request_status) == ("approved", "open")
    assert asking.triggers() == [{"request_id": str(request_id), "stage": 1, "state": "approved"}]
    assert asking.request(request_id) == ("open", None, False)
    assert [status for status, _, _ in asking.seats(request_id)] == ["approved", "closed"]
    with refused(asking, "APPROVAL_CLOSED"):
        asking.decide(request_id, "dora")
    asking.run("UPDATE approval_requests SET stage = 2 WHERE id = %s", request_id)
    asking.seat(request_id, "emil", stage=2)
    decided = asking.decide(request_id, "emil")
    assert (decided.stage, decided.request_status) == (2, "approved")


def test_an_escalated_seat_decides_alone(asking: Asking) -> None:
    wider = {"after": "P1D", "to": {"by": "user", "user": "emil"}}
    request_id = asking.ask("anna", "dora", escalate=wider)
    asking.seat(request_id, "emil", origin="escalated")
    assert asking.decide(request_id, "emil").request_status == "approved"


# --- separation of duties ---


def test_who_created_edited_or_requested_may_not_decide(asking: Asking) -> None:
    made = asking.create("anna")
    asking.edit(made, 1, "ben")
    request_id = asking.ask("anna", "ben", "rita", made=made)
    for person in ("anna", "ben", "rita"):
        with refused(asking, "SEPARATION_OF_DUTIES"):
            asking.decide(request_id, person)


def test_nor_may_they_decide_by_a_delegate_or_as_one(asking: Asking) -> None:
    request_id = asking.ask("anna", "dora", made=asking.create("anna"))
    asking.delegate("anna", "emil")
    asking.delegate("dora", "anna")
    for person in ("emil", "anna"):
        with refused(asking, "SEPARATION_OF_DUTIES"):
            asking.decide(request_id, person)


def test_the_contract_may_let_them(asking: Asking) -> None:
    asking.company.publish(
        "invoice", version=2, separation_of_duties={"may_decide": ["creator", "editor", "requester"]}
    )
    made = asking.create("anna")
    asking.edit(made, 1, "ben")
    request_id = asking.ask("anna", "ben", "rita", made=made)
    for person in ("anna", "ben", "rita"):
        decided = asking.decide(request_id, person)
    assert decided.request_status == "approved"


# --- seats ---


def test_a_seat_of_a_role_is_for_whoever_holds_it_when_he_decides(asking: Asking) -> None:
    request_id = asking.ask("@finance")
    asking.run("DELETE FROM member_roles WHERE user_id = 'ben' AND role = 'finance'")
    with refused(asking, "APPROVAL_NOT_YOURS"):
        asking.decide(request_id, "ben")
    asking.run("INSERT INTO member_roles VALUES (%s, 'dora', 'finance')", asking.tenant_id)
    assert asking.decide(request_id, "dora").request_status == "approved"


def test_what_a_token_says_of_roles_does_not_count(asking: Asking) -> None:
    request_id = asking.ask("@finance")
    caller = asking.company.caller("dora", "finance", "admin")
    with refused(asking, "APPROVAL_NOT_YOURS"):
        asking.approvals.decide(caller, request_id, "approved")


def test_who_is_not_asked_or_has_left_may_not(asking: Asking) -> None:
    request_id = asking.ask("anna")
    for person in ("dora", "nobody"):
        with refused(asking, "APPROVAL_NOT_YOURS"):
            asking.decide(request_id, person)
    asking.run("UPDATE members SET status = 'disabled' WHERE user_id = 'anna'")
    with refused(asking, "APPROVAL_NOT_YOURS"):
        asking.decide(request_id, "anna")


def test_one_person_fills_one_seat(asking: Asking) -> None:
    """Refuse a second seat to a person, and to a delegate of someone who has voted."""
    request_id = asking.ask("@finance", "@finance", "@finance")
    asking.decide(request_id, "ben")
    asking.delegate("ben", "dora")
    asking.delegate("cleo", "ben")
    for person in ("ben", "dora"):
        with refused(asking, "APPROVAL_SEAT_TAKEN"):
            asking.decide(request_id, person)
    assert asking.decide(request_id, "cleo").position == 2


def test_a_vote_is_not_repeated(asking: Asking) -> None:
    request_id = asking.ask("anna", "dora")
    asking.decide(request_id, "anna")
    with refused(asking, "APPROVAL_SEAT_TAKEN"):
        asking.decide(request_id, "anna")


# --- delegates ---


def test_a_delegate_decides_and_both_names_stand_there(asking: Asking) -> None:
    delegation_id = asking.delegate("anna", "dora")
    request_id = asking.ask("anna", "emil")
    decided = asking.decide(request_id, "dora")
    assert (decided.on_behalf_of, decided.delegation_id) == ("anna", delegation_id)
    assert asking.seats(request_id)[0] == ("approved", "dora", "anna")
    query = "SELECT decided_by, on_behalf_of, delegation_id FROM approval_decisions"
    assert asking.rows(query) == [("dora", "anna", delegation_id)]


def test_a_delegate_stands_in_for_the_roles_too(asking: Asking) -> None:
    asking.delegate("cleo", "dora")
    assert asking.decide(asking.ask("@finance"), "dora").on_behalf_of == "cleo"


def test_a_delegates_delegate_may_not(asking: Asking) -> None:
    asking.delegate("anna", "dora")
    asking.delegate("dora", "emil")
    request_id = asking.ask("anna")
    with refused(asking, "APPROVAL_NOT_YOURS"):
        asking.decide(request_id, "emil")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE approval_delegations SET revoked_at = now()",
        "UPDATE approval_delegations SET to_time = now()",
        "UPDATE approval_delegations SET from_time = now() + interval '1 hour'",
        "UPDATE approval_delegations SET entity_type = 'order'",
        "UPDATE members SET status = 'disabled' WHERE user_id = 'anna'",
    ],
)
def test_a_delegation_that_does_not_hold_now_and_here_gives_nothing(asking: Asking, change: Any) -> None:
    asking.delegate("anna", "dora")
    request_id = asking.ask("anna")
    asking.run(change)
    with refused(asking, "APPROVAL_NOT_YOURS"):
        asking.decide(request_id, "dora")


# --- requests that accept no vote ---


@pytest.mark.parametrize("reason", [None, "", "  "])
def test_a_rejection_wants_a_reason(asking: Asking, reason: str | None) -> None:
    request_id = asking.ask("anna")
    with refused(asking, "FIELDS_INVALID") as caught:
        asking.decide(request_id, "anna", "rejected", reason)
    assert [(field.pointer, field.code) for field in caught[0].fields] == [("/reason", "REASON_REQUIRED")]


def test_a_stage_says_which_votes_want_one(asking: Asking) -> None:
    request_id = asking.ask("anna", reason_required_for=["approved"])
    with refused(asking, "FIELDS_INVALID"):
        asking.decide(request_id, "anna")
    asking.decide(request_id, "anna", "rejected")


def test_a_vote_that_is_none_and_a_reason_that_is_too_long(asking: Asking) -> None:
    request_id = asking.ask("anna")
    caller = asking.company.caller("anna")
    with refused(asking, "FIELDS_INVALID"):
        asking.approvals.decide(caller, request_id, "perhaps")  # type: ignore[arg-type]
    with refused(asking, "FIELDS_INVALID"):
        asking.decide(request_id, "anna", reason="x" * 4_001)


def test_an_edit_bars_the_vote_before_the_workflow_has_heard_of_it(asking: Asking) -> None:
    made = asking.create()
    request_id = asking.ask("anna", made=made)
    asking.edit(made, 1)
    with refused(asking, "APPROVAL_STALE") as caught:
        asking.decide(request_id, "anna")
    assert caught[0].details == {"current_version": 2, "request_version": 1}


def test_a_request_that_is_over_takes_no_vote(asking: Asking) -> None:
    for status in ("approved", "rejected", "expired", "voided"):
        request_id = asking.ask("anna")
        asking.run(
            "UPDATE approval_requests SET status = %s, ended_at = now() WHERE id = %s", status, request_id
        )
        with refused(asking, "APPROVAL_CLOSED"):
            asking.decide(request_id, "anna")


def test_when_its_time_is_over_nobody_votes_whether_or_not_the_timer_has_rung(asking: Asking) -> None:
    request_id = asking.ask("anna")
    asking.run("UPDATE approval_requests SET expire_at = now() WHERE id = %s", request_id)
    with refused(asking, "APPROVAL_CLOSED"):
        asking.decide(request_id, "anna")


def test_nor_after_its_workflow_has_ended(asking: Asking) -> None:
    request_id = asking.ask("anna")
    asking.run("UPDATE workflow_instances SET status = 'cancelled', completed_at = now()")
    with refused(asking, "APPROVAL_CLOSED"):
        asking.decide(request_id, "anna")


def test_another_tenant_finds_nothing(asking: Asking) -> None:
    request_id = asking.ask("anna")
    other = make_company(asking.company.database)
    caller = Caller(Principal(other.tenant_id, "anna", ("admin",)), via="test")
    for wanted in (request_id, uuid4()):
        with refused(asking, "APPROVAL_NOT_FOUND"):
            asking.approvals.decide(caller, wanted, "approved")


# --- many at once ---


def test_of_many_each_has_its_own_outcome(asking: Asking) -> None:
    good, not_asked, also_good = asking.ask("anna"), asking.ask("dora"), asking.ask("anna")
    ballots = [Ballot(good, "approved"), Ballot(not_asked, "approved"), Ballot(uuid4(), "approved")]
    ballots += [Ballot(good, "approved"), Ballot(also_good, "rejected", "no")]
    outcomes = asking.approvals.decide_many(asking.company.caller("anna"), ballots)
    answers = [each.code if isinstance(each, Rejected) else each.request_status for each in outcomes]  # type: ignore[union-attr]
    assert answers == ["approved", "APPROVAL_NOT_YOURS", "APPROVAL_NOT_FOUND", "APPROVAL_CLOSED", "rejected"]


def test_too_many_are_refused_whole(asking: Asking) -> None:
    request_id = asking.ask("anna")
    with refused(asking, "BATCH_TOO_LARGE"):
        asking.approvals.decide_many(asking.company.caller("anna"), [Ballot(request_id, "approved")] * 101)
