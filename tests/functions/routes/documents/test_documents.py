"""Changes of documents by HTTP: replaced, deleted, acted on, amended, made in bulk."""

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.company import INVOICE, Company, make_company
from tests.support.database.unguarded import execute_unguarded
from tests.support.http_client import Client, ClientAnswer

Admin = psycopg.Connection[Any]


def new(**data: Any) -> dict[str, Any]:
    return {"entity_type": "invoice", "data": {**INVOICE, **data}}


@pytest.fixture
def place(client: Client) -> str:
    return client.post("/v1/documents", new()).headers["location"]


@pytest.fixture
def reader(client: Client) -> Client:
    return Client(client.application, client.tenant_id, "rita", ("reader",))


@pytest.fixture
def stranger(database: Database) -> Client:
    other = make_company(database)
    return Client(wire(database), other.tenant_id)


def settle(admin: Admin, place: str, status: str = "active") -> None:
    """Write the state that the end of its workflow leaves."""
    document_id = place.rsplit("/", 1)[1]
    admin.execute(
        "UPDATE workflow_instances SET status = 'completed', completed_at = now(), edit_window = NULL"
        " WHERE entity_id = %s",
        [document_id],
    )
    execute_unguarded(admin, "UPDATE documents SET status = %s WHERE id = %s", [status, document_id])


def test_a_replaced_document_says_only_what_was_sent(client: Client, place: str) -> None:
    client.patch(place, {"patch": {"cost_center": "C-1"}}, if_match='"1"')
    replaced = client.put(place, {"data": {**INVOICE, "grand_total": 5}, "reason": "typo"}, if_match='"2"')
    assert (replaced.status, replaced.headers["etag"]) == (200, '"3"')
    data = client.get(place).body["data"]
    assert (data["grand_total"], "cost_center" in data) == (5, False)


def test_a_replacement_is_checked_like_a_new_document(client: Client, place: str) -> None:
    refused = client.put(place, {"data": {"grand_total": "much"}}, if_match='"1"')
    assert (refused.status, refused.code) == (422, "FIELDS_INVALID")
    assert set(refused.places) >= {"/data/number", "/data/grand_total"}
    assert client.put(place, {"data": INVOICE}).code == "VERSION_MISSING"
    assert client.put(place, {"data": INVOICE}, if_match='"7"').status == 412


def test_where_it_may_only_be_amended_a_replacement_is_a_new_document(
    client: Client, place: str, admin: Admin
) -> None:
    admin.execute("UPDATE workflow_instances SET edit_window = 'amend_only'")
    execute_unguarded(admin, "UPDATE documents SET status = 'submitted'")
    amended = client.put(place, {"data": {**INVOICE, "grand_total": 5}}, if_match='"1"')
    assert (amended.status, amended.headers["location"] != place) == (201, True)
    assert client.get(amended.headers["location"]).body["data"]["grand_total"] == 5


def test_a_deleted_document_is_not_there(client: Client, place: str, admin: Admin) -> None:
    assert client.delete(place).code == "VERSION_MISSING"
    deleted = client.delete(place, if_match='"1"', query={"reason": "entered twice"})
    assert (deleted.status, deleted.text) == (204, "")
    assert client.get(place).code == "DOCUMENT_NOT_FOUND"
    assert client.delete(place, if_match='"2"').code == "DOCUMENT_NOT_FOUND"
    (content,) = admin.execute("SELECT content FROM audit_log WHERE action = 'delete'").fetchone() or ("",)
    assert "entered twice" in content


def test_what_is_settled_is_not_deleted(client: Client, place: str, admin: Admin) -> None:
    settle(admin, place)
    refused = client.delete(place, if_match='"1"')
    assert (refused.status, refused.code) == (409, "DELETE_NOT_POSSIBLE")
    assert "draft" in refused.body["remedy"]


def test_a_reason_that_cannot_be_kept_is_refused(client: Client, place: str) -> None:
    refused = client.delete(place, if_match='"1"', query={"reason": "a\0b"})
    assert (refused.status, refused.places[0]) == (400, "query reason")


def test_an_action_of_the_contract_is_run(client: Client, place: str) -> None:
    payload = {"cost_center": "C-1", "owner": "mona"}
    ran = client.post(f"{place}/actions/assign_cost_center", {"payload": payload}, if_match='"1"')
    assert (ran.status, ran.headers["etag"], ran.body["status"]) == (200, '"2"', "draft")
    assert client.get(place).body["data"]["cost_center"] == "C-1"


def test_an_action_that_is_none_or_gets_nonsense_is_refused(client: Client, place: str) -> None:
    unknown = client.post(f"{place}/actions/explode", {}, if_match='"1"')
    assert (unknown.status, unknown.code) == (404, "ACTION_UNKNOWN")
    named = client.post(f"{place}/actions/Explode!", {}, if_match='"1"')
    assert (named.status, named.places[0]) == (400, "path action")
    wrong = client.post(f"{place}/actions/assign_cost_center", {"payload": {"owner": 5}}, if_match='"1"')
    assert (wrong.status, wrong.code) == (422, "FIELDS_INVALID")


def test_a_settled_document_is_amended_by_a_new_one(client: Client, place: str, admin: Admin) -> None:
    early = client.post(f"{place}/amendments", {"patch": {}}, if_match='"1"')
    assert (early.status, early.code) == (409, "AMENDMENT_NOT_POSSIBLE")
    settle(admin, place)
    amended = client.post(f"{place}/amendments", {"patch": {"grand_total": 5}}, if_match='"1"')
    assert amended.status == 201
    made = client.get(amended.headers["location"]).body
    assert (made["data"]["grand_total"], made["amended_from_id"]) == (5, place.rsplit("/", 1)[1])
    assert made["current_id"] == client.get(place).body["current_id"] == place.rsplit("/", 1)[1]
    assert client.get(place).body["status"] == "active"
    assert client.get(place).body["amendment_open"] == made["amendment_open"] == made["id"]
    again = client.post(f"{place}/amendments", {"patch": {"grand_total": 6}}, if_match='"1"')
    assert (again.status, again.code) == (409, "AMENDMENT_OPEN")


ACTS: list[tuple[str, str, Any]] = [
    ("PUT", "", {"data": INVOICE}),
    ("DELETE", "", None),
    ("POST", "/actions/assign_cost_center", {"payload": {"cost_center": "C", "owner": "o"}}),
    ("POST", "/amendments", {"patch": {}}),
]


@pytest.mark.parametrize(("method", "below", "body"), ACTS)
def test_who_may_only_read_changes_nothing(
    reader: Client, place: str, method: str, below: str, body: Any
) -> None:
    refused = reader.call(method, place + below, body, if_match='"1"')
    assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize(("method", "below", "body"), ACTS)
def test_another_tenants_document_is_not_there(
    stranger: Client, place: str, method: str, below: str, body: Any
) -> None:
    for path in (place, f"/v1/documents/{uuid4()}"):
        refused = stranger.call(method, path + below, body, if_match='"1"')
        assert (refused.status, refused.code) == (404, "DOCUMENT_NOT_FOUND")


def make_many(client: Client, mode: str, *documents: dict[str, Any], **headers: Any) -> ClientAnswer:
    return client.post("/v1/documents/bulk", {"mode": mode, "documents": list(documents)}, **headers)


def test_what_can_be_made_is_made(client: Client) -> None:
    made = make_many(client, "each", new(number="R-1"), new(number=5), {"entity_type": "ghost", "data": {}})
    assert (made.status, made.body["done"], made.body["rejected"]) == (200, 1, 2)
    done, wrong, unknown = made.body["items"]
    assert client.get(f"/v1/documents/{done['id']}").status == 200
    assert (wrong["index"], wrong["status"], wrong["result"]) == (1, "rejected", None)
    problem = wrong["problem"]
    assert (problem["status"], problem["code"]) == (422, "FIELDS_INVALID")
    assert problem["errors"][0]["pointer"] == "/documents/1/data/number"
    assert (unknown["problem"]["status"], unknown["problem"]["code"]) == (422, "ENTITY_TYPE_UNKNOWN")
    assert unknown["problem"]["errors"][0]["pointer"] == "/documents/2/entity_type"


def test_all_or_nothing_is_made(client: Client, admin: Admin) -> None:
    refused = make_many(client, "all", new(number="R-1"), new(number="R-1"))
    assert (refused.status, refused.body["done"]) == (200, 0)
    first, second = (one["problem"] for one in refused.body["items"])
    assert {(first["code"], first.get("index")), (second["code"], second.get("index"))} in (
        {("NOT_DONE", 1), ("KEY_TAKEN", None)},
        {("NOT_DONE", 0), ("KEY_TAKEN", None)},
    )
    assert admin.execute("SELECT FROM documents").rowcount == 0
    made = make_many(client, "all", new(number="R-1"), new(number="R-2"))
    assert (made.body["done"], admin.execute("SELECT FROM documents").rowcount) == (2, 2)


def test_many_are_made_once_under_one_key(client: Client, admin: Admin) -> None:
    first = make_many(client, "each", new(), idempotency_key="a")
    again = make_many(client, "each", new(), idempotency_key="a")
    assert first.body == again.body
    assert admin.execute("SELECT FROM documents").rowcount == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"documents": []}, "/documents"),
        ({"documents": [new()] * 1_001}, "/documents"),
        ({"mode": "some", "documents": [new()]}, "/mode"),
        ({"documents": [{**new(), "id": "x"}]}, "/documents/0/id"),
        ({"documents": [5]}, "/documents/0"),
    ],
)
def test_many_of_a_wrong_form_are_refused(client: Client, body: Any, pointer: str) -> None:
    refused = client.post("/v1/documents/bulk", body)
    assert (refused.status, refused.code) == (422, "REQUEST_INVALID")
    assert refused.places[0] == pointer


def test_one_id_twice_is_refused(client: Client) -> None:
    twice = {**new(), "id": str(uuid4())}
    assert make_many(client, "each", twice, twice).code == "DOCUMENT_TWICE_IN_BATCH"


def test_who_may_make_none_makes_none_in_bulk(reader: Client, company: Company) -> None:
    refused = make_many(reader, "each", new())
    assert (refused.status, refused.body["items"][0]["problem"]["code"]) == (200, "PERMISSION_DENIED")
