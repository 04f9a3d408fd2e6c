"""The dependents of a member: listed, ended with them, or handed over before they are disabled."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from signet.engine.approvals.inbox import Approvals
from tests.support.approval_requests import Asking
from tests.support.company import Company
from tests.support.http_client import Client, ClientAnswer

Admin = psycopg.Connection[Any]


@pytest.fixture
def asking(company: Company, admin: Admin) -> Asking:
    made = Asking(company, admin, Approvals(company.database, company.documents.caches))
    made.hire()
    return made


@pytest.fixture
def root(client: Client) -> Client:
    return Client(client.application, client.tenant_id, "root", ("admin",))


def save(client: Client, user_id: str, **more: Any) -> ClientAnswer:
    return client.put(f"/v1/members/{user_id}", {"display_name": user_id, **more})


def give_dependents(root: Client, asking: Asking) -> tuple[UUID, UUID]:
    """Give anna a key, an account, two delegations, two people, and seats in two requests; return these."""
    assert save(root, "anna", roles=["approver", "clerk"]).status == 200
    posting = {"label": "Posting", "roles": ["clerk"], "owner_id": "anna"}
    assert root.put("/v1/service_accounts/posting", posting).status == 201
    anna = Client(root.application, root.tenant_id, "anna", ("admin",))
    assert anna.post("/v1/api_keys", {"name": "erp", "roles": ["clerk"]}).status == 201
    now = datetime.now(UTC)
    terms = {"from_time": now.isoformat(), "to_time": (now + timedelta(days=1)).isoformat()}
    assert anna.post("/v1/delegations", {"delegate_id": "dora", **terms}).status == 201
    emil = Client(root.application, root.tenant_id, "emil", ())
    assert emil.post("/v1/delegations", {"delegate_id": "anna", **terms}).status == 201
    for below, above in (("carl", "anna"), ("ben", "anna"), ("anna", "cleo")):
        assert root.put(f"/v1/org_chart/{below}", {"manager_id": above}).status == 200
    return asking.ask("anna"), asking.ask("anna", "ben")


def test_what_depends_on_a_member_is_listed(root: Client, asking: Asking) -> None:
    requests = give_dependents(root, asking)
    shown = root.get("/v1/members/anna/dependents")
    assert shown.status == 200, shown.text
    assert shown.body["counts"] == {
        "keys": 1,
        "service_accounts": 1,
        "delegations": 2,
        "seats": 2,
        "reports": 2,
        "requests": 0,
    }
    assert [account["id"] for account in shown.body["service_accounts"]] == ["posting"]
    assert [key["name"] for key in shown.body["keys"]] == ["erp"]
    assert [(one["user_id"], one["delegate_id"]) for one in shown.body["delegations"]] == [
        ("anna", "dora"),
        ("emil", "anna"),
    ]
    assert [UUID(seat["request_id"]) for seat in shown.body["seats"]] == sorted(requests)
    assert shown.body["reports"] == ["ben", "carl"]
    assert root.get("/v1/members/dora/dependents").body["counts"]["delegations"] == 1
    assert root.get("/v1/members/nobody/dependents").code == "MEMBER_NOT_FOUND"
    clerk = Client(root.application, root.tenant_id, "carl", ("clerk",))
    assert clerk.get("/v1/members/anna/dependents").code == "PERMISSION_DENIED"


def test_a_member_with_dependents_is_not_disabled_without_a_word_about_them(
    root: Client, asking: Asking
) -> None:
    give_dependents(root, asking)
    refused = save(root, "anna", status="disabled")
    assert (refused.status, refused.code) == (409, "MEMBER_HAS_DEPENDENTS")
    told = {error["pointer"]: error["detail"] for error in refused.body["errors"]}
    assert told == {
        "/dependents/keys": "1 API key",
        "/dependents/service_accounts": "1 service account",
        "/dependents/delegations": "2 delegations",
        "/dependents/seats": "2 open seats",
        "/dependents/reports": "2 people who report to them",
    }
    assert root.get("/v1/members/anna").body["status"] == "active"
    assert save(root, "dora", status="active").status == 200, "who stays has nothing to settle"
    assert save(root, "rita", status="disabled").status == 200, "who has nothing is disabled at once"


def test_they_end_with_the_member(root: Client, asking: Asking) -> None:
    alone, _ = give_dependents(root, asking)
    assert save(root, "anna", status="disabled", dependents="end").status == 200
    counts = root.get("/v1/members/anna/dependents").body["counts"]
    assert counts == {
        "keys": 0,
        "service_accounts": 0,
        "delegations": 0,
        "seats": 2,
        "reports": 0,
        "requests": 0,
    }
    assert root.get("/v1/service_accounts/posting").body["status"] == "disabled"
    assert root.get("/v1/api_keys").body["items"][0]["revoked_by"] == "root"
    assert root.get("/v1/members/ben").body["manager_id"] is None
    assert asking.seats(alone) == [("open", None, None)]
    told = asking.rows("SELECT user_id FROM notifications WHERE kind = 'delegation_revoked' ORDER BY user_id")
    assert [user_id for (user_id,) in told] == ["anna", "anna", "dora", "emil"]
    ((detail,),) = asking.rows(
        "SELECT content::jsonb -> 'detail' -> 'dependents' FROM audit_log WHERE subject_id = 'anna'"
        " AND action = 'save_member' AND content::jsonb -> 'detail' ? 'dependents'"
    )
    assert (detail["heir"], len(detail["keys"]), len(detail["delegations"])) == (None, 1, 2)
    assert detail["service_accounts"] == ["posting"]
    assert detail["reports"] == ["ben", "carl"]


def test_who_reports_to_the_member_is_told_that_another_must_do_it(root: Client, asking: Asking) -> None:
    give_dependents(root, asking)
    carl = Client(root.application, root.tenant_id, "carl", ("admin",))
    refused = save(carl, "anna", status="disabled")
    assert refused.code == "MEMBER_HAS_DEPENDENTS"
    assert "Another administrator must do it: anna is your manager" in refused.body["remedy"]
    assert "Another administrator" not in save(root, "anna", status="disabled").body["remedy"]


def test_they_are_handed_over(root: Client, asking: Asking) -> None:
    alone, both = give_dependents(root, asking)
    handed = save(root, "anna", status="disabled", dependents={"hand_over_to": "ben"})
    assert handed.status == 200, handed.text
    (key,) = root.get("/v1/api_keys").body["items"]
    assert (key["owner_id"], key["proposed_owner_id"], key["revoked_by"]) == ("anna", "ben", None)
    assert key["owner_is_active"] is False, "it opens nothing until ben accepts it"
    ben = Client(root.application, root.tenant_id, "ben", ("approver",))
    told = [
        item["data"]
        for item in ben.get("/v1/notifications").body["items"]
        if item["kind"] == "api_key_offered"
    ]
    assert told == [{"key_id": key["id"], "name": "erp", "owner_id": "anna", "by": "root"}]
    account = root.get("/v1/service_accounts/posting").body
    assert (account["owner_id"], account["status"]) == ("ben", "active")
    seats = (
        "SELECT holder_user_id, handed_over_from FROM approval_seats WHERE request_id = %s ORDER BY position"
    )
    assert asking.rows(seats, alone) == [("ben", "anna")]
    assert asking.rows(seats, both) == [("anna", None), ("ben", None)], "nobody has two seats in a stage"
    assert root.get("/v1/members/carl").body["manager_id"] == "ben"
    assert root.get("/v1/members/ben").body["manager_id"] == "cleo", "nobody reports to themselves"
    assert asking.decide(alone, "ben").request_status == "approved"
    ben = Client(root.application, root.tenant_id, "ben", ("approver",))
    (seat,) = ben.get(f"/v1/approvals/{alone}").body["seats"]
    assert (seat["holder_user_id"], seat["handed_over_from"]) == ("ben", "anna")
    kinds = [item["kind"] for item in ben.get("/v1/notifications").body["items"]]
    assert sorted(kinds) == ["api_key_offered", "approval_requested"]
    changes = asking.rows(
        "SELECT user_id, other_user_id, persons FROM eligibility_changes WHERE kind = 'seat_given'"
    )
    assert changes == [("ben", "anna", ["root"])]


def test_a_seat_that_the_author_of_the_document_hands_over_bars_its_vote(
    root: Client, asking: Asking
) -> None:
    request_id = asking.ask("anna")
    carl = Client(root.application, root.tenant_id, "carl", ("admin",))
    assert save(carl, "anna", status="disabled", dependents={"hand_over_to": "ben"}).status == 200
    ben = Client(root.application, root.tenant_id, "ben", ("approver",))
    refused = ben.post(f"/v1/approvals/{request_id}/decision", {"vote": "approved"})
    assert (refused.status, refused.code) == (403, "VOTE_BARRED_BY_GRANT")


def test_a_manager_at_the_top_leaves_their_heir_without_one(root: Client, asking: Asking) -> None:
    root.put("/v1/org_chart/ben", {"manager_id": "anna"})
    root.put("/v1/org_chart/dora", {"manager_id": "anna"})
    assert save(root, "anna", status="disabled", dependents={"hand_over_to": "ben"}).status == 200
    lines = {line["user_id"]: line["manager_id"] for line in root.get("/v1/org_chart").body["items"]}
    assert lines == {"dora": "ben"}


@pytest.mark.parametrize("heir", ["nobody", "anna", "emil"])
def test_nothing_goes_to_a_person_who_is_no_other_active_member(
    root: Client, asking: Asking, heir: str
) -> None:
    give_dependents(root, asking)
    asking.run("UPDATE members SET status = 'disabled' WHERE user_id = 'emil'")
    refused = save(root, "anna", status="disabled", dependents={"hand_over_to": heir})
    assert (refused.status, refused.body["errors"][0]["pointer"]) == (422, "/dependents/hand_over_to")


def test_nobody_hands_anything_over_to_themselves(root: Client, asking: Asking) -> None:
    give_dependents(root, asking)
    ben = Client(root.application, root.tenant_id, "ben", ("admin",))
    refused = save(ben, "anna", status="disabled", dependents={"hand_over_to": "ben"})
    assert (refused.status, refused.code) == (403, "SELF_GRANT_REFUSED")


def report(root: Client, *lines: tuple[str, str]) -> None:
    for below, above in lines:
        assert root.put(f"/v1/org_chart/{below}", {"manager_id": above}).status == 200


def test_nobody_becomes_a_manager_by_handing_over(root: Client, asking: Asking) -> None:
    """Refuse the manager of anna, when ben reports to anna and is her heir; another one may."""
    report(root, ("ben", "anna"), ("anna", "cleo"))
    cleo = Client(root.application, root.tenant_id, "cleo", ("admin",))
    refused = save(cleo, "anna", status="disabled", dependents={"hand_over_to": "ben"})
    assert (refused.status, refused.code) == (403, "SELF_GRANT_REFUSED")
    assert root.get("/v1/members/anna").body["status"] == "active"
    assert root.get("/v1/members/ben").body["manager_id"] == "anna"
    assert save(root, "anna", status="disabled", dependents={"hand_over_to": "ben"}).status == 200
    assert root.get("/v1/members/ben").body["manager_id"] == "cleo"


@pytest.mark.parametrize("dependents", ["end", {"hand_over_to": "dora"}])
def test_nobody_changes_their_own_manager_by_disabling_them(
    root: Client, asking: Asking, dependents: Any
) -> None:
    report(root, ("ben", "anna"), ("carl", "anna"))
    ben = Client(root.application, root.tenant_id, "ben", ("admin",))
    refused = save(ben, "anna", status="disabled", dependents=dependents)
    assert (refused.status, refused.code) == (403, "SELF_GRANT_REFUSED")
    assert root.get("/v1/members/ben").body["manager_id"] == "anna"
    assert save(root, "anna", status="disabled", dependents=dependents).status == 200


def test_who_has_no_line_to_them_hands_over(root: Client, asking: Asking) -> None:
    """Let the manager of anna do it, where the heir does not report to anna."""
    report(root, ("ben", "anna"), ("anna", "cleo"))
    cleo = Client(root.application, root.tenant_id, "cleo", ("admin",))
    assert save(cleo, "anna", status="disabled", dependents={"hand_over_to": "dora"}).status == 200
    assert root.get("/v1/members/ben").body["manager_id"] == "dora"


@pytest.mark.parametrize("dependents", ["stay", {}, {"hand_over_to": "key:erp"}, ["end"]])
def test_a_word_that_is_none(root: Client, asking: Asking, dependents: Any) -> None:
    assert save(root, "anna", status="disabled", dependents=dependents).status == 422
