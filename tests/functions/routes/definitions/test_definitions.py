"""Patches and automations over HTTP: listed, read, drafted, published, archived, rolled back."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from signet.store.database import Database
from tests.integration.engine.definitions.test_definitions import read_example
from tests.support.company import make_company
from tests.support.http_client import Client

# What the examples name is there.
pytestmark = pytest.mark.usefixtures("named_things")

DEFINITIONS = "/v1/definitions"


def patch(**changes: Any) -> dict[str, Any]:
    return read_example("invoice/patch.yaml") | changes


def publish(client: Client, document: dict[str, Any] | None = None) -> tuple[str, str]:
    """Publish the patch; return its path, and the path of the effective workflow."""
    place = client.post(DEFINITIONS, document or patch()).headers["location"]
    published = client.post(f"{place}/publish", if_match='"1"')
    assert published.status == 200, published.text
    return place, f"{DEFINITIONS}/{published.body['definition_id']}"


def test_a_patch_goes_from_draft_to_published(client: Client) -> None:
    made = client.post(DEFINITIONS, patch())
    place = made.headers["location"]
    assert (made.status, made.headers["etag"], made.body["version"]) == (201, '"1"', 1)
    assert client.put(place, patch()).code == "VERSION_MISSING"
    assert client.put(place, patch(label="Other"), if_match='"1"').headers["etag"] == '"2"'
    assert client.put(place, patch(), if_match='"1"').code == "DRAFT_VERSION_CONFLICT"
    shown = client.get(place)
    assert (shown.headers["etag"], shown.body["document"]["label"], shown.body["kind"]) == (
        '"2"',
        "Other",
        "org_patch",
    )
    assert client.post(f"{place}/publish").code == "VERSION_MISSING"
    published = client.post(f"{place}/publish", if_match='"2"')
    effective = client.get(f"{DEFINITIONS}/{published.body['definition_id']}").body
    assert (effective["kind"], effective["compiled_hash"], effective["document"]) == (
        "effective",
        published.body["compiled_hash"],
        None,
    )
    assert client.get(place, if_none_match='"2"').body["status"] == "published"
    assert client.put(place, patch(), if_match='"3"').code == "VERSION_FROZEN"
    assert client.post(f"{place}/publish", if_match='"3"').code == "VERSION_FROZEN"


def test_another_patch_is_published_by_the_name_of_the_one_that_it_replaces(client: Client) -> None:
    publish(client)
    place = client.post(DEFINITIONS, patch(patch="another")).headers["location"]
    refused = client.post(f"{place}/publish", if_match='"1"')
    assert (refused.status, refused.code) == (409, "ANOTHER_WORKFLOW_ACTIVE")
    wrong = client.post(f"{place}/publish", {"replaces": "no name"}, if_match='"1"')
    assert wrong.status == 422
    published = client.post(f"{place}/publish", {"replaces": "invoice_approval"}, if_match='"1"')
    assert published.status == 200
    assert [finding["code"] for finding in published.body["findings"]] == ["PATCH_OUT_OF_FORCE"]


def test_an_automation_is_known_by_its_own_name(client: Client) -> None:
    made = client.post(DEFINITIONS, read_example("royalty/automation.yaml"))
    shown = client.get(made.headers["location"]).body
    assert (shown["kind"], shown["entity_type"]) == ("automation", None)
    neither = client.post(DEFINITIONS, {})
    assert (neither.status, neither.places[0]) == (422, "/patch")


def test_what_does_not_compile_is_refused_with_pointers_into_the_patch(client: Client) -> None:
    wrong = patch()
    wrong["slots"]["submitted_to_approved"]["edges"][0]["condition"] = "entity.grand_totl <= 1"
    place = client.post(DEFINITIONS, wrong).headers["location"]
    refused = client.post(f"{place}/publish", if_match='"1"')
    assert (refused.status, refused.code) == (422, "DEFINITION_INVALID")
    (error,) = refused.body["errors"]
    assert (error["pointer"], error["code"]) == ("/slots/submitted_to_approved/edges/0", "EXPRESSION_INVALID")
    assert "grand_total" in error["remedy"]


def test_a_draft_is_deleted(client: Client) -> None:
    place = client.post(DEFINITIONS, patch()).headers["location"]
    assert client.delete(place).code == "VERSION_MISSING"
    assert client.delete(place, if_match='"2"').code == "DRAFT_VERSION_CONFLICT"
    assert client.delete(place, if_match='"1"').status == 204
    assert client.get(place).code == "DEFINITION_NOT_FOUND"


def test_positions_stand_beside_what_is_versioned(client: Client) -> None:
    place, effective = publish(client)
    positions = {"positions": {"amount": [1, 2.5], "sys:state:draft": [-3, 0]}}
    assert client.put(f"{place}/canvas", positions).code == "VERSION_MISSING"
    seen = client.get(f"{place}/canvas").headers["etag"]
    moved = client.put(f"{place}/canvas", positions, if_match=seen)
    assert (moved.status, moved.headers["etag"]) == (200, client.get(f"{place}/canvas").headers["etag"])
    assert client.get(f"{place}/canvas").body == {
        "positions": {"amount": [1.0, 2.5], "sys:state:draft": [-3.0, 0.0]}
    }
    assert client.get(place).headers["etag"] == '"2"'
    assert client.get(f"{effective}/canvas").body == {"positions": {}}
    for wrong in ({"a b": [1, 2]}, {"a": [1]}, {"a": [1, 1e7]}, {"a": "left"}, {"\0": [1, 2]}):
        assert client.put(f"{place}/canvas", {"positions": wrong}, if_match="*").code == "REQUEST_INVALID"
    envelope = client.get(DEFINITIONS, query={"kind": "envelope"}).body["items"][0]["id"]
    refused = client.put(f"{DEFINITIONS}/{envelope}/canvas", {"positions": {}}, if_match="*")
    assert refused.code == "VERSION_FROZEN"


def test_a12_who_has_not_seen_the_canvas_moves_nothing(client: Client) -> None:
    place = f"{publish(client)[0]}/canvas"
    seen = client.get(place).headers["etag"]
    first = client.put(place, {"positions": {"amount": [1, 2]}}, if_match=seen)
    late = client.put(place, {"positions": {"amount": [3, 4]}}, if_match=seen)
    assert (late.status, late.headers["etag"]) == (412, first.headers["etag"])
    assert client.get(place).body == {"positions": {"amount": [1.0, 2.0]}}
    assert client.get(place, if_none_match=first.headers["etag"]).status == 304
    assert client.put(place, {"positions": {}}, if_match=first.headers["etag"]).headers["etag"] == seen


def test_a12_an_archive_may_name_the_version_that_was_seen(client: Client) -> None:
    place, _ = publish(client)
    asked = {"accept": ["FALLS_BACK", "ASKS_NOBODY"]}
    late = client.post(f"{place}/archive", asked, if_match='"1"')
    assert (late.status, late.code, late.headers["etag"]) == (412, "DRAFT_VERSION_CONFLICT", '"2"')
    assert client.post(f"{place}/archive", asked, if_match='"2"').status == 200
    assert client.get(place).headers["etag"] == '"3"'


def test_archived_and_rolled_back(client: Client) -> None:
    place, effective = publish(client)
    refused = client.post(f"{place}/archive")
    assert (refused.status, refused.code) == (409, "FINDINGS_NOT_ACCEPTED")
    archived = client.post(f"{place}/archive", {"accept": ["FALLS_BACK", "ASKS_NOBODY"]})
    assert archived.status == 200, archived.text
    assert client.get(effective).body["status"] == "archived"
    assert client.post(f"{place}/archive").code == "VERSION_FROZEN"
    again = client.post(f"{place}/roll_back")
    assert (again.status, again.body["version"]) == (200, 2)
    versions = client.get(f"{place}/versions", query={"limit": 1}).body
    older = client.get(f"{place}/versions", query={"cursor": versions["next_cursor"]}).body
    assert [(one["version"], one["status"]) for one in versions["items"] + older["items"]] == [
        (2, "published"),
        (1, "archived"),
    ]
    recompiled = client.post(f"{DEFINITIONS}/{again.body['definition_id']}/recompile")
    assert (recompiled.status, recompiled.body["version"]) == (200, 3)
    assert client.post(f"{place}/recompile").code == "DEFINITION_INVALID"
    draft = client.post(DEFINITIONS, patch()).headers["location"]
    assert client.post(f"{draft}/roll_back").code == "DEFINITION_INVALID"


def test_the_list_is_filtered_and_goes_page_by_page(client: Client) -> None:
    place, effective = publish(client)
    client.post(DEFINITIONS, patch(patch="another"))
    client.post(DEFINITIONS, read_example("royalty/automation.yaml"))

    def ask(**query: Any) -> list[str]:
        return [one["name"] for one in client.get(DEFINITIONS, query=query).body["items"]]

    assert len(ask()) == 5
    assert ask(kind="org_patch") == ["another", patch()["patch"]]
    assert ask(kind="org_patch", status="draft") == ["another"]
    assert ask(name="another") == ["another"]
    assert len(ask(entity_type="invoice")) == 4
    assert ask(source_id=place.rsplit("/", 1)[1], kind="effective") == [client.get(effective).body["name"]]
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while query.get("cursor") is not None or not seen:
        page = client.get(DEFINITIONS, query=query).body
        seen += [one["id"] for one in page["items"]]
        query["cursor"] = page["next_cursor"]
    assert len(set(seen)) == len(seen) == 5
    assert seen == sorted(seen, reverse=True)
    cursor = client.get(DEFINITIONS, query={"limit": 2}).body["next_cursor"]
    other_filters = client.get(DEFINITIONS, query={"cursor": cursor, "status": "draft"})
    assert other_filters.code == "CURSOR_INVALID"
    assert client.get(DEFINITIONS, query={"kind": "nothing"}).status == 400


CALLS: list[tuple[str, str, Any]] = [
    ("GET", "", None),
    ("GET", "/versions", None),
    ("GET", "/canvas", None),
    ("PUT", "", patch()),
    ("PUT", "/canvas", {"positions": {}}),
    ("DELETE", "", None),
    ("POST", "/publish", None),
    ("POST", "/archive", None),
    ("POST", "/roll_back", None),
    ("POST", "/recompile", None),
]


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
def test_each_wants_a_permission_and_its_own_tenant(
    client: Client, database: Database, method: str, path: str, body: Any
) -> None:
    place = client.post(DEFINITIONS, patch()).headers["location"]
    reader = replace(client, roles=("reader",))
    refused = reader.call(method, f"{place}{path}", body, if_match='"1"')
    assert (refused.status, refused.code) == (403, "PERMISSION_DENIED")
    stranger = replace(client, tenant_id=make_company(database).tenant_id)
    absent = stranger.call(method, f"{place}{path}", body, if_match='"1"')
    assert (absent.status, absent.code) == (404, "DEFINITION_NOT_FOUND")
    nowhere = client.call(method, f"{DEFINITIONS}/{uuid4()}{path}", body, if_match='"1"')
    assert (nowhere.status, nowhere.code) == (404, "DEFINITION_NOT_FOUND")


def test_who_may_not_lists_and_writes_nothing(client: Client) -> None:
    reader = replace(client, roles=("reader",))
    assert reader.get(DEFINITIONS).code == "PERMISSION_DENIED"
    assert reader.post(DEFINITIONS, patch()).code == "PERMISSION_DENIED"
