"""Contracts over HTTP: listed, read, drafted, replaced, deleted, published."""

from dataclasses import replace
from typing import Any

import pytest

from signet.store.database import Database
from tests.integration.engine.definitions.test_definitions import read_example
from tests.support.company import Company, make_company
from tests.support.http_client import Client

V2 = "/v1/contracts/invoice/versions/2"


def second(**changes: Any) -> dict[str, Any]:
    return read_example("invoice/contract.yaml") | {"version": 2, **changes}


@pytest.fixture
def reader(client: Client) -> Client:
    """Return a client that may read invoices, and nothing else."""
    return replace(client, roles=("reader",))


@pytest.fixture
def stranger(client: Client, database: Database) -> Client:
    return replace(client, tenant_id=make_company(database).tenant_id)


def test_a_contract_goes_from_draft_to_published(client: Client) -> None:
    made = client.post("/v1/contracts", second(label="Second"))
    assert (made.status, made.headers["location"], made.headers["etag"]) == (201, V2, '"1"')
    assert client.post("/v1/contracts", second()).code == "DRAFT_EXISTS"
    shown = client.get(V2)
    assert (shown.headers["etag"], shown.body["status"], shown.body["document"]["label"]) == (
        '"1"',
        "draft",
        "Second",
    )
    assert client.put(V2, second()).code == "VERSION_MISSING"
    saved = client.put(V2, second(label="Third"), if_match='"1"')
    assert (saved.status, saved.headers["etag"], saved.body["revision"]) == (200, '"2"', 2)
    assert client.put(V2, second(), if_match='"1"').status == 412
    assert client.post(f"{V2}/publish", if_match='"1"').code == "DRAFT_VERSION_CONFLICT"
    assert client.get("/v1/contracts/invoice").body["version"] == 1
    published = client.post(f"{V2}/publish", if_match='"2"')
    assert (published.status, published.body["version"]) == (200, 2)
    assert client.get("/v1/contracts/invoice").body["document"]["label"] == "Third"
    # A conditional read returns the new status, too.
    assert client.get(V2, if_none_match='"2"').body["status"] == "published"
    assert client.put(V2, second(), if_match='"3"').code == "VERSION_FROZEN"
    assert client.delete(V2, if_match='"3"').code == "VERSION_FROZEN"


def test_all_that_is_wrong_is_told_with_its_place_and_a_remedy(client: Client) -> None:
    wrong = second()
    wrong["states"]["draft"]["initial"] = False
    wrong["transitions"]["submit"]["to"] = "nowhere"
    refused = client.post("/v1/contracts", wrong)
    assert (refused.status, refused.code) == (422, "DEFINITION_INVALID")
    errors = refused.body["errors"]
    assert len(errors) >= 2 and all(one["remedy"] and one["code"] for one in errors)
    assert {"/transitions/submit/to"} <= {one["pointer"] for one in errors}
    shape = client.post("/v1/contracts", {**second(), "colour": "red"})
    assert [one["pointer"] for one in shape.body["errors"]] == ["/colour"]
    assert client.post("/v1/contracts", second(label="a\0b")).body["errors"][0]["pointer"] == "/label"


def test_another_draft_of_the_same_version_has_another_etag(client: Client) -> None:
    """Publish what was read: a draft that was deleted and saved again has gone on in its numbers."""
    assert client.post("/v1/contracts", second(label="Read")).headers["etag"] == '"1"'
    assert client.delete(V2, if_match='"1"').status == 204
    made = client.post("/v1/contracts", second(label="Other"))
    assert (made.status, made.headers["etag"], made.body["revision"]) == (201, '"2"', 2)
    refused = client.post(f"{V2}/publish", if_match='"1"')
    assert (refused.status, refused.code) == (412, "DRAFT_VERSION_CONFLICT")
    assert client.delete(V2, if_match='"2"').status == 204
    assert client.post("/v1/contracts", second(label="Third")).headers["etag"] == '"3"'
    assert client.put(V2, second(label="Fourth"), if_match='"3"').headers["etag"] == '"4"'
    assert client.post(f"{V2}/publish", if_match='"4"').status == 200


def test_a_draft_is_deleted(client: Client) -> None:
    client.post("/v1/contracts", second())
    assert client.delete(V2).code == "VERSION_MISSING"
    assert client.delete(V2, if_match='"1"').status == 204
    assert client.get(V2).code == "ENTITY_TYPE_UNKNOWN"
    assert client.delete(V2, if_match='"1"').status == 404


def test_lists_go_page_by_page(client: Client, company: Company) -> None:
    company.publish("purchase_order")
    company.publish("invoice", version=2)
    first = client.get("/v1/contracts", query={"limit": 1}).body
    second_page = client.get("/v1/contracts", query={"limit": 1, "cursor": first["next_cursor"]}).body
    listed = [(one["entity_type"], one["version"]) for one in first["items"] + second_page["items"]]
    assert listed == [("invoice", 2), ("purchase_order", 1)]
    assert second_page["next_cursor"] is None
    newest = client.get("/v1/contracts/invoice/versions", query={"limit": 1}).body
    older = client.get("/v1/contracts/invoice/versions", query={"cursor": newest["next_cursor"]}).body
    assert [one["version"] for one in newest["items"] + older["items"]] == [2, 1]
    foreign = client.get("/v1/contracts", query={"cursor": newest["next_cursor"]})
    assert (foreign.status, foreign.code) == (400, "CURSOR_INVALID")
    assert client.get("/v1/contracts", query={"limit": 201}).status == 400


def test_who_reads_documents_reads_their_published_contracts(
    client: Client, reader: Client, company: Company
) -> None:
    company.publish("purchase_order")
    client.post("/v1/contracts", second())
    assert [one["entity_type"] for one in reader.get("/v1/contracts").body["items"]] == ["invoice"]
    assert reader.get("/v1/contracts/invoice").status == 200
    assert reader.get("/v1/contracts/invoice/versions/1").status == 200
    assert [one["version"] for one in reader.get("/v1/contracts/invoice/versions").body["items"]] == [1]
    # Contracts that the client may not read are answered as missing.
    assert reader.get(V2).code == "ENTITY_TYPE_UNKNOWN"
    assert reader.get("/v1/contracts/purchase_order").code == "ENTITY_TYPE_UNKNOWN"
    assert reader.get("/v1/contracts/purchase_order/versions").code == "ENTITY_TYPE_UNKNOWN"
    assert reader.get("/v1/contracts", query={"status": "draft"}).code == "PERMISSION_DENIED"
    assert [
        one["version"] for one in client.get("/v1/contracts", query={"status": "draft"}).body["items"]
    ] == [2]


def test_nobody_else_writes(client: Client, reader: Client) -> None:
    client.post("/v1/contracts", second())
    for refused in (
        reader.post("/v1/contracts", second(version=3)),
        reader.put(V2, second(), if_match='"1"'),
        reader.delete(V2, if_match='"1"'),
        reader.post(f"{V2}/publish", if_match='"1"'),
    ):
        assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")


def test_another_tenant_has_none_of_it(client: Client, stranger: Client) -> None:
    client.post("/v1/contracts", second())
    assert stranger.get("/v1/contracts").body["items"] == []
    assert stranger.get(V2).status == 404
    assert stranger.put(V2, second(), if_match='"1"').status == 404
    assert stranger.delete(V2, if_match='"1"').status == 404
    assert stranger.post(f"{V2}/publish", if_match='"1"').status == 404
