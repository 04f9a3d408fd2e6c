"""Characters that Postgres keeps nowhere, in each path, query and body of each route: a coded refusal."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

import pytest

from signet.api.openapi.build import describe_all
from tests.isolation.matrix import BODIES, QUERIES, Operation, list_operations
from tests.support.http_client import Client

DOCUMENT: Mapping[str, Any] = describe_all()[0]
OPERATIONS = list(list_operations(DOCUMENT))
TEXTS = ("a\0b", "\ud800")


def list_query_names(operation: Operation) -> list[str]:
    described = DOCUMENT["paths"][operation.path][operation.method.lower()]
    return [one["name"] for one in described.get("parameters", ()) if one["in"] == "query"]


def spoil(body: Any, text: str) -> Iterator[Any]:
    """Yield the body with one of its values, or of its keys, replaced by the text."""
    if isinstance(body, Mapping):
        yield {**body, text: text}
        for name, value in body.items():
            yield from ({**body, name: spoiled} for spoiled in spoil(value, text))
    elif isinstance(body, list):
        for index, value in enumerate(body):
            yield from ([*body[:index], spoiled, *body[index + 1 :]] for spoiled in spoil(value, text))
    else:
        yield text


def list_requests(operation: Operation, text: str) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield (path, body, query) with the text in one place each."""
    path, query = operation.path, dict(QUERIES.get(operation.name, {}))
    for name in operation.names:
        path = path.replace(f"{{{name}}}", "1" if name == "version" else str(uuid4()))
    body = None
    if operation.has_body:
        filled = json.dumps(BODIES[operation.name])
        for name in ("document_id", "instance_id", "approval_id", "dead_letter_id", "notification_id"):
            filled = filled.replace(f"{{{name}}}", str(uuid4()))
        body = json.loads(filled)
    # A client writes half of a surrogate pair nowhere but in JSON.
    is_sent = text.isascii()
    for name in operation.names if is_sent else ():
        rest = operation.path.replace(f"{{{name}}}", text)
        for other in operation.names:
            rest = rest.replace(f"{{{other}}}", str(uuid4()))
        yield rest, body, query
    for name in list_query_names(operation) if is_sent else ():
        yield path, body, {**query, name: text}
    if operation.has_body:
        yield from ((path, spoiled, query) for spoiled in spoil(body, text))


@pytest.mark.parametrize("text", TEXTS, ids=["NUL", "surrogate"])
def test_no_route_breaks_by_a_character(client: Client, text: str) -> None:
    broken, count = [], 0
    for operation in OPERATIONS:
        headers = {"if_match": '"1"'} if "if-match" in operation.parameters else {}
        for path, body, query in list_requests(operation, text):
            answer = client.call(operation.method, path, body, query=query, **headers)
            count += 1
            if answer.status >= 500 or (answer.status >= 400 and not answer.code):
                broken.append((operation.name, answer.status, path, body, query))
    assert broken == []
    assert count > len(OPERATIONS)


@pytest.mark.parametrize(
    ("path", "query"), [("/v1/incidents", {"assignee": "\0"}), ("/v1/incidents", {"node": "a\0"})]
)
def test_incidents_name_the_place_of_a_character(client: Client, path: str, query: Mapping[str, str]) -> None:
    refused = client.call("GET", path, query=query)
    (name,) = query
    assert (refused.status, refused.code) == (422, "REQUEST_INVALID")
    assert [error["pointer"] for error in refused.body["errors"]] == [f"/query/{name}"]


def test_what_a_route_lets_through_the_database_refuses(client: Client) -> None:
    """No route is trusted to have looked: the store says the same of every statement."""
    asked = {"code": "STEP_FAILED", "node": "\0", "reason": "why"}
    refused = client.post("/v1/incidents/retry", asked)
    assert (refused.status, refused.code) == (422, "REQUEST_INVALID")
