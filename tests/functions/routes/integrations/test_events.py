"""Events from outside by HTTP: with a token, or signed; each message once; endpoints of signing senders."""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from signet.core.integrations.webhook_signatures import sign
from signet.outbound.secrets import SecretsFolder
from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.company import Company, make_company
from tests.support.http_client import Client, ClientAnswer, make_event
from tests.support.invoice_instances import Admin, read

OLD, NEW, OTHER = (bytes([letter]) * 24 for letter in b"one")
ENDPOINT = {"name": "bank", "key_prefix": "paid:", "key_pointer": "/data/invoice", "secrets": ["bank_key"]}
BODY = {"type": "invoice.paid", "data": {"invoice": "R-1", "amount": 5}}


def keep(folder: Path, tenant_id: UUID, name: str, secret: bytes) -> None:
    place = folder / str(tenant_id)
    place.mkdir(exist_ok=True)
    (place / name).write_text(f"whsec_{base64.b64encode(secret).decode()}\n", encoding="ascii")


@pytest.fixture
def client(database: Database, company: Company, tmp_path: Path) -> Client:
    keep(tmp_path, company.tenant_id, "bank_key", OLD)
    client = Client(wire(database, secrets=SecretsFolder(tmp_path)), company.tenant_id)
    assert client.post("/v1/inbound_endpoints", ENDPOINT).status == 201
    return client


def now() -> int:
    return int(datetime.now(UTC).timestamp())


def send_signed(
    client: Client,
    body: Any = BODY,
    *,
    secret: bytes = OLD,
    message_id: str = "msg_1",
    moment: int | None = None,
    place: str | None = None,
    headers: Mapping[str, str] | None = None,
    is_encoded: bool = False,
) -> ClientAnswer:
    """Send a signed event, without a token."""
    text = body if isinstance(body, str) else json.dumps(body)
    signed = sign([secret], message_id, now() if moment is None else moment, text.encode())
    sent = {"content-type": "application/json", **signed, **(headers or {})}
    event = make_event("POST", place or f"/v1/tenants/{client.tenant_id}/events/bank", text, sent, {})
    if is_encoded:
        event |= {"body": base64.b64encode(text.encode()).decode(), "isBase64Encoded": True}
    answer = client.application(event, None)
    return ClientAnswer(answer["statusCode"], answer["headers"], answer["body"])


def count(admin: Admin) -> int:
    return int(read(admin, "SELECT count(*) FROM workflow_inbound_events")[0][0])


# --- with a token ---


def test_an_event_is_sent_and_kept(client: Client, admin: Admin) -> None:
    sent = client.post("/v1/events", {"key": "paid: R/1", "id": "m-1", "payload": {"amount": 5}})
    assert (sent.status, sent.body["key"], sent.body["was_known"]) == (202, "paid: R/1", False)
    shown = client.get(sent.headers["location"]).body
    assert (shown["id"], shown["payload"], shown["source"], shown["message_id"]) == (
        sent.body["id"],
        {"amount": 5},
        "sender:carl",
        "m-1",
    )
    assert read(
        admin, "SELECT expires_at - received_at = interval '7 days' FROM workflow_inbound_events"
    ) == [(True,)]


def test_the_persons_behind_a_sender_stand_behind_the_event(client: Client) -> None:
    sent = client.post("/v1/events", {"key": "paid:R-1"}).headers["location"]
    assert client.get(sent).body["responsible"] == ["carl"]
    first = f"/v1/events/{send_signed(client).body['id']}"
    ed = Client(client.application, client.tenant_id, "ed", ("admin",))
    terms = {"key_prefix": "paid:", "key_pointer": "/data/invoice", "secrets": ["bank_key"]}
    assert ed.put("/v1/inbound_endpoints/bank", terms, if_match='"1"').status == 200
    second = f"/v1/events/{send_signed(client, message_id='msg_2').body['id']}"
    # Everybody who has made or changed the endpoint stands behind what it lets in from then on.
    assert client.get(first).body["responsible"] == ["carl"]
    assert client.get(second).body["responsible"] == ["carl", "ed"]


def test_a_message_is_taken_once_of_each_sender(client: Client, admin: Admin) -> None:
    message = {"key": "paid:R-1", "id": "m-1", "payload": 1}
    first = client.post("/v1/events", message).body
    again = client.post("/v1/events", {**message, "key": "paid:R-2"}).body
    assert again == {"id": first["id"], "key": "paid:R-1", "was_known": True}
    anna = Client(client.application, client.tenant_id, "anna", ("admin",))
    assert anna.post("/v1/events", message).body["was_known"] is False
    # Messages without an id are each another one.
    for _ in range(2):
        assert client.post("/v1/events", {"key": "paid:R-1"}).body["was_known"] is False
    assert count(admin) == 4


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/key"),
        ({"key": ""}, "/key"),
        ({"key": "x" * 501}, "/key"),
        ({"key": "a\0b"}, "/key"),
        ({"key": "a", "id": ""}, "/id"),
        ({"key": "a", "id": "x" * 201}, "/id"),
        ({"key": "a", "id": "a\0b"}, "/id"),
        ({"key": "a", "payload": "a\0b"}, "/payload"),
        ({"key": "a", "payload": "x" * 65_536}, "/payload"),
        ({"key": "a", "payload": json.loads("[" * 30 + "]" * 30)}, "/payload"),
        ({"key": "a", "source": "bank"}, "/source"),
    ],
)
def test_what_is_no_event(client: Client, admin: Admin, body: Any, pointer: str) -> None:
    refused = client.post("/v1/events", body)
    assert (refused.status, refused.places[0]) == (422, pointer)
    assert count(admin) == 0


def test_events_are_listed(client: Client) -> None:
    ids = [client.post("/v1/events", {"key": key}).body["id"] for key in ("a", "b", "a")]
    seen, cursor = [], None
    for _ in range(3):
        query = {"limit": 1} | ({"cursor": cursor} if cursor else {})
        page = client.call("GET", "/v1/events", query=query).body
        seen += [one["id"] for one in page["items"]]
        cursor = page["next_cursor"]
    assert (seen, cursor) == (ids[::-1], None)
    of_key = client.call("GET", "/v1/events", query={"key": "a"}).body["items"]
    assert [one["id"] for one in of_key] == [ids[2], ids[0]]
    assert "payload" not in of_key[0]
    refused = client.call("GET", "/v1/events", query={"key": "a\0"})
    assert (refused.status, refused.places[0]) == (400, "query key")
    assert client.call("GET", "/v1/events", query={"cursor": "x"}).code == "CURSOR_INVALID"


# --- signed ---


@pytest.mark.parametrize("is_encoded", [False, True])
def test_a_signed_message_is_taken(client: Client, admin: Admin, is_encoded: bool) -> None:
    taken = send_signed(client, is_encoded=is_encoded)
    assert (taken.status, taken.body["key"], taken.body["was_known"]) == (202, "paid:R-1", False)
    shown = client.get(f"/v1/events/{taken.body['id']}").body
    assert (shown["payload"], shown["source"], shown["message_id"]) == (BODY, "endpoint:bank", "msg_1")
    again = send_signed(client, is_encoded=is_encoded, headers={"idempotency-key": "k"})
    assert (again.status, again.body["was_known"], again.body["id"]) == (202, True, taken.body["id"])
    assert count(admin) == 1


def test_what_is_signed_is_what_was_sent_byte_for_byte(client: Client) -> None:
    assert send_signed(client, '{ "data": {"invoice":\n"R-\\u00fc"}}').body["key"] == "paid:R-ü"


def test_what_is_not_signed_is_refused_alike_whoever_it_is_for(
    client: Client, database: Database, admin: Admin
) -> None:
    disabled = {**ENDPOINT, "name": "closed", "secrets": ["closed_key"], "status": "disabled"}
    unkept = {**ENDPOINT, "name": "unkept", "secrets": ["nowhere"]}
    for one in (disabled, unkept):
        assert client.post("/v1/inbound_endpoints", one).status == 201
    own = f"/v1/tenants/{client.tenant_id}/events"
    stranger = make_company(database).tenant_id
    answers = [
        send_signed(client, secret=OTHER),
        send_signed(client, headers={"webhook-id": "msg_2"}),
        *(send_signed(client, place=f"{own}/{name}") for name in ("closed", "unkept", "nobody")),
        send_signed(client, place=f"/v1/tenants/{uuid4()}/events/bank"),
        # This tenant exists, but has no such endpoint; its secrets are other files.
        send_signed(client, place=f"/v1/tenants/{stranger}/events/bank"),
    ]
    assert {(one.status, one.code, one.body["detail"]) for one in answers} == {
        (401, "WEBHOOK_UNSIGNED", "the message is signed with none of the secrets")
    }
    assert all(one.headers["www-authenticate"] for one in answers)
    for moment in (now() - 400, now() + 400):
        assert "300 seconds" in send_signed(client, moment=moment).body["detail"]
        place = f"{own}/nobody"
        assert "300 seconds" in send_signed(client, moment=moment, place=place).body["detail"]
    assert count(admin) == 0


def test_a_token_is_no_signature(client: Client) -> None:
    refused = client.post(f"/v1/tenants/{client.tenant_id}/events/bank", BODY)
    assert (refused.status, refused.code) == (401, "WEBHOOK_UNSIGNED")


def test_of_a_suspended_tenant_nothing_is_taken(client: Client, admin: Admin) -> None:
    admin.execute("UPDATE tenants SET status = 'suspended'")
    assert send_signed(client).code == "WEBHOOK_UNSIGNED"


def test_while_a_secret_is_replaced_either_holds(client: Client, company: Company, tmp_path: Path) -> None:
    keep(tmp_path, company.tenant_id, "new_key", NEW)
    place, terms = "/v1/inbound_endpoints/bank", {k: v for k, v in ENDPOINT.items() if k != "name"}
    assert send_signed(client, secret=NEW).status == 401
    both = client.call("PUT", place, {**terms, "secrets": ["new_key", "bank_key"]}, if_match='"1"')
    assert (both.status, both.headers["etag"]) == (200, '"2"')
    for number, secret in enumerate((OLD, NEW)):
        assert send_signed(client, secret=secret, message_id=f"m{number}").status == 202
    client.call("PUT", place, {**terms, "secrets": ["new_key"]}, if_match='"2"')
    assert [send_signed(client, secret=one).status for one in (OLD, NEW)] == [401, 202]


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"data": {}}, "/data/invoice"),
        ({"data": {"invoice": ""}, "x": "a\0b"}, "/payload"),
        ({"data": {"invoice": "x" * 501}}, "/key"),
        ({"data": {"invoice": "R-1"}, "x": "y" * 65_536}, "/payload"),
    ],
)
def test_a_signed_message_that_cannot_be_taken(client: Client, admin: Admin, body: Any, pointer: str) -> None:
    refused = send_signed(client, body)
    assert (refused.status, refused.places[0]) == (422, pointer)
    assert count(admin) == 0


def test_signed_events_are_measured_like_others(client: Client, admin: Admin) -> None:
    admin.execute("DELETE FROM quota_meters")
    admin.execute("INSERT INTO tenant_quotas VALUES (%s, 'api:write', 1, 3600)", [client.tenant_id])
    assert [send_signed(client, message_id=f"m{each}").status for each in range(2)] == [202, 429]
    # An unsigned request takes nothing from the quota.
    assert send_signed(client, secret=OTHER).status == 401


# --- endpoints ---


def test_a_sender_has_a_share_of_the_tenants_quota(client: Client, admin: Admin) -> None:
    admin.execute("DELETE FROM quota_meters")
    admin.execute("INSERT INTO tenant_quotas VALUES (%s, 'api:write', 2, 3600)", [client.tenant_id])
    assert send_signed(client).status == 202
    refused = send_signed(client)
    assert (refused.code, refused.body["limit_of"]) == ("QUOTA_EXCEEDED", "person")
    # The rest is for others.
    assert client.post("/v1/events", {"key": "erp:other", "payload": {}}).status == 202


def test_endpoints_are_made_shown_and_replaced(client: Client, admin: Admin) -> None:
    shown = client.get("/v1/inbound_endpoints/bank")
    assert (shown.status, shown.headers["etag"]) == (200, '"1"')
    assert {name: shown.body[name] for name in ENDPOINT} == ENDPOINT
    assert (shown.body["status"], shown.body["created_by"]) == ("active", "carl")
    again = client.post("/v1/inbound_endpoints", ENDPOINT)
    assert (again.status, again.code) == (409, "INBOUND_ENDPOINT_EXISTS")
    stale = client.call(
        "PUT", "/v1/inbound_endpoints/bank", {"key_prefix": "p", "secrets": ["a"]}, if_match='"7"'
    )
    assert (stale.status, stale.code) == (412, "INBOUND_ENDPOINT_VERSION_CONFLICT")
    missing = client.call("PUT", "/v1/inbound_endpoints/bank", {"key_prefix": "p", "secrets": ["a"]})
    assert missing.status == 428
    client.post("/v1/inbound_endpoints", {"name": "aid", "key_prefix": "aid", "secrets": ["a"]})
    first = client.call("GET", "/v1/inbound_endpoints", query={"limit": 1}).body
    second = client.call(
        "GET", "/v1/inbound_endpoints", query={"limit": 1, "cursor": first["next_cursor"]}
    ).body
    assert [page["items"][0]["name"] for page in (first, second)] == ["aid", "bank"]
    assert second["next_cursor"] is None
    audit = "SELECT content::jsonb ->> 'action' FROM audit_log WHERE subject_type = 'inbound_endpoint'"
    assert read(admin, audit) == [("create",), ("create",)]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"name": "Bank"}, "/name"),
        ({"name": "b", "secrets": []}, "/secrets"),
        ({"name": "b", "secrets": ["a", "b", "c", "d"]}, "/secrets"),
        ({"name": "b", "secrets": ["../other"]}, "/secrets/0"),
        ({"name": "b", "secrets": ["a", "a"]}, "/secrets"),
        ({"name": "b", "key_pointer": "data"}, "/key_pointer"),
        ({"name": "b", "key_pointer": "/a\0"}, "/key_pointer"),
        ({"name": "b", "key_prefix": "a\0"}, "/key_prefix"),
        ({"name": "b", "key_prefix": "", "key_pointer": None}, "/key_prefix"),
        ({"name": "b", "status": "gone"}, "/status"),
    ],
)
def test_what_is_no_endpoint(client: Client, changes: Any, pointer: str) -> None:
    refused = client.post("/v1/inbound_endpoints", {**ENDPOINT, **changes})
    assert (refused.status, refused.places[0]) == (422, pointer)


def test_who_may_not(client: Client, database: Database) -> None:
    event_id = client.post("/v1/events", {"key": "a"}).body["id"]
    terms = {"key_prefix": "p", "secrets": ["a"]}
    calls: list[tuple[Any, ...]] = [
        ("POST", "/v1/events", {"key": "a"}),
        ("GET", "/v1/events"),
        ("GET", f"/v1/events/{event_id}"),
        ("GET", "/v1/inbound_endpoints"),
        ("GET", "/v1/inbound_endpoints/bank"),
        ("POST", "/v1/inbound_endpoints", {**ENDPOINT, "name": "b"}),
        ("PUT", "/v1/inbound_endpoints/bank", terms),
    ]
    sam = Client(client.application, client.tenant_id, "sam", ("clerk",))
    for method, path, *body in calls:
        refused = sam.call(method, path, *body, if_match='"1"')
        assert (refused.status, refused.code) == (403, "PERMISSION_DENIED"), path
    stranger = Client(client.application, make_company(database).tenant_id)
    assert stranger.get(f"/v1/events/{event_id}").code == "EVENT_NOT_FOUND"
    assert stranger.get("/v1/inbound_endpoints/bank").code == "INBOUND_ENDPOINT_NOT_FOUND"
    gone = stranger.call("PUT", "/v1/inbound_endpoints/bank", terms, if_match='"1"')
    assert gone.code == "INBOUND_ENDPOINT_NOT_FOUND"
    assert stranger.get("/v1/events").body["items"] == []


# --- secrets ---


def test_a_tenants_names_reach_its_own_folder_only(tmp_path: Path) -> None:
    own, other = uuid4(), uuid4()
    keep(tmp_path, own, "key", OLD)
    keep(tmp_path, other, "theirs", NEW)
    secrets = SecretsFolder(tmp_path)
    assert secrets(own, "key") == f"whsec_{base64.b64encode(OLD).decode()}"
    assert [secrets(own, name) for name in ("theirs", f"../{other}/theirs", "", "Key", "key\n")] == [None] * 5
    (tmp_path / str(own) / "odd").write_bytes(b"\xff")
    assert secrets(own, "odd") is None


# --- what Signet signs itself ---

HOOK = {"name": "hook", "url": "https://eddie.example.com/", "secrets": ["bank_key"]}


def make_own(message_id: UUID, data: Any = BODY) -> dict[str, Any]:
    """Return a message as Signet's own webhooks send it, with its headers and its body as text."""
    body = json.dumps({**data, "type": "signet.webhook", "timestamp": "2026-03-01T12:00:00+00:00"})
    return {"message_id": f"msg_{message_id}", "body": body}


def test_the_secret_of_a_sender_signs_nothing_that_goes_out(client: Client, admin: Admin) -> None:
    eddie = Client(client.application, client.tenant_id, "eddie", ("shipping",))
    admin.execute(
        "INSERT INTO roles (tenant_id, role, permissions)"
        " VALUES (%s, 'shipping', '{endpoint:edit,endpoint:read}')",
        [client.tenant_id],
    )
    refused = eddie.post("/v1/endpoints", HOOK)
    assert (refused.status, refused.code) == (422, "SECRET_IN_USE")
    assert eddie.post("/v1/endpoints", {**HOOK, "secrets": ["hook_key"]}).status == 201
    assert send_signed(client).status == 202


def test_what_signet_signed_itself_is_refused_like_a_wrong_signature(client: Client, admin: Admin) -> None:
    """Refuse it also where an older release let two endpoints share a secret."""
    own = make_own(uuid4())
    refused, wrong = send_signed(client, **own), send_signed(client, secret=OTHER)
    assert (refused.status, refused.code) == (401, "WEBHOOK_UNSIGNED")
    assert refused.body["detail"] == wrong.body["detail"]
    assert count(admin) == 0


def test_other_senders_may_name_their_messages_alike(client: Client, admin: Admin) -> None:
    """Take ids that begin as ours, and a type of that name, as long as it is not both."""
    assert send_signed(client, message_id=f"msg_{uuid4()}").status == 202
    named = make_own(uuid4()) | {"message_id": "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W"}
    assert send_signed(client, **named).status == 202
    assert count(admin) == 2


def test_endpoints_that_shared_a_secret_before_go_on_until_they_are_saved(
    client: Client, admin: Admin
) -> None:
    admin.execute("SET session_replication_role = replica")
    admin.execute(
        "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by)"
        " VALUES (%s, 'hook', 'https://eddie.example.com/', '{bank_key}', 'eddie')",
        [client.tenant_id],
    )
    admin.execute("SET session_replication_role = origin")
    assert send_signed(client).status == 202
    terms = {"url": HOOK["url"], "secrets": ["bank_key"]}
    assert client.put("/v1/endpoints/hook", terms, if_match='"1"').code == "SECRET_IN_USE"
    # It can be switched off, and gets a secret of its own.
    assert client.put("/v1/endpoints/hook", {**terms, "status": "disabled"}, if_match='"1"').status == 200
    assert client.put("/v1/endpoints/hook", {**terms, "secrets": ["own"]}, if_match='"2"').status == 200
    uses = "SELECT secret, direction, endpoint FROM secret_uses ORDER BY secret"
    assert read(admin, uses) == [("bank_key", "in", "bank"), ("own", "out", "hook")]
