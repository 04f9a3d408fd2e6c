"""Service accounts by HTTP: made, changed, disabled; and the acts that they can never do."""

from typing import Any

import psycopg
import pytest

from signet.core.tenants.tenant_file import MAX_SERVICE_ACCOUNTS
from signet.store.database import Database
from tests.support.company import make_company
from tests.support.http_client import Client, ClientAnswer

Admin = psycopg.Connection[Any]
PLACE = "/v1/service_accounts/erp_posting"
CONTENT = {"label": "ERP posting", "roles": ["clerk"], "owner_id": "carl"}


def save(client: Client, version: int | None = None, **changes: Any) -> ClientAnswer:
    headers = {} if version is None else {"if_match": f'"{version}"'}
    return client.put(PLACE, {**CONTENT, **changes}, **headers)


def test_an_account_is_made_changed_and_disabled(client: Client, admin: Admin) -> None:
    made = save(client, reason="posts invoices")
    assert (made.status, made.headers["location"]) == (201, PLACE), made.text
    shown = made.body
    assert (shown["id"], shown["label"], shown["roles"], shown["owner_id"], shown["status"]) == (
        "erp_posting",
        "ERP posting",
        ["clerk"],
        "carl",
        "active",
    )
    assert (shown["owner_is_active"], shown["version"], shown["created_by"]) == (True, 1, "carl")
    assert save(client).code == "VERSION_MISSING"
    changed = save(client, 1, label="Posting", roles=["clerk", "reader"])
    assert (changed.status, changed.body["version"]) == (200, 2)
    refused = save(client, 1)
    assert (refused.status, refused.code) == (412, "SERVICE_ACCOUNT_VERSION_CONFLICT")
    assert save(client, 2, status="disabled").body["status"] == "disabled"
    assert client.get(PLACE).body["version"] == 3
    assert [account["id"] for account in client.get("/v1/service_accounts").body["items"]] == ["erp_posting"]
    rows = admin.execute(
        "SELECT action, subject_id, actor_id, content::jsonb -> 'detail' FROM audit_log"
        " WHERE subject_type = 'service_account' ORDER BY seq"
    ).fetchall()
    assert [row[:3] for row in rows] == [("save_service_account", "erp_posting", "carl")] * 3
    assert rows[1][3] == {
        "version": 2,
        "label": "Posting",
        "status": "active",
        "owner_before": "carl",
        "owner": "carl",
        "roles_before": ["clerk"],
        "roles": ["clerk", "reader"],
    }


def test_accounts_are_listed_page_by_page(client: Client) -> None:
    for name in ("b", "a", "c"):
        assert client.put(f"/v1/service_accounts/{name}", CONTENT).status == 201
    first = client.get("/v1/service_accounts", query={"limit": 2}).body
    rest = client.get("/v1/service_accounts", query={"limit": 2, "cursor": first["next_cursor"]}).body
    assert [account["id"] for account in first["items"] + rest["items"]] == ["a", "b", "c"]


def test_nobody_gives_an_account_more_than_they_have(client: Client) -> None:
    client.put("/v1/roles/staff", {"permissions": ["service_account:*", "invoice:read"]})
    staff = Client(client.application, client.tenant_id, "sam", ("staff",))
    refused = save(staff)
    assert (refused.status, refused.code) == (403, "ROLE_BEYOND_OWN")
    assert save(staff, roles=["reader"]).status == 201
    assert save(staff, 1, roles=["reader", "clerk"]).code == "ROLE_BEYOND_OWN"
    assert save(client, 1, roles=["reader", "clerk"]).status == 200
    assert save(staff, 2, label="Reading", roles=["reader", "clerk"]).status == 200, "what it has may stay"
    assert save(client, 3, roles=["reader", "clerk"], status="disabled").status == 200
    assert save(staff, 4, roles=["reader", "clerk"]).code == "ROLE_BEYOND_OWN", "enabling it gives them"


def test_who_may_not_and_who_is_another_tenant(client: Client, database: Database) -> None:
    save(client)
    clerk = Client(client.application, client.tenant_id, "carl", ("clerk",))
    stranger = Client(client.application, make_company(database).tenant_id)
    assert save(clerk, 1).code == "PERMISSION_DENIED"
    assert clerk.get("/v1/service_accounts").code == "PERMISSION_DENIED"
    for who in (clerk, stranger):
        assert who.get(PLACE).code == "SERVICE_ACCOUNT_NOT_FOUND"
    assert save(stranger, 1).code == "SERVICE_ACCOUNT_NOT_FOUND"
    assert stranger.get("/v1/service_accounts").body["items"] == []


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"owner_id": "nobody"}, "/owner_id"),
        ({"owner_id": "gone"}, "/owner_id"),
        ({"owner_id": "key:erp"}, "/owner_id"),
        ({"owner_id": "service:erp_posting"}, "/owner_id"),
        ({"roles": []}, "/roles"),
        ({"roles": ["unknown"]}, "/roles"),
        ({"label": ""}, "/label"),
        ({"status": "gone"}, "/status"),
        ({"token": "x"}, "/token"),
    ],
)
def test_an_account_that_cannot_be_made(client: Client, changes: dict[str, Any], pointer: str) -> None:
    client.put("/v1/members/gone", {"display_name": "Gone", "status": "disabled"})
    refused = save(client, **changes)
    assert refused.status == 422, refused.text
    assert refused.places[0] == pointer


def test_only_so_many_accounts(client: Client, admin: Admin) -> None:
    admin.execute(
        "INSERT INTO service_accounts (tenant_id, id, label, roles, owner_id, created_by)"
        " SELECT %s, 'a' || n, 'A', '{clerk}', 'carl', 'carl' FROM generate_series(1, %s) AS n",
        (client.tenant_id, MAX_SERVICE_ACCOUNTS),
    )
    refused = save(client)
    assert (refused.status, refused.code) == (409, "SERVICE_ACCOUNT_TOO_MANY")
    changed = client.put("/v1/service_accounts/a1", CONTENT, if_match='"1"')
    assert changed.status == 200, changed.text


def test_an_account_is_no_person(client: Client, admin: Admin) -> None:
    """Refuse it as a member, a delegate, a manager and a caller: only people have such names."""
    save(client)
    subject = "service:erp_posting"
    assert client.put(f"/v1/members/{subject}", {"display_name": "ERP"}).status == 400
    assert client.put("/v1/org_chart/carl", {"manager_id": subject}).status == 422
    delegation = {
        "user_id": "carl",
        "delegate_id": subject,
        "from_time": "2026-01-01T00:00:00Z",
        "to_time": "2026-01-02T00:00:00Z",
    }
    assert client.post("/v1/delegations", delegation).status == 422
    caller = Client(client.application, client.tenant_id, subject, ("admin",))
    assert caller.get("/v1/me").code == "TOKEN_INVALID"
    for machine in (subject, "key:erp", "signet:system"):
        with pytest.raises(psycopg.errors.CheckViolation):
            admin.execute(
                "INSERT INTO members (tenant_id, user_id, display_name) VALUES (%s, %s, 'ERP')",
                (client.tenant_id, machine),
            )
