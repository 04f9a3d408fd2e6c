"""Proposed changes by HTTP: compared, confirmed, rejected, withdrawn, expired, superseded, on record."""

import json
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from signet.core.control.change import MAX_OPEN_CHANGES, MAX_OPEN_CHANGES_OF_PERSON
from tests.support.http_client import Client, ClientAnswer
from tests.support.two_people import TwoPeople, confirm

Admin = psycopg.Connection[Any]
CHANGES = "/v1/control_changes"
ERP = {"name": "erp", "url": "https://erp.example.com/hook", "secrets": ["erp"]}
TERMS = {"url": ERP["url"], "secrets": ["erp"]}
BANK = {"name": "bank", "key_prefix": "paid:", "secrets": ["bank"]}
RULE = {
    "phase": "before",
    "operations": ["create"],
    "condition": {"all": [{"field": "entity.grand_total", "op": ">", "value": 100}]},
    "actions": [{"kind": "reject", "message": "too much"}],
}


@pytest.fixture
def paul(two: TwoPeople) -> Client:
    return two.people["paul"]


@pytest.fixture
def quinn(two: TwoPeople) -> Client:
    return two.people["quinn"]


@pytest.fixture
def proposed(paul: Client) -> ClientAnswer:
    return paul.post("/v1/endpoints", ERP)


def audit_of(admin: Admin, subject: str) -> list[dict[str, Any]]:
    rows = admin.execute("SELECT content FROM audit_log WHERE subject_type = %s ORDER BY seq", (subject,))
    return [json.loads(content) for (content,) in rows.fetchall()]


def test_a_proposal_is_listed_and_read(proposed: ClientAnswer, paul: Client, quinn: Client) -> None:
    # Only the answer to the proposal says who may confirm it.
    assert proposed.body["next_step"].startswith(
        "Ask one of these people with the permission 'endpoint:edit'"
    )
    body = {**proposed.body, "next_step": None}
    assert (body["kind"], body["name"], body["act"], body["base_version"]) == ("endpoint", "erp", "create", 0)
    assert (body["proposed_by"], body["responsible"], body["status"]) == ("paul", ["paul"], "proposed")
    assert body["body"] == {**TERMS, "status": "active"}
    assert proposed.headers["location"] == f"{CHANGES}/{body['id']}"
    assert quinn.get(CHANGES).body["items"] == [body]
    assert quinn.get(CHANGES, query={"status": "confirmed"}).body["items"] == []
    assert quinn.get(CHANGES, query={"status": "proposed"}).body["items"] == [body]
    shown = quinn.get(proposed.headers["location"]).body
    assert [difference["pointer"] for difference in shown["difference"]] == ["/secrets", "/status", "/url"]
    assert all(difference["before"] is None for difference in shown["difference"])


def test_pages_go_on_where_they_ended(paul: Client, quinn: Client) -> None:
    made = [paul.post("/v1/endpoints", {**ERP, "name": f"erp_{n}"}).body["id"] for n in range(3)]
    first = quinn.get(CHANGES, query={"limit": 2}).body
    second = quinn.get(CHANGES, query={"limit": 2, "cursor": first["next_cursor"]}).body
    assert [item["id"] for item in first["items"] + second["items"]] == made[::-1]


def test_people_see_the_kinds_that_they_may_read_or_make(two: TwoPeople, proposed: ClientAnswer) -> None:
    place = proposed.headers["location"]
    stranger, reader = two.hire("stan", "rule:*"), two.hire("rita", "endpoint:read")
    assert stranger.get(CHANGES).body["items"] == []
    for answer in (stranger.get(place), confirm(stranger, place), stranger.post(f"{place}/withdraw")):
        assert (answer.status, answer.code) == (404, "CONTROL_CHANGE_NOT_FOUND")
    assert reader.get(CHANGES).body["items"] == [{**proposed.body, "next_step": None}]
    for answer in (confirm(reader, place), reader.post(f"{place}/reject", {})):
        assert (answer.status, answer.code) == (403, "PERMISSION_DENIED")
    assert reader.get(f"{CHANGES}/{uuid4()}").code == "CONTROL_CHANGE_NOT_FOUND"


def test_a_key_confirms_nothing(two: TwoPeople, proposed: ClientAnswer, quinn: Client) -> None:
    """Its owner may change between the proposal and the confirmation; a person stays who they are."""
    refused = confirm(two.make_key(quinn), proposed)
    assert (refused.status, refused.code) == (403, "FOUR_EYES_REQUIRED")
    assert refused.body["remedy"] == "A person confirms it, with a token of their own."
    assert confirm(quinn, proposed).status == 200


def test_a_confirmed_change_is_in_force_and_on_record(
    proposed: ClientAnswer, quinn: Client, admin: Admin
) -> None:
    confirmed = confirm(quinn, proposed)
    assert (confirmed.status, confirmed.body["status"], confirmed.body["ended_by"]) == (
        200,
        "confirmed",
        "quinn",
    )
    assert confirmed.body["difference"] is None
    made = quinn.get("/v1/endpoints/erp").body
    assert (made["url"], made["created_by"]) == (ERP["url"], "paul")
    noted = audit_of(admin, "control_change")
    assert [(entry["action"], entry["actor_id"]) for entry in noted] == [
        ("propose_control_change", "paul"),
        ("confirm_control_change", "quinn"),
    ]
    assert noted[1]["detail"]["hash"] == proposed.body["hash"]
    (entry,) = audit_of(admin, "endpoint")
    assert (entry["action"], entry["actor_id"]) == ("create", "quinn")
    assert entry["detail"]["control_change"]["responsible"] == ["paul"]
    again = confirm(quinn, proposed)
    assert (again.status, again.code) == (409, "CONTROL_CHANGE_CLOSED")


def test_a_proposal_is_rejected_with_a_reason(proposed: ClientAnswer, quinn: Client, admin: Admin) -> None:
    place = proposed.headers["location"]
    rejected = quinn.post(f"{place}/reject", {"reason": "not ours"})
    assert (rejected.status, rejected.body["status"], rejected.body["ended_by"]) == (200, "rejected", "quinn")
    entry = audit_of(admin, "control_change")[-1]
    assert (entry["action"], entry["reason"]) == ("reject_control_change", "not ours")
    assert confirm(quinn, place).code == "CONTROL_CHANGE_CLOSED"
    assert quinn.get("/v1/endpoints/erp").code == "ENDPOINT_NOT_FOUND"


def test_people_withdraw_their_own_proposals(
    two: TwoPeople, proposed: ClientAnswer, paul: Client, quinn: Client, admin: Admin
) -> None:
    place = proposed.headers["location"]
    refused = quinn.post(f"{place}/withdraw")
    assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")
    assert paul.post(f"{place}/withdraw").body["status"] == "withdrawn"
    assert audit_of(admin, "control_change")[-1]["action"] == "withdraw_control_change"
    by_key = two.make_key(paul).post("/v1/endpoints", ERP)
    assert paul.post(f"{by_key.headers['location']}/withdraw").status == 200


def test_a_change_of_what_has_moved_on_is_refused(
    proposed: ClientAnswer, paul: Client, quinn: Client, admin: Admin
) -> None:
    confirm(quinn, proposed)
    later = paul.put("/v1/endpoints/erp", {**TERMS, "secrets": ["newer"]}, if_match='"1"')
    admin.execute("UPDATE endpoints SET version = 2")
    refused = confirm(quinn, later)
    assert (refused.status, refused.code) == (412, "CONTROL_CHANGE_VERSION_CONFLICT")
    assert quinn.get(later.headers["location"]).body["status"] == "proposed"


def test_a_change_supersedes_what_was_proposed_beside_it(
    proposed: ClientAnswer, paul: Client, quinn: Client
) -> None:
    confirm(quinn, proposed)
    first = paul.put("/v1/endpoints/erp", {**TERMS, "secrets": ["newer"]}, if_match='"1"')
    second = quinn.put("/v1/endpoints/erp", {**TERMS, "secrets": ["other"]}, if_match='"1"')
    assert confirm(quinn, first).status == 200
    ended = quinn.get(second.headers["location"]).body
    assert (ended["status"], ended["ended_by"], ended["difference"]) == ("superseded", None, None)
    assert confirm(paul, second).code == "CONTROL_CHANGE_CLOSED"


def test_a_proposal_expires(proposed: ClientAnswer, paul: Client, quinn: Client, admin: Admin) -> None:
    admin.execute("UPDATE control_changes SET created_at = '2026-01-01', expires_at = now()")
    assert quinn.get(CHANGES).body["items"][0]["status"] == "expired"
    assert confirm(quinn, proposed).code == "CONTROL_CHANGE_CLOSED"
    paul.post("/v1/endpoints", {**ERP, "name": "other"})
    rows = admin.execute("SELECT status, ended_at = expires_at FROM control_changes ORDER BY id").fetchall()
    assert rows == [("expired", True), ("proposed", None)]


def copy_proposal(admin: Admin, to: int, person: str) -> None:
    """Copy the only proposal until there are so many; this person stands behind the copies."""
    admin.execute(
        "INSERT INTO control_changes"
        " SELECT tenant_id, gen_random_uuid(), kind, name, act, body, base_version, hash,"
        " proposed_by, ARRAY[replace(%s, '#', copy::text)], reason, status, created_at, expires_at"
        " FROM control_changes, generate_series(2, %s) AS copy",
        (person, to),
    )


def test_a_tenant_has_so_many_open_proposals(proposed: ClientAnswer, paul: Client, admin: Admin) -> None:
    copy_proposal(admin, MAX_OPEN_CHANGES, "person#")
    refused = paul.post("/v1/endpoints", {**ERP, "name": "other"})
    assert (refused.status, refused.code) == (409, "CONTROL_CHANGE_TOO_MANY")
    paul.post(f"{proposed.headers['location']}/withdraw")
    assert paul.post("/v1/endpoints", {**ERP, "name": "other"}).status == 202


def test_a_person_has_so_many_open_proposals_and_others_have_theirs(
    proposed: ClientAnswer, paul: Client, quinn: Client, admin: Admin
) -> None:
    copy_proposal(admin, MAX_OPEN_CHANGES_OF_PERSON, "paul")
    refused = paul.post("/v1/endpoints", {**ERP, "name": "other"})
    assert (refused.status, refused.code) == (409, "CONTROL_CHANGE_TOO_MANY_OF_PERSON")
    assert quinn.post("/v1/endpoints", {**ERP, "name": "of_quinn"}).status == 202
    paul.post(f"{proposed.headers['location']}/withdraw")
    assert paul.post("/v1/endpoints", {**ERP, "name": "other"}).status == 202


def test_people_who_may_confirm_are_told(two: TwoPeople, proposed: ClientAnswer, paul: Client) -> None:
    told = two.people["quinn"].get("/v1/notifications").body["items"]
    assert [(item["kind"], item["data"]["control_change_id"]) for item in told] == [
        ("control_change_proposed", proposed.body["id"])
    ]
    assert told[0]["data"]["proposed_by"] == "paul"
    assert paul.get("/v1/notifications").body["items"] == []


# --- the kinds ---


def test_one_person_stops_an_endpoint_and_two_start_it(
    proposed: ClientAnswer, paul: Client, quinn: Client
) -> None:
    confirm(quinn, proposed)
    place = "/v1/endpoints/erp"
    other = {**TERMS, "url": "https://other.example.com/", "status": "disabled"}
    assert paul.put(place, other, if_match='"1"').status == 202
    stopped = paul.put(place, {**TERMS, "status": "disabled"}, if_match='"1"')
    assert (stopped.status, stopped.body["status"]) == (200, "disabled")
    again = paul.put(place, TERMS, if_match='"2"')
    assert (again.status, paul.get(place).body["status"]) == (202, "disabled")
    assert confirm(quinn, again).status == 200
    assert paul.get(place).body["status"] == "active"
    # Nothing changes: it is tried again at once.
    assert paul.put(place, TERMS, if_match='"3"').status == 200
    assert paul.delete(place, if_match='"4"').status == 204
    assert paul.post("/v1/endpoints", ERP).status == 202


def test_inbound_endpoints_take_two_people_and_stop_by_one(paul: Client, quinn: Client, admin: Admin) -> None:
    place = "/v1/inbound_endpoints/bank"
    made = paul.post("/v1/inbound_endpoints", BANK)
    assert (made.status, paul.get(place).status) == (202, 404)
    assert confirm(paul, made).code == "FOUR_EYES_REQUIRED"
    assert confirm(quinn, made).status == 200
    behind = "SELECT s.persons FROM responsible_sets s JOIN inbound_endpoints e ON e.responsible = s.hash"
    assert admin.execute(behind).fetchall() == [(["paul", "quinn"],)]
    terms = {"key_prefix": "paid:", "secrets": ["pauls_own"]}
    changed = paul.put(place, terms, if_match='"1"')
    assert (changed.status, paul.get(place).body["secrets"]) == (202, ["bank"])
    stop = {"key_prefix": "paid:", "secrets": ["bank"], "status": "disabled"}
    assert paul.put(place, stop, if_match='"1"').status == 200
    assert quinn.get(changed.headers["location"]).body["status"] == "superseded"
    changed = paul.put(place, terms, if_match='"2"')
    assert confirm(quinn, changed).status == 200
    assert paul.get(place).body["secrets"] == ["pauls_own"]
    assert paul.post("/v1/inbound_endpoints", BANK).code == "INBOUND_ENDPOINT_EXISTS"


def test_rules_are_made_changed_and_deleted_by_two_people(paul: Client, quinn: Client) -> None:
    place = "/v1/rules/invoice/ceiling"
    made = paul.put(place, RULE)
    assert (made.status, paul.get(place).status) == (202, 404)
    assert confirm(paul, made).code == "FOUR_EYES_REQUIRED"
    assert confirm(quinn, made).status == 200
    assert paul.get(place).body["condition"] == RULE["condition"]
    changed = paul.put(place, {**RULE, "priority": 7}, if_match='"1"')
    shown = quinn.get(changed.headers["location"]).body["difference"]
    assert shown == [{"pointer": "/priority", "before": 100, "after": 7}]
    assert confirm(quinn, changed).status == 200
    deleted = paul.delete(place, if_match='"2"', query={"reason": "too strict"})
    assert (deleted.status, paul.get(place).body["priority"]) == (202, 7)
    shown = quinn.get(deleted.headers["location"]).body["difference"]
    assert {difference["after"] for difference in shown} == {None}
    assert confirm(paul, deleted).code == "FOUR_EYES_REQUIRED"
    assert confirm(quinn, deleted).status == 200
    assert paul.get(place).status == 404


def test_service_accounts_take_two_people_and_stop_by_one(two: TwoPeople) -> None:
    place, clerk = "/v1/service_accounts/filing", {"permissions": ["invoice:create"]}
    assert two.admin.put("/v1/roles/filer", clerk).status in (200, 201)
    ada, ben = (two.hire(name, "service_account:*", "invoice:*") for name in ("ada", "ben"))
    account = {"label": "Filing", "roles": ["filer"], "owner_id": "ada"}
    made = ada.put(place, account)
    assert (made.status, ada.get(place).status) == (202, 404)
    assert confirm(ada, made).code == "FOUR_EYES_REQUIRED"
    assert confirm(ben, made).status == 200
    assert ada.get(place).body["created_by"] == "ada"
    changed = ada.put(place, {**account, "owner_id": "ben"}, if_match='"1"')
    assert (changed.status, ada.get(place).body["owner_id"]) == (202, "ada")
    stopped = ada.put(place, {**account, "status": "disabled"}, if_match='"1"')
    assert (stopped.status, stopped.body["status"]) == (200, "disabled")
    assert ben.get(changed.headers["location"]).body["status"] == "superseded"
    started = ada.put(place, account, if_match='"2"')
    assert confirm(ben, started).status == 200
    assert ada.get(place).body["status"] == "active"


def test_a_proposal_that_could_not_take_effect_is_refused_at_once(paul: Client, client: Client) -> None:
    wrong = {**RULE, "condition": {"expression": "entity.nothing > 1"}}
    assert paul.put("/v1/rules/invoice/ceiling", wrong).code == "DEFINITION_INVALID"
    assert paul.post("/v1/endpoints", {**ERP, "url": "http://erp.example.com/"}).code == "ENDPOINT_INVALID"
    assert client.get(CHANGES).body["items"] == []


def test_a_change_that_was_altered_in_the_table_is_never_applied(
    proposed: ClientAnswer, quinn: Client, admin: Admin
) -> None:
    digest = proposed.body["hash"]
    admin.execute("UPDATE control_changes SET body = replace(body, 'erp.example', 'ed.example')")
    assert confirm(quinn, proposed, digest).status == 500
    assert quinn.get("/v1/endpoints/erp").code == "ENDPOINT_NOT_FOUND"


def test_where_one_person_is_enough_nothing_is_proposed(client: Client) -> None:
    paul = TwoPeople(client).hire("paul")
    assert paul.post("/v1/endpoints", ERP).status == 201
    assert paul.put("/v1/rules/invoice/ceiling", RULE).status == 201
    assert paul.delete("/v1/rules/invoice/ceiling", if_match='"1"').status == 204
    assert paul.get(CHANGES).body["items"] == []
