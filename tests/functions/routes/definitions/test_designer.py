"""Routes for an editor of workflows: node types, actions, names in scope, expressions."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from signet.core.compiler.node_types import NODE_TYPES
from signet.store.database import Database
from tests.functions.routes.definitions.test_definitions import DEFINITIONS, patch, publish
from tests.support.company import Company, make_company
from tests.support.http_client import Client

# What the examples name is there.
pytestmark = pytest.mark.usefixtures("named_things")

CHECK = "/v1/expressions/check"
AMOUNT = "usr:submitted_to_approved:amount"


def test_the_palette_has_every_type_with_a_schema(client: Client) -> None:
    page = client.get("/v1/node_types").body
    assert page["next_cursor"] is None
    types = {one["name"]: one for one in page["items"]}
    assert types.keys() == NODE_TYPES.keys()
    assert (types["wait_timer"]["label"], types["wait_timer"]["group"]) == ("Wait", "wait")
    assert types["approval"]["outcomes"] == ["approved", "rejected", "expired"]
    assert "for" in types["wait_timer"]["configuration"]["properties"]
    assert types["state"]["group"] is None


def test_actions_come_from_the_newest_contract(client: Client, company: Company) -> None:
    company.publish("sales_order")
    everything = client.get("/v1/actions").body["items"]
    names = [(one["entity_type"], one["name"]) for one in everything]
    assert names == sorted(names) and {entity for entity, _ in names} == {"invoice", "sales_order"}
    some = client.get("/v1/actions", query={"entity_type": "invoice"}).body["items"]
    assert [one for one in everything if one["entity_type"] == "invoice"] == some
    seen: list[Any] = []
    query: dict[str, Any] = {"limit": 1}
    while query.get("cursor") is not None or not seen:
        page = client.get("/v1/actions", query=query).body
        seen += page["items"]
        query["cursor"] = page["next_cursor"]
    assert seen == everything
    post = next(one for one in some if one["name"] == "post_to_ledger")
    assert (post["kind"], post["permission"], post["is_loaded"]) == ("update", "invoice:post", True)
    assert post["input"]["type"] == "object"
    python = [one for one in everything if one["kind"] == "python"]
    assert python, "whether it is loaded is a matter of the process"
    assert client.get("/v1/actions", query={"cursor": "nonsense"}).code == "CURSOR_INVALID"


def test_the_names_at_a_node(client: Client) -> None:
    place, effective = publish(client)
    draft = client.post(DEFINITIONS, patch()).headers["location"]
    for definition in (place, effective, draft):
        names = client.get(f"{definition}/nodes/{AMOUNT}/scope").body["names"]
        assert names["entity.grand_total"] == "int"
        assert names["org.trusted_vendors"] == "list of string"
    envelope = client.get(DEFINITIONS, query={"kind": "envelope"}).body["items"][0]["id"]
    assert client.get(f"{DEFINITIONS}/{envelope}/nodes/sys:start/scope").status == 200
    after = client.get(f"{draft}/nodes/{AMOUNT}/scope", query={"is_after": "true"})
    assert after.status == 200
    nowhere = client.get(f"{draft}/nodes/usr:none/scope")
    assert (nowhere.status, nowhere.code) == (404, "NODE_NOT_FOUND")


def test_an_expression_is_checked_against_a_type(client: Client) -> None:
    right = client.post(CHECK, {"text": "entity.grand_total>1", "entity_type": "invoice"}).body
    assert right == {
        "is_valid": True,
        "type": "bool",
        "text": "entity.grand_total > 1",
        "references": ["entity.grand_total"],
        "refs": [],
        "findings": [],
    }
    wrong = client.post(CHECK, {"text": "entity.grand_totl > 1", "entity_type": "invoice", "version": 1}).body
    (finding,) = wrong["findings"]
    assert (wrong["is_valid"], wrong["type"]) == (False, None)
    assert (finding["code"], finding["suggestion"]) == ("UNKNOWN_FIELD", "grand_total")
    assert (finding["position"], finding["length"]) == (7, 10)
    number = {"text": "entity.grand_total", "entity_type": "invoice"}
    assert client.post(CHECK, number).body["findings"][0]["code"] == "CONDITION_NOT_BOOL"
    assert client.post(CHECK, {**number, "is_condition": False}).body["type"] == "int"
    assert client.post(CHECK, {"text": "entity. \0"}).body["is_valid"] is False
    assert client.post(CHECK, {"text": "entity.x > 1"}).body["is_valid"] is True


def test_an_expression_is_checked_at_a_node(client: Client) -> None:
    draft = client.post(DEFINITIONS, patch()).body["id"]
    where = {"definition_id": draft, "node_id": AMOUNT}
    assert client.post(CHECK, {"text": "entity.grand_total > 1", **where}).body["is_valid"] is True
    assert client.post(CHECK, {"text": "item.x", **where}).body["findings"][0]["code"] == "NAMESPACE_ABSENT"
    assert client.post(CHECK, {"text": "true", **where, "definition_id": str(uuid4())}).status == 404
    for odd, pointer in (
        ({"definition_id": draft}, "/node_id"),
        ({"version": 1}, "/version"),
        ({**where, "entity_type": "invoice"}, "/entity_type"),
        ({"entity_type": "Invoice!"}, "/entity_type"),
    ):
        refused = client.post(CHECK, {"text": "true", **odd})
        assert (refused.status, refused.places[0]) == (422, pointer)
    for absent in ({"entity_type": "nothing"}, {"entity_type": "invoice", "version": 9}):
        assert client.post(CHECK, {"text": "true", **absent}).code == "ENTITY_TYPE_UNKNOWN"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/node_types", None),
        ("GET", "/v1/actions", None),
        ("POST", CHECK, {"text": "true"}),
        ("GET", f"{DEFINITIONS}/{UUID(int=1)}/nodes/sys:start/scope", None),
    ],
)
def test_each_wants_the_permission_to_read_definitions(
    client: Client, method: str, path: str, body: Any
) -> None:
    refused = replace(client, roles=("reader",)).call(method, path, body)
    assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")


def test_another_tenants_definitions_and_actions_are_not_there(client: Client, database: Database) -> None:
    draft = client.post(DEFINITIONS, patch()).headers["location"]
    stranger = replace(client, tenant_id=make_company(database).tenant_id)
    assert stranger.get(f"{draft}/nodes/{AMOUNT}/scope").code == "DEFINITION_NOT_FOUND"
    assert stranger.get("/v1/actions").body["items"] == []


@pytest.mark.parametrize("path", ["/v1/node_types", "/v1/templates"])
def test_a25_short_lists_go_page_by_page_too(client: Client, path: str) -> None:
    whole = client.get(path).body
    names = [one["name"] for one in whole["items"]]
    assert whole["next_cursor"] is None
    seen, query = [], {"limit": 2}
    while True:
        page = client.get(path, query=query).body
        seen += [one["name"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        query = {"limit": 2, "cursor": page["next_cursor"]}
    assert seen == names and len(names) > 2
    refused = client.get(path, query={"cursor": "AAAA"})
    assert (refused.status, refused.code) == (400, "CURSOR_INVALID")
