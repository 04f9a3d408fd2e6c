"""Members, roles, the org chart and who the caller is, by HTTP."""

import base64
import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from signet.api.auth import authentication
from signet.api.http.cursors import write_cursor
from signet.core.tenants.tenant_file import MAX_ROLES
from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.api_keys import hire
from tests.support.company import Company, make_company
from tests.support.http_client import Client

Admin = psycopg.Connection[Any]
MONA = {"display_name": "Mona", "email": "mona@a.example", "roles": ["clerk"]}


@pytest.fixture
def client(client: Client) -> Client:
    """Return an administrator who is no member, because nobody changes their own roles."""
    return be(client, "root", "admin")


@pytest.fixture
def clerk(client: Client) -> Client:
    return Client(client.application, client.tenant_id, "carl", ("clerk",))


@pytest.fixture
def stranger(client: Client, database: Database) -> Client:
    """Return an administrator of another company."""
    return Client(client.application, make_company(database).tenant_id, "zoe", ("admin",))


def be(client: Client, subject: str, *roles: str) -> Client:
    return Client(client.application, client.tenant_id, subject, roles)


def list_all(client: Client, path: str, limit: int) -> list[Any]:
    found: list[Any] = []
    query: dict[str, Any] = {"limit": limit}
    while True:
        page = client.get(path, query=query)
        assert page.status == 200, page.text
        found += page.body["items"]
        if page.body["next_cursor"] is None:
            return found
        query["cursor"] = page.body["next_cursor"]


def read_audit(admin: Admin, subject_type: str) -> list[tuple[str, str, Mapping[str, Any]]]:
    rows = admin.execute(
        "SELECT action, subject_id, content FROM audit_log WHERE subject_type = %s ORDER BY created_at, seq",
        (subject_type,),
    ).fetchall()
    return [(action, subject, json.loads(content)["detail"]) for action, subject, content in rows]


def test_me(client: Client, clerk: Client) -> None:
    assert clerk.get("/v1/me").body == {
        "tenant_id": str(client.tenant_id),
        "subject": "carl",
        "kind": "person",
        "display_name": "Carl",
        "roles": ["clerk"],
        "permissions": ["invoice:create", "invoice:edit", "invoice:submit"],
        "is_operator": False,
        "key": None,
    }
    nobody = be(client, "nobody", "none").get("/v1/me").body
    assert (nobody["display_name"], nobody["permissions"]) == (None, [])


def test_a_member_is_made_changed_and_listed(client: Client, admin: Admin) -> None:
    made = client.put("/v1/members/mona", MONA)
    assert made.status == 201, made.text
    assert (made.body["roles"], made.body["status"], made.body["manager_id"]) == (["clerk"], "active", None)
    client.put("/v1/org_chart/mona", {"manager_id": "carl"})
    changed = client.put("/v1/members/mona", {**MONA, "roles": ["reader", "clerk", "reader"]})
    assert (changed.body["roles"], changed.body["manager_id"]) == (["clerk", "reader"], "carl")
    assert client.get("/v1/members/mona").body == changed.body
    assert [member["user_id"] for member in list_all(client, "/v1/members", 1)] == ["carl", "mona"]
    noted = [entry for entry in read_audit(admin, "member") if entry[0] == "save_member"]
    assert [detail["roles"] for _, _, detail in noted] == [["clerk"], ["clerk", "reader"]]
    assert "mona@a.example" not in json.dumps(noted), "what is noted stays for ever"


def test_a_number_for_text_messages_is_kept_and_taken_away(client: Client, admin: Admin) -> None:
    made = client.put("/v1/members/mona", {**MONA, "phone": "+4915112345678"})
    assert made.body["phone"] == "+4915112345678"
    assert client.put("/v1/members/mona", MONA).body["phone"] is None
    noted = [detail for _, _, detail in read_audit(admin, "member")]
    assert noted[1]["changed"] == ["phone"]
    assert "+4915112345678" not in json.dumps(noted)


def test_the_same_again_changes_nothing_and_is_not_noted(client: Client, admin: Admin) -> None:
    client.put("/v1/members/mona", MONA)
    client.put("/v1/members/mona", MONA)
    assert len(read_audit(admin, "member")) == 1


def test_who_may_not_sees_and_changes_nothing(client: Client, clerk: Client) -> None:
    client.put("/v1/members/mona", MONA)
    for answered in (clerk.get("/v1/members"), clerk.get("/v1/roles"), clerk.get("/v1/org_chart")):
        assert (answered.status, answered.code) == (403, "PERMISSION_DENIED")
    assert clerk.get("/v1/members/mona").code == "MEMBER_NOT_FOUND"
    assert clerk.get("/v1/members/carl").status == 200, "oneself always"
    for path, body in [
        ("/v1/members/carl", {"display_name": "Carl", "roles": ["clerk", "admin"]}),
        ("/v1/roles/clerk", {"permissions": ["*:*"]}),
        ("/v1/org_chart/carl", {"manager_id": "mona"}),
    ]:
        assert clerk.put(path, body).code == "PERMISSION_DENIED"
    assert clerk.delete("/v1/roles/reader").code == "PERMISSION_DENIED"
    assert clerk.delete("/v1/org_chart/carl").code == "PERMISSION_DENIED"


def test_another_tenants_people_are_not_there(client: Client, stranger: Client) -> None:
    client.put("/v1/members/mona", MONA)
    assert stranger.get("/v1/members/mona").code == "MEMBER_NOT_FOUND"
    assert [member["user_id"] for member in stranger.get("/v1/members").body["items"]] == ["carl"]
    assert stranger.put("/v1/org_chart/mona", {"manager_id": "carl"}).code == "MEMBER_NOT_FOUND"
    client.put("/v1/roles/own", {"permissions": []})
    assert stranger.delete("/v1/roles/own").code == "ROLE_NOT_FOUND"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/display_name"),
        ({**MONA, "display_name": ""}, "/display_name"),
        ({**MONA, "display_name": "a\x00b"}, "/display_name"),
        ({**MONA, "email": "x"}, "/email"),
        ({**MONA, "phone": "0151 12345678"}, "/phone"),
        ({**MONA, "phone": "+0151123456"}, "/phone"),
        ({**MONA, "roles": ["No Role"]}, "/roles/0"),
        ({**MONA, "roles": ["unknown"]}, "/roles"),
        ({**MONA, "roles": "clerk"}, "/roles"),
        ({**MONA, "status": "suspended"}, "/status"),
        ({**MONA, "manager": "carl"}, "/manager"),
        ({**MONA, "reason": "a\x00b"}, "/reason"),
    ],
)
def test_a_member_that_is_none(client: Client, body: dict[str, Any], pointer: str) -> None:
    refused = client.put("/v1/members/mona", body)
    assert (refused.status, refused.places) == (422, [pointer])
    assert client.get("/v1/members/mona").status == 404


@pytest.mark.parametrize("user_id", ["key:erp", "service:erp", "signet:system", "a" * 201, "a\x7fb"])
def test_nobody_is_called_like_a_machine(client: Client, user_id: str) -> None:
    refused = client.put(f"/v1/members/{user_id}", MONA)
    assert refused.status in (404, 400)
    assert refused.code in ("REQUEST_MALFORMED", "ROUTE_NOT_FOUND")


@pytest.mark.parametrize("user_id", ["auth0|7", "anna@a.example", "Ada Lovelace", "ünal", "a+b"])
def test_an_issuers_names_are_names(client: Client, user_id: str) -> None:
    assert client.put(f"/v1/members/{user_id}", MONA).body["user_id"] == user_id
    assert client.get(f"/v1/members/{user_id}").status == 200


@pytest.mark.parametrize(
    ("user_id", "code"),
    [
        ('a"b', "MEMBER_NOT_FOUND"),
        ("a\\b", "MEMBER_NOT_FOUND"),
        ("#", "MEMBER_NOT_FOUND"),
        ("a\x00b", "REQUEST_MALFORMED"),
    ],
)
def test_whom_nobody_knows(client: Client, user_id: str, code: str) -> None:
    assert client.get(f"/v1/members/{user_id}").code == code


@pytest.mark.parametrize("path", ["/v1/members", "/v1/roles", "/v1/org_chart"])
def test_a_cursor_that_is_none_and_a_limit_beyond(client: Client, path: str) -> None:
    foreign = write_cursor(["a"], {"other": 1})
    nul = base64.urlsafe_b64encode(json.dumps(["x", "a\x00b"]).encode()).decode()
    for cursor in ("x", foreign, nul, write_cursor(["a\x00b"]), write_cursor([7]), write_cursor(["a", "b"])):
        assert client.get(path, query={"cursor": cursor}).code == "CURSOR_INVALID"
    for limit in ("0", "201", "x"):
        assert client.get(path, query={"limit": limit}).places == ["query limit"]


def test_nobody_gives_more_than_they_have(client: Client) -> None:
    client.put("/v1/roles/staff", {"permissions": ["member:edit", "role:edit", "invoice:read"]})
    staff = be(client, "sam", "staff")
    refused = staff.put("/v1/members/tim", {"display_name": "Tim", "roles": ["admin"]})
    assert (refused.status, refused.code) == (403, "ROLE_BEYOND_OWN")
    for permission in ("*:*", "invoice:*", "*:read", "invoice:approve"):
        assert staff.put("/v1/roles/own", {"permissions": [permission]}).code == "ROLE_BEYOND_OWN"
        assert staff.put("/v1/roles/reader", {"permissions": [permission]}).code == "ROLE_BEYOND_OWN"
    assert staff.put("/v1/roles/own", {"permissions": ["invoice:read"]}).status in (200, 201)
    assert staff.put("/v1/members/tim", {"display_name": "Tim", "roles": ["own", "staff"]}).status in (
        200,
        201,
    )
    # A role that a person has already is not granted again, nor a permission that a role has already.
    client.put("/v1/members/ada", {"display_name": "Ada", "roles": ["admin"]})
    assert staff.put("/v1/members/ada", {"display_name": "Ada L.", "roles": ["admin"]}).status in (200, 201)
    more = ["invoice:create", "invoice:edit", "invoice:submit", "invoice:read"]
    assert staff.put("/v1/roles/clerk", {"permissions": more}).status in (200, 201)


def test_who_was_disabled_is_not_let_back_in_by_who_may_less(client: Client) -> None:
    client.put("/v1/roles/staff", {"permissions": ["member:edit"]})
    client.put("/v1/members/sam", {"display_name": "Sam", "roles": ["staff"]})
    ada = {"display_name": "Ada", "roles": ["admin"]}
    client.put("/v1/members/ada", {**ada, "status": "disabled"})
    staff = be(client, "sam", "staff")
    assert staff.put("/v1/members/ada", ada).code == "ROLE_BEYOND_OWN"
    assert staff.put("/v1/members/ada", {**ada, "display_name": "A", "status": "disabled"}).status in (
        200,
        201,
    )


def test_somebody_stays_who_may_edit_members(client: Client) -> None:
    ada = {"display_name": "Ada", "roles": ["admin"]}
    assert client.put("/v1/members/ada", ada).status in (200, 201)
    assert client.put("/v1/members/carl", {"display_name": "Carl", "roles": ["clerk"]}).status in (200, 201)
    for body in ({**ada, "roles": []}, {**ada, "roles": ["clerk"]}, {**ada, "status": "disabled"}):
        refused = client.put("/v1/members/ada", body)
        assert (refused.status, refused.code) == (409, "LAST_ADMINISTRATOR")
    client.put("/v1/roles/chief", {"permissions": ["*:*"]})
    chief = be(client, "cleo", "chief")
    assert chief.put("/v1/roles/admin", {"permissions": ["invoice:*"]}).code == "LAST_ADMINISTRATOR"
    assert client.get("/v1/members/ada").body["roles"] == ["admin"]
    client.put("/v1/roles/people", {"permissions": ["member:*"]})
    client.put("/v1/members/mona", {**MONA, "roles": ["people"]})
    assert client.put("/v1/members/ada", {**ada, "status": "disabled"}).status in (200, 201)
    assert client.put("/v1/members/mona", MONA).code == "LAST_ADMINISTRATOR"


def test_a_disabled_member_is_let_in_nowhere(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "KEEP_SECONDS", 0)
    mona = be(client, "mona", "clerk")
    assert mona.get("/v1/me").status == 200, "not being a member is no reason"
    client.put("/v1/members/mona", {**MONA, "status": "disabled"})
    refused = mona.get("/v1/me")
    assert (refused.status, refused.code) == (403, "MEMBER_INACTIVE")
    client.put("/v1/members/mona", MONA)
    assert mona.get("/v1/me").status == 200


def test_who_loses_a_role_or_is_disabled_is_looked_for_among_approvals(client: Client, admin: Admin) -> None:
    def list_lost() -> list[str]:
        rows = admin.execute(
            "SELECT coalesce(payload_json ->> 'role', payload_json ->> 'user_id') FROM workflow_events_outbox"
            " WHERE event_type = 'voter_lost' ORDER BY created_at, id"
        )
        return [role for (role,) in rows.fetchall()]

    client.put("/v1/members/mona", {**MONA, "roles": ["clerk", "reader"]})
    assert list_lost() == []
    client.put("/v1/members/mona", {**MONA, "roles": ["clerk"]})
    assert list_lost() == (lost := ["clerk", "reader", "mona"]), "also the role that is kept"
    for _ in range(2):
        client.put("/v1/members/mona", {**MONA, "roles": ["clerk"], "status": "disabled"})
    assert list_lost() == [*lost, "clerk", "mona"]
    client.put("/v1/members/mona", MONA)
    assert list_lost() == [*lost, "clerk", "mona"]


def test_roles_are_made_changed_listed_and_deleted(client: Client, admin: Admin) -> None:
    made = client.put("/v1/roles/payer", {"permissions": ["invoice:pay", "invoice:pay"]})
    assert (made.status, made.body["permissions"]) == (201, ["invoice:pay"])
    payer = be(client, "pia", "payer")
    assert payer.get("/v1/me").body["permissions"] == ["invoice:pay"]
    client.put("/v1/roles/payer", {"permissions": []})
    assert payer.get("/v1/me").body["permissions"] == []
    listed = [role["role"] for role in list_all(client, "/v1/roles", 2)]
    assert listed == ["admin", "clerk", "payer", "reader", "voter"]
    assert client.delete("/v1/roles/payer").status == 204
    assert client.delete("/v1/roles/payer").code == "ROLE_NOT_FOUND"
    assert [action for action, name, _ in read_audit(admin, "role") if name == "payer"] == [
        "save_role",
        "save_role",
        "delete_role",
    ]


def test_a_role_that_somebody_has_stays(client: Client) -> None:
    assert client.delete("/v1/roles/clerk").code == "ROLE_IN_USE"
    client.put("/v1/roles/poster", {"permissions": []})
    posting = {"label": "Posting", "roles": ["poster"], "owner_id": "carl", "status": "disabled"}
    assert client.put("/v1/service_accounts/posting", posting).status == 201
    assert client.delete("/v1/roles/poster").code == "ROLE_IN_USE"
    client.put("/v1/roles/robot", {"permissions": []})
    hire(client, client.subject)
    key = client.post("/v1/api_keys", {"name": "erp", "roles": ["robot"]}).body
    assert client.delete("/v1/roles/robot").code == "ROLE_IN_USE"
    client.delete(f"/v1/api_keys/{key['id']}")
    assert client.delete("/v1/roles/robot").status == 204


def test_only_so_many_roles(client: Client, admin: Admin) -> None:
    admin.execute(
        "INSERT INTO roles (tenant_id, role) SELECT %s, 'r' || n FROM generate_series(4, %s) AS n",
        (client.tenant_id, MAX_ROLES),
    )
    assert client.put("/v1/roles/one_more", {"permissions": []}).code == "ROLE_TOO_MANY"
    assert client.put("/v1/roles/r4", {"permissions": ["invoice:read"]}).status in (200, 201)


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/v1/roles/No", {"permissions": []}, "path role"),
        ("/v1/roles/a", {}, "/permissions"),
        ("/v1/roles/a", {"permissions": ["invoice"]}, "/permissions/0"),
        ("/v1/roles/a", {"permissions": ["a:b"] * 501}, "/permissions"),
        ("/v1/roles/a", {"permissions": [7]}, "/permissions/0"),
        ("/v1/org_chart/carl", {"manager_id": ""}, "/manager_id"),
        ("/v1/org_chart/carl", {"manager_id": None}, "/manager_id"),
        ("/v1/org_chart/carl", {"manager_id": "unknown"}, "/manager_id"),
        ("/v1/org_chart/carl", {"manager_id": "key:erp"}, "/manager_id"),
    ],
)
def test_what_is_no_role_and_no_line(client: Client, path: str, body: dict[str, Any], pointer: str) -> None:
    refused = client.put(path, body)
    assert (refused.status, refused.places) == (400 if pointer == "path role" else 422, [pointer])


def test_reporting_lines_without_circles(client: Client, admin: Admin) -> None:
    for name in ("ada", "ben", "dora"):
        client.put(f"/v1/members/{name}", {"display_name": name})
    for below, above in [("carl", "ben"), ("ben", "ada")]:
        line = client.put(f"/v1/org_chart/{below}", {"manager_id": above})
        assert (line.status, line.body["manager_id"]) == (201, above)
    for below, above in [("ada", "carl"), ("ada", "ben"), ("ada", "ada")]:
        refused = client.put(f"/v1/org_chart/{below}", {"manager_id": above})
        assert (refused.status, refused.code) == (409, "ORG_CHART_CYCLE")
    assert client.put("/v1/org_chart/ada", {"manager_id": "dora"}).status in (200, 201)
    lines = [(line["user_id"], line["manager_id"]) for line in list_all(client, "/v1/org_chart", 2)]
    assert lines == [("ada", "dora"), ("ben", "ada"), ("carl", "ben")]
    for _ in range(2):
        assert client.delete("/v1/org_chart/ben").status == 204
    assert client.delete("/v1/org_chart/nobody").code == "MEMBER_NOT_FOUND"
    client.put("/v1/members/emil", {"display_name": "Emil", "status": "disabled"})
    assert client.put("/v1/org_chart/carl", {"manager_id": "emil"}).places == ["/manager_id"]
    assert [entry[1:] for entry in read_audit(admin, "member") if entry[0] == "set_manager"] == [
        ("carl", {"manager": "ben", "manager_before": None}),
        ("ben", {"manager": "ada", "manager_before": None}),
        ("ada", {"manager": "dora", "manager_before": None}),
        ("ben", {"manager": None, "manager_before": "ada"}),
    ]


def test_of_a_suspended_tenant_nothing_is_shown(
    database: Database, company: Company, client: Client, admin: Admin
) -> None:
    """Refuse on every route in a fresh process: an older one may have cached that the tenant was active."""
    admin.execute("UPDATE tenants SET status = 'suspended'")
    fresh = Client(wire(database), company.tenant_id)
    for path in (
        "/v1/me",
        "/v1/health",
        "/v1/delegations/given",
        "/v1/delegations/taken",
        "/v1/notifications",
        "/v1/approvals",
        "/v1/tenant",
    ):
        refused = fresh.get(path)
        assert (refused.status, refused.code) == (403, "TENANT_INACTIVE")
    assert Client(fresh.application, uuid4()).get("/v1/me").code == "TENANT_INACTIVE"


@pytest.mark.parametrize("user_id", ["Carl", "CARL", "\u0441arl"])
def test_an_id_that_looks_like_another_members_is_refused(client: Client, user_id: str) -> None:
    refused = client.put(f"/v1/members/{user_id}", MONA)
    assert (refused.status, refused.code) == (409, "MEMBER_ID_LOOKS_ALIKE")
    assert "'carl'" in refused.body["detail"]
    assert client.put("/v1/members/carla", MONA).status in (200, 201)


def test_an_id_with_a_blank_at_its_end_is_refused(client: Client) -> None:
    refused = client.put("/v1/members/mona ", MONA)
    assert (refused.status, refused.places) == (422, ["/user_id"])


def test_a_token_that_only_looks_like_a_members_is_refused(database: Database, client: Client) -> None:
    admitting = be(Client(wire(database), client.tenant_id), "Carl", "clerk")
    refused = admitting.get("/v1/me")
    assert (refused.status, refused.code) == (403, "TOKEN_SUBJECT_LOOKS_ALIKE")
    assert be(admitting, "carl", "clerk").get("/v1/me").status == 200
