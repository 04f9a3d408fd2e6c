"""Instances moved to a newer workflow by HTTP: reported, then one or many."""

from collections.abc import Iterator

import pytest

from tests.engine.waves.moved import SAYING, calling, version_of
from tests.engine.waves.stage import Made, Stage, standing_stage
from tests.functions.applications import wire
from tests.functions.calling import Client


@pytest.fixture
def stage(server_url: str) -> Iterator[Stage]:
    with standing_stage(server_url) as made:
        yield made


@pytest.fixture
def client(stage: Stage) -> Client:
    return Client(wire(stage.standing.company.database), stage.tenant_id)


def place_of(made: Made) -> str:
    return f"/v1/instances/{made.instance_id}/move"


def test_it_is_reported_first_and_then_moved(stage: Stage, client: Client) -> None:
    entity_type, made = calling(stage)
    stage.publish_next(entity_type, approval=SAYING)
    report = client.post(place_of(made), {"version": 2, "dry_run": True})
    assert (report.status, report.body["outcome"], report.body["report"]["is_safe"]) == (200, "safe", True)
    assert [token["is_safe"] for token in report.body["report"]["tokens"]] == [True]
    assert client.post(place_of(made), {"version": 2}).code == "VERSION_MISSING"
    moved = client.post(place_of(made), {"version": 2}, if_match=report.headers["etag"])
    assert (moved.status, moved.body["outcome"]) == (200, "moved")
    assert moved.headers["etag"] == f'"{version_of(stage, made)}"'
    stale = client.post(place_of(made), {"version": 2}, if_match=report.headers["etag"])
    assert (stale.status, stale.code) == (412, "INSTANCE_VERSION_CONFLICT")


def test_what_is_blocked_changes_nothing_and_says_why(stage: Stage, client: Client) -> None:
    entity_type, made = calling(stage)
    stage.publish_next(entity_type, approval={"nodes": [{"id": "other", "type": "condition"}]})
    version = version_of(stage, made)
    blocked = client.post(place_of(made), {"version": 2}, if_match=f'"{version}"').body
    assert blocked["outcome"] == "blocked"
    (token,) = blocked["report"]["tokens"]
    assert token["obstacles"][0]["code"] == "NODE_GONE"
    assert version_of(stage, made) == version


def test_many_are_a_dry_run_unless_it_is_said_otherwise(stage: Stage, client: Client) -> None:
    entity_type, made = calling(stage)
    stage.publish_next(entity_type, approval=SAYING)
    asked = {"entity_type": entity_type, "name": "own", "version": 2}
    dry = client.post("/v1/instances/move", asked).body
    assert [one["outcome"] for one in dry["items"]] == ["safe"]
    done = client.post("/v1/instances/move", {**asked, "dry_run": False}).body
    assert [(one["instance_id"], one["outcome"]) for one in done["items"]] == [
        (str(made.instance_id), "moved")
    ]
    assert client.post("/v1/instances/move", asked).body == {"items": [], "next_after": None}


def test_nonsense_and_people_without_the_permission_are_refused(stage: Stage, client: Client) -> None:
    entity_type, made = calling(stage)
    nobody = Client(client.application, client.tenant_id, "dora", ())
    assert nobody.post(place_of(made), {"version": 2, "dry_run": True}).status == 403
    assert client.post(place_of(made), {"version": 9, "dry_run": True}).code == "DEFINITION_NOT_FOUND"
    assert client.post(place_of(made), {"version": 0}).body["errors"][0]["pointer"] == "/version"
    asked = {"entity_type": entity_type, "name": "own", "version": 2, "limit": 201}
    assert client.post("/v1/instances/move", asked).body["errors"][0]["pointer"] == "/limit"
