"""The API as RFC 9110 and its neighbours describe one. Each test names what it holds (A1 to A29)."""

import base64
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from signet.store.database import Database, PoolSettings
from signet.wiring.engine import make_worker
from tests.support.api_application import wire
from tests.support.api_keys import hire
from tests.support.company import INVOICE, Company
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain
from tests.support.http_client import Client, ClientAnswer

EDIT = {"patch": {"grand_total": 7}}
MERGE_PATCH = "application/merge-patch+json"


def new(**data: Any) -> dict[str, Any]:
    return {"entity_type": "invoice", "data": {**INVOICE, **data}}


@pytest.fixture
def place(client: Client) -> str:
    return client.post("/v1/documents", new()).headers["location"]


def test_a1_an_error_about_the_document_points_into_what_was_sent(client: Client, place: str) -> None:
    made = client.post("/v1/documents", {"entity_type": "invoice", "data": {"nope": 1}})
    assert {"/data/number", "/data/nope"} <= set(made.places)
    patched = client.patch(place, {"patch": {"grand_total": "x"}}, if_match='"1"')
    assert (patched.status, patched.places) == (422, ["/patch/grand_total"])
    replaced = client.put(place, {"data": {**INVOICE, "grand_total": "x"}}, if_match='"1"')
    assert replaced.places == ["/data/grand_total"]
    payload = {"payload": {"cost_center": 5}}
    ran = client.post(f"{place}/actions/assign_cost_center", payload, if_match='"1"')
    assert "/payload/cost_center" in ran.places
    taken = client.post("/v1/documents", new())
    assert (taken.code, taken.places) == ("KEY_TAKEN", ["/data/number"])


def test_a2_an_error_about_a_parameter_has_its_name_and_no_pointer(client: Client, place: str) -> None:
    for answered, where, name in (
        (client.get("/v1/members", query={"limit": "x"}), "query", "limit"),
        (client.patch(place, EDIT, if_match="1"), "header", "If-Match"),
        (client.get("/v1/documents/x"), "path", "document_id"),
    ):
        (error,) = answered.body["errors"]
        assert (error["in"], error["name"], "pointer" in error) == (where, name, False)


def test_a3_a_name_of_a_parameter_is_no_pointer_to_escape(client: Client) -> None:
    (error,) = client.get("/v1/members", query={"foo/bar": "1"}).body["errors"]
    assert (error["in"], error["name"], error["code"]) == ("query", "foo/bar", "FIELD_UNKNOWN")


def test_a8_what_is_malformed_is_400_and_what_is_wrong_in_a_body_is_422(client: Client, place: str) -> None:
    malformed = [
        client.get("/v1/members", query={"limit": "x"}),
        client.get("/v1/documents/x"),
        client.get("/v1/members", query={"cursor": "x"}),
        client.patch(place, EDIT, if_match="1"),
        client.post("/v1/documents", new(), idempotency_key="with space"),
        client.get("/v1/documents", query={"entity_type": "invoice", "filter": "entity.number >"}),
    ]
    assert [answered.status for answered in malformed] == [400] * len(malformed)
    assert client.post("/v1/documents", {**new(), "colour": 1}).status == 422


@pytest.mark.parametrize("tags", ["*", '"9", "1"', ' "1" ,, "x" ', 'W/"9", "1"', f'"1.{"a" * 32}"'])
def test_a9_if_match_may_name_several_versions_or_any(client: Client, place: str, tags: str) -> None:
    changed = client.patch(place, EDIT, if_match=tags)
    assert (changed.status, changed.headers["etag"]) == (200, '"2"')


@pytest.mark.parametrize("tags", ['W/"1"', '"9", "10"', '"x"', '"1.a"'])
def test_a9_a_weak_tag_and_other_versions_never_match(client: Client, place: str, tags: str) -> None:
    refused = client.patch(place, EDIT, if_match=tags)
    assert (refused.status, refused.code) == (412, "DOCUMENT_VERSION_CONFLICT")
    assert str(2**31 - 1) not in refused.body["detail"]


def test_a9_any_version_of_what_is_not_there_is_none(client: Client) -> None:
    assert client.patch(f"/v1/documents/{uuid4()}", EDIT, if_match="*").status == 404


def test_a10_a_refused_precondition_names_the_present_version(client: Client, place: str) -> None:
    client.patch(place, EDIT, if_match='"1"')
    refused = client.patch(place, EDIT, if_match='"1"')
    assert (refused.status, refused.headers["etag"], refused.body["current_version"]) == (412, '"2"', 2)


def test_a11_a_read_has_preconditions_too(client: Client, place: str) -> None:
    known = client.get(place, if_none_match="*")
    assert (known.status, known.text) == (304, "")
    other = client.get(place, if_match='"9"')
    assert (other.status, other.code, other.headers["etag"]) == (412, "PRECONDITION_FAILED", '"1"')
    assert [client.get(place, if_match=tags).status for tags in ("*", '"1"', '"9", "1"')] == [200] * 3


def test_a11_a_put_that_may_only_make_changes_nothing_that_is_there(client: Client) -> None:
    rule: dict[str, Any] = {"phase": "before", "operations": ["create"], "priority": 5}
    rule |= {"condition": {"expression": "true"}, "actions": [{"kind": "reject", "message": "no"}]}
    path = "/v1/rules/invoice/ceiling"
    assert client.put(path, rule, if_none_match="*").status == 201
    again = client.put(path, {**rule, "priority": 6}, if_none_match="*")
    assert (again.status, again.code, again.headers["etag"]) == (412, "PRECONDITION_FAILED", '"1"')
    assert client.get(path).body["version"] == 1


def test_a18_what_a_body_names_and_is_not_there_is_no_404(client: Client, place: str) -> None:
    made = client.post("/v1/documents", {**new(), "entity_type": "ghost"})
    assert (made.status, made.code, made.places) == (422, "ENTITY_TYPE_UNKNOWN", ["/entity_type"])
    asked = client.post(f"{place}/requests", {"transition": "ghost"}, if_match='"1"')
    assert (asked.status, asked.code, asked.places) == (422, "TRANSITION_UNKNOWN", ["/transition"])
    assert client.post(f"{place}/actions/ghost", {}, if_match='"1"').status == 404


def test_a19_another_scheme_than_bearer_learns_only_the_scheme(client: Client) -> None:
    answered = client.get("/v1/me", authorization="Basic YW5uYTpwdw==")
    assert (answered.status, answered.headers["www-authenticate"]) == (401, "Bearer")
    invalid = client.get("/v1/me", authorization="Bearer nonsense")
    assert invalid.headers["www-authenticate"] == 'Bearer error="invalid_token"'


@pytest.mark.parametrize("prefer", ["Wait=1", "respond-async, WAIT = 1", 'wait="1"'])
def test_a20_a_preference_has_any_case(client: Client, place: str, prefer: str) -> None:
    asked = client.post(f"{place}/requests", {"transition": "submit"}, if_match='"1"', prefer=prefer)
    assert asked.headers["preference-applied"] == "wait=1"


def test_a21_a_member_twice_is_refused(client: Client) -> None:
    twice = client.post("/v1/documents", '{"entity_type": "invoice", "entity_type": "ghost", "data": {}}')
    assert (twice.status, twice.code) == (400, "BODY_MALFORMED")


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/json; charset=utf-16", MERGE_PATCH, "application/xml"]
)
def test_a22_a_body_of_another_type_learns_which_is_taken(client: Client, content_type: str) -> None:
    refused = client.post("/v1/documents", new(), content_type=content_type)
    assert (refused.status, refused.headers["accept-post"]) == (415, "application/json")


def test_a22_a_document_takes_a_merge_patch_as_it_is(client: Client, place: str) -> None:
    changed = client.patch(place, {"grand_total": 7}, if_match='"1"', content_type=MERGE_PATCH)
    assert (changed.status, client.get(place).body["data"]["grand_total"]) == (200, 7)
    wrong = client.patch(place, {"grand_total": "x"}, if_match='"2"', content_type=MERGE_PATCH)
    assert (wrong.status, wrong.places) == (422, ["/grand_total"])
    listed = client.patch(place, [1], if_match='"2"', content_type=MERGE_PATCH)
    assert (listed.status, listed.places) == (422, [""])
    text = base64.b64encode(b'{"grand_total": 8}').decode()
    assert client.patch(place, text, if_match='"2"', content_type="text/plain").status == 415


def test_a22_options_and_415_say_what_a_patch_may_be(client: Client, place: str) -> None:
    taken = f"{MERGE_PATCH}, application/json"
    assert client.call("OPTIONS", place).headers["accept-patch"] == taken
    assert client.call("OPTIONS", "/v1/documents").headers["accept-post"] == "application/json"
    refused = client.patch(place, EDIT, if_match='"1"', content_type="text/plain")
    assert refused.headers["accept-patch"] == taken
    refused = client.patch("/v1/tenant", {}, content_type=MERGE_PATCH)
    assert refused.headers["accept-patch"] == "application/json"


def test_a24_errors_have_words_of_our_own(client: Client, company: Any) -> None:
    def tell(answered: ClientAnswer) -> list[tuple[str, str, str]]:
        return [(e["pointer"], e["code"], e["detail"]) for e in answered.body["errors"]]

    assert tell(client.post("/v1/notifications/read", {"ids": []})) == [
        ("/ids", "FIELD_TOO_SHORT", "wants at least 1 item(s)")
    ]
    assert tell(client.post("/v1/documents", {**new(), "colour": 1})) == [
        ("/colour", "FIELD_UNKNOWN", "is no field here")
    ]
    chain = {
        "chain": "c",
        "version": 1,
        "label": "C",
        "steps": [{"id": "a", "label": "A", "approvers": [{"x": 1}]}],
    }
    assert "/steps/0/approvers" not in client.post("/v1/approval_chains", chain).places


def test_a27_a_repeated_answer_says_so(client: Client, admin: psycopg.Connection[Any]) -> None:
    first = client.post("/v1/documents", new(), idempotency_key="a-key")
    again = client.post("/v1/documents", new(), idempotency_key="a-key")
    assert "idempotency-replayed" not in first.headers
    assert (again.headers["idempotency-replayed"], again.body) == ("true", first.body)


@pytest.fixture
def prompt(owner_url: str, company: Company, worker: Database) -> Iterator[Client]:
    """Yield a client whose workflows have gone on when its request has committed."""
    engine = make_worker(worker)

    def go_on(wake_ups: object) -> None:
        drain(engine, [company.tenant_id])

    database = Database(
        as_role(owner_url, "signet_api"),
        PoolSettings(size=4),
        wake=go_on,
    )
    yield Client(wire(database), company.tenant_id)
    database.close()


def test_a4_a_request_that_is_refused_is_no_success(prompt: Client) -> None:
    def ask(total: int, number: str) -> tuple[str, ClientAnswer]:
        place = prompt.post("/v1/documents", new(grand_total=total, number=number)).headers["location"]
        seen = prompt.get(place).headers["etag"]
        body = {"transition": "submit"}
        return place, prompt.post(f"{place}/requests", body, if_match=seen, prefer="wait=5")

    place, refused = ask(0, "R-1")
    assert (refused.status, refused.code) == (409, "TRANSITION_REFUSED"), refused.text
    (listed,) = prompt.get(f"{place}/requests").body["items"]
    assert (refused.body["request_id"], refused.body["outcome"]) == (listed["id"], listed["outcome"])
    record = prompt.get(f"/v1/requests/{listed['id']}")
    assert (record.status, record.body["status"]) == (200, "refused")
    _, performed = ask(7, "R-2")
    assert (performed.status, performed.body["status"]) == (200, "performed"), performed.text


def test_a6_every_bulk_answer_has_one_shape(client: Client) -> None:
    missing = str(uuid4())
    asked = {
        "/v1/documents/bulk": {"mode": "each", "documents": [{"entity_type": "ghost", "data": {}}]},
        "/v1/approvals/decisions": {"decisions": [{"request_id": missing, "vote": "approved"}]},
        "/v1/instances/bulk": {"act": "wake", "items": [{"id": missing}]},
        "/v1/instances/move": {"to": 2, "items": [{"id": missing, "version": 1}]},
        "/v1/operations/dead_letters/requeue": {"ids": [missing]},
        "/v1/operations/dead_letters/discard": {"ids": [missing], "reason": "why"},
    }
    for path, body in asked.items():
        answered = client.post(path, body)
        assert answered.body.keys() == {"done", "rejected", "items"}, path
        assert (answered.status, answered.body["done"], answered.body["rejected"]) == (200, 0, 1)
        (item,) = answered.body["items"]
        assert item.keys() == {"index", "id", "status", "result", "problem"}, path
        assert (item["index"], item["status"], item["result"]) == (0, "rejected", None)
        assert {"type", "title", "status", "detail", "instance", "code"} <= item["problem"].keys()
        assert item["problem"]["status"] in (404, 422), path


def test_a7_who_is_not_at_fault_learns_who_is(client: Client) -> None:
    body = {"mode": "all", "documents": [new(), new(grand_total="x")]}
    right, wrong = client.post("/v1/documents/bulk", body).body["items"]
    assert (right["problem"]["code"], right["problem"]["index"]) == ("NOT_DONE", 1)
    assert "errors" not in right["problem"]
    assert wrong["problem"]["errors"][0]["pointer"] == "/documents/1/data/grand_total"


def test_a25_there_is_one_list_of_what_is_stuck_and_it_is_a_page(client: Client) -> None:
    assert client.get("/v1/instances/stuck").body == {"items": [], "next_cursor": None}
    assert client.get("/v1/operations/stuck").code == "ROUTE_NOT_FOUND"


@pytest.mark.parametrize(
    ("path", "first", "second", "code"),
    [
        (
            "/v1/members/mona",
            {"display_name": "Mona"},
            {"display_name": "Mona M."},
            "MEMBER_VERSION_CONFLICT",
        ),
        (
            "/v1/roles/payer",
            {"permissions": ["invoice:pay"]},
            {"permissions": []},
            "ROLE_VERSION_CONFLICT",
        ),
        (
            "/v1/org_chart/ben",
            {"manager_id": "anna"},
            {"manager_id": "mona"},
            "REPORTING_LINE_VERSION_CONFLICT",
        ),
    ],
)
def test_a12_and_a13_what_put_makes_has_a_place_and_a_version(
    client: Client, path: str, first: dict[str, Any], second: dict[str, Any], code: str
) -> None:
    for name in {"anna", "ben", "mona"} - {path.rsplit("/", 1)[1]} | {"ben"}:
        client.put(f"/v1/members/{name}", {"display_name": name})
    made = client.call("PUT", path, first)
    assert (made.status, made.headers["location"], made.headers["etag"]) == (201, path, '"1"'), made.text
    assert client.get(path).headers["etag"] == '"1"'
    unseen = client.call("PUT", path, second)
    assert (unseen.status, unseen.code) == (428, "VERSION_MISSING")
    changed = client.call("PUT", path, second, if_match='"1"')
    assert (changed.status, "location" in changed.headers) == (200, False)
    late = client.call("PUT", path, first, if_match='"1"')
    assert (late.status, late.code) == (412, code)
    assert late.headers["etag"] == changed.headers["etag"] == client.get(path).headers["etag"]
    assert client.call("PUT", path, first, if_none_match="*").status == 412
    gone = client.call("PUT", path.rsplit("/", 1)[0] + "/nobody", first, if_match='"1"')
    assert gone.status in (404, 412)


def test_a12_a_member_has_another_version_with_other_roles_and_another_manager(client: Client) -> None:
    for name in ("anna", "ben"):
        client.put(f"/v1/members/{name}", {"display_name": name})
    tags = [client.get("/v1/members/anna").headers["etag"]]
    client.put("/v1/members/anna", {"display_name": "Anna", "roles": ["clerk"]})
    tags.append(client.get("/v1/members/anna").headers["etag"])
    client.put("/v1/org_chart/anna", {"manager_id": "ben"})
    tags.append(client.get("/v1/members/anna").headers["etag"])
    client.delete("/v1/org_chart/anna")
    tags.append(client.get("/v1/members/anna").headers["etag"])
    assert len(set(tags)) == 4


def test_a14_what_is_made_has_a_place(client: Client) -> None:
    chain = {"name": "own", "steps": [{"approvers": [{"by": "user", "user": "carl"}]}]}
    made = client.post("/v1/approval_chains", chain)
    assert made.status == 201, made.text
    assert client.get(made.headers["location"]).body["name"] == "own"
    client.put("/v1/members/anna", {"display_name": "Anna"})
    given = {"delegate_id": "anna", "to_time": (datetime.now(UTC) + timedelta(days=1)).isoformat()}
    delegated = client.post("/v1/delegations", given)
    assert delegated.status == 201, delegated.text
    assert client.delete(delegated.headers["location"]).status == 204
    hire(client, client.subject, "clerk", "admin")
    key = client.post("/v1/api_keys", {"name": "erp", "roles": ["clerk"]})
    assert client.get(key.headers["location"]).body["name"] == "erp"
    used = client.post("/v1/templates/approval/use")
    assert used.status == 404 or client.get(used.headers["location"]).status == 200
