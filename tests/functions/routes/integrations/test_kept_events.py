"""Events from outside by HTTP: who may send which, what became of them, and those that are offered again."""

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
from tests.support.company import Company
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


def test_a_person_sends_keys_of_their_area_alone(client: Client) -> None:
    role = {"permissions": ["inbound_event:send.paid"]}
    assert client.put("/v1/roles/cashier", role).status in (200, 201)
    cash = Client(client.application, client.tenant_id, "cash", ("cashier",))
    assert cash.post("/v1/events", {"key": "paid:R-1"}).status == 202
    for key in ("refused:R-1", "paid", "Paid:R-1", "paid_late:R-1"):
        refused = cash.post("/v1/events", {"key": key})
        assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")
    assert cash.call("GET", "/v1/events").status == 403


def test_what_became_of_events_is_listed_and_they_are_offered_again(client: Client, admin: Admin) -> None:
    sent = client.post("/v1/events", {"key": "paid:R-9"}).body["id"]
    place = f"/v1/events/{sent}"
    assert client.get(place).body["state"] == "kept"
    assert client.get(f"{place}/offers").body == {"items": []}
    admin.execute(
        "UPDATE workflow_inbound_events SET received_at = received_at - interval '9 days',"
        " expires_at = expires_at - interval '9 days'"
    )
    (listed,) = client.call("GET", "/v1/events", query={"unmatched": "true"}).body["items"]
    assert (listed["id"], listed["state"], listed["reason"]) == (sent, "expired", None)
    again = client.post(f"{place}/replay", {"reason": "the workflow was late"})
    assert (again.status, again.body) == (200, {"id": sent, "key": "paid:R-9", "offered": 0})
    assert client.get(place).body["state"] == "kept"
    noted = (
        "SELECT content::jsonb ->> 'action', content::jsonb ->> 'reason' FROM audit_log WHERE subject_id = %s"
    )
    assert admin.execute(noted, [sent]).fetchall() == [("replay", "the workflow was late")]
    admin.execute("UPDATE workflow_inbound_events SET taken_at = now()")
    assert client.post(f"{place}/replay", {"reason": "once more"}).code == "EVENT_TAKEN"
    assert client.call("GET", "/v1/events", query={"unmatched": "true"}).body["items"] == []
    assert client.get(place).body["state"] == "taken"


@pytest.mark.parametrize("reason", ["", "  ", "a\0b", "x" * 2_001])
def test_who_offers_an_event_again_says_why(client: Client, reason: str) -> None:
    sent = client.post("/v1/events", {"key": "paid:R-9"}).body["id"]
    refused = client.post(f"/v1/events/{sent}/replay", {"reason": reason})
    assert (refused.status, refused.places) == (422, ["/reason"])


def test_only_who_may_offers_an_event_again(client: Client) -> None:
    sent = client.post("/v1/events", {"key": "paid:R-9"}).body["id"]
    reader = {"permissions": ["inbound_event:read", "inbound_event:send"]}
    assert client.put("/v1/roles/watcher", reader).status in (200, 201)
    watcher = Client(client.application, client.tenant_id, "wanda", ("watcher",))
    assert watcher.get(f"/v1/events/{sent}").status == 200
    refused = watcher.post(f"/v1/events/{sent}/replay", {"reason": "mine"})
    assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")
    unknown = client.post(f"/v1/events/{uuid4()}/replay", {"reason": "mine"})
    assert (unknown.status, unknown.code) == (404, "EVENT_NOT_FOUND")


def test_an_endpoint_says_which_of_its_keys_are_consumed(client: Client, admin: Admin) -> None:
    terms = {"key_prefix": "paid:", "key_pointer": "/data/invoice", "secrets": ["bank_key"]}
    place = "/v1/inbound_endpoints/bank"
    refused = client.put(place, {**terms, "consume": ["other:"]}, if_match='"1"')
    assert (refused.status, refused.places) == (422, ["/consume/0"])
    assert client.put(place, {**terms, "consume": ["paid:R-"]}, if_match='"1"').status == 200
    assert client.get(place).body["consume"] == ["paid:R-"]
    assert send_signed(client).status == 202
    assert send_signed(client, {"data": {"invoice": "X-1"}}, message_id="msg_2").status == 202
    assert client.post("/v1/events", {"key": "paid:R-1", "delivery": "consume"}).status == 202
    stored = read(admin, "SELECT event_key, is_consumed FROM workflow_inbound_events ORDER BY id")
    assert stored == [("paid:R-1", True), ("paid:X-1", False), ("paid:R-1", True)]
