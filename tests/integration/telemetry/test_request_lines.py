"""A log line for each request, without any value that a caller has sent, even after errors."""

import io
import json
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from signet.api.application import Application
from signet.api.http.routing import Routes
from signet.core.tenants.request_limits import RequestLimits
from signet.engine.telemetry import RequestReport
from signet.store.database import Database
from signet.telemetry.fan_out import TelemetryFanOut
from signet.telemetry.log import Log
from signet.telemetry.metrics import Metrics
from tests.support.api_application import wire
from tests.support.company import INVOICE, Company, make_company
from tests.support.http_client import Client

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECRETS = ("hunter2", "Rosa Luxemburg", "DE02120300000000202051")


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def add_failing_routes(routes: Routes) -> None:
    @routes.post("/v1/fail", "Fails", dict)
    def fail(call: Any, body: dict[str, Any]) -> None:
        """Raise an error that repeats its input, as some libraries do."""
        try:
            raise ValueError(f"cannot read {body}")
        except ValueError as error:
            raise RuntimeError(f"failed with {body['password']}") from error

    @routes.post("/v1/violate", "Violates a constraint", dict)
    def violate(call: Any, body: dict[str, Any]) -> None:
        with call.use.database.transaction(call.principal.tenant_id) as connection:
            connection.execute(
                "INSERT INTO quota_meters (tenant_id, name, full_at) VALUES (%s, %s, NULL)",
                [call.principal.tenant_id, body["password"]],
            )


def watch(stream: io.StringIO) -> TelemetryFanOut:
    # Powertools keeps a logger's handlers by its service: each test has its own.
    service = f"test-{uuid4()}"
    return TelemetryFanOut(Log(service, "INFO", stream), Metrics("signet-test", service, stream))


@pytest.fixture
def company(database: Database) -> Company:
    company = make_company(database)
    company.publish("invoice")
    return company


@pytest.fixture
def application(database: Database, company: Company, stream: io.StringIO) -> Application:
    return wire(database, more=[("Failing", add_failing_routes)], telemetry=watch(stream))


@pytest.fixture
def client(application: Application, company: Company) -> Client:
    return Client(application, company.tenant_id)


def read_lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_request_is_one_line_and_one_metric(client: Client, stream: io.StringIO) -> None:
    made = client.post("/v1/documents", {"entity_type": "invoice", "data": INVOICE}, traceparent=TRACE)
    said, measured = read_lines(stream)
    for name in ("timestamp", "service", "duration_ms"):
        assert said.pop(name)
    assert said == {
        "level": "INFO",
        "message": "request",
        "correlation_id": made.headers["x-request-id"],
        "trace_id": TRACE,
        "tenant_id": str(client.tenant_id),
        "method": "POST",
        "route": "/v1/documents",
        "status": 201,
    }
    (metrics,) = measured["_aws"]["CloudWatchMetrics"]
    assert metrics["Namespace"] == "signet-test"
    assert metrics["Dimensions"] == [["route", "service"]]
    assert [metric["Name"] for metric in metrics["Metrics"]] == [
        *("Requests", "RequestDuration", "ClientErrors", "ServerErrors")
    ]
    assert (measured["route"], measured["Requests"]) == ("POST /v1/documents", [1.0])
    assert (measured["ClientErrors"], measured["ServerErrors"]) == ([0.0], [0.0])


def test_what_was_refused_has_its_code(client: Client, stream: io.StringIO) -> None:
    client.get(f"/v1/documents/{uuid4()}")
    client.post("/v1/documents", {"entity_type": "invoice", "data": {"number": 7}})
    client.get("/v1/health", query={"verbose": "1"})
    client.call("BREW", "/v1/health")
    client.get("/v1/hunter2")
    lines = [line for line in read_lines(stream) if line.get("message") == "request"]
    assert [(line["route"], line["status"], line["code"]) for line in lines] == [
        ("/v1/documents/<document_id>", 404, "DOCUMENT_NOT_FOUND"),
        ("/v1/documents", 422, "FIELDS_INVALID"),
        ("/v1/health", 400, "REQUEST_MALFORMED"),
        ("unknown", 405, "METHOD_NOT_ALLOWED"),
        ("unknown", 404, "ROUTE_NOT_FOUND"),
    ]
    assert {line["level"] for line in lines} == {"INFO"}
    assert "BREW" not in stream.getvalue()


def test_what_a_quota_refused_says_whose_limit_it_was(
    client: Client, stream: io.StringIO, admin: psycopg.Connection[Any]
) -> None:
    admin.execute("INSERT INTO tenant_quotas VALUES (%s, 'api:read', 1, 3600)", [client.tenant_id])
    for _ in range(2):
        client.get("/v1/health")
    lines = read_lines(stream)
    assert [line.get("limit_of") for line in lines if line.get("message") == "request"] == [None, "person"]
    (refused,) = [line for line in lines if "QuotaRefusals" in line]
    assert (refused["QuotaRefusals"], refused["limit_of"]) == ([1.0], "person")


def test_a_wait_without_a_place_is_counted(company: Company, database: Database, stream: io.StringIO) -> None:
    watching = watch(stream)
    seen = []
    for max_waits in (0, 4):
        application = wire(database, telemetry=watching, limits=RequestLimits(max_waits=max_waits))
        client = Client(application, company.tenant_id)
        data = {**INVOICE, "number": f"W-{max_waits}"}
        made = client.post("/v1/documents", {"entity_type": "invoice", "data": data})
        path = f"{made.headers['location']}/requests"
        seen.append(client.post(path, {"transition": "submit"}, if_match='"1"', prefer="wait=1").status)
    assert seen == [202, 202]
    lines = read_lines(stream)
    waits = [line["could_wait"] for line in lines if line.get("could_wait") is not None]
    assert waits == [False, True]
    assert [line["WaitsRefused"] for line in lines if "WaitsRefused" in line] == [[1.0]]
    figures = {figure.name: figure.samples for figure in watching.list_figures()}
    outcomes = [(labels["outcome"], count) for _, labels, count in figures["signet_request_waits_total"]]
    assert outcomes == [("no_place", 1), ("waited", 1)]


def test_nothing_that_was_sent_reaches_a_line(client: Client, stream: io.StringIO) -> None:
    password, name, account = SECRETS
    body = {"password": password, "name": name, "account": account}
    document = {"entity_type": "invoice", "data": {**INVOICE, "number": name, "cost_center": account}}
    bearer = "Bearer very.secret.token"
    answers = [
        client.post("/v1/fail", body),
        client.post("/v1/violate", body),
        client.post("/v1/documents", document, idempotency_key=password),
        client.post("/v1/documents", {**document, name: password}),
        client.post("/v1/documents", f'{{"data": "{password}'),
        client.post("/v1/documents", document, content_type=f"text/{password}"),
        client.get(f"/v1/documents/{password}"),
        client.get(f"/v1/{password}"),
        client.get("/v1/health", query={"name": name}),
        client.get("/v1/health", authorization=bearer),
        client.get("/v1/health", traceparent=password),
    ]
    assert [answer.status for answer in answers] == [500, 500, 201, 422, 400, 415, 400, 404, 400, 401, 200]
    written = stream.getvalue()
    for secret in (*SECRETS, "very.secret", "Bearer", "eyJ", "carl"):
        assert secret not in written, secret
    assert len(written.splitlines()) == 2 * len(answers)


def test_a_failure_says_where_and_what_it_was(client: Client, stream: io.StringIO) -> None:
    client.post("/v1/fail", {"password": "hunter2"})
    client.post("/v1/violate", {"password": "hunter2"})
    raised, violated = [line for line in read_lines(stream) if line.get("level") == "ERROR"]
    assert (raised["code"], raised["status"]) == ("INTERNAL_ERROR", 500)
    assert [one["error"] for one in raised["crash"]] == ["RuntimeError", "ValueError"]
    assert raised["crash"][0]["frames"][-1].startswith("test_request_lines.py:")
    assert raised["crash"][0]["frames"][-1].endswith(" fail")
    (found,) = violated["crash"]
    assert (found["error"], found["code"]) == ("psycopg.errors.NotNullViolation", "23502")


def test_what_is_below_the_level_is_not_written(stream: io.StringIO) -> None:
    log = Log(f"test-{uuid4()}", "WARNING", stream)
    log.write_request(RequestReport("r", TRACE, "GET", "/v1/health", 200, 0.1))
    assert stream.getvalue() == ""
    log.write_request(RequestReport("r", TRACE, "GET", "/v1/health", 503, 0.1, "DATABASE_UNAVAILABLE"))
    assert "DATABASE_UNAVAILABLE" in stream.getvalue()


def test_a_failed_constraint_is_named_and_its_row_is_not(admin: psycopg.Connection[Any]) -> None:
    from signet.telemetry.crash import describe_crash

    admin.execute("CREATE TABLE t (word text, CONSTRAINT short CHECK (char_length(word) < 3))")
    with pytest.raises(psycopg.Error) as caught:
        admin.execute("INSERT INTO t VALUES ('hunter2')")
    assert "hunter2" in str(caught.value)
    (described,) = describe_crash(caught.value)
    assert described["constraint"] == "short"
    assert "hunter2" not in json.dumps(described)
