"""Automations by HTTP: a start by hand, the question why, a pause, and the stop of all."""

from typing import Any
from uuid import uuid4

import pytest

from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.company import INVOICE, Company
from tests.support.http_client import Client

AUTOMATION: dict[str, Any] = {
    "automation": "count_stock",
    "trigger": {"on": "manual"},
    "payload": {"count": {"type": "int", "required": True}},
    "variables": {"seen": {"type": "int"}},
    "nodes": [{"id": "take", "type": "script", "config": {"set": {"seen": "payload.count"}}}],
}


@pytest.fixture
def client(database: Database, company: Company) -> Client:
    draft = company.definitions.create(company.caller(), "automation", AUTOMATION)
    company.definitions.publish(company.caller(), draft.id)
    return Client(wire(database), company.tenant_id)


def test_it_is_listed_and_shown(client: Client) -> None:
    listed = client.get("/v1/automations")
    assert [one["name"] for one in listed.body["items"]] == ["count_stock"]
    shown = client.get("/v1/automations/count_stock")
    assert (shown.body["definition_version"], shown.body["paused_at"]) == (1, None)
    assert client.get("/v1/automations/nothing").body["code"] == "AUTOMATION_NOT_FOUND"


def test_a_start_by_hand_is_accepted_and_found_again(client: Client) -> None:
    started = client.post("/v1/automations/count_stock/start", {"payload": {"count": 3}})
    assert (started.status, started.body["is_queued"]) == (202, False)
    shown = client.get(f"/v1/instances/{started.body['instance_id']}")
    assert (shown.status, shown.body["kind"]) == (200, "automation")
    firings = client.get("/v1/automations/count_stock/firings").body["items"]
    assert [(one["entry"], one["data"]["instance_id"]) for one in firings] == [
        ("started", started.body["instance_id"])
    ]


def test_a_start_by_hand_is_about_a_document(client: Client, company: Company) -> None:
    about = {**AUTOMATION, "automation": "count_again", "entity_type": "invoice"}
    draft = company.definitions.create(company.caller(), "automation", about)
    company.definitions.publish(company.caller(), draft.id)
    created = client.post("/v1/documents", {"entity_type": "invoice", "data": INVOICE})
    document_id = created.headers["location"].rsplit("/", 1)[-1]
    start = {"payload": {"count": 3}, "document_id": document_id}
    started = client.post("/v1/automations/count_again/start", start)
    assert started.status == 202, started.text
    shown = client.get(f"/v1/instances/{started.body['instance_id']}")
    assert shown.body["document_id"] == document_id
    unknown = client.post("/v1/automations/count_again/start", {**start, "document_id": str(uuid4())})
    assert unknown.body["code"] == "DOCUMENT_NOT_FOUND"


def test_the_place_of_a_wrong_input_is_told(client: Client) -> None:
    refused = client.post("/v1/automations/count_stock/start", {"payload": {"count": "three"}})
    assert (refused.status, refused.body["code"]) == (422, "FIELDS_INVALID")
    assert refused.body["errors"][0]["pointer"] == "/payload/count"


def test_a_page_goes_on_where_the_last_one_ended(client: Client) -> None:
    for count in range(3):
        client.post("/v1/automations/count_stock/start", {"payload": {"count": count}})
    first = client.get("/v1/automations/count_stock/firings", query={"limit": 2}).body
    last = client.get(
        "/v1/automations/count_stock/firings", query={"limit": 2, "cursor": first["next_cursor"]}
    ).body
    assert (len(first["items"]), len(last["items"]), last.get("next_cursor")) == (2, 1, None)


def test_a_pause_and_the_stop_of_all(client: Client) -> None:
    start = {"payload": {"count": 3}}
    paused = client.post("/v1/automations/count_stock/pause", {"note": "counted twice"})
    assert (paused.status, paused.body["pause_note"]) == (200, "counted twice")
    refused = client.post("/v1/automations/count_stock/start", start)
    assert (refused.status, refused.body["code"]) == (409, "AUTOMATION_PAUSED")
    assert client.post("/v1/automations/count_stock/resume", None).body["paused_at"] is None
    assert client.post("/v1/automation_switch/stop", {"note": "a storm"}).body["is_stopped"]
    assert client.get("/v1/automation_switch").body["note"] == "a storm"
    assert client.post("/v1/automations/count_stock/start", start).body["code"] == "AUTOMATIONS_STOPPED"
    assert not client.post("/v1/automation_switch/allow", None).body["is_stopped"]
    assert client.post("/v1/automations/count_stock/start", start).status == 202


def test_a_note_is_wanted(client: Client) -> None:
    assert client.post("/v1/automations/count_stock/pause", {"note": ""}).status == 422
    assert client.post("/v1/automation_switch/stop", {"note": "  "}).status == 422
