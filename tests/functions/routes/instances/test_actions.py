"""Acts on instances by HTTP: versions, reasons, permissions, one token, many at once."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, LiteralString
from uuid import UUID, uuid4

import pytest

from signet.engine.execution.worker import Worker
from signet.store.database import Database, PoolSettings
from signet.wiring.engine import make_worker
from tests.support.company import Company, make_company
from tests.support.database.runtime_roles import as_role
from tests.support.drained_waves import drain
from tests.support.http_client import Client, ClientAnswer
from tests.support.invoice_instances import (
    Admin,
    audited,
    bury,
    create,
    instance_of,
    publish_lanes,
    read,
    stand_of,
    submit,
    version_of,
)

WHY = {"reason": "the supplier is being checked"}
# Acts that need the version last seen, each with its body.
VERSIONED: dict[str, Any] = {
    "pause": WHY,
    "resume": None,
    "retry": WHY,
    "cancel": WHY,
    "fail": WHY,
    "cancel_token": {**WHY, "token": "T"},
    "advance": {**WHY, "token": "T"},
}
ALL = {**VERSIONED, "wake": None, "rebuild": None}


@pytest.fixture
def worker(owner_url: str) -> Iterator[Worker]:
    database = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=1))
    yield make_worker(database)
    database.close()


# What an act answers that leaves nothing undone, and sends nothing again.
NOTHING_LEFT: dict[str, Any] = {"follows": None, "may_have_left": [], "repeats": [], "undone": []}


def act(
    client: Client, instance_id: UUID, name: str, version: int | None = None, **more: Any
) -> ClientAnswer:
    headers = {} if version is None else {"if_match": f'"{version}"'}
    return client.post(f"/v1/instances/{instance_id}/{name}", more.get("body", ALL[name]), **headers)


def test_it_rests_and_goes_on(client: Client, company: Company, worker: Worker) -> None:
    instance_id = instance_of(create(company, worker))
    paused = act(client, instance_id, "pause", 2)
    assert (paused.status, paused.headers["etag"]) == (200, '"3"')
    assert paused.body == {"id": str(instance_id), "status": "paused", "version": 3, **NOTHING_LEFT}
    resumed = act(client, instance_id, "resume", 3)
    assert (resumed.status, resumed.body["status"], resumed.headers["etag"]) == (200, "running", '"4"')
    woken = act(client, instance_id, "wake")
    assert (woken.status, woken.headers["etag"]) == (200, '"4"')


@pytest.mark.parametrize(("name", "status"), [("cancel", "cancelled"), ("fail", "failed")])
def test_it_is_ended(
    client: Client, company: Company, worker: Worker, admin: Admin, name: str, status: str
) -> None:
    instance_id = instance_of(create(company, worker))
    assert act(client, instance_id, name, 2).body["status"] == status
    again = act(client, instance_id, name, 3)
    assert (again.status, again.code) == (409, "INSTANCE_ENDED")
    (audit,) = audited(admin)
    assert (audit["action"], audit["actor_id"], audit["via"]) == (name, "carl", "api")
    assert audit["reason"] == WHY["reason"]


def test_a_row_is_made_anew(client: Client, company: Company, worker: Worker, admin: Admin) -> None:
    instance_id = instance_of(create(company, worker))
    assert act(client, instance_id, "rebuild").body["was_other"] is False
    admin.execute("UPDATE workflow_instances SET reason = 'x'")
    rebuilt = act(client, instance_id, "rebuild")
    assert rebuilt.body == {"id": str(instance_id), "status": "running", "version": 2, "was_other": True}
    assert rebuilt.headers["etag"] == '"2"'


def test_what_the_engine_paused_is_retried(
    client: Client, company: Company, worker: Worker, admin: Admin
) -> None:
    made, _ = bury(company, worker, admin)
    assert act(client, instance_of(made), "retry", 3).body["status"] == "running"
    assert act(client, instance_of(made), "retry", 4).code == "INSTANCE_NOT_PAUSED"


def test_one_token_is_cancelled_or_need_not_be_waited_for(
    client: Client, company: Company, worker: Worker, admin: Admin
) -> None:
    publish_lanes(company)
    check = {**WHY, "token": "usr:submitted_to_approved:check"}
    first, second = (instance_of(submit(company, worker, number=f"R-{each}")) for each in (1, 2))
    unkept = act(client, first, "advance", version_of(admin, first), body={**check, "payload": {"points": 9}})
    assert (unkept.status, unkept.places[0]) == (422, "/payload")
    # Another operator ends the waits of a document that one made or asked about.
    barred = act(client, first, "advance", version_of(admin, first), body=check)
    assert (barred.status, barred.code) == (403, "SEPARATION_OF_DUTIES")
    olga = replace(client, subject="olga")
    assert act(olga, first, "advance", version_of(admin, first), body=check).status == 200
    missing = act(client, second, "cancel_token", version_of(admin, second), body={**check, "token": "T/9"})
    assert (missing.status, missing.code) == (404, "INSTANCE_TOKEN_NOT_FOUND")
    assert act(client, second, "cancel_token", version_of(admin, second), body=check).status == 200
    drain(worker, [company.tenant_id])
    assert [stand_of(admin, each)[0] for each in (first, second)] == ["completed", "running"]


@pytest.mark.parametrize("name", VERSIONED)
def test_the_version_that_was_seen_is_wanted(
    client: Client, company: Company, worker: Worker, name: str
) -> None:
    instance_id = instance_of(create(company, worker))
    missing = act(client, instance_id, name)
    assert (missing.status, missing.code) == (428, "VERSION_MISSING")
    stale = act(client, instance_id, name, 1)
    assert (stale.status, stale.code) == (412, "INSTANCE_VERSION_CONFLICT")


@pytest.mark.parametrize("name", ALL)
def test_who_may_not_learns_nothing(
    client: Client, company: Company, worker: Worker, admin: Admin, name: str
) -> None:
    instance_id = instance_of(create(company, worker))
    sam = Client(client.application, client.tenant_id, "sam", ("clerk",))
    for each in (instance_id, uuid4()):
        refused = act(sam, each, name, 2)
        assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")
    assert version_of(admin, instance_id) == 2


@pytest.mark.parametrize("name", ALL)
def test_of_another_tenant_it_is_not_there(
    client: Client, company: Company, worker: Worker, admin: Admin, database: Database, name: str
) -> None:
    instance_id = instance_of(create(company, worker))
    stranger = Client(client.application, make_company(database).tenant_id)
    refused = act(stranger, instance_id, name, 2)
    assert (refused.status, refused.code) == (404, "INSTANCE_NOT_FOUND")
    assert version_of(admin, instance_id) == 2


@pytest.mark.parametrize(
    ("name", "body", "pointer"),
    [
        ("pause", {}, "/reason"),
        ("pause", {"reason": ""}, "/reason"),
        ("pause", {"reason": "  "}, "/reason"),
        ("pause", {"reason": "a\0b"}, "/reason"),
        ("pause", {"reason": "x" * 4_001}, "/reason"),
        ("pause", {"reason": 1}, "/reason"),
        ("pause", {**WHY, "version": 2}, "/version"),
        ("advance", WHY, "/token"),
        ("advance", {**WHY, "token": ""}, "/token"),
        ("cancel_token", {**WHY, "token": "x" * 1_001}, "/token"),
    ],
)
def test_what_is_no_act(
    client: Client, company: Company, worker: Worker, name: str, body: Any, pointer: str
) -> None:
    refused = act(client, instance_of(create(company, worker)), name, 2, body=body)
    assert (refused.status, refused.places[0]) == (422, pointer)


def bulk(
    client: Client, name: str, *items: dict[str, Any], reason: str | None = WHY["reason"], **more: Any
) -> ClientAnswer:
    body = {"act": name, "items": items, **more} | ({"reason": reason} if reason is not None else {})
    return client.post("/v1/instances/bulk", body)


def test_many_are_stopped_each_for_itself(
    client: Client, company: Company, worker: Worker, admin: Admin
) -> None:
    first, second = (instance_of(create(company, worker, number=f"R-{each}")) for each in (1, 2))
    items: list[dict[str, Any]] = [
        {"id": str(uuid4()), "version": 2},
        {"id": str(second), "version": 1},
        {"id": str(first), "version": 2},
        {"id": str(second)},
    ]
    answer = bulk(client, "pause", *items)
    assert (answer.status, answer.body["done"], answer.body["rejected"]) == (200, 1, 3)
    shown = answer.body["items"]
    assert [one["index"] for one in shown] == [0, 1, 2, 3]
    assert [one["id"] for one in shown] == [one["id"] for one in items]
    assert [one["problem"] and one["problem"]["code"] for one in shown] == [
        "INSTANCE_NOT_FOUND",
        "INSTANCE_VERSION_CONFLICT",
        None,
        "VERSION_MISSING",
    ]
    assert shown[2]["result"] == {"id": str(first), "status": "paused", "version": 3, **NOTHING_LEFT}
    assert read(admin, "SELECT id, status FROM workflow_instances WHERE status = 'paused'") == [
        (first, "paused")
    ]


@pytest.mark.parametrize("name", ["wake", "rebuild", "cancel", "fail"])
def test_many_at_once(client: Client, company: Company, worker: Worker, name: str) -> None:
    ids = [instance_of(create(company, worker, number=f"R-{each}")) for each in (1, 2)]
    answer = bulk(client, name, *({"id": str(each), "version": 2} for each in ids))
    assert answer.body["done"] == 2, answer.text


WRITTEN: LiteralString = (
    "SELECT (SELECT count(*) FROM workflow_step_executions), (SELECT count(*) FROM workflow_event),"
    " (SELECT count(*) FROM audit_log), (SELECT count(*) FROM workflow_events_outbox),"
    " (SELECT sum(version) FROM workflow_instances)"
)


@pytest.mark.parametrize("name", ["pause", "resume", "wake", "rebuild", "cancel", "fail", "retry"])
def test_a_dry_run_of_many_says_of_each_what_would_happen(
    client: Client, company: Company, worker: Worker, admin: Admin, name: str
) -> None:
    first, second = (instance_of(create(company, worker, number=f"R-{each}")) for each in (1, 2))
    items = [{"id": str(first), "version": 2}, {"id": str(second), "version": 1}]
    before = read(admin, WRITTEN)
    told = bulk(client, name, *items, dry_run=True).body
    assert read(admin, WRITTEN) == before
    done = bulk(client, name, *items).body
    renamed = {"done": "possible", "rejected": "rejected"}
    expected = [{**one, "status": renamed[one["status"]]} for one in done["items"]]
    for one in (*told["items"], *expected):
        # A problem names the request that it answers.
        (one["problem"] or {}).pop("instance", None)
    assert told == {**done, "items": expected}


def test_what_rested_goes_on(client: Client, company: Company, worker: Worker, admin: Admin) -> None:
    made, _ = bury(company, worker, admin)
    item = {"id": str(made.instance_id), "version": 3}
    assert bulk(client, "retry", item).body["items"][0]["result"]["status"] == "running"
    drain(worker, [company.tenant_id])
    item["version"] = version_of(admin, instance_of(made))
    assert bulk(client, "resume", item, reason=None).body["items"][0]["result"]["status"] == "running"


def test_many_under_a_key_happen_once(client: Client, company: Company, worker: Worker) -> None:
    ids = [instance_of(create(company, worker, number=f"R-{each}")) for each in (1, 2)]
    body = {"act": "pause", **WHY, "items": [{"id": str(each), "version": 2} for each in ids]}
    first = client.post("/v1/instances/bulk", body, idempotency_key="once")
    again = client.post("/v1/instances/bulk", body, idempotency_key="once")
    assert (first.body["done"], again.body) == (2, first.body)


def test_who_may_not_do_it_to_one_may_not_to_many(client: Client, company: Company, worker: Worker) -> None:
    instance_id = instance_of(create(company, worker))
    sam = Client(client.application, client.tenant_id, "sam", ("clerk",))
    assert bulk(sam, "pause", {"id": str(instance_id), "version": 2}).code == "PERMISSION_DENIED"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"act": "pause", "items": []}, "/items"),
        ({"act": "pause", "items": [{"id": str(uuid4())}] * 101}, "/items"),
        ({"act": "advance", "items": [{"id": str(uuid4())}]}, "/act"),
        ({"act": "pause", "items": [{"id": "x"}]}, "/items/0/id"),
        ({"act": "pause", "items": [{"id": str(uuid4()), "version": -1}]}, "/items/0/version"),
        ({"act": "pause", "items": [{"id": str(uuid4()), "version": 2**63}]}, "/items/0/version"),
    ],
)
def test_what_is_no_bulk(client: Client, body: Any, pointer: str) -> None:
    refused = client.post("/v1/instances/bulk", body)
    assert (refused.status, refused.places[0]) == (422, pointer)
