"""Keys and service accounts that change hands where the tenant wants two people."""

import pytest

from tests.support.http_client import Client
from tests.support.two_people import TwoPeople, confirm

POSTING = "/v1/service_accounts/posting"
PERMISSIONS = ("member:*", "service_account:*", "api_key:*", "invoice:post")


@pytest.fixture
def root(two: TwoPeople) -> Client:
    """Return an administrator of members, beside anna, who owns an account, and ben, who may get it."""
    root, sue = two.hire("root", *PERMISSIONS), two.hire("sue", *PERMISSIONS)
    two.hire("anna", *PERMISSIONS)
    two.hire("ben", "invoice:read")
    made = root.put(POSTING, {"label": "Posting", "roles": ["anna_role"], "owner_id": "anna"})
    assert (made.status, confirm(sue, made).status) == (202, 200)
    return root


def disable(person: Client, dependents: object) -> tuple[int, str | None]:
    body = {"display_name": "Anna", "roles": ["anna_role"], "status": "disabled", "dependents": dependents}
    answer = person.put("/v1/members/anna", body)
    return answer.status, answer.body.get("code")


def test_an_account_changes_hands_when_another_person_confirms(two: TwoPeople, root: Client) -> None:
    assert disable(root, {"hand_over_to": "ben"}) == (200, None)
    account = root.get(POSTING).body
    assert (account["owner_id"], account["owner_is_active"], account["version"]) == ("anna", False, 1)
    (proposed,) = root.get("/v1/control_changes", query={"status": "proposed"}).body["items"]
    place = f"/v1/control_changes/{proposed['id']}"
    assert root.get(place).body["difference"] == [{"pointer": "/owner_id", "before": "anna", "after": "ben"}]
    assert confirm(root, place).code == "FOUR_EYES_REQUIRED"
    assert confirm(two.people["sue"], place).status == 200
    account = root.get(POSTING).body
    assert (account["owner_id"], account["owner_is_active"], account["status"]) == ("ben", True, "active")


def test_one_person_ends_it(root: Client) -> None:
    assert disable(root, "end") == (200, None)
    assert root.get(POSTING).body["status"] == "disabled"
    assert root.get("/v1/control_changes", query={"status": "proposed"}).body["items"] == []


def test_a_key_takes_two_people_by_itself(two: TwoPeople, root: Client) -> None:
    sue = two.people["sue"]
    made = sue.post("/v1/api_keys", {"name": "erp", "roles": ["sue_role"]})
    place = f"/v1/api_keys/{made.body['id']}"
    assert root.post(f"{place}/owner", {"owner_id": "anna"}).status == 200
    assert root.post(f"{place}/owner/accept").code == "PERMISSION_DENIED"
    assert root.get(place).body["owner_id"] == "sue"
    assert two.people["anna"].post(f"{place}/owner/accept").status == 200
    assert root.get(place).body["owner_id"] == "anna"
