"""Operations of a tenant's operator: queues, dead letters, and requeueing."""

import json
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.authoring.actions import ActionRegistry, ActionResult
from signet.ids import make_id
from tests.support.company import INVOICE, Company
from tests.support.database.queue_rows import change, put, put_one, read_one
from tests.support.http_client import Client

Admin = psycopg.Connection[tuple[Any, ...]]
REQUEUE = "/v1/operations/dead_letters/requeue"


@pytest.fixture
def clerk(client: Client, company: Company) -> Client:
    return Client(client.application, company.tenant_id, "anna", ("clerk",))


def make_instance(client: Client, number: str = "R-1") -> UUID:
    made = client.post("/v1/documents", {"entity_type": "invoice", "data": {**INVOICE, "number": number}})
    return UUID(made.body["instance_id"])


def kill(admin: Admin, queue: str, tenant_id: UUID, instance_id: UUID, error: str = "boom") -> UUID:
    """Write a dead letter of this instance."""
    row_id = put_one(admin, queue, tenant_id, status="dead_letter", attempts=5)
    table = {"events": "workflow_events_outbox", "effects": "workflow_side_effects_outbox"}[queue]
    admin.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER".encode())
    admin.execute(
        f"UPDATE {table} SET instance_id = %s, error = %s WHERE id = %s".encode(),
        [instance_id, error, row_id],
    )
    admin.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER".encode())
    return row_id


def test_the_overview(client: Client, admin: Admin) -> None:
    make_instance(client)
    put(admin, "events", client.tenant_id, "1 minute", status="failed", count=2)
    put(admin, "effects", client.tenant_id, "1 hour", status="processing", count=3)
    put(admin, "effects", client.tenant_id, status="dead_letter")
    put(admin, "effects", uuid4(), status="dead_letter", count=9)
    done = put_one(admin, "events", client.tenant_id, "1 minute", status="completed", attempts=2)
    change(admin, "events", done, "completed_at = due_at + interval '7 seconds'")
    # Half of the quota is used up, so that it is listed also where this test runs slowly.
    client.get("/v1/operations")
    admin.execute("UPDATE quota_meters SET full_at = clock_timestamp() + interval '30 seconds'")
    seen = client.get("/v1/operations")
    assert seen.status == 200, seen.text
    events, effects = seen.body["queues"]
    assert events["name"] == "events"
    assert (events["depth"]["pending"], events["depth"]["failed"]) == (1, 2)
    assert 60 <= events["depth"]["oldest_due_seconds"] < 600
    assert events["last_hour"] == {
        **{"done": 1, "retried": 1, "expired": 0},
        **{"p50_seconds": 7.0, "p95_seconds": 7.0, "p99_seconds": 7.0},
    }
    assert (effects["depth"]["dead_letter"], effects["last_hour"]["expired"]) == (1, 3)
    assert effects["last_hour"]["p95_seconds"] is None
    assert seen.body["stuck_instances"] == 0
    assert seen.body["usage"] == {"running_instances": 1, "paused_instances": 0, "steps": 0}
    quotas = {quota["name"]: quota for quota in seen.body["quotas"]}
    assert 1_400 <= quotas["api:read"]["left"] <= quotas["api:read"]["capacity"] == 3_000
    assert {len(table["months"]) for table in seen.body["partitions"]} == {3}
    assert seen.body["actions_not_loaded"] == []


def test_published_actions_that_this_process_has_not_loaded_are_listed(
    client: Client, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = {"kind": "python", "output": {"total": {"type": "int"}}}
    company.publish("invoice", version=2, actions={"count": python, "weigh": python})
    registry = ActionRegistry()
    registry.action("invoice", "count")(lambda given: ActionResult(output={"total": 1}))
    monkeypatch.setattr("signet.engine.instances.operations.REGISTRY", registry)
    missing = client.get("/v1/operations").body["actions_not_loaded"]
    assert missing == [{"entity_type": "invoice", "name": "weigh"}]


def test_what_a_clerk_may_not_see(clerk: Client) -> None:
    for path in ("/v1/operations", "/v1/operations/dead_letters"):
        refused = clerk.get(path)
        assert (refused.status, refused.code) == (403, "PERMISSION_DENIED"), path
    assert clerk.post(REQUEUE, {"ids": [str(make_id())]}).code == "PERMISSION_DENIED"


def test_dead_letters_of_both_queues_in_pages(client: Client, admin: Admin) -> None:
    instance_id = uuid4()
    dead = [
        str(kill(admin, queue, client.tenant_id, instance_id))
        for queue in ("events", "effects", "events", "effects", "effects")
    ]
    put(admin, "events", uuid4(), status="dead_letter", count=3)
    put(admin, "events", client.tenant_id, status="failed", count=3)
    seen: list[Any] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        page = client.get("/v1/operations/dead_letters", query=query)
        assert page.status == 200, page.text
        seen += page.body["items"]
        if page.body["next_cursor"] is None:
            break
        query["cursor"] = page.body["next_cursor"]
    assert [each["id"] for each in seen] == dead[::-1]
    newest = seen[0]
    assert (newest["queue"], newest["kind"], newest["endpoint"]) == ("effects", "webhook", "erp")
    assert (newest["error"], newest["attempts"]) == ("boom", 5)
    assert newest["instance_id"] == str(instance_id)
    assert '"a"' not in json.dumps(seen), "what it was to say is not shown"
    triggers = client.get("/v1/operations/dead_letters", query={"queue": "events"})
    assert [each["id"] for each in triggers.body["items"]] == [dead[2], dead[0]]
    other = client.get("/v1/operations/dead_letters", query={**query, "queue": "events"})
    assert (other.status, other.code) == (400, "CURSOR_INVALID")


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"queue": "runs"}, "query queue"),
        ({"limit": "0"}, "query limit"),
        ({"limit": "201"}, "query limit"),
        ({"cursor": ""}, "query cursor"),
        ({"status": "dead"}, "query status"),
    ],
)
def test_a_list_of_dead_letters_that_is_none(client: Client, query: dict[str, str], pointer: str) -> None:
    refused = client.get("/v1/operations/dead_letters", query=query)
    assert (refused.status, refused.places[0]) == (400, pointer)


def test_dead_letters_go_back_to_their_queues(client: Client, admin: Admin) -> None:
    instance_id = make_instance(client)
    trigger = kill(admin, "events", client.tenant_id, instance_id)
    effect = kill(admin, "effects", client.tenant_id, instance_id)
    foreign = put_one(admin, "effects", uuid4(), status="dead_letter")
    pending = put_one(admin, "events", client.tenant_id)
    huge = "ffffffff-ffff-7fff-bfff-ffffffffffff"
    ids = [str(trigger), str(uuid4()), str(effect), str(foreign), str(pending), huge]
    answered = client.post(REQUEUE, {"ids": ids})
    assert answered.status == 200, answered.text
    items = answered.body["items"]
    assert [item["index"] for item in items] == list(range(6))
    assert [item["id"] for item in items] == ids
    assert [item["status"] for item in items] == ["done", "rejected", "done", *["rejected"] * 3]
    assert (answered.body["done"], answered.body["rejected"]) == (2, 4)
    codes = {item["problem"]["code"] for item in items if item["problem"]}
    assert codes == {"DEAD_LETTER_NOT_FOUND"}
    assert read_one(admin, "events", "status, attempts", trigger) == ("pending", 0)
    assert read_one(admin, "effects", "status, attempts", effect) == ("pending", 0)
    assert read_one(admin, "effects", "status", foreign) == ("dead_letter",)


def test_an_effect_that_is_sent_again_is_on_record(client: Client, admin: Admin) -> None:
    instance_id = make_instance(client)
    effects = [kill(admin, "effects", client.tenant_id, instance_id) for _ in range(2)]
    assert client.post(REQUEUE, {"ids": [str(each) for each in effects]}).status == 200
    history = admin.execute(
        "SELECT entry, actor_id, data FROM workflow_event WHERE subject_id = %s", [instance_id]
    ).fetchall()
    data = {"effects": [str(each) for each in effects]}
    assert ("requeued", "carl", data) in history
    audited = admin.execute(
        "SELECT action, actor_id, content::jsonb -> 'detail' FROM audit_log"
        " WHERE subject_type = 'instance' AND subject_id = %s",
        [str(instance_id)],
    ).fetchall()
    assert audited == [("requeue", "carl", data)]
    # A second requeue finds nothing and writes nothing.
    again = client.post(REQUEUE, {"ids": [str(effects[0])]})
    assert again.body["items"][0]["problem"]["code"] == "DEAD_LETTER_NOT_FOUND"
    assert len(admin.execute("SELECT FROM audit_log WHERE action = 'requeue'").fetchall()) == 1


def test_an_instance_that_cannot_be_opened_holds_up_no_other(client: Client, admin: Admin) -> None:
    good, broken, gone = make_instance(client), make_instance(client, "R-2"), uuid4()
    admin.execute("SET session_replication_role = replica")
    admin.execute("UPDATE workflow_instances SET definition_version = 99 WHERE id = %s", [broken])
    admin.execute("SET session_replication_role = origin")
    ids = [str(kill(admin, "effects", client.tenant_id, instance_id)) for instance_id in (good, broken, gone)]
    items = client.post(REQUEUE, {"ids": ids}).body["items"]
    assert [item["status"] for item in items] == ["done", "rejected", "done"]
    assert items[1]["problem"]["code"] == "DEFINITION_NOT_FOUND"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"ids": []}, "/ids"),
        ({"ids": [str(uuid4())] * 101}, "/ids"),
        ({"ids": ["x"]}, "/ids/0"),
        ({"ids": "x"}, "/ids"),
        ({}, "/ids"),
        ({"ids": [str(uuid4())], "force": True}, "/force"),
    ],
)
def test_a_list_to_requeue_that_is_none(client: Client, body: Any, pointer: str) -> None:
    refused = client.post(REQUEUE, body)
    assert (refused.status, refused.places[0]) == (422, pointer)


def test_the_same_key_requeues_once(client: Client, admin: Admin) -> None:
    trigger = kill(admin, "events", client.tenant_id, make_instance(client))
    first = client.post(REQUEUE, {"ids": [str(trigger)]}, idempotency_key="again")
    assert client.post(REQUEUE, {"ids": [str(trigger)]}, idempotency_key="again").body == first.body
    assert first.body["items"][0]["status"] == "done"


def test_stuck_instances_are_listed_with_what_may_help(client: Client, admin: Admin) -> None:
    stuck = [make_instance(client), make_instance(client, "R-2")]
    admin.execute("SET session_replication_role = replica")
    admin.execute("DELETE FROM workflow_events_outbox")
    admin.execute("UPDATE workflow_instances SET updated_at = now() - interval '1 day'")
    admin.execute("SET session_replication_role = origin")
    assert client.get("/v1/operations").body["stuck_instances"] == 2
    first = client.get("/v1/instances/stuck", query={"limit": 1}).body
    rest = client.get("/v1/instances/stuck", query={"cursor": first["next_cursor"]}).body
    assert [item["id"] for item in first["items"] + rest["items"]] == [str(each) for each in stuck]
    assert (rest["next_cursor"], bool(rest["items"][0]["remedies"])) == (None, True)
    other = Client(client.application, uuid4())
    assert other.get("/v1/instances/stuck").code == "TENANT_INACTIVE"
