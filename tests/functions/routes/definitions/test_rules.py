"""Rules through the API: saved with their findings, in force, listed, deleted."""

import json
from typing import Any

import psycopg
import pytest

from signet.store.database import Database
from tests.support.api_application import wire
from tests.support.company import INVOICE, make_company
from tests.support.http_client import Client, ClientAnswer

Admin = psycopg.Connection[Any]
PLACE = "/v1/rules/invoice/ceiling"
RULE = {
    "phase": "before",
    "operations": ["create"],
    "condition": {"all": [{"field": "entity.grand_total", "op": ">", "value": 100}, {"expression": "true"}]},
    "actions": [{"kind": "reject", "message": "too much", "field": "grand_total"}],
}


def save(client: Client, place: str = PLACE, **changes: Any) -> ClientAnswer:
    return client.put(place, {**RULE, **changes})


def create(client: Client, total: int) -> ClientAnswer:
    data = {**INVOICE, "number": f"R-{total}", "grand_total": total}
    return client.post("/v1/documents", {"entity_type": "invoice", "data": data})


def test_a_rule_is_saved_and_read(client: Client) -> None:
    made = save(client)
    assert (made.status, made.headers["etag"], made.headers["location"]) == (201, '"1"', PLACE)
    shown = client.get(PLACE)
    assert (shown.body, shown.headers["etag"]) == (made.body, '"1"')
    assert shown.body["condition"]["all"][0]["field"] == "entity.grand_total"
    assert shown.body["actions"] == RULE["actions"]
    assert (shown.body["priority"], shown.body["operations"]) == (100, ["create"])


def test_a_saved_rule_is_in_force(client: Client) -> None:
    save(client)
    refused = create(client, 101)
    assert (refused.status, refused.code, refused.body["detail"]) == (422, "RULE_REJECTED", "too much")
    assert create(client, 100).status == 201


def test_a_rule_that_is_there_is_changed_by_who_saw_it(client: Client) -> None:
    save(client)
    blind = client.put(PLACE, RULE)
    assert (blind.status, blind.code) == (428, "VERSION_MISSING")
    changed = client.put(PLACE, {**RULE, "priority": 5}, if_match='"1"')
    assert (changed.status, changed.headers["etag"], changed.body["priority"]) == (200, '"2"', 5)
    stale = client.put(PLACE, RULE, if_match='"1"')
    assert (stale.status, stale.code) == (412, "RULE_VERSION_CONFLICT")
    nothing = client.put("/v1/rules/invoice/other", RULE, if_match='"1"')
    assert (nothing.status, nothing.code) == (404, "RULE_UNKNOWN")


def test_a_deleted_rule_is_not_there_and_may_come_back(client: Client) -> None:
    save(client)
    assert client.delete(PLACE).code == "VERSION_MISSING"
    assert client.delete(PLACE, if_match='"7"').code == "RULE_VERSION_CONFLICT"
    assert client.delete(PLACE, if_match='"1"').status == 204
    assert client.get(PLACE).status == client.delete(PLACE, if_match='"2"').status == 404
    assert client.get("/v1/rules").body["items"] == []
    assert create(client, 101).status == 201
    again = save(client)
    assert (again.status, again.headers["etag"]) == (201, '"3"')


def test_who_changed_a_rule_and_why_is_on_record(client: Client, admin: Admin) -> None:
    client.put(PLACE, RULE, query={"reason": "fraud"})
    client.delete(PLACE, if_match='"1"', query={"reason": "too strict"})
    rows: list[Any] = admin.execute(
        "SELECT action, subject_id, content FROM audit_log WHERE subject_type = 'rule' ORDER BY seq"
    ).fetchall()
    assert [row[:2] for row in rows] == [
        ("save_rule", "invoice/ceiling"),
        ("disable_rule", "invoice/ceiling"),
    ]
    saved, disabled = (json.loads(row[2]) for row in rows)
    assert (saved["reason"], saved["actor_id"], saved["detail"]["version"]) == ("fraud", "carl", 1)
    assert saved["detail"]["rule"]["actions"][0]["message"] == "too much"
    assert (disabled["reason"], disabled["detail"]) == ("too strict", {"version": 2})


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"condition": {"expression": "entity.grandtotal > 5"}}, "/condition"),
    ({"condition": {"field": "entity.grand_total", "op": ">", "value": 1.5}}, "/condition"),
    ({"phase": "after", "actions": [{"kind": "set", "values": {"cost_center": "x"}}]}, "/actions/0"),
    ({"actions": [{"kind": "set", "values": {"ghost": 1}}]}, "/actions/0/values/ghost"),
    ({"actions": [{"kind": "reject", "message": "no", "field": "ghost"}]}, "/actions/0/field"),
    ({"actions": [{"kind": "set", "values": {"cost_center": "{entity.ghost}"}}]}, "/actions/0/cost_center"),
    ({"actions": [{"kind": "reject", "message": "a\0b"}]}, "/actions/0/message"),
    ({"actions": []}, "/actions"),
    ({"name": "other"}, "/name"),
    ({"priority": 10**15}, "/priority"),
    ({"phase": "meanwhile"}, "/phase"),
    ({"operations": "create"}, "/operations"),
]


@pytest.mark.parametrize(("changes", "pointer"), WRONG)
def test_what_is_wrong_with_a_rule_is_said_with_its_place(
    client: Client, changes: dict[str, Any], pointer: str
) -> None:
    refused = save(client, **changes)
    assert (refused.status, refused.code) == (422, "DEFINITION_INVALID")
    assert refused.body["errors"][0]["pointer"] == pointer
    assert client.get(PLACE).status == 404


def test_nonsense_is_refused(client: Client) -> None:
    deep: Any = {"expression": "true"}
    for _ in range(60):
        deep = {"not": deep}
    assert save(client, condition=deep).code == "DEFINITION_INVALID"
    for body in ("[]", "5", '"x"', "null"):
        assert client.put(PLACE, body).status == 422
    assert client.put(PLACE, RULE, query={"reason": "a\0b"}).body["errors"][0]["pointer"] == "/reason"
    ghost = save(client, "/v1/rules/ghost/ceiling")
    assert (ghost.status, ghost.code) == (404, "ENTITY_TYPE_UNKNOWN")
    named = save(client, "/v1/rules/invoice/Ceiling")
    assert (named.status, named.body["errors"][0]["pointer"]) == (422, "/path/rule")


def test_a_type_has_so_many_rules_and_no_more(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("signet.engine.definitions.rules.MAX_RULES_OF_TYPE", 2)
    assert [save(client, f"/v1/rules/invoice/{name}").status for name in "abc"] == [201, 201, 409]
    assert save(client, "/v1/rules/invoice/c").code == "RULE_TOO_MANY"
    # Replacing an existing rule adds none.
    assert client.put("/v1/rules/invoice/a", RULE, if_match='"1"').status == 200


def test_rules_are_listed_by_type_and_name(client: Client) -> None:
    for name in "cab":
        save(client, f"/v1/rules/invoice/{name}")
    page = client.get("/v1/rules", query={"limit": 2}).body
    assert [one["name"] for one in page["items"]] == ["a", "b"]
    rest = client.get("/v1/rules", query={"limit": 2, "cursor": page["next_cursor"]}).body
    assert ([one["name"] for one in rest["items"]], rest["next_cursor"]) == (["c"], None)
    assert len(client.get("/v1/rules", query={"entity_type": "invoice"}).body["items"]) == 3
    assert client.get("/v1/rules", query={"entity_type": "order"}).body["items"] == []
    crossed = client.get("/v1/rules", query={"entity_type": "invoice", "cursor": page["next_cursor"]})
    assert crossed.code == "CURSOR_INVALID"


def test_rules_want_permissions_of_their_own(client: Client, database: Database) -> None:
    save(client)
    clerk = Client(client.application, client.tenant_id, "carl", ("clerk",))
    assert (clerk.get("/v1/rules").code, clerk.get(PLACE).code) == ("PERMISSION_DENIED", "RULE_UNKNOWN")
    assert clerk.put(PLACE, RULE, if_match='"1"').code == "PERMISSION_DENIED"
    assert clerk.delete(PLACE, if_match='"1"').code == "PERMISSION_DENIED"
    stranger = Client(wire(database), make_company(database).tenant_id)
    assert stranger.get(PLACE).code == stranger.delete(PLACE, if_match='"1"').code == "RULE_UNKNOWN"
    assert stranger.get("/v1/rules").body["items"] == []


def test_what_rules_have_rejected_is_listed(client: Client) -> None:
    save(client)
    assert [create(client, total).status for total in (101, 100, 102)] == [422, 201, 422]
    page = client.get("/v1/rule_executions", query={"limit": 1}).body
    (newest,) = page["items"]
    assert (newest["rule"], newest["rejected"], newest["actor"]) == ("ceiling", True, "carl")
    assert newest["evidence"]["variables"] == {"entity.grand_total": 102}
    assert (newest["responsible"], newest["operation"]) == (["carl"], "create")
    (other,) = client.get("/v1/rule_executions", query={"limit": 1, "cursor": page["next_cursor"]}).body[
        "items"
    ]
    assert other["evidence"]["variables"] == {"entity.grand_total": 101}
    for wanted, count in (({"rule": "ceiling"}, 2), ({"rule": "floor"}, 0), ({"entity_type": "order"}, 0)):
        assert len(client.get("/v1/rule_executions", query=wanted).body["items"]) == count
    crossed = client.get("/v1/rule_executions", query={"rule": "ceiling", "cursor": page["next_cursor"]})
    assert crossed.code == "CURSOR_INVALID"


def test_all_that_rules_were_run_with_is_listed_of_a_document(client: Client) -> None:
    save(client, operations=["create", "update"])
    made = create(client, 100)
    place = f"/v1/documents/{made.body['document_id']}"
    refused = client.call("PATCH", place, {"patch": {"grand_total": 500}}, if_match='"1"')
    assert refused.code == "RULE_REJECTED"
    executions = client.get(f"{place}/rule_executions").body["items"]
    assert [(one["matched"], one["rejected"]) for one in executions] == [(True, True), (False, False)]


def test_executions_want_a_permission_of_their_own(client: Client, database: Database) -> None:
    save(client)
    made = create(client, 100).body["document_id"]
    places = ("/v1/rule_executions", f"/v1/documents/{made}/rule_executions")
    clerk = Client(client.application, client.tenant_id, "carl", ("clerk",))
    assert [clerk.get(place).code for place in places] == ["PERMISSION_DENIED"] * 2
    stranger = Client(wire(database), make_company(database).tenant_id)
    assert stranger.get(places[0]).body["items"] == []
    assert stranger.get(places[1]).code == "DOCUMENT_NOT_FOUND"
