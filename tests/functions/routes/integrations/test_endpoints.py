"""Endpoints by HTTP: made, shown, replaced, deleted; never one with an internal address."""

from typing import Any

import psycopg
import pytest

from tests.support.http_client import Client

ERP = {"name": "erp", "url": "https://erp.example.com/hook", "secrets": ["erp"]}


def test_one_from_its_making_to_its_end(client: Client, admin: psycopg.Connection[Any]) -> None:
    made = client.post("/v1/endpoints", ERP)
    place = made.headers["location"]
    assert (made.status, place, made.headers["etag"]) == (201, "/v1/endpoints/erp", '"1"')
    assert client.get(place).body == made.body
    assert client.get("/v1/endpoints").body["items"] == [made.body]
    assert client.post("/v1/endpoints", ERP).code == "ENDPOINT_EXISTS"
    terms = {"url": ERP["url"], "secrets": ["newer", "erp"], "status": "disabled"}
    replaced = client.put(place, terms, if_match='"1"')
    assert (replaced.status, replaced.headers["etag"], replaced.body["status"]) == (200, '"2"', "disabled")
    assert client.put(place, terms, if_match='"1"').code == "ENDPOINT_VERSION_CONFLICT"
    assert client.delete(place, if_match='"1"').status == 412
    assert client.delete(place, if_match='"2"').status == 204
    assert client.get(place).code == "ENDPOINT_NOT_FOUND"
    audited = admin.execute(
        "SELECT content::jsonb ->> 'action' FROM audit_log WHERE subject_type = 'endpoint' ORDER BY seq"
    ).fetchall()
    assert audited == [("create",), ("replace",), ("delete",)]


def test_what_is_read_is_sent_back_with_another_status(client: Client) -> None:
    place = client.post("/v1/endpoints", ERP).headers["location"]
    read = client.get(place).body
    assert (read["secrets"], read["secret_refs"]) == (["erp"], ["erp"])
    stopped = client.put(place, {**read, "status": "disabled"}, if_match='"1"')
    assert (stopped.status, stopped.body["status"], stopped.body["version"]) == (200, "disabled", 2)
    begun = client.put(place, {**stopped.body, "status": "active"}, if_match='"2"')
    assert begun.body == {**read, "version": 3, "updated_at": begun.body["updated_at"]}


@pytest.mark.parametrize("changed", [{"name": "crm"}, {"secret_refs": ["newer"]}, {"secrets": ["newer"]}])
def test_what_is_sent_back_says_one_thing(client: Client, changed: dict[str, Any]) -> None:
    place = client.post("/v1/endpoints", ERP).headers["location"]
    refused = client.put(place, {**client.get(place).body, **changed}, if_match='"1"')
    (mistake,) = refused.body["errors"]
    assert (refused.status, refused.code) == (422, "REQUEST_INVALID")
    assert mistake["pointer"] == f"/{'name' if 'name' in changed else 'secret_refs'}"
    assert client.get(place).body["version"] == 1


def test_replacing_it_ends_its_rest(client: Client, admin: psycopg.Connection[Any]) -> None:
    place = client.post("/v1/endpoints", ERP).headers["location"]
    admin.execute("UPDATE endpoints SET failures = 9, rests_until = now() + interval '1 hour'")
    assert client.get(place).body["failures"] == 9
    terms = {name: ERP[name] for name in ("url", "secrets")}
    replaced = client.put(place, terms, if_match='"1"').body
    assert (replaced["failures"], replaced["rests_until"]) == (0, None)


@pytest.mark.parametrize(
    "url",
    ["http://erp.example.com/", "https://user@erp.example.com/", "https://erp.example.com:22/", "x", ""],
)
def test_an_address_that_is_none_is_refused(client: Client, url: str) -> None:
    refused = client.post("/v1/endpoints", {**ERP, "url": url})
    assert refused.status == 422
    assert refused.code in ("ENDPOINT_INVALID", "REQUEST_INVALID")


@pytest.mark.parametrize("secrets", [[], ["a", "b", "c"], ["../../etc/passwd"], ["A"], [""]])
def test_secrets_are_names(client: Client, secrets: list[str]) -> None:
    assert client.post("/v1/endpoints", {**ERP, "secrets": secrets}).code == "REQUEST_INVALID"


def test_who_may_not_edit_does_not_and_who_may_not_read_sees_nothing(client: Client) -> None:
    place = client.post("/v1/endpoints", ERP).headers["location"]
    reader = Client(client.application, client.tenant_id, "rita", ("reader",))
    for answer in (reader.get(place), reader.get("/v1/endpoints"), reader.post("/v1/endpoints", ERP)):
        assert (answer.status, answer.code) == (403, "PERMISSION_DENIED")
    assert reader.delete(place, if_match='"1"').status == 403


def test_a_tenant_says_which_hosts_its_endpoints_may_have(client: Client) -> None:
    place = client.post("/v1/endpoints", ERP).headers["location"]
    own = {"url": ERP["url"], "secrets": ["erp"]}
    allowed = {"webhook_hosts": ["crm.example.com", "*.partner.example"]}
    changed = client.patch("/v1/tenant", allowed, if_match='"1"')
    assert changed.body["settings"]["webhook_hosts"] == allowed["webhook_hosts"]
    refused = client.put(place, own, if_match='"1"')
    assert (refused.status, refused.code) == (422, "ENDPOINT_HOST_REFUSED")
    for name, host in (("crm", "crm.example.com"), ("branch", "a.partner.example")):
        terms = {**ERP, "name": name, "url": f"https://{host}/", "secrets": [name]}
        assert client.post("/v1/endpoints", terms).status == 201
    # Settings that are not named stay; an empty list allows all hosts again.
    assert client.patch("/v1/tenant", {"name": "x"}, if_match='"2"').body["settings"] == {
        **changed.body["settings"]
    }
    assert client.patch("/v1/tenant", {"webhook_hosts": []}, if_match='"3"').status == 200
    assert client.put(place, own, if_match='"1"').status == 200


BANK = {"name": "bank", "key_prefix": "paid:", "secrets": ["bank"]}


def test_a_secret_belongs_to_one_endpoint(client: Client) -> None:
    client.post("/v1/endpoints", ERP)
    client.post("/v1/inbound_endpoints", BANK)
    other = {**ERP, "name": "other"}
    for path, terms, holder in (
        ("/v1/endpoints", other, "the endpoint 'erp'"),
        ("/v1/endpoints", {**other, "secrets": ["fresh", "bank"]}, "the inbound endpoint 'bank'"),
        ("/v1/inbound_endpoints", {**BANK, "name": "more"}, "the inbound endpoint 'bank'"),
        ("/v1/inbound_endpoints", {**BANK, "name": "more", "secrets": ["erp"]}, "the endpoint 'erp'"),
    ):
        refused = client.post(path, terms)
        assert (refused.status, refused.code) == (422, "SECRET_IN_USE"), refused.text
        assert holder in refused.body["detail"]
        assert [error["pointer"] for error in refused.body["errors"]] == ["/secrets"]
    assert client.post("/v1/endpoints", {**other, "secrets": ["other"]}).status == 201
    replaced = client.put("/v1/endpoints/other", {"url": ERP["url"], "secrets": ["bank"]}, if_match='"1"')
    assert replaced.code == "SECRET_IN_USE"


def test_a_secret_is_free_when_its_endpoint_lets_it_go(client: Client) -> None:
    client.post("/v1/endpoints", ERP)
    terms = {"url": ERP["url"], "secrets": ["newer", "erp"]}
    assert client.put("/v1/endpoints/erp", terms, if_match='"1"').status == 200
    assert client.put("/v1/endpoints/erp", {**terms, "secrets": ["newer"]}, if_match='"2"').status == 200
    assert client.post("/v1/inbound_endpoints", {**BANK, "secrets": ["erp"]}).status == 201
    client.delete("/v1/endpoints/erp", if_match='"3"')
    assert client.post("/v1/endpoints", {**ERP, "secrets": ["newer"]}).status == 201
