"""The API as Lambda calls it: events of API Gateway's payload format 2.0, after AWS's documentation."""

import base64
import copy
import importlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, cast
from uuid import UUID, uuid4

import pytest
from aws_lambda_powertools.event_handler.openapi.params import Body, Query
from pydantic import BaseModel

from signet.api.application import Application
from signet.api.http.call import Call
from signet.api.http.message import MAX_BODY_BYTES
from signet.api.http.routing import Routes
from signet.core.errors import Defect, Rejected, Transient
from signet.core.tenants.tenant_file import TenantFile
from signet.local.development_token import make_development_token
from signet.store.database import Database, PoolSettings
from signet.wiring import process
from tests.support.api_application import SECRET, wire

EVENTS = Path(__file__).with_name("events")


class BrokenDatabase:
    """A database that raises the given error instead of opening a transaction."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def transaction(self, tenant_id: UUID) -> object:
        raise self.error


def read_event(name: str, tenant_id: UUID | None = None, **changes: object) -> dict[str, Any]:
    event = cast(dict[str, Any], json.loads((EVENTS / name).read_text(encoding="utf-8")))
    if tenant_id is not None:
        event["headers"]["authorization"] = f"Bearer {make_token(tenant_id)}"
    return event | changes


def make_token(tenant_id: UUID) -> str:
    return make_development_token(SECRET, tenant_id, "anna", ["clerk"], 600, datetime.now(UTC))


def make_broken(error: Exception) -> Application:
    return wire(BrokenDatabase(error))


@pytest.fixture
def application(database: Database) -> Application:
    return wire(database)


@pytest.fixture
def unwired() -> Application:
    """Return an API for requests that must be answered before the database is asked."""
    return make_broken(AssertionError("the database was asked"))


def check_problem(answer: dict[str, Any], status: int, code: str) -> dict[str, Any]:
    document = cast(dict[str, Any], json.loads(answer["body"]))
    assert (answer["statusCode"], document["status"], document["code"]) == (status, status, code)
    assert answer["headers"]["content-type"] == "application/problem+json"
    assert answer["headers"]["cache-control"] == "no-store"
    assert answer["headers"]["x-request-id"]
    assert document["instance"] == f"urn:signet:request:{answer['headers']['x-request-id']}"
    assert answer["isBase64Encoded"] is False
    return document


def test_health(application: Application, tenant: TenantFile) -> None:
    answer = application(read_event("get_health.json", tenant.tenant_id), None)
    assert answer["statusCode"] == 200
    limits = {name: answer["headers"].pop(name) for name in ("ratelimit", "ratelimit-policy")}
    assert limits == {
        "ratelimit": '"api:read";r=2999;t=0, "api:read:person";r=1499;t=0',
        "ratelimit-policy": '"api:read";q=3000;w=60, "api:read:person";q=1500;w=60',
    }
    assert answer["headers"] == {
        "content-type": "application/json",
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "x-request-id": "JKJaXmPLvHcESHA=",
        "x-signet-build": "sources",
    }
    body = json.loads(answer["body"])
    assert body["status"] == "ok"
    assert body["tenant"] == {"id": str(tenant.tenant_id)}
    assert body["database"]["version"]
    assert body["database"]["migrations"] >= 2
    assert body["database"]["latest_migration"].startswith(f"{body['database']['migrations']:04}_")


def test_an_unreachable_database() -> None:
    database = Database("postgresql://127.0.0.1:1/none", PoolSettings(wait_seconds=0.2, connect_seconds=1))
    application = wire(database)
    answer = application(read_event("get_health.json", uuid4()), None)
    check_problem(answer, 503, "DATABASE_UNAVAILABLE")
    assert int(answer["headers"]["retry-after"]) > 0
    database.close()


def test_a_transient_error_says_when_to_come_back() -> None:
    application = make_broken(
        Transient("DATABASE_UNAVAILABLE", "not now", details={"retry_after_seconds": 7})
    )
    answer = application(read_event("get_health.json", uuid4()), None)
    check_problem(answer, 503, "DATABASE_UNAVAILABLE")
    assert answer["headers"]["retry-after"] == "7"


@pytest.mark.parametrize("error", [ValueError("hunter2"), Defect("BROKEN", "hunter2")])
def test_nothing_of_the_inside_is_told(error: Exception) -> None:
    answer = make_broken(error)(read_event("get_health.json", uuid4()), None)
    assert answer["statusCode"] == 500
    assert "hunter2" not in json.dumps(answer)


def test_no_token(unwired: Application) -> None:
    answer = unwired(read_event("get_health.json"), None)
    check_problem(answer, 401, "TOKEN_MISSING")
    assert answer["headers"]["www-authenticate"] == "Bearer"


def test_a_token_that_the_authorizer_let_pass_is_checked_again(unwired: Application) -> None:
    event = read_event("get_health.json")
    event["headers"]["authorization"] = "Bearer a.b.c"
    answer = unwired(event, None)
    check_problem(answer, 401, "TOKEN_INVALID")
    assert answer["headers"]["www-authenticate"].startswith("Bearer")


def test_a_header_in_capitals_is_the_same_header(application: Application, tenant: TenantFile) -> None:
    event = read_event("get_health.json")
    event["headers"]["Authorization"] = f"Bearer {make_token(tenant.tenant_id)}"
    assert application(event, None)["statusCode"] == 200


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/health/", "/v1/healthy", "/v1/Health", "/v1/%68ealth", "", "/ä"]
)
def test_an_unknown_route(unwired: Application, path: str) -> None:
    check_problem(unwired(read_event("get_health.json", uuid4(), rawPath=path), None), 404, "ROUTE_NOT_FOUND")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "TRACE", "NONSENSE"])
def test_a_wrong_method(unwired: Application, method: str) -> None:
    event = read_event("get_health.json", uuid4())
    event["requestContext"]["http"]["method"] = method
    answer = unwired(event, None)
    check_problem(answer, 405, "METHOD_NOT_ALLOWED")
    assert answer["headers"]["allow"] == "GET, HEAD, OPTIONS"


def test_a_route_below_a_stage(application: Application, tenant: TenantFile) -> None:
    event = read_event("get_health.json", tenant.tenant_id, rawPath="/live/v1/health")
    event["requestContext"]["stage"] = "live"
    assert application(event, None)["statusCode"] == 200


def make_body_event(
    body: str | None, encoded: bool, content_type: str = "application/json"
) -> dict[str, Any]:
    event = read_event("post_with_body.json", uuid4(), body=body, isBase64Encoded=encoded)
    event["requestContext"]["http"]["method"] = "GET"
    event["headers"]["content-type"] = content_type
    return event


@pytest.mark.parametrize(
    ("body", "encoded"),
    [
        ("{", False),
        ("nonsense", False),
        ('{"a": NaN}', False),
        ('{"a": "\ud800"}', False),
        ("not base64", True),
        ("a", True),
        (base64.b64encode(b"\xff\xfe").decode(), True),
        (base64.b64encode(b"{").decode(), True),
    ],
)
def test_a_malformed_body(unwired: Application, body: str, encoded: bool) -> None:
    check_problem(unwired(make_body_event(body, encoded), None), 400, "BODY_MALFORMED")


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "application/merge-patch+json", ""]
)
def test_a_body_is_json_by_any_of_its_types(unwired: Application, content_type: str) -> None:
    check_problem(unwired(make_body_event("{", False, content_type), None), 400, "BODY_MALFORMED")


@pytest.mark.parametrize(
    ("body", "encoded", "content_type"),
    [
        (None, False, "application/json"),
        ("", False, "application/json"),
        ('{"a": "✓"}', False, "application/json"),
        (base64.b64encode('{"a": "✓"}'.encode()).decode(), True, "application/json"),
        ("{", False, "text/plain"),
    ],
)
def test_a_readable_body_passes(body: str | None, encoded: bool, content_type: str) -> None:
    answer = make_broken(Transient("REACHED", "the route"))(
        make_body_event(body, encoded, content_type), None
    )
    check_problem(answer, 503, "REACHED")


def test_the_largest_body_and_one_byte_more() -> None:
    application = make_broken(Transient("REACHED", "the route"))
    largest = '"' + "x" * (MAX_BODY_BYTES - 2) + '"'
    as_base64 = base64.b64encode(largest.encode()).decode()
    one_more = base64.b64encode(largest.encode() + b" ").decode()
    for body, encoded in [(largest, False), (as_base64, True)]:
        # It was parsed: a text is no vote.
        answer = application(send_votes(make_body_event(body, encoded)), None)
        check_problem(answer, 422, "REQUEST_INVALID")
    check_problem(application(make_body_event(largest + " ", False), None), 413, "BODY_TOO_LARGE")
    check_problem(application(make_body_event(one_more, True), None), 413, "BODY_TOO_LARGE")
    # The limit is of bytes, not of characters.
    check_problem(
        application(make_body_event("✓" * (MAX_BODY_BYTES // 2), False), None), 413, "BODY_TOO_LARGE"
    )


def send_votes(event: dict[str, Any]) -> dict[str, Any]:
    path = "/v1/approvals/decisions"
    event["requestContext"]["http"] |= {"method": "POST", "path": path}
    return {**event, "rawPath": path}


def without(event: dict[str, Any], *path: str) -> dict[str, Any]:
    event = copy.deepcopy(event)
    inner = event
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    return event


@pytest.mark.parametrize(
    "event",
    [
        None,
        [],
        {},
        {"Records": []},
        {"version": "2.0"},
        {"version": "2.0", "requestContext": None},
        read_event("get_health.json", version="1.0"),
        read_event("get_health.json", headers=["x"]),
        read_event("get_health.json", body={"a": 1}),
        without(read_event("get_health.json"), "rawPath"),
        without(read_event("get_health.json"), "requestContext", "http"),
        without(read_event("get_health.json"), "requestContext", "http", "method"),
        without(read_event("get_health.json"), "requestContext", "stage"),
    ],
)
def test_an_event_that_is_none(unwired: Application, event: Any) -> None:
    check_problem(unwired(event, None), 400, "EVENT_MALFORMED")


def test_an_event_without_optional_parts(unwired: Application) -> None:
    event = read_event("get_health.json", headers=None)
    del event["cookies"], event["requestContext"]["requestId"]
    answer = unwired(event, None)
    check_problem(answer, 401, "TOKEN_MISSING")
    assert answer["headers"]["x-request-id"] == "unknown"


class Item(BaseModel):
    amount: int
    tags: list[str] = []


def make_validating() -> Application:
    """Return an API of one route, which takes a body and a parameter."""

    def add_route(routes: Routes) -> None:
        @routes.get("/v1/health", "Takes a body", dict)
        def create(
            call: Call, item: Annotated[Item, Body()], limit: Annotated[int, Query(le=200)] = 50
        ) -> dict[str, int]:
            return {"amount": item.amount, "limit": limit}

    return wire(BrokenDatabase(AssertionError("the database was asked")), more=[("Items", add_route)])


def test_a_request_of_a_wrong_form() -> None:
    event = make_body_event('{"amount": "x", "tags": [1]}', False)
    event |= {"queryStringParameters": {"limit": "201"}, "rawQueryString": "limit=201"}
    document = check_problem(make_validating()(event, None), 400, "REQUEST_MALFORMED")
    assert document["errors"] == [
        {"in": "query", "name": "limit", "code": "FIELD_RANGE", "detail": "wants 200 or less"},
        {"pointer": "/amount", "code": "FIELD_TYPE", "detail": "wants a whole number"},
        {"pointer": "/tags/0", "code": "FIELD_TYPE", "detail": "wants a text"},
    ]


def test_a_request_of_the_right_form() -> None:
    answer = make_validating()(make_body_event('{"amount": 7}', False), None)
    assert (answer["statusCode"], json.loads(answer["body"])) == (200, {"amount": 7, "limit": 50})


def test_a_body_of_another_type() -> None:
    answer = make_validating()(make_body_event("a,b", False, "text/csv"), None)
    check_problem(answer, 415, "CONTENT_TYPE_UNSUPPORTED")


def test_a_bad_token_is_answered_before_a_bad_body() -> None:
    event = make_body_event("{", False)
    del event["headers"]["authorization"]
    check_problem(make_validating()(event, None), 401, "TOKEN_MISSING")


def test_threads_do_not_see_each_other() -> None:
    """Let two tenants call at once: Powertools keeps the request on a class, and they must not mix."""
    meeting = threading.Barrier(2, timeout=10)

    class SlowDatabase:
        @contextmanager
        def transaction(self, tenant_id: UUID) -> Iterator[None]:
            meeting.wait()
            raise Transient("SEEN", str(tenant_id))
            yield

    application = wire(SlowDatabase())

    def ask(tenant_id: UUID) -> tuple[str, str, str]:
        event = read_event("get_health.json", tenant_id)
        event["requestContext"]["requestId"] = f"of-{tenant_id}"
        answer = application(event, None)
        document = json.loads(answer["body"])
        return document["detail"], document["instance"], answer["headers"]["x-request-id"]

    tenants = [uuid4() for _ in range(40)]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(ask, tenants))
    assert answers == [(str(t), f"urn:signet:request:of-{t}", f"of-{t}") for t in tenants]


def test_a_short_secret_stops_the_wiring() -> None:
    with pytest.raises(Rejected, match="at least 32 bytes"):
        wire(BrokenDatabase(ValueError()), secret="short")


def test_the_handler_calls_the_wired_application(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = importlib.import_module("functions.api.handler")
    flushed: list[str] = []
    monkeypatch.setattr(handler, "get_application", lambda: lambda event, context: {"got": (event, context)})
    monkeypatch.setattr(
        process, "get_telemetry", lambda: SimpleNamespace(flush=lambda: flushed.append("yes"))
    )
    assert handler.handler({"a": 1}, "context") == {"got": ({"a": 1}, "context")}
    assert flushed == ["yes"], "what was traced is sent before Lambda freezes the process"


def test_the_api_path_loads_no_aws_sdk() -> None:
    root = Path(__file__).resolve().parents[3]
    event = json.dumps(read_event("get_health.json", uuid4()))
    script = f"""
import json, sys
from functions.api.handler import handler
from signet.core.errors import Transient
from tests.support.api_application import wire

class Database:
    def transaction(self, tenant_id):
        raise Transient("REACHED", "the route")

answer = wire(Database())(json.loads({event!r}), None)
assert answer["statusCode"] == 503, answer
# Powertools asks for botocore's version: the bare package, without a client, a session or a parser.
loaded = [n for n in sys.modules if n.startswith(("boto3", "s3transfer", "botocore."))]
assert not loaded, loaded
"""
    environment = {"PYTHONPATH": f"{root / 'shared'}:{root}", "PATH": ""}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment, timeout=60)
