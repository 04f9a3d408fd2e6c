"""Lists and views of instances by HTTP: their place, their steps, their definition."""

from collections.abc import Iterator
from datetime import timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

import pytest

from signet.engine.execution.worker import Worker
from signet.store.database import Database, PoolSettings
from signet.wiring.engine import make_worker
from tests.support.company import Company, make_company
from tests.support.database.runtime_roles import as_role
from tests.support.http_client import Client, ClientAnswer
from tests.support.invoice_instances import (
    Admin,
    bury,
    create,
    hold,
    instance_of,
    publish_lanes,
    read,
    submit,
)

CHECK = "usr:submitted_to_approved:check"
LISTS = ("", "/stuck")
OF_ONE = ("", "/tokens", "/steps", "/history", "/graph", "/explain")


@pytest.fixture
def worker(owner_url: str) -> Iterator[Worker]:
    database = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=1))
    yield make_worker(database)
    database.close()


def show(client: Client, instance_id: UUID | None, part: str = "", **query: Any) -> ClientAnswer:
    return client.call("GET", f"/v1/instances/{instance_id}{part}", query=query)


def listed(client: Client, **query: Any) -> list[UUID]:
    answer = client.call("GET", "/v1/instances", query=query)
    assert answer.status == 200, answer.text
    return [UUID(item["id"]) for item in answer.body["items"]]


def pages(client: Client, path: str, **query: Any) -> list[Any]:
    items, cursor = [], None
    while True:
        page = client.call("GET", path, query=query | ({"cursor": cursor} if cursor else {})).body
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return items


# --- a single instance ---


def test_one_that_waits_for_a_request(client: Client, company: Company, worker: Worker) -> None:
    made = create(company, worker)
    shown = show(client, made.instance_id)
    assert (shown.status, shown.headers["etag"]) == (200, '"2"')
    one = shown.body
    assert (one["status"], one["version"], one["kind"], one["workflow"]) == (
        "running",
        2,
        "envelope",
        "invoice",
    )
    assert (one["document_id"], one["document_version"], one["subject"]) == (
        str(made.document_id),
        1,
        str(made.document_id),
    )
    assert one["current_nodes"] == ["sys:state:draft"]
    assert [(token["id"], token["node"], token["state"]) for token in one["tokens"]] == [
        ("T", "sys:state:draft", "waiting")
    ]
    assert [(wait["token"], wait["node_type"], wait["until"]) for wait in one["waits"]] == [
        ("T", "state", None)
    ]
    assert (one["edit_window"], one["edit_window_node"]) == ("editable", "sys:state:draft")
    assert (one["reason"], one["paused_by"], one["ended_at"]) == (None, None, None)
    known = client.get(f"/v1/instances/{made.instance_id}", if_none_match='"2"')
    assert known.status == 304
    tokens = show(client, made.instance_id, "/tokens")
    assert tokens.headers["etag"] == '"2"'
    assert tokens.body == {"version": 2, "tokens": one["tokens"], "waits": one["waits"]}


def test_who_paused_it_and_why(client: Client, company: Company, worker: Worker, admin: Admin) -> None:
    by_person, by_engine = create(company, worker, number="R-1"), hold(company, worker, number="R-2")
    place = f"/v1/instances/{by_person.instance_id}"
    client.post(f"{place}/pause", {"reason": "wait"}, if_match='"2"')
    assert [client.get(place).body[name] for name in ("status", "reason", "paused_by")] == [
        "paused",
        "wait",
        "person",
    ]
    engine = show(client, by_engine.instance_id).body
    assert (engine["status"], engine["paused_by"]) == ("paused", "engine")
    assert "grand_total < 100" in engine["reason"]


def test_what_it_did_step_by_step(client: Client, company: Company, worker: Worker) -> None:
    publish_lanes(company)
    made = submit(company, worker)
    steps = pages(client, f"/v1/instances/{made.instance_id}/steps", limit=2)
    assert [step["seq"] for step in steps] == sorted(step["seq"] for step in steps)
    assert steps == show(client, made.instance_id, "/steps", limit=200).body["items"]
    by_node = {step["node"]: step for step in steps}
    draft = by_node["sys:state:draft"]
    assert (draft["status"], draft["outcome"], draft["data"]["actor"]["id"]) == (
        "completed",
        "requested",
        "sam",
    )
    amount = by_node["usr:submitted_to_approved:amount"]
    assert amount["evidence"] and amount["chosen_edge_ids"]
    assert amount["end_seq"] is not None and amount["duration_ms"] is not None
    open_step = by_node[CHECK]
    assert (open_step["status"], open_step["end_seq"], open_step["outcome"]) == ("running", None, None)
    assert open_step["run_as"] == "actor"


def test_its_life_as_a_whole(client: Client, company: Company, worker: Worker) -> None:
    made = create(company, worker)
    place = f"/v1/instances/{made.instance_id}"
    client.post(f"{place}/pause", {"reason": "wait"}, if_match='"2"')
    client.post(f"{place}/resume", if_match='"3"')
    history = pages(client, f"{place}/history", limit=1)
    assert [(one["entry"], one["actor_id"], one["data"]) for one in history] == [
        ("started", "carl", {}),
        ("paused", "carl", {"reason": "wait"}),
        ("resumed", "carl", {}),
    ]
    assert all(one["trace_id"] and one["step_id"] for one in history)


def test_the_graph_and_how_far_it_has_come(client: Client, company: Company, worker: Worker) -> None:
    publish_lanes(company)
    caller = company.caller()
    ((patch_id,),) = company_rows(company, "SELECT id FROM workflow_definitions WHERE name = 'own' LIMIT 1")
    company.definitions.move_canvas(caller, patch_id, {"check": [40, 7.5]})
    made = submit(company, worker)
    graph = show(client, made.instance_id, "/graph").body
    nodes = {node["id"]: node for node in graph["nodes"]}
    assert nodes["sys:state:draft"]["state"] == "done"
    assert (nodes[CHECK]["state"], nodes[CHECK]["position"], nodes[CHECK]["visits"]) == (
        "waiting",
        [40.0, 7.5],
        1,
    )
    assert (nodes[CHECK]["slot"], nodes["sys:state:draft"]["slot"]) == ("submitted_to_approved", None)
    assert (nodes["sys:state:active"]["state"], nodes["sys:state:active"]["position"]) == (
        "not_reached",
        None,
    )
    into = [edge for edge in graph["edges"] if edge["target"] == CHECK]
    assert [(edge["taken"], edge["label"]) for edge in into] == [(1, "everything else")]
    assert graph["version"] == show(client, made.instance_id).body["version"]


def company_rows(company: Company, query: str) -> list[Any]:
    with company.database.transaction(company.tenant_id) as connection:
        return connection.execute(query).fetchall()


def test_why_it_is_where_it_is(client: Client, company: Company, worker: Worker) -> None:
    made = create(company, worker)
    said = show(client, made.instance_id, "/explain").body
    assert said["explanation"]["document_id"] == str(made.document_id)
    assert said["explanation"]["standing"][0]["node"] == "sys:state:draft"
    assert any('Its workflow waits at the state "Draft".' in line for line in said["text"])


# --- lists ---


def test_the_newest_come_first_page_by_page(
    client: Client, company: Company, worker: Worker, admin: Admin
) -> None:
    ids = [instance_of(create(company, worker, number=f"R-{each}")) for each in range(5)]
    found = pages(client, "/v1/instances", limit=2)
    assert [UUID(one["id"]) for one in found] == ids[::-1]
    one = found[0]
    assert (one["status"], one["workflow"], one["entity_type"]) == ("running", "invoice", "invoice")
    assert one["current_nodes"] == ["sys:state:draft"]


def test_what_is_filtered_by(client: Client, company: Company, worker: Worker, admin: Admin) -> None:
    first = submit(company, worker, number="R-1")  # runs to the end without a stop
    publish_lanes(company)
    second = submit(company, worker, number="R-2")  # waits for an endpoint
    third = create(company, worker, number="R-3")
    client.post(f"/v1/instances/{third.instance_id}/pause", {"reason": "wait"}, if_match='"2"')
    one, two, three = map(instance_of, (first, second, third))
    ((definition_id,),) = read(admin, "SELECT definition_id FROM workflow_instances WHERE id = %s", two)
    ((state,),) = read(admin, "SELECT status FROM workflow_instances WHERE id = %s", one)
    assert state == "completed"
    for query, expected in [
        ({"status": "running"}, [two]),
        ({"status": "paused"}, [three]),
        ({"status": "live"}, [three, two]),
        ({"status": "ended"}, [one]),
        ({"status": "failed"}, []),
        ({"workflow": "own"}, [three, two]),
        ({"workflow": "invoice"}, [one]),
        ({"workflow": "own", "status": "paused"}, [three]),
        ({"workflow": "nothing"}, []),
        ({"definition_id": definition_id}, [three, two]),
        ({"definition_id": uuid4()}, []),
        ({"entity_type": "invoice"}, [three, two, one]),
        ({"entity_type": "order"}, []),
        ({"document_id": second.document_id}, [two]),
        ({"document_id": second.document_id, "status": "paused"}, []),
        ({"document_id": second.document_id, "workflow": "own"}, [two]),
        ({"document_id": second.document_id, "workflow": "invoice"}, []),
        ({"node": CHECK}, [two]),
        ({"node": "sys:state:draft"}, [three]),
        ({"node": CHECK, "workflow": "own"}, [two]),
        ({"node": CHECK, "document_id": third.document_id}, []),
    ]:
        assert listed(client, **query) == expected, query
        assert [UUID(item["id"]) for item in pages(client, "/v1/instances", limit=1, **query)] == expected


def test_how_old_it_is(client: Client, company: Company, worker: Worker, admin: Admin) -> None:
    old, new = (instance_of(create(company, worker, number=f"R-{each}")) for each in (1, 2))
    ((began,),) = read(admin, "SELECT started_at FROM workflow_instances WHERE id = %s", new)
    admin.execute("UPDATE workflow_instances SET updated_at = %s WHERE id = %s", [began, new])
    moments = {minutes: (began + timedelta(minutes=minutes)).isoformat() for minutes in (-60, 0, 60)}
    for more in ({}, {"workflow": "invoice"}, {"status": "running"}):
        assert listed(client, started_before=moments[60], **more) == [new, old]
        assert listed(client, started_before=moments[0], **more) == [old]
        assert listed(client, started_before=moments[-60], **more) == []
        assert listed(client, updated_before=moments[60], **more) == [new, old]
        assert listed(client, updated_before=moments[0], **more) == [old]
    document = read(admin, "SELECT entity_id FROM workflow_instances WHERE id = %s", new)[0][0]
    assert listed(client, started_before=moments[0], document_id=document) == []
    assert listed(client, updated_before=moments[60], document_id=document) == [new]
    # The same moment in another time zone.
    elsewhere = began.astimezone(timezone(timedelta(hours=-11))).isoformat()
    assert listed(client, started_before=elsewhere) == [old]


def test_what_nothing_will_wake(client: Client, company: Company, worker: Worker, admin: Admin) -> None:
    instance_id = instance_of(create(company, worker))
    assert client.get("/v1/instances/stuck").body == {"items": [], "next_cursor": None}
    admin.execute("UPDATE workflow_instances SET timeout_at = now() - interval '1 hour'")
    admin.execute("UPDATE workflow_instances SET updated_at = now() - interval '1 hour'")
    (stuck,) = client.get("/v1/instances/stuck").body["items"]
    assert (stuck["id"], stuck["why"], stuck["remedies"][0]) == (str(instance_id), "overdue", "wake")
    assert client.call("GET", "/v1/instances/stuck", query={"idle_seconds": 7_200}).body == {
        "items": [],
        "next_cursor": None,
    }


# --- permissions ---


@pytest.mark.parametrize("part", [*LISTS, *(f"/{{id}}{part}" for part in OF_ONE)])
def test_who_may_not_read_workflows_learns_nothing(
    client: Client, company: Company, worker: Worker, part: str
) -> None:
    made = create(company, worker)
    sam = Client(client.application, client.tenant_id, "sam", ("clerk",))
    for each in (made.instance_id, uuid4()):
        refused = sam.get(f"/v1/instances{part}".replace("{id}", str(each)))
        assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")


@pytest.mark.parametrize("part", OF_ONE)
def test_of_another_tenant_it_is_not_there(
    client: Client, company: Company, worker: Worker, database: Database, part: str
) -> None:
    made = create(company, worker)
    stranger = Client(client.application, make_company(database).tenant_id)
    refused = show(stranger, made.instance_id, part)
    assert (refused.status, refused.code) == (404, "INSTANCE_NOT_FOUND")
    assert show(client, uuid4(), part).code == "INSTANCE_NOT_FOUND"
    assert listed(stranger) == []


# --- bad input ---


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("status", "done"),
        ("workflow", "Own"),
        ("workflow", ""),
        ("definition_id", "own"),
        ("entity_type", "a\0"),
        ("document_id", "{018f2f6e-7b7a-7c3e-9d3c-1f2a3b4c5d6e}"),
        ("node", ""),
        ("node", "a\0b"),
        ("node", "x" * 301),
        ("started_before", "0"),
        ("started_before", "2026-01-31"),
        ("started_before", "2026-01-31T12:00:00"),
        ("started_before", "9999-12-31T23:59:59-12:00"),
        ("updated_before", "yesterday"),
        ("limit", "0"),
        ("limit", "201"),
        ("cursor", ""),
    ],
)
def test_a_filter_that_is_none(client: Client, name: str, value: str) -> None:
    refused = client.call("GET", "/v1/instances", query={name: value})
    assert (refused.status, refused.places[0]) == (400, f"query {name}")


@pytest.mark.parametrize("part", ["", "/{id}/steps", "/{id}/history"])
def test_a_cursor_of_something_else(client: Client, company: Company, worker: Worker, part: str) -> None:
    made = create(company, worker)
    place = f"/v1/instances{part}".replace("{id}", str(made.instance_id))
    cursors = ["x", "AAAA", "W10"]
    if part:
        # A cursor of the same list, but of another instance.
        other = create(company, worker, number="R-2").instance_id
        page = client.call("GET", f"/v1/instances{part}".replace("{id}", str(other)), query={"limit": 1}).body
        cursors += [page["next_cursor"]] if page["next_cursor"] else []
    for cursor in cursors:
        refused = client.call("GET", place, query={"cursor": cursor})
        assert (refused.status, refused.code) == (400, "CURSOR_INVALID")


@pytest.mark.parametrize("idle", ["-1", "nan", "inf", "x", "1e300"])
def test_a_time_that_is_none(client: Client, idle: str) -> None:
    refused = client.call("GET", "/v1/instances/stuck", query={"idle_seconds": idle})
    assert (refused.status, refused.places[0]) == (400, "query idle_seconds")


def test_an_id_that_is_none(client: Client) -> None:
    assert client.get("/v1/instances/x").status == 400


def test_a_failing_trigger_is_explained(
    client: Client, company: Company, worker: Worker, admin: Admin
) -> None:
    made, trigger_id = bury(company, worker, admin)
    assert str(trigger_id) in show(client, made.instance_id, "/explain").text
