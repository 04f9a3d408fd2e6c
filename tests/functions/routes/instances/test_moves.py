"""Instances moved to a newer definition by HTTP: reported first, one by one or many at once."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest

from signet.engine.execution.worker import Worker
from signet.store.database import Database, PoolSettings
from signet.wiring.engine import make_worker
from tests.support.company import Company, make_company
from tests.support.database.runtime_roles import as_role
from tests.support.http_client import Client
from tests.support.invoice_instances import (
    Admin,
    create,
    instance_of,
    publish_lanes,
    publish_patch,
    read,
    submit,
    version_of,
)

PERSON = {"by": "user", "user": "anna"}
CHECK = "usr:submitted_to_approved:check"
NOTE = {"id": "note", "type": "notification", "config": {"channel": "in_app", "to": [PERSON], "text": "done"}}
MOVABLE = {"entity_type": "invoice", "workflow": "own", "to": 2}


@pytest.fixture
def worker(owner_url: str) -> Iterator[Worker]:
    database = Database(as_role(owner_url, "signet_worker"), PoolSettings(size=1))
    yield make_worker(database)
    database.close()


@pytest.fixture
def two(company: Company, worker: Worker) -> tuple[UUID, UUID]:
    """Create one instance in draft and one that waits for an endpoint, and publish a workflow without it."""
    publish_lanes(company)
    resting = instance_of(create(company, worker, number="R-1"))
    waiting = instance_of(submit(company, worker, number="R-2"))
    publish_patch(company, {"approved_to_active": {"nodes": [NOTE]}})
    return resting, waiting


def pin_of(admin: Admin, instance_id: UUID) -> int:
    query = "SELECT definition_version FROM workflow_instances WHERE id = %s"
    return int(read(admin, query, instance_id)[0][0])


def test_it_is_reported_and_then_moved(client: Client, two: tuple[UUID, UUID], admin: Admin) -> None:
    place = f"/v1/instances/{two[0]}/move"
    report = client.post(place, {"to": 2, "dry_run": True})
    assert (report.status, report.headers["etag"]) == (200, '"2"')
    assert (report.body["outcome"], report.body["version"]) == ("safe", 2)
    (token,) = report.body["report"]["tokens"]
    assert (token["token"], token["node"], token["state"], token["verdict"]) == (
        "T",
        "sys:state:draft",
        "waiting",
        "safe",
    )
    assert pin_of(admin, two[0]) == 1
    assert client.post(place, {"to": 2}).code == "VERSION_MISSING"
    assert client.post(place, {"to": 2}, if_match='"1"').code == "INSTANCE_VERSION_CONFLICT"
    moved = client.post(place, {"to": 2, "workflow": "own", "reason": "a new one"}, if_match='"2"')
    assert (moved.status, moved.body["outcome"], moved.headers["etag"]) == (200, "moved", '"3"')
    assert pin_of(admin, two[0]) == 2


def test_a5_what_is_blocked_stays_and_says_why(client: Client, two: tuple[UUID, UUID], admin: Admin) -> None:
    seen = version_of(admin, two[1])
    blocked = client.post(f"/v1/instances/{two[1]}/move", {"to": 2}, if_match=f'"{seen}"')
    assert (blocked.status, blocked.code) == (409, "INSTANCE_MOVE_BLOCKED")
    (token,) = blocked.body["report"]["tokens"]
    assert (token["node"], token["verdict"]) == (CHECK, "blocked")
    assert token["obstacles"][0]["code"] and token["obstacles"][0]["remedy"]
    assert (pin_of(admin, two[1]), version_of(admin, two[1])) == (1, seen)


def test_many_are_listed_and_moved_each_for_itself(
    client: Client, two: tuple[UUID, UUID], admin: Admin
) -> None:
    first = client.call("GET", "/v1/instances/movable", query={**MOVABLE, "limit": 1}).body
    query = {**MOVABLE, "limit": 1, "cursor": first["next_cursor"]}
    second = client.call("GET", "/v1/instances/movable", query=query).body
    items = first["items"] + second["items"]
    assert ([UUID(one["id"]) for one in items], second["next_cursor"]) == ([*two], None)
    items.append({"id": str(uuid4()), "version": 1})
    for dry_run, expected in ((True, "safe"), (False, "moved")):
        body = {"to": 2, "items": items, "dry_run": dry_run}
        answer = client.post("/v1/instances/move", body).body
        assert (answer["done"], answer["rejected"]) == (1, 2)
        moved, blocked, missing = answer["items"]
        assert (moved["status"], moved["result"]["outcome"]) == ("possible" if dry_run else "done", expected)
        assert blocked["problem"]["code"] == "INSTANCE_MOVE_BLOCKED"
        assert blocked["problem"]["report"]["verdict"] == "blocked"
        assert (missing["problem"]["status"], missing["problem"]["code"]) == (404, "INSTANCE_NOT_FOUND")
    assert [pin_of(admin, each) for each in two] == [2, 1]


def test_who_may_not(client: Client, two: tuple[UUID, UUID], database: Database, admin: Admin) -> None:
    sam = Client(client.application, client.tenant_id, "sam", ("clerk",))
    items = [{"id": str(two[0]), "version": 2}]
    for body in ({"to": 2, "dry_run": True}, {"to": 2}):
        for each in (two[0], uuid4()):
            refused = sam.post(f"/v1/instances/{each}/move", body, if_match='"2"')
            assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")
        assert sam.post("/v1/instances/move", {**body, "items": items}).code == "PERMISSION_DENIED"
    assert sam.call("GET", "/v1/instances/movable", query=MOVABLE).code == "PERMISSION_DENIED"
    stranger = Client(client.application, make_company(database).tenant_id)
    refused = stranger.post(f"/v1/instances/{two[0]}/move", {"to": 2}, if_match='"2"')
    assert (refused.status, refused.code) == (404, "INSTANCE_NOT_FOUND")
    assert stranger.call("GET", "/v1/instances/movable", query=MOVABLE).code == "DEFINITION_NOT_FOUND"
    assert pin_of(admin, two[0]) == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/to"),
        ({"to": 0}, "/to"),
        ({"to": 2**31}, "/to"),
        ({"to": "2"}, "/to"),
        ({"to": 2, "workflow": "Own"}, "/workflow"),
        ({"to": 2, "dry_run": 1}, "/dry_run"),
        ({"to": 2, "reason": "a\0b"}, "/reason"),
    ],
)
def test_what_is_no_move(client: Client, two: tuple[UUID, UUID], body: Any, pointer: str) -> None:
    refused = client.post(f"/v1/instances/{two[0]}/move", body, if_match='"2"')
    assert (refused.status, refused.places[0]) == (422, pointer)


def test_a_version_that_nobody_published(client: Client, two: tuple[UUID, UUID]) -> None:
    refused = client.post(f"/v1/instances/{two[0]}/move", {"to": 9}, if_match='"2"')
    assert (refused.status, refused.code) == (404, "DEFINITION_NOT_FOUND")
    for name, value in {"to": 0, "workflow": "Own", "limit": 101, "entity_type": ""}.items():
        query = {**MOVABLE, name: value}
        assert client.call("GET", "/v1/instances/movable", query=query).status == 400, name
    items = [{"id": str(each)} for each in two]
    assert client.post("/v1/instances/move", {"to": 2, "items": items}).status == 422
