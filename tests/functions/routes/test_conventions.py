"""Rules of all routes alike: versions, keys, preferences, methods, origins, sizes."""

import base64
import gzip
import json
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from signet.core.tenants.request_limits import RequestLimits
from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.company import INVOICE, Company
from tests.support.http_client import Client


def new(**data: Any) -> dict[str, Any]:
    return {"entity_type": "invoice", "data": {**INVOICE, **data}}


def count_documents(admin: psycopg.Connection[Any]) -> int:
    (found,) = admin.execute("SELECT count(*) FROM documents").fetchone() or (0,)
    return int(found)


def test_a_document_is_made_read_and_changed(client: Client) -> None:
    made = client.post("/v1/documents", new())
    assert (made.status, made.headers["etag"]) == (201, '"1"')
    place = made.headers["location"]
    shown = client.get(place)
    assert (shown.status, shown.body["data"]["number"], shown.body["status"]) == (200, "R-1", "draft")
    changed = client.patch(place, {"patch": {"grand_total": 7}}, if_match=shown.headers["etag"])
    assert (changed.status, changed.headers["etag"]) == (200, '"2"')
    assert client.get(place).body["data"]["grand_total"] == 7


def test_a_change_wants_the_version_that_was_seen(client: Client) -> None:
    place = client.post("/v1/documents", new()).headers["location"]
    missing = client.patch(place, {"patch": {"grand_total": 7}})
    assert (missing.status, missing.code) == (428, "VERSION_MISSING")
    stale = client.patch(place, {"patch": {"grand_total": 7}}, if_match='"9"')
    assert (stale.status, stale.code) == (412, "DOCUMENT_VERSION_CONFLICT")
    nonsense = client.patch(place, {"patch": {"grand_total": 7}}, if_match="1")
    assert (nonsense.status, nonsense.places[0]) == (400, "header If-Match")
    empty = client.patch(place, {"patch": {}}, if_match='"1"')
    assert (empty.status, empty.places[0]) == (422, "/patch")


def test_what_is_known_already_is_not_sent_again(client: Client) -> None:
    made = client.post("/v1/documents", new())
    place = made.headers["location"]
    known = client.get(place, if_none_match=f'"0", W/{made.headers["etag"]}')
    assert (known.status, known.text, known.headers["etag"]) == (304, "", '"1"')
    assert client.get(place, if_none_match='"2"').status == 200


def test_head_is_get_without_a_body(client: Client) -> None:
    place = client.post("/v1/documents", new()).headers["location"]
    head = client.call("HEAD", place)
    # The gateway leaves the body out, and sends its length.
    assert (head.status, head.text, head.headers["etag"]) == (200, client.get(place).text, '"1"')
    assert client.call("HEAD", f"/v1/documents/{uuid4()}").status == 404


def test_options_names_the_methods(client: Client) -> None:
    said = client.call("OPTIONS", f"/v1/documents/{uuid4()}")
    assert (said.status, said.headers["allow"]) == (204, "DELETE, GET, HEAD, OPTIONS, PATCH, PUT")
    assert client.call("OPTIONS", "/v1/nothing").status == 404


def test_the_same_key_happens_once_and_gets_the_first_answer(
    client: Client, admin: psycopg.Connection[Any]
) -> None:
    first = client.post("/v1/documents", new(), idempotency_key="a-key")
    again = client.post("/v1/documents", new(), idempotency_key="a-key")
    assert (again.status, again.body, again.headers["location"], again.headers["etag"]) == (
        first.status,
        first.body,
        first.headers["location"],
        first.headers["etag"],
    )
    assert count_documents(admin) == 1


def test_a_key_for_another_request_or_of_another_person_is_refused(client: Client) -> None:
    client.post("/v1/documents", new(), idempotency_key="a-key")
    other = client.post("/v1/documents", new(number="R-2"), idempotency_key="a-key")
    assert (other.status, other.code) == (422, "IDEMPOTENCY_KEY_REUSED")
    anna = Client(client.application, client.tenant_id, "anna")
    assert anna.post("/v1/documents", new(), idempotency_key="a-key").code == "IDEMPOTENCY_KEY_REUSED"


def test_what_was_rejected_leaves_its_key_free(client: Client, admin: psycopg.Connection[Any]) -> None:
    refused = client.post("/v1/documents", new(grand_total="much"), idempotency_key="a-key")
    assert (refused.status, refused.code) == (422, "FIELDS_INVALID")
    assert client.post("/v1/documents", new(), idempotency_key="a-key").status == 201
    assert count_documents(admin) == 1


def test_a_key_that_is_none_is_refused(client: Client) -> None:
    for key in ("", "with space", "x" * 256, "ü"):
        assert client.post("/v1/documents", new(), idempotency_key=key).code == "REQUEST_MALFORMED"


def test_an_unknown_parameter_and_an_unknown_field_are_named(client: Client) -> None:
    query = client.call("GET", "/v1/health", query={"verbose": "1"})
    assert (query.status, query.places[0]) == (400, "query verbose")
    body = client.post("/v1/documents", {**new(), "status": "active"})
    assert (body.status, body.places[0]) == (422, "/status")


def test_waiting_ends_with_what_came_of_it_or_with_time(client: Client) -> None:
    place = client.post("/v1/documents", new()).headers["location"]
    asked = client.post(f"{place}/requests", {"transition": "submit"}, if_match='"1"', prefer="wait=0")
    assert asked.status == 202
    assert client.get(asked.headers["location"]).body["status"] == "open"
    short = client.post(f"{place}/requests", {"transition": "submit"}, if_match='"1"', prefer="wait=1")
    assert (short.status, short.headers["preference-applied"]) == (202, "wait=1")


def test_who_has_no_place_to_wait_is_answered_at_once(
    client: Client, database: Database, admin: psycopg.Connection[Any]
) -> None:
    place = client.post("/v1/documents", new()).headers["location"]
    none = Client(wire(database, limits=RequestLimits(max_waits=0)), client.tenant_id)
    asked = none.post(f"{place}/requests", {"transition": "submit"}, if_match='"1"', prefer="wait=10")
    assert (asked.status, asked.headers["preference-applied"]) == (202, "wait=0")
    # Nothing else is different.
    assert client.get(asked.headers["location"]).body["status"] == "open"
    assert admin.execute("SELECT count(*) FROM request_waits").fetchone() == (0,)


def test_a_repeated_answer_waits_for_nothing(client: Client) -> None:
    place = client.post("/v1/documents", new()).headers["location"]
    path, wanted = f"{place}/requests", {"transition": "submit"}
    client.post(path, wanted, if_match='"1"', idempotency_key="a-key")
    again = client.post(path, wanted, if_match='"1"', idempotency_key="a-key", prefer="wait=10")
    assert (again.status, again.headers["preference-applied"]) == (202, "wait=0")


def test_an_answer_is_small_for_who_can_read_that(client: Client) -> None:
    plain = client.get("/openapi.json")
    small = client.application(
        {
            "version": "2.0",
            "rawPath": "/openapi.json",
            "headers": {"accept-encoding": "br, gzip"},
            "requestContext": {"http": {"method": "GET"}, "stage": "$default"},
        },
        None,
    )
    assert small["isBase64Encoded"] is True
    assert small["headers"]["content-encoding"] == "gzip"
    assert gzip.decompress(base64.b64decode(small["body"])).decode() == plain.text
    assert len(small["body"]) < len(plain.text) / 2


ORIGIN = "https://console.example.com"


@pytest.mark.parametrize(
    ("origins", "origin", "is_allowed"),
    [((), ORIGIN, False), ((ORIGIN,), ORIGIN, True), ((ORIGIN,), "https://evil.example.com", False)],
)
def test_a_browser_may_call_from_named_origins_only(
    database: Database, company: Company, origins: tuple[str, ...], origin: str, is_allowed: bool
) -> None:
    client = Client(wire(database, origins=origins), company.tenant_id)
    shown = client.get("/v1/health", origin=origin)
    assert (shown.headers.get("access-control-allow-origin") == origin) is is_allowed
    # The origin can read errors, too.
    assert ("access-control-allow-origin" in client.get("/v1/nothing", origin=origin).headers) is is_allowed
    asked = client.call("OPTIONS", "/v1/health", origin=origin, access_control_request_method="GET")
    assert ("access-control-allow-methods" in asked.headers) is is_allowed


def test_a_quota_that_is_used_up_says_when_to_come_back(
    client: Client, admin: psycopg.Connection[Any]
) -> None:
    admin.execute("INSERT INTO tenant_quotas VALUES (%s, 'api:read', 1, 3600)", (client.tenant_id,))
    first = client.get("/v1/health")
    assert first.headers["ratelimit-policy"] == '"api:read";q=1;w=3600, "api:read:person";q=1;w=3600'
    assert first.headers["ratelimit"].startswith('"api:read";r=0;')
    refused = client.get("/v1/health")
    assert (refused.status, refused.code) == (429, "QUOTA_EXCEEDED")
    assert refused.body["limit_of"] == "person"
    fiona = Client(client.application, client.tenant_id, subject="fiona")
    assert fiona.get("/v1/health").body["limit_of"] == "tenant"
    assert 3_500 < int(refused.headers["retry-after"]) <= 3_600
    assert client.post("/v1/documents", new()).status == 201


def test_the_callers_trace_goes_on(client: Client, admin: psycopg.Connection[Any]) -> None:
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    client.post("/v1/documents", new(), traceparent=trace)
    client.post("/v1/documents", new(number="R-2"), traceparent="nonsense")
    traces = [str(row[0]) for row in admin.execute("SELECT trace_id FROM workflow_instances").fetchall()]
    assert trace in traces
    assert "nonsense" not in json.dumps(traces)
