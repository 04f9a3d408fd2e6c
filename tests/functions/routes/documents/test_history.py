"""The history of a document: versions, requests, audit trail, timeline, and the explanation of its state."""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from signet.api.http import cursors
from signet.engine.approvals.inbox import Approvals
from signet.store.database import Database, PoolSettings
from signet.wiring.engine import make_worker
from tests.support.api_application import wire
from tests.support.approval_requests import Asking
from tests.support.company import INVOICE, Company, make_company
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain
from tests.support.http_client import Client, ClientAnswer

Admin = psycopg.Connection[Any]
BELOW = (
    "/versions",
    "/versions/1",
    "/versions/1/diff/2",
    "/requests",
    "/timeline",
    "/audit",
    "/explain",
)
LISTS = ("/versions", "/requests", "/timeline", "/audit")


@pytest.fixture
def work(owner_url: str, company: Company) -> Iterator[Any]:
    """Yield a function that runs the worker until nothing is due."""
    database = Database(as_role(owner_url, "signet_worker"), PoolSettings())
    worker = make_worker(database)
    yield lambda: drain(worker, [company.tenant_id])
    database.close()


@pytest.fixture
def place(client: Client, work: Any) -> str:
    """Create an invoice that is edited once, submitted on request, and approved without an approval node."""
    data = {**INVOICE, "vendor_contact": "Erna"}
    place = client.post("/v1/documents", {"entity_type": "invoice", "data": data}).headers["location"]
    patch = {"grand_total": 70000, "vendor_contact": "Zoe"}
    client.patch(place, {"patch": patch, "reason": "typo"}, if_match='"1"')
    client.post(f"{place}/requests", {"transition": "submit", "reason": "end of month"}, if_match='"2"')
    work()
    return place


def list_all(client: Client, path: str, limit: int) -> list[Any]:
    items: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        page = client.get(path, query={"limit": limit, **cursor})
        assert page.status == 200, page.text
        items += page.body["items"]
        if page.body["next_cursor"] is None:
            return items
        cursor = {"cursor": page.body["next_cursor"]}


@pytest.mark.parametrize("below", LISTS)
def test_pages_are_the_whole_list(client: Client, place: str, below: str) -> None:
    whole = list_all(client, place + below, 200)
    assert whole
    assert list_all(client, place + below, 1) == list_all(client, place + below, 3) == whole


def test_the_newest_version_comes_first(client: Client, place: str) -> None:
    versions = client.get(f"{place}/versions").body["items"]
    assert [(one["version"], one["status"]) for one in versions] == [
        (4, "active"),
        (3, "submitted"),
        (2, "draft"),
        (1, "draft"),
    ]


def test_a_version_is_what_its_hash_was_made_of(client: Client, place: str) -> None:
    version = client.get(f"{place}/versions/1").body
    assert sha256(version["snapshot"].encode()).hexdigest() == version["hash"]
    assert version["data"]["vendor_contact"] == "Erna"
    assert "Erna" not in version["snapshot"]
    assert version["hash"] == client.get(f"{place}/versions").body["items"][-1]["hash"]
    missing = client.get(f"{place}/versions/9")
    assert (missing.status, missing.code) == (404, "DOCUMENT_NOT_FOUND")
    nonsense = client.get(f"{place}/versions/0")
    assert (nonsense.status, nonsense.places[0]) == (400, "path version")


def test_two_versions_differ_field_by_field(client: Client, place: str) -> None:
    difference = client.get(f"{place}/versions/1/diff/3").body
    assert (difference["from_status"], difference["to_status"]) == ("draft", "submitted")
    assert {one["field"]: (one["before"], one["after"]) for one in difference["changes"]} == {
        "grand_total": (60000, 70000),
        "vendor_contact": ("Erna", "Zoe"),
    }
    back = client.get(f"{place}/versions/2/diff/1").body
    assert {one["field"]: one["after"] for one in back["changes"]}["grand_total"] == 60000
    assert client.get(f"{place}/versions/2/diff/2").body["changes"] == []
    assert client.get(f"{place}/versions/1/diff/9").status == 404


def test_what_was_asked_of_it_and_what_came_of_it(client: Client, place: str) -> None:
    (request,) = client.get(f"{place}/requests").body["items"]
    assert (request["transition"], request["status"], request["reason"]) == (
        "submit",
        "performed",
        "end of month",
    )


def test_the_audit_trail_is_a_chain(client: Client, place: str) -> None:
    rows = client.get(f"{place}/audit").body["items"]
    assert [row["action"] for row in rows] == [
        "create",
        "update",
        "request:submit",
        "transition:submit",
        "transition:approve",
    ]
    previous = None
    for seq, row in enumerate(rows, start=1):
        content = json.loads(row["content"])
        assert (row["seq"], row["previous_hash"]) == (seq, previous)
        assert (content["seq"], content["previous_hash"]) == (seq, previous)
        assert sha256(row["content"].encode()).hexdigest() == row["hash"]
        previous = row["hash"]
    assert "Zoe" not in json.dumps(rows)


def test_an_audit_row_says_where_its_request_came_from(client: Client, place: str) -> None:
    contents = [json.loads(row["content"]) for row in client.get(f"{place}/audit").body["items"]]
    by_request = [content["origin"] for content in contents if content["via"] == "api"]
    assert by_request and all(origin["address"] == "127.0.0.1" for origin in by_request)
    assert all("origin" not in content for content in contents if content["via"] == "workflow")


def test_a_page_of_the_audit_trail_is_bounded_by_its_size(
    client: Client, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = list_all(client, f"{place}/audit", 200)
    monkeypatch.setattr(cursors, "MAX_PAGE_BYTES", 1_500)
    assert len(client.get(f"{place}/audit").body["items"]) < len(whole)
    assert list_all(client, f"{place}/audit", 200) == whole


def test_a_timeline_tells_who_did_what_when_and_why(client: Client, place: str) -> None:
    instance = client.get(f"{place}/explain").body["explanation"]["id"]
    entries = list_all(client, f"{place}/timeline", 200)
    assert [(one["at"], one["id"]) for one in entries] == sorted(
        [(one["at"], one["id"]) for one in entries], reverse=True
    )
    mutations = [one for one in reversed(entries) if one["kind"] == "mutation"]
    assert [(one["what"], one["version"], one["actor_id"], one["reason"]) for one in mutations] == [
        ("create", 1, "carl", None),
        ("update", 2, "carl", "typo"),
        ("request:submit", 2, "carl", "end of month"),
        ("transition:submit", 3, "carl", None),
        ("transition:approve", 4, "signet:system", None),
    ]
    assert mutations[1]["changed"] == ["grand_total", "vendor_contact"]
    assert (mutations[0]["instance_id"], mutations[3]["instance_id"]) == (None, instance)
    (request,) = [one for one in entries if one["kind"] == "request"]
    assert (request["what"], request["outcome"], request["reason"]) == ("submit", "performed", "end of month")
    history = [one for one in entries if one["kind"] == "history"]
    assert [(one["what"], one["instance_id"]) for one in reversed(history)] == [
        ("started", instance),
        ("completed", instance),
    ]
    steps = [one for one in entries if one["kind"] == "step"]
    gates = [one for one in reversed(steps) if one["what"] == "lifecycle_gate"]
    assert [(one["instance_id"], one["node_id"], one["version"]) for one in gates] == [
        (instance, "sys:gate:submit", 2),
        (instance, "sys:gate:approve", 3),
    ]
    assert {one["what"] for one in steps}.isdisjoint({"slot_in", "slot_out"})


def test_a_timeline_has_the_decisions(client: Client, company: Company, admin: Admin) -> None:
    asking = Asking(company, admin, Approvals(company.database, company.documents.caches))
    asking.hire()
    made = asking.create()
    asking.decide(asking.ask("anna", made=made), "anna")
    entries = client.get(f"/v1/documents/{made.document_id}/timeline").body["items"]
    (decision,) = [one for one in entries if one["kind"] == "decision"]
    assert (decision["what"], decision["actor_id"], decision["version"]) == ("approved", "anna", 1)
    assert decision["node_id"] == "usr:approval:finance"


def test_an_explanation_says_where_it_is_and_why(client: Client, place: str) -> None:
    explained = client.get(f"{place}/explain").body
    instance = explained["explanation"]
    assert (instance["document_id"], instance["status"]) == (place.rsplit("/", 1)[1], "completed")
    assert instance["summary"] in explained["text"]
    assert "How it came here (steps in the order of their ends)" in explained["text"]


def test_what_was_deleted_still_has_its_trail(client: Client, work: Any) -> None:
    made = client.post("/v1/documents", {"entity_type": "invoice", "data": INVOICE})
    place = made.headers["location"]
    client.delete(place, if_match='"1"')
    assert client.get(place).status == client.get(f"{place}/versions").status == 404
    assert [row["action"] for row in client.get(f"{place}/audit").body["items"]] == ["create", "delete"]
    assert client.get(f"{place}/timeline").body["items"]
    assert client.get(f"{place}/explain").status == 200


@pytest.mark.parametrize("below", BELOW)
def test_only_who_may_read_the_document_finds_any_of_it(
    client: Client, database: Database, place: str, below: str
) -> None:
    reader = Client(client.application, client.tenant_id, "rita", ("reader",))
    assert reader.get(place + below).status == 200
    clerk = Client(client.application, client.tenant_id, "carl", ("clerk",))
    stranger = Client(wire(database), make_company(database).tenant_id)
    for who, path in ((clerk, place), (stranger, place), (reader, f"/v1/documents/{uuid4()}")):
        refused = who.get(path + below)
        assert (refused.status, refused.code) == (404, "DOCUMENT_NOT_FOUND")


@pytest.mark.parametrize("below", LISTS)
def test_a_cursor_of_another_list_is_refused(client: Client, place: str, below: str) -> None:
    cursor = client.get(f"{place}/audit", query={"limit": 1}).body["next_cursor"]
    other = client.post(
        "/v1/documents", {"entity_type": "invoice", "data": {**INVOICE, "number": "R-2"}}
    ).headers["location"]
    refused: ClientAnswer = client.get(other + below, query={"cursor": cursor})
    assert (refused.status, refused.code) == (400, "CURSOR_INVALID")


def test_what_is_said_of_people_can_be_erased(client: Client, place: str) -> None:
    before = client.get(f"{place}/versions/1").body
    erased = client.post(f"{place}/erasures", {"reason": "asked"})
    assert (erased.status, erased.body["fields"], len(erased.body["ids"])) == (200, ["vendor_contact"], 2)
    assert client.get(place).body["data"]["vendor_contact"] is None
    after = client.get(f"{place}/versions/1").body
    assert (after["hash"], after["snapshot"]) == (before["hash"], before["snapshot"])
    assert (before["data"]["vendor_contact"], after["data"]["vendor_contact"]) == ("Erna", None)
    last = client.get(f"{place}/audit").body["items"][-1]
    assert (last["action"], json.loads(last["content"])["reason"]) == ("erase_personal", "asked")
    again = client.post(f"{place}/erasures", {"fields": ["vendor_contact"], "reason": "asked"})
    assert again.body == {"ids": [], "fields": []}


def test_an_erasure_wants_a_reason_and_a_permission(client: Client, database: Database, place: str) -> None:
    assert client.post(f"{place}/erasures", {}).places[0] == "/reason"
    assert client.post(f"{place}/erasures", {"reason": "a\0b"}).places[0] == "/reason"
    nothing = client.post(f"{place}/erasures", {"reason": "a", "fields": ["number"]})
    assert (nothing.status, nothing.body["ids"]) == (200, [])
    assert client.post(f"{place}/erasures", {"reason": "a", "fields": []}).code == "REQUEST_INVALID"
    for role, code in (("reader", "PERMISSION_DENIED"), ("clerk", "DOCUMENT_NOT_FOUND")):
        somebody = Client(client.application, client.tenant_id, "rita", (role,))
        assert somebody.post(f"{place}/erasures", {"reason": "a"}).code == code
    stranger = Client(wire(database), make_company(database).tenant_id)
    assert stranger.post(f"{place}/erasures", {"reason": "a"}).code == "DOCUMENT_NOT_FOUND"
    assert client.get(place).body["data"]["vendor_contact"] == "Zoe"
