"""Documents without a workflow by HTTP: what follows an end, and restarts, which are reported first."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from signet.engine.documents.commands import Applied
from signet.engine.execution.worker import Worker
from signet.store.database import Database, PoolSettings
from signet.wiring.engine import make_worker
from tests.support.company import Company, make_company
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain
from tests.support.http_client import Client
from tests.support.invoice_instances import (
    Admin,
    create,
    instance_of,
    publish_lanes,
    publish_patch,
    submit,
    version_of,
)

CALL = {"id": "call", "type": "webhook_out", "config": {"endpoint": "erp"}}
WHY = {"reason": "the check was forgotten"}
CHECK, REVIEW = "usr:submitted_to_approved:check", "sys:state:submitted"


@pytest.fixture
def worker(owner_url: str) -> Iterator[Worker]:
    database = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=1))
    yield make_worker(database)
    database.close()


@pytest.fixture
def waiting(company: Company, worker: Worker) -> Applied:
    """Submit an invoice that waits for a call in an automatic slot."""
    publish_lanes(company)
    return submit(company, worker, number="R-1")


def end(client: Client, admin: Admin, made: Applied, act: str, **more: Any) -> Any:
    version = version_of(admin, instance_of(made))
    return client.post(f"/v1/instances/{made.instance_id}/{act}", {**WHY, **more}, if_match=f'"{version}"')


def restart(client: Client, made: Applied, version: int | None = 2, **more: Any) -> Any:
    seen = {"if_match": f'"{version}"'} if version is not None else {}
    return client.post(f"/v1/documents/{made.document_id}/restart", {**WHY, **more}, **seen)


@pytest.mark.parametrize("act", ["cancel", "fail"])
def test_who_ends_it_says_what_follows(client: Client, waiting: Applied, admin: Admin, act: str) -> None:
    silent = end(client, admin, waiting, act)
    assert (silent.status, silent.code) == (409, "INSTANCE_SEQUEL_MISSING")
    assert "`restart`" in silent.body["remedy"] and "`leave`" in silent.body["remedy"]
    assert end(client, admin, waiting, act, then="away").status == 422
    left = end(client, admin, waiting, act, then="leave")
    assert left.status == 200, left.text
    [incident] = client.get("/v1/incidents", query={"document_id": str(waiting.document_id)}).body["items"]
    assert (incident["code"], incident["token"]) == ("DOCUMENT_WITHOUT_WORKFLOW", None)
    restarting = {"name": "restart", "permission": "workflow:restart", "targets": [], "then": []}
    correcting = {"name": "correct", "permission": "workflow:correct", "targets": [], "then": []}
    assert incident["acts"] == [restarting, correcting]


def test_many_are_ended_with_what_follows(client: Client, waiting: Applied, admin: Admin) -> None:
    version = version_of(admin, instance_of(waiting))
    body = {
        "act": "cancel",
        "items": [{"id": str(waiting.instance_id), "version": version}],
        **WHY,
    }
    [refused] = client.post("/v1/instances/bulk", body).body["items"]
    assert refused["problem"]["code"] == "INSTANCE_SEQUEL_MISSING"
    [done] = client.post("/v1/instances/bulk", {**body, "then": "restart"}).body["items"]
    assert done["result"]["status"] == "cancelled"
    found = client.get("/v1/instances", query={"document_id": str(waiting.document_id), "status": "live"})
    assert len(found.body["items"]) == 1


def test_it_is_reported_and_then_restarted(
    client: Client, company: Company, worker: Worker, waiting: Applied, admin: Admin
) -> None:
    end(client, admin, waiting, "cancel", then="leave")
    report = restart(client, waiting, None, dry_run=True)
    assert (report.status, report.body["outcome"], report.body["instance_id"]) == (200, "safe", None)
    assert (report.body["node"], report.body["definition"]["workflow"]) == (REVIEW, "own")
    assert restart(client, waiting, None).code == "VERSION_MISSING"
    assert restart(client, waiting, 1).code == "DOCUMENT_VERSION_CONFLICT"
    done = restart(client, waiting)
    assert (done.status, done.body["outcome"]) == (200, "restarted")
    drain(worker, [company.tenant_id])
    begun = client.get(f"/v1/instances/{done.body['instance_id']}").body
    assert (begun["status"], begun["current_nodes"]) == ("running", [CHECK])
    again = restart(client, waiting)
    assert (again.status, again.code) == (409, "RESTART_NOT_POSSIBLE")


def test_a_blocked_restart_changes_nothing(
    client: Client, company: Company, waiting: Applied, admin: Admin
) -> None:
    end(client, admin, waiting, "cancel", then="leave")
    envelope = {"workflow": "invoice", "version": 1}
    blocked = restart(client, waiting, definition=envelope)
    assert (blocked.status, blocked.code) == (409, "RESTART_NOT_POSSIBLE")
    [obstacle] = blocked.body["report"]["obstacles"]
    assert obstacle["code"] == "DEFINITION_NOT_NEWER"
    [last] = client.get("/v1/instances", query={"document_id": str(waiting.document_id)}).body["items"]
    assert last["status"] == "cancelled"
    unknown = restart(client, waiting, definition={"version": 9})
    assert (unknown.status, unknown.code) == (404, "DEFINITION_NOT_FOUND")


def test_clerks_and_other_tenants_restart_nothing(
    client: Client, company: Company, waiting: Applied, admin: Admin
) -> None:
    end(client, admin, waiting, "cancel", then="leave")
    clerk = replace(client, subject="sam", roles=("clerk",))
    assert restart(clerk, waiting).code == "PERMISSION_DENIED"
    other = replace(client, tenant_id=make_company(company.database).tenant_id)
    assert restart(other, waiting).code == "DOCUMENT_NOT_FOUND"


def test_a_person_withdraws_their_own_request(client: Client, company: Company, worker: Worker) -> None:
    publish_patch(company, {"draft_to_submitted": {"nodes": [CALL]}})
    made = submit(company, worker, number="R-2")
    requests = f"/v1/documents/{made.document_id}/requests"
    [asked] = client.get(requests).body["items"]
    place = f"/v1/requests/{asked['id']}"
    other = client.delete(place)
    assert (other.status, other.code) == (403, "PERMISSION_DENIED")
    sam = replace(client, subject="sam", roles=("clerk",))
    assert sam.delete(place, query={"reason": "entered twice"}).status == 204
    assert sam.get(place).body["outcome"] == "withdrawn by the person who asked"
    late = sam.delete(place)
    assert (late.status, late.code) == (409, "REQUEST_ENDED")
    drain(worker, [company.tenant_id])
    instance = client.get(f"/v1/instances/{made.instance_id}").body
    assert instance["current_nodes"] == ["sys:state:draft"]


def test_what_is_paused_refuses_with_the_reason(
    client: Client, company: Company, worker: Worker, admin: Admin
) -> None:
    made = create(company, worker)
    assert end(client, admin, made, "pause").status == 200
    place, body = f"/v1/documents/{made.document_id}/requests", {"transition": "submit"}
    refused = client.post(place, body, if_match='"1"')
    assert (refused.status, refused.code) == (409, "INSTANCE_PAUSED")
    assert WHY["reason"] in refused.body["detail"] and "resume" in refused.body["remedy"]
