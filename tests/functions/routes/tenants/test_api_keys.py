"""Keys of machines, by HTTP: made, used, listed, revoked; and the acts that they can never do."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from signet.api.auth import authentication
from signet.core.tenants.api_key import parse_key_token, write_key_token
from signet.engine.approvals.inbox import Approvals
from signet.engine.tenants import api_keys
from signet.store.database import Database
from tests.support.api_keys import create_invoice, hire, make_key, use_key
from tests.support.approval_requests import Asking
from tests.support.company import Company, make_company
from tests.support.http_client import Client

Admin = psycopg.Connection[Any]


@pytest.fixture(autouse=True)
def forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each call verify the key again."""
    monkeypatch.setattr(authentication, "KEEP_SECONDS", 0)


@pytest.fixture(autouse=True)
def owner(client: Client) -> None:
    """Give carl, who makes the keys, the roles of the token as a member too."""
    hire(client, "carl", "admin")


def secret_of(token: str) -> str:
    """Return what follows tenant and key; it may have an underscore of its own."""
    return token.split("_", 3)[3]


def test_a_key_acts_as_itself_with_the_roles_it_was_given(client: Client, admin: Admin) -> None:
    made = make_key(client)
    machine, subject = use_key(client, made["token"]), f"key:{made['id']}"
    me = machine.get("/v1/me").body
    assert (me["subject"], me["kind"], me["roles"]) == (subject, "key", ["clerk"])
    assert me["key"] == {"id": made["id"], "name": "erp", "owner": "carl"}
    assert client.get("/v1/me").body["key"] is None
    document = create_invoice(machine)
    assert document.status == 201, document.text
    assert machine.get("/v1/api_keys").code == "PERMISSION_DENIED"
    assert admin.execute("SELECT creator_id FROM documents").fetchall() == [(subject,)]


def test_audit_rows_tell_two_keys_of_one_name_apart(client: Client, admin: Admin) -> None:
    kim = hire(client, "kim", "admin")
    keys = [make_key(client), make_key(kim)]
    for number, key in enumerate(keys):
        created = create_invoice(use_key(client, key["token"]), f"R-{number}")
        assert created.status == 201, created.text
    rows = admin.execute(
        "SELECT actor_id, content::jsonb -> 'detail' -> 'key' FROM audit_log"
        " WHERE subject_type = 'document' ORDER BY created_at"
    ).fetchall()
    assert rows == [
        (f"key:{keys[0]['id']}", {"id": keys[0]["id"], "name": "erp", "owner": "carl"}),
        (f"key:{keys[1]['id']}", {"id": keys[1]["id"], "name": "erp", "owner": "kim"}),
    ]
    (made,) = admin.execute(
        "SELECT content::jsonb -> 'detail' FROM audit_log WHERE action = 'create_api_key'"
        " AND subject_id = %s",
        (keys[1]["id"],),
    ).fetchall()
    assert made[0]["owner"] == "kim" and "key" not in made[0]


def test_the_secret_is_nowhere(client: Client, admin: Admin) -> None:
    made = make_key(client)
    secret = secret_of(made["token"])
    assert secret not in client.get("/v1/api_keys").text
    tables = admin.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
    ).fetchall()
    for (table,) in tables:
        assert secret not in str(admin.execute(f"SELECT * FROM {table}").fetchall()), table


def test_a_repetition_makes_one_key_and_does_not_show_it_again(client: Client, admin: Admin) -> None:
    body = {"name": "erp", "roles": ["clerk"]}
    first = client.post("/v1/api_keys", body, idempotency_key="once")
    again = client.post("/v1/api_keys", body, idempotency_key="once")
    assert (again.status, again.body) == (201, {**first.body, "token": None})
    assert len(client.get("/v1/api_keys").body["items"]) == 1
    secret = secret_of(first.body["token"])
    assert secret not in str(admin.execute("SELECT * FROM idempotency_keys").fetchall())


def test_keys_are_listed_page_by_page(client: Client) -> None:
    made = [make_key(client, name=name)["id"] for name in ("a", "b", "a")]
    first = client.get("/v1/api_keys", query={"limit": 2}).body
    rest = client.get("/v1/api_keys", query={"limit": 2, "cursor": first["next_cursor"]}).body
    assert [key["id"] for key in first["items"] + rest["items"]] == made
    assert rest["next_cursor"] is None
    assert client.get("/v1/api_keys", query={"cursor": "x"}).code == "CURSOR_INVALID"
    assert "token" not in first["items"][0] and "secret_hash" not in first["items"][0]


def test_a_revoked_key_is_refused(client: Client, admin: Admin) -> None:
    made = make_key(client)
    machine = use_key(client, made["token"])
    assert machine.get("/v1/me").status == 200
    for _ in range(2):
        assert client.delete(f"/v1/api_keys/{made['id']}").status == 204
    refused = machine.get("/v1/me")
    assert (refused.status, refused.code) == (401, "TOKEN_INVALID")
    (listed,) = client.get("/v1/api_keys").body["items"]
    assert (listed["revoked_by"], listed["last_used_at"] is None) == ("carl", False)
    actions = admin.execute("SELECT action FROM audit_log WHERE subject_type = 'api_key' ORDER BY seq")
    assert [action for (action,) in actions.fetchall()] == ["create_api_key", "revoke_api_key"]
    with pytest.raises(psycopg.errors.RestrictViolation):
        admin.execute("UPDATE api_keys SET revoked_at = NULL, revoked_by = NULL")


def test_a_key_uses_the_share_of_its_owner(client: Client, admin: Admin) -> None:
    machines = [use_key(client, make_key(client, name=name)["token"]) for name in ("erp", "shop")]
    admin.execute("INSERT INTO tenant_quotas VALUES (%s, 'api:read', 4, 3600)", (client.tenant_id,))
    assert [machine.get("/v1/me").status for machine in machines] == [200, 200]
    refused = machines[0].get("/v1/me"), machines[1].get("/v1/me"), client.get("/v1/me")
    assert [answer.body["limit_of"] for answer in refused] == ["person"] * 3
    kim = Client(client.application, client.tenant_id, subject="kim")
    assert kim.get("/v1/health").status == 200


def test_within_the_time_that_is_promised(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a revoked key within KEEP_SECONDS; unit/api/auth/test_issuer_tokens.py has the time after them."""
    monkeypatch.undo()
    assert authentication.KEEP_SECONDS <= 30
    made = make_key(client)
    machine = use_key(client, made["token"])
    machine.get("/v1/me")
    client.delete(f"/v1/api_keys/{made['id']}")
    assert machine.get("/v1/me").status == 200


def test_an_expired_key_is_refused(client: Client, admin: Admin) -> None:
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    made = make_key(client, expires_at=later)
    machine = use_key(client, made["token"])
    assert machine.get("/v1/me").status == 200
    admin.execute(
        "UPDATE api_keys SET created_at = created_at - interval '2 days', expires_at = now() - interval '1 s'"
    )
    assert machine.get("/v1/me").code == "TOKEN_EXPIRED"


def test_what_is_no_key(client: Client, database: Database) -> None:
    made = make_key(client)
    token = parse_key_token(made["token"])
    assert token is not None
    other = make_company(database).tenant_id
    secret = secret_of(made["token"])
    start = made["token"].removesuffix(f"_{secret}")
    last = secret[-1]
    wrong = [
        write_key_token(token.tenant_id, token.key_id, b"x" * 32),
        write_key_token(token.tenant_id, uuid4(), b"x" * 32),
        f"signet_{other.hex}_{token.key_id.hex}_{secret}",
        f"signet_{uuid4().hex}_{token.key_id.hex}_{secret}",
        f"{start}_{secret}x",
        f"{start}_{secret[:-1]}",
        # The same bytes in another spelling.
        f"{start}_{secret[:-1]}{chr(ord(last) + 1)}",
        made["token"].upper(),
        "signet_",
        "signet_x_y_z",
    ]
    for text in wrong:
        assert use_key(client, text).get("/v1/me").code == "TOKEN_INVALID", text
    assert use_key(client, made["token"]).get("/v1/me").status == 200


def test_its_use_is_noted_to_the_hour(client: Client, admin: Admin) -> None:
    machine = use_key(client, make_key(client)["token"])

    def read() -> Any:
        return admin.execute("SELECT last_used_at FROM api_keys").fetchall()

    machine.get("/v1/me")
    first = read()
    machine.get("/v1/me")
    assert read() == first != [(None,)]
    admin.execute("UPDATE api_keys SET last_used_at = now() - interval '2 hours'")
    machine.get("/v1/me")
    assert read() > first


def test_nobody_gives_a_key_more_than_they_have(client: Client) -> None:
    client.put("/v1/roles/staff", {"permissions": ["api_key:*", "invoice:create"]})
    staff = hire(client, "sam", "staff")
    for role in ("admin", "clerk"):
        refused = staff.post("/v1/api_keys", {"name": "erp", "roles": [role]})
        assert (refused.status, refused.code) == (403, "ROLE_BEYOND_OWN")
    assert staff.post("/v1/api_keys", {"name": "erp", "roles": ["staff"]}).status == 201


def test_a_key_makes_no_keys(client: Client) -> None:
    machine = use_key(client, make_key(client, roles=["admin"])["token"])
    assert machine.get("/v1/api_keys").status == 200
    assert machine.post("/v1/api_keys", {"name": "next", "roles": ["clerk"]}).code == "PERMISSION_DENIED"


def test_who_may_not_and_who_is_another_tenant(client: Client, database: Database) -> None:
    made = make_key(client)
    clerk = Client(client.application, client.tenant_id, "carl", ("clerk",))
    stranger = Client(client.application, make_company(database).tenant_id)
    assert clerk.post("/v1/api_keys", {"name": "erp", "roles": ["clerk"]}).code == "PERMISSION_DENIED"
    for who in (clerk, stranger):
        assert who.delete(f"/v1/api_keys/{made['id']}").code == "API_KEY_NOT_FOUND"
    assert stranger.get("/v1/api_keys").body["items"] == []
    assert client.delete(f"/v1/api_keys/{uuid4()}").code == "API_KEY_NOT_FOUND"


def test_only_so_many_that_open_something(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_keys, "MAX_LIVE_KEYS", 1)
    made = make_key(client)
    refused = client.post("/v1/api_keys", {"name": "erp", "roles": ["clerk"]})
    assert (refused.status, refused.code) == (409, "API_KEY_TOO_MANY")
    client.delete(f"/v1/api_keys/{made['id']}")
    make_key(client)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"name": "No Name"}, "/name"),
        ({"name": None}, "/name"),
        ({"roles": []}, "/roles"),
        ({"roles": ["unknown"]}, "/roles"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
        ({"expires_at": "2099-01-01T00:00:00"}, "/expires_at"),
        ({"expires_at": "soon"}, "/expires_at"),
        ({"subject": "anna"}, "/subject"),
        ({"reason": "\x00"}, "/reason"),
    ],
)
def test_a_key_that_cannot_be_made(client: Client, changes: dict[str, Any], pointer: str) -> None:
    refused = client.post("/v1/api_keys", {"name": "erp", "roles": ["clerk"], **changes})
    assert refused.status == 422, refused.text
    assert refused.places[0] == pointer


@pytest.fixture
def asking(company: Company, admin: Admin) -> Asking:
    made = Asking(company, admin, Approvals(company.database, company.documents.caches))
    made.hire()
    return made


def test_a_key_decides_no_approval(client: Client, asking: Asking, admin: Admin) -> None:
    """Give the key any role: seats are for members, and no member can have a key's name."""
    hire(client, "carl", "admin")
    request_id = asking.ask("anna")
    admin.execute("UPDATE approval_seats SET holder_user_id = NULL, holder_role = 'admin'")
    machine = use_key(client, make_key(client, roles=["admin"])["token"])
    refused = machine.post(f"/v1/approvals/{request_id}/decision", {"vote": "approved"})
    assert (refused.status, refused.code) == (403, "APPROVAL_NOT_YOURS")
    assert machine.get("/v1/approvals").body["items"] == []
    taken = client.post(
        "/v1/delegations",
        {
            "user_id": "anna",
            "delegate_id": "key:erp",
            "from_time": datetime.now(UTC).isoformat(),
            "to_time": (datetime.now(UTC) + timedelta(days=1)).isoformat(),
        },
    )
    assert (taken.status, taken.places[0]) == (422, "/delegate_id")
