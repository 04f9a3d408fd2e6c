"""The API's published description: consistent, and equal to the code."""

import os
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import pytest

from signet.api.http.routing import Declared
from signet.api.openapi.build import describe_all, renew_page
from signet.api.openapi.document import openapi_text
from signet.api.openapi.reference_page import write_reference_page
from signet.api.openapi.schema_names import name_schemas, open_answers
from signet.api.routes.index import INDEX_FILE, RouteEntry, read_index, write_index
from signet.api.routes.operations import reference
from signet.api.routes.operations.reference import OPENAPI_FILE, REFERENCE_FILE
from signet.core.errors import Defect
from tests.support.api_application import wire
from tests.support.declared_answers import expect_declared
from tests.support.http_client import Client

STALE = "run: make openapi"


Described = tuple[dict[str, Any], list[Declared], list[RouteEntry]]


@pytest.fixture(scope="module", autouse=True)
def page() -> None:
    renew_page()


@pytest.fixture(scope="module")
def described() -> Described:
    return describe_all()


@pytest.fixture(scope="module")
def document(described: Described) -> dict[str, Any]:
    return described[0]


@pytest.fixture(scope="module")
def declared(described: Described) -> list[Declared]:
    return described[1]


def test_the_index_is_what_the_routes_say(described: Described) -> None:
    assert INDEX_FILE.read_text(encoding="utf-8") == write_index(described[2]), STALE
    assert read_index() == described[2]


def test_the_document_is_what_the_routes_say(document: dict[str, Any]) -> None:
    assert OPENAPI_FILE.read_text(encoding="utf-8") == openapi_text(document), STALE


def test_the_page_is_what_the_document_says(document: dict[str, Any]) -> None:
    answered = Client(wire(None), uuid4()).get("/reference")
    assert (answered.status, answered.text) == (200, write_reference_page(document)), STALE
    assert answered.headers["content-type"] == "text/html; charset=utf-8"


def test_an_installation_without_the_page_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(reference, "REFERENCE_FILE", tmp_path / "reference.html")
    answered = Client(wire(None), uuid4()).get("/reference")
    assert (answered.status, answered.code) == (404, "ROUTE_NOT_FOUND")


def test_the_page_is_made_where_it_is_missing_or_older_than_the_document(document: dict[str, Any]) -> None:
    page = REFERENCE_FILE.stat().st_mtime
    renew_page()
    assert REFERENCE_FILE.stat().st_mtime == page
    os.utime(REFERENCE_FILE, (0, 0))
    renew_page()
    assert REFERENCE_FILE.stat().st_mtime >= page
    assert REFERENCE_FILE.read_text(encoding="utf-8") == write_reference_page(document)


def test_the_page_loads_nothing_from_anywhere() -> None:
    page = REFERENCE_FILE.read_text(encoding="utf-8")
    assert "http://" not in page.replace("http://json-schema.org", "")
    assert "<script" not in page and "<link" not in page and "src=" not in page


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    def look(part: Any) -> None:
        if isinstance(part, dict):
            if isinstance(part.get("$ref"), str):
                target: Any = document
                for step in part["$ref"].removeprefix("#/").split("/"):
                    target = target[step]
            for value in part.values():
                look(value)
        elif isinstance(part, list):
            for value in part:
                look(value)

    look(document)


def test_every_route_is_described_once(document: dict[str, Any], declared: list[Declared]) -> None:
    names = [one.name for one in declared]
    assert sorted(names) == sorted(set(names))
    described = [
        operation["operationId"] for methods in document["paths"].values() for operation in methods.values()
    ]
    assert sorted(described) == sorted(names)


def test_only_what_is_declared_public_goes_without_a_token(document: dict[str, Any]) -> None:
    open_paths = [
        path
        for path, methods in document["paths"].items()
        for one in methods.values()
        if one["security"] == []
    ]
    assert sorted(open_paths) == ["/openapi.json", "/reference"]


def test_the_document_is_json_as_it_is_sent(document: dict[str, Any]) -> None:
    assert orjson.loads(openapi_text(document)) == document
    assert document["openapi"].startswith("3.1")


def test_each_schema_has_one_name_that_is_its_title(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert {name: schema["title"] for name, schema in schemas.items()} == {name: name for name in schemas}
    assert [name for name in schemas if not name.isalnum()] == []
    assert "DocumentPage" in schemas


def test_two_schemas_never_get_one_name() -> None:
    schemas: dict[str, Any] = {"Page_DocumentRecord_": {}, "Page_DocumentSummary_": {}}
    with pytest.raises(Defect, match="DocumentPage"):
        name_schemas({"components": {"schemas": schemas}})


def test_a15_every_answer_names_the_headers_that_it_is_sent_with(document: dict[str, Any]) -> None:
    for methods in document["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                if "$ref" in answer:
                    answer = document["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
                assert status == "431" or {"X-Request-Id", "X-Signet-Build"} <= answer["headers"].keys()
    made = document["paths"]["/v1/documents"]["post"]["responses"]
    assert {"ETag", "Location", "RateLimit", "RateLimit-Policy"} <= made["201"]["headers"].keys()
    asked = document["paths"]["/v1/documents/{document_id}/requests"]["post"]["responses"]
    assert "Preference-Applied" in asked["202"]["headers"]


def test_a16_if_match_is_required_where_a_request_without_it_is_refused(document: dict[str, Any]) -> None:
    optional = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            for parameter in operation["parameters"]:
                if parameter["name"].lower() == "if-match":
                    assert (parameter["name"], parameter["schema"]) == ("If-Match", {"type": "string"})
                    optional += [] if parameter["required"] else [f"{method} {path}"]
    # These also make what is not there yet, or only report. A chain or a definition in force never changes.
    assert sorted(optional) == [
        "post /v1/approval_chains/{name}/versions/{version}/archive",
        "post /v1/approval_chains/{name}/versions/{version}/publish",
        "post /v1/approval_chains/{name}/versions/{version}/put_forward",
        "post /v1/definitions/{definition_id}/archive",
        "post /v1/documents/{document_id}/restart",
        "post /v1/instances/{instance_id}/move",
        "put /v1/calendars/{name}",
        "put /v1/members/{user_id}",
        "put /v1/org_chart/{user_id}",
        "put /v1/roles/{role}",
        "put /v1/rules/{entity_type}/{rule}",
        "put /v1/service_accounts/{account_id}",
    ]


def test_a26_only_what_can_come_is_declared(document: dict[str, Any]) -> None:
    for path in ("/v1/expressions/check", "/v1/definitions/{definition_id}/simulate"):
        assert {"409", "412", "423", "428"} & document["paths"][path]["post"]["responses"].keys() == set()
    made = document["paths"]["/v1/documents"]["post"]["responses"]
    assert "409" in made and "412" not in made
    confirmed = document["paths"]["/v1/control_changes/{change_id}/confirm"]["post"]["responses"]
    assert "412" in confirmed and "428" not in confirmed
    assert {"412", "423", "428"} <= document["paths"]["/v1/documents/{document_id}"]["patch"][
        "responses"
    ].keys()
    assert document["info"]["license"]["identifier"] == "Apache-2.0"
    used = {one["tags"][0] for methods in document["paths"].values() for one in methods.values()}
    assert {tag["name"] for tag in document["tags"]} == used


def test_a26_an_answer_that_is_not_declared_is_noticed_in_every_test() -> None:
    expect_declared("POST", "/v1/expressions/check", 422)
    expect_declared("HEAD", "/v1/tenant", 304)
    expect_declared("GET", "/nowhere", 599)
    with pytest.raises(AssertionError, match="answers 412"):
        expect_declared("POST", "/v1/expressions/check", 412)


def test_a26_what_the_gateway_refuses_has_a_type(document: dict[str, Any]) -> None:
    too_long = document["components"]["responses"]["TooLong"]["content"]["application/json"]["schema"]
    assert too_long == {"$ref": "#/components/schemas/GatewayRefusal"}
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["responses"]["431"] == {"$ref": "#/components/responses/TooLong"}
    assert document["info"]["contact"] == {"name": "The maintainers of Signet"}


def test_a_body_that_may_be_left_out_is_never_null(document: dict[str, Any]) -> None:
    published = document["paths"]["/v1/definitions/{definition_id}/publish"]["post"]["requestBody"]
    assert published.get("required", False) is False
    assert published["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Publishing"}


def test_a28_only_what_is_sent_is_closed(document: dict[str, Any]) -> None:
    assert document["components"]["schemas"]["DocumentRequest"]["additionalProperties"] is False
    example: dict[str, Any] = {
        "components": {
            "schemas": {
                name: {"title": name, "additionalProperties": False} for name in ("Sent", "Both", "Answered")
            }
        },
        "paths": {"/": {"post": {"requestBody": {"$ref": "#/components/schemas/Sent"}}}},
    }
    schemas = example["components"]["schemas"]
    schemas["Sent"]["properties"] = {"both": [{"$ref": "#/components/schemas/Both"}]}
    open_answers(example)
    assert {name: "additionalProperties" in schema for name, schema in schemas.items()} == {
        "Sent": True,
        "Both": True,
        "Answered": False,
    }
