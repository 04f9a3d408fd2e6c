"""The tenant's own settings and quotas, and the acts of operators on tenants, by HTTP."""

import json
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.store.database import Database
from tests.support.api_application import OPERATOR, wire
from tests.support.api_keys import hire
from tests.support.company import Company
from tests.support.http_client import Client

Admin = psycopg.Connection[Any]
CONTENT = {
    "name": "acme",
    "roles": [{"role": "admin", "permissions": ["*:*"]}],
    "members": [{"user_id": "ada", "display_name": "Ada", "roles": ["admin"]}],
}


@pytest.fixture
def operator(client: Client) -> Client:
    """Return an operator whose own tenant does not exist."""
    return Client(client.application, uuid4(), "olga", (OPERATOR,))


@pytest.fixture
def clerk(client: Client) -> Client:
    return Client(client.application, client.tenant_id, "carl", ("clerk",))


def read_audit(admin: Admin, tenant_id: UUID) -> list[dict[str, Any]]:
    rows = admin.execute(
        "SELECT content FROM audit_log WHERE subject_type = 'tenant' AND tenant_id = %s ORDER BY seq",
        (tenant_id,),
    ).fetchall()
    return [json.loads(content) for (content,) in rows]


def test_settings_are_read_and_changed_by_version(client: Client, admin: Admin) -> None:
    shown = client.get("/v1/tenant")
    assert (shown.status, shown.body["name"], shown.body["status"]) == (200, "acme", "active")
    own = {"limit": {"type": "int", "value": 7}, "trusted_vendors": None}
    changed = client.patch("/v1/tenant", {"currency": "USD", "custom": own}, if_match=shown.headers["etag"])
    assert (changed.status, changed.headers["etag"]) == (200, '"2"')
    settings = {
        "currency": "USD",
        "time_zone": "UTC",
        "language": "en",
        "custom": {"limit": {"type": "int", "value": 7}},
        "webhook_hosts": [],
        "four_eyes": False,
    }
    assert changed.body["settings"] == settings
    assert client.get("/v1/tenant").body == changed.body
    stale = client.patch("/v1/tenant", {"name": "x"}, if_match='"1"')
    assert (stale.status, stale.code) == (412, "TENANT_VERSION_CONFLICT")
    assert client.patch("/v1/tenant", {"name": "x"}).status == 428
    same = client.patch("/v1/tenant", {"currency": "USD"}, if_match='"2"')
    assert (same.status, same.headers["etag"]) == (200, '"2"')
    (noted,) = read_audit(admin, client.tenant_id)
    assert (noted["action"], noted["actor_id"], noted["detail"]["settings"]) == (
        "change_tenant",
        "carl",
        settings,
    )


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"name": ""}, "/name"),
        ({"name": "a\x00"}, "/name"),
        ({"currency": "euro"}, "/currency"),
        ({"webhook_hosts": ["https://a.example"]}, "/webhook_hosts/0"),
        ({"webhook_hosts": ["a.example"] * 101}, "/webhook_hosts"),
        ({"language": "english"}, "/language"),
        ({"time_zone": "\x00"}, "/time_zone"),
        ({"status": "suspended"}, "/status"),
        ({"custom": {"a": {"type": "int", "value": "7"}}}, "/custom/a"),
        ({"custom": {"a": {"type": "int", "value": 2**70}}}, "/custom/a"),
        ({"custom": {"a": {"type": "int", "value": True}}}, "/custom/a"),
        ({"custom": {"a": {"type": "string", "value": "\x00"}}}, "/custom/a"),
        ({"custom": {"a": {"type": "string", "value": "x" * 10_001}}}, "/custom/a"),
        ({"custom": {"a": {"type": "list of string", "value": ["x"] * 1_001}}}, "/custom/a"),
        ({"custom": {"a": {"type": "list of int", "value": {"a": 1}}}}, "/custom/a"),
        ({"custom": {"a": {"type": "object", "value": {}}}}, "/custom/a/type"),
        ({"custom": {f"a{n}": {"type": "int", "value": 1} for n in range(200)}}, "/custom"),
        ({"reason": "a\x00b"}, "/reason"),
    ],
)
def test_settings_that_are_none(client: Client, change: dict[str, Any], pointer: str) -> None:
    refused = client.patch("/v1/tenant", change, if_match='"1"')
    assert refused.status == (422 if pointer.startswith("/") or not pointer else 400), refused.text
    assert refused.places[0] == pointer
    assert client.get("/v1/tenant").headers["etag"] == '"1"'


def test_a_zone_that_nobody_knows_is_refused(client: Client, operator: Client) -> None:
    refused = client.patch("/v1/tenant", {"time_zone": "Berlin"}, if_match='"1"')
    assert (refused.status, refused.code, refused.places) == (422, "ZONE_UNKNOWN", ["/time_zone"])
    assert "Write Europe/Berlin." in refused.text
    kept = client.patch("/v1/tenant", {"time_zone": "Europe/Berlin"}, if_match='"1"')
    assert kept.body["settings"]["time_zone"] == "Europe/Berlin"
    content = {"name": "beta", "settings": {"time_zone": "Mars/Olympus"}}
    refused = operator.put(f"/v1/tenants/{uuid4()}", content)
    assert (refused.code, refused.places) == ("ZONE_UNKNOWN", ["/settings/time_zone"])


def test_who_may_not(client: Client, clerk: Client) -> None:
    assert clerk.get("/v1/tenant").code == "PERMISSION_DENIED"
    assert clerk.patch("/v1/tenant", {"name": "x"}, if_match='"1"').code == "PERMISSION_DENIED"
    assert clerk.get("/v1/quotas").code == "PERMISSION_DENIED"


def test_quotas_say_what_holds_and_what_is_left(client: Client, admin: Admin) -> None:
    admin.execute("INSERT INTO tenant_quotas VALUES (%s, 'workflow:pause', 10, 3600)", (client.tenant_id,))
    admin.execute(
        "INSERT INTO quota_meters VALUES (%s, 'workflow:pause', now() + interval '1770 seconds'),"
        " (%s, 'workflow:resume', now() - interval '1 day'), (%s, 'api:read', now() + interval '30 seconds')",
        (client.tenant_id,) * 3,
    )
    levels = {level["name"]: level for level in client.get("/v1/quotas").body["items"]}
    assert levels["workflow:pause"] == {
        "name": "workflow:pause",
        "capacity": 10,
        "refill_seconds": 3600,
        "left": 5,
        "is_granted": True,
    }
    assert (levels["workflow:resume"]["left"], levels["workflow:resume"]["is_granted"]) == (1_000, False)
    assert levels["api:read"]["left"] < 2_000


def test_an_operator_installs_a_tenant_as_often_as_he_likes(operator: Client, admin: Admin) -> None:
    tenant_id = uuid4()
    assert operator.get(f"/v1/tenants/{tenant_id}").code == "TENANT_NOT_FOUND"
    for version in (1, 1):
        made = operator.put(f"/v1/tenants/{tenant_id}", CONTENT)
        assert (made.status, made.body["version"], made.body["name"]) == (200, version, "acme")
    ada = Client(operator.application, tenant_id, "ada", ("admin",))
    assert ada.get("/v1/me").body["permissions"] == ["*:*"]
    noted = read_audit(admin, tenant_id)
    assert [(entry["action"], entry["actor_id"], entry["via"]) for entry in noted] == [
        ("install_tenant", "olga", "operator")
    ] * 2


def test_a_suspended_tenant_is_taken_up_where_it_was(
    database: Database, company: Company, operator: Client, admin: Admin
) -> None:
    place = f"/v1/tenants/{company.tenant_id}/status"
    assert operator.put(place, {"status": "suspended", "reason": "unpaid"}).body["status"] == "suspended"
    assert operator.put(place, {"status": "suspended"}).status == 200
    assert Client(wire(database), company.tenant_id).get("/v1/tenant").code == "TENANT_INACTIVE"
    assert operator.put(place, {"status": "active"}).body["status"] == "active"
    assert Client(wire(database), company.tenant_id).get("/v1/tenant").status == 200
    noted = read_audit(admin, company.tenant_id)
    assert [(entry["action"], entry["reason"]) for entry in noted] == [
        ("suspend_tenant", "unpaid"),
        ("resume_tenant", None),
    ]


def test_an_operator_grants_quotas_and_takes_them_back(operator: Client, company: Company) -> None:
    place = f"/v1/tenants/{company.tenant_id}/quotas"
    granted = operator.put(f"{place}/api:write", {"capacity": 7, "refill_seconds": 60})
    assert granted.status == 200, granted.text
    for levels in (granted, operator.get(place)):
        (write,) = [level for level in levels.body["items"] if level["name"] == "api:write"]
        assert (write["capacity"], write["is_granted"]) == (7, True)
    for _ in range(2):
        (write,) = [
            level
            for level in operator.delete(f"{place}/api:write").body["items"]
            if level["name"] == "api:write"
        ]
        assert (write["capacity"], write["is_granted"]) == (1_200, False)
    assert operator.put(f"{place}/api:all", {"capacity": 7, "refill_seconds": 60}).code == "QUOTA_UNKNOWN"
    assert operator.delete(f"{place}/api:all").code == "QUOTA_UNKNOWN"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "", None),
        ("PUT", "", CONTENT),
        ("PUT", "/status", {"status": "active"}),
        ("GET", "/quotas", None),
        ("PUT", "/quotas/api:write", {"capacity": 10_000_000, "refill_seconds": 1}),
        ("DELETE", "/quotas/api:write", None),
    ],
)
def test_a_tenants_administrator_is_no_operator(
    client: Client, operator: Client, method: str, path: str, body: Any
) -> None:
    """Refuse administrators for all tenants, their own too, and keys with any role."""
    client.put("/v1/roles/operator", {"permissions": ["*:*"]})
    hire(client, "carl", "operator")
    key = client.post("/v1/api_keys", {"name": "erp", "roles": ["operator", "admin"]}).body["token"]
    machine = Client(client.application, client.tenant_id, key=key)
    named = Client(client.application, client.tenant_id, "carl", ("admin", "operator", "signet_operator"))
    for who in (client, machine, named):
        for tenant_id in (client.tenant_id, uuid4()):
            refused = who.call(method, f"/v1/tenants/{tenant_id}{path}", body)
            assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")
            assert "ratelimit" in refused.headers, "being refused costs as everything does"
    if path != "":
        missing = operator.call(method, f"/v1/tenants/{uuid4()}{path}", body)
        assert (missing.status, missing.code) == (404, "TENANT_NOT_FOUND")


def test_an_operator_of_no_tenant_sees_no_tenants_things(operator: Client) -> None:
    assert operator.get("/v1/me").code == "TENANT_INACTIVE"
    assert operator.get("/v1/members").code == "TENANT_INACTIVE"


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/v1/tenants/x", CONTENT, "path tenant_id"),
        ("/v1/tenants/{}", {}, "/name"),
        ("/v1/tenants/{}", {**CONTENT, "name": "\x00"}, "/name"),
        ("/v1/tenants/{}", {**CONTENT, "roles": []}, ""),
        ("/v1/tenants/{}", {**CONTENT, "tenant_id": str(uuid4())}, "/tenant_id"),
        ("/v1/tenants/{}/status", {"status": "gone"}, "/status"),
        ("/v1/tenants/{}/quotas/No", {"capacity": 1, "refill_seconds": 1}, "path quota_name"),
        ("/v1/tenants/{}/quotas/api:read", {"capacity": 0, "refill_seconds": 1}, "/capacity"),
        ("/v1/tenants/{}/quotas/api:read", {"capacity": 1, "refill_seconds": 86_401}, "/refill_seconds"),
    ],
    ids=range(9),
)
def test_nonsense_of_an_operator(
    operator: Client, company: Company, path: str, body: dict[str, Any], pointer: str
) -> None:
    refused = operator.put(path.format(company.tenant_id), body)
    assert refused.status == (422 if pointer.startswith("/") or not pointer else 400), refused.text
    assert refused.places[0] == pointer


def test_no_tenant_has_the_id_of_none(operator: Client) -> None:
    assert operator.put(f"/v1/tenants/{UUID(int=0)}", CONTENT).code == "TENANT_NOT_FOUND"
