"""Incidents by HTTP: lists by cause, the acts that the server accepts, care, bulk retries, repairs."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from signet.engine.execution.worker import Worker
from signet.store.database import Database, PoolSettings
from signet.wiring.engine import make_worker
from tests.support.company import Company, make_company
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain
from tests.support.http_client import Client
from tests.support.invoice_instances import publish_lanes, submit

ERROR = "FIELDS_INVALID"
WHY = {"reason": "the ledger entry was given by phone"}


@pytest.fixture
def worker(owner_url: str) -> Iterator[Worker]:
    database = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=1))
    yield make_worker(database)
    database.close()


@pytest.fixture
def stranded(company: Company, worker: Worker) -> list[Any]:
    """Make two invoices whose posting fails for want of a ledger entry."""
    publish_lanes(company, ledger_entry="")
    return [submit(company, worker, number=f"R-{index}", grand_total=49900) for index in (1, 2)]


def listed(client: Client, **query: Any) -> list[dict[str, Any]]:
    answer = client.get("/v1/incidents", query=query)
    assert answer.status == 200, answer.body
    items: list[dict[str, Any]] = answer.body["items"]
    return items


def test_what_is_held_is_listed_with_its_acts(client: Client, stranded: list[Any]) -> None:
    second, first = listed(client)
    assert [one["document_id"] for one in (first, second)] == [str(made.document_id) for made in stranded]
    assert (first["code"], first["kind"], first["attempts"]) == (ERROR, "business", 1)
    # Behind the gate no rejection leads anywhere, so that its token cannot be cancelled.
    repairs = ["retry", "skip", "go_to", "correct", "cancel", "fail"]
    assert [act["name"] for act in first["acts"]] == repairs
    assert {act["permission"] for act in first["acts"]} >= {"workflow:retry", "workflow:go_to"}
    assert client.get(f"/v1/incidents/{first['id']}").body == first
    assert listed(client, code=ERROR, limit=1) == [second]
    assert listed(client, status="closed") == listed(client, kind="defect") == []
    assert listed(client, instance_id=first["instance_id"], node=first["node"]) == [first]
    missing = client.get("/v1/incidents/0190a6f0-0000-7000-8000-000000000001")
    assert (missing.status, missing.body["code"]) == (404, "INCIDENT_NOT_FOUND")


def test_one_cause_is_one_group_and_one_retry(
    client: Client, company: Company, worker: Worker, stranded: list[Any]
) -> None:
    [group] = client.get("/v1/incidents/groups").body["items"]
    assert (group["code"], group["count"], group["entity_type"]) == (ERROR, 2, "invoice")
    cause = {"code": ERROR, "node": group["node"], **WHY}
    told = client.post("/v1/incidents/retry", {**cause, "dry_run": True})
    assert [one["status"] for one in told.body["items"]] == ["possible", "possible"]
    assert [one["attempts"] for one in listed(client)] == [1, 1]
    retried = client.post("/v1/incidents/retry", cause)
    assert (retried.status, retried.body["done"], retried.body["rejected"]) == (200, 2, 0)
    drain(worker, [company.tenant_id])
    assert [one["attempts"] for one in listed(client)] == [2, 2]
    assert [one["closing"] for one in listed(client, status="closed")] == ["retried", "retried"]
    nothing = client.post("/v1/incidents/retry", {"code": "NOTHING_OF_THE_KIND", **WHY})
    assert nothing.body == {"done": 0, "rejected": 0, "items": []}


def test_a_step_that_cannot_act_is_skipped(
    client: Client, company: Company, worker: Worker, stranded: list[Any]
) -> None:
    incident = listed(client)[0]
    place = f"/v1/instances/{incident['instance_id']}/skip"
    version = f'"{incident["instance_version"]}"'
    body = {**WHY, "token": incident["token"]}
    skipped = replace(client, subject="olga").post(place, body, if_match=version)
    assert (skipped.status, skipped.body.get("status")) == (200, "running"), skipped.text
    drain(worker, [company.tenant_id])
    assert client.get(f"/v1/instances/{incident['instance_id']}").body["status"] == "completed"
    closed = client.get(f"/v1/incidents/{incident['id']}").body
    assert (closed["closing"], closed["closed_by"], closed["acts"]) == ("skipped", "olga", [])


def test_it_is_sent_back_and_approved_again(
    client: Client, company: Company, worker: Worker, stranded: list[Any]
) -> None:
    incident = listed(client)[0]
    targets = next(act["targets"] for act in incident["acts"] if act["name"] == "go_to")
    place = f"/v1/instances/{incident['instance_id']}/go_to"
    version = f'"{incident["instance_version"]}"'
    refused = client.post(place, {**WHY, "node": "sys:end"}, if_match=version)
    assert (refused.status, refused.body["code"]) == (409, "INSTANCE_TARGET_NOT_POSSIBLE")
    own = client.post(place, {**WHY, "node": targets[0]}, if_match=version)
    assert (own.status, own.body["code"]) == (403, "SEPARATION_OF_DUTIES")
    sent = replace(client, subject="olga").post(place, {**WHY, "node": targets[0]}, if_match=version)
    assert (sent.status, sent.body["status"]) == (200, "running")
    assert client.get(f"/v1/incidents/{incident['id']}").body["closing"] == "withdrawn"


@pytest.mark.parametrize("act", ["retry", "skip", "go_to", "cancel", "fail"])
def test_the_requests_of_an_explanation_are_those_that_work(
    client: Client, stranded: list[Any], act: str
) -> None:
    """Send what it says to those who may read the document."""
    place = f"/v1/documents/{stranded[0].document_id}"
    assert client.get(place).body["open_incidents"] == 1
    asked = client.get(f"{place}/explain")
    lines = asked.body["text"]
    title = "What holds it, and what brings it on"
    assert lines.index(title) < lines.index("Where it is")
    (incident,) = asked.body["explanation"]["incidents"]
    (request,) = [one["request"] for one in incident["acts"] if one["name"] == act]
    method, path, header, version, body = request.split(maxsplit=4)
    assert (method, header) == ("POST", "If-Match:")
    answered = replace(client, subject="olga").post(path, json.loads(body), if_match=version)
    assert answered.status == 200, answered.text
    # An end leaves undone what is behind the gate, and says so.
    assert client.get(place).body["open_incidents"] == (1 if act in ("cancel", "fail") else 0)


def test_care_is_kept_while_it_is_open(client: Client, stranded: list[Any]) -> None:
    incident = listed(client)[0]
    place = f"/v1/incidents/{incident['id']}"
    known = client.post(f"{place}/acknowledge", None)
    assert (known.status, known.body.get("acknowledged_by")) == (200, "carl"), known.text
    cared = client.put(f"{place}/care", {"assignee": "carl", "note": "calls the ledger"})
    assert (cared.body["assignee"], cared.body["note"]) == ("carl", "calls the ledger")
    assert [one["id"] for one in listed(client, assignee="carl")] == [incident["id"]]
    assert client.put(f"{place}/care", {"assignee": None, "note": None}).body["assignee"] is None
    for wrong in ("nobody", "c\u0430rl", "carl\u200b", "carl ", "a\0"):
        refused = client.put(f"{place}/care", {"assignee": wrong, "note": None})
        assert refused.status == 422, wrong
        assert [error["pointer"] for error in refused.body["errors"]] == ["/assignee"]
    for wrong in ("a\u202eb", "a\x07"):
        refused = client.put(f"{place}/care", {"assignee": None, "note": wrong})
        assert (refused.status, [error["pointer"] for error in refused.body["errors"]]) == (422, ["/note"])
    assert client.put(f"{place}/care", {"assignee": None, "note": "one\ntwo"}).status == 200
    # Its creator does not end it behind the gate.
    cancelled = replace(client, subject="olga").post(
        f"/v1/instances/{incident['instance_id']}/cancel", WHY, if_match=f'"{incident["instance_version"]}"'
    )
    assert cancelled.status == 200
    late = client.post(f"{place}/acknowledge", None)
    assert (late.status, late.body["code"]) == (409, "INCIDENT_CLOSED")


def test_strangers_and_other_tenants_see_nothing(
    client: Client, company: Company, stranded: list[Any]
) -> None:
    incident = listed(client)[0]
    other = make_company(company.database)
    theirs = replace(client, tenant_id=other.tenant_id)
    assert listed(theirs) == [] and theirs.get("/v1/incidents/groups").body["items"] == []
    assert theirs.get(f"/v1/incidents/{incident['id']}").code == "INCIDENT_NOT_FOUND"
    clerk = replace(client, subject="sam", roles=("clerk",))
    for path in ("", "/groups", f"/{incident['id']}"):
        assert clerk.get(f"/v1/incidents{path}").code == "PERMISSION_DENIED"
    assert clerk.post(f"/v1/incidents/{incident['id']}/acknowledge").code == "PERMISSION_DENIED"
