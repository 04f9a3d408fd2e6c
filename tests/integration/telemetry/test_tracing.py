"""One trace from the API's call over the mutation and the wave to the row of an effect."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from signet.core.errors import Rejected
from signet.engine.execution.worker import Worker
from signet.engine.integrations.effects import Effects
from signet.outbound.connector import Delivery, OutboundMessage
from signet.store.database import Database
from signet.telemetry.fan_out import TelemetryFanOut
from signet.telemetry.log import Log
from signet.telemetry.tracing import (
    EXPORT_SECONDS,
    FLUSH_MILLISECONDS,
    REST_SECONDS,
    RestingExporter,
    Tracing,
    make_tracing,
)
from signet.wiring.engine import make_worker
from tests.support.api_application import wire
from tests.support.company import INVOICE, Company, make_company
from tests.support.drained_waves import drain
from tests.support.http_client import Client
from tests.support.invoice_instances import publish_patch

Admin = psycopg.Connection[Any]
TRACE_ID, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACE = f"00-{TRACE_ID}-{CALLER}-01"
ROOT = Path(__file__).resolve().parents[3]


class Traced:
    """Telemetry whose exported spans can be taken by name."""

    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        tracing = Tracing(SimpleSpanProcessor(self._exporter), "signet-test")
        self.telemetry = TelemetryFanOut(Log(f"test-{uuid4()}", "CRITICAL", StringIO()), tracing=tracing)

    def take(self) -> dict[str, ReadableSpan]:
        spans = {span.name: span for span in self._exporter.get_finished_spans()}
        self._exporter.clear()
        return spans


class Mailbox:
    """A connector that keeps the traces of its messages."""

    def __init__(self) -> None:
        self.traces: list[str | None] = []

    def deliver(self, message: OutboundMessage) -> Delivery:
        self.traces.append(message.trace_id)
        return Delivery(200, None)


def parent_of(span: ReadableSpan) -> str | None:
    return f"{span.parent.span_id:016x}" if span.parent is not None else None


def id_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.span_id:016x}"


def trace_of(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.trace_id:032x}"


@pytest.fixture
def traced() -> Iterator[Traced]:
    traced = Traced()
    yield traced
    traced.telemetry.flush()


@pytest.fixture
def company(database: Database) -> Company:
    """Return a company whose invoices send a notification on their way."""
    company = make_company(database)
    company.publish("invoice")
    told = {"channel": "email", "to": [{"by": "role", "role": "admin"}], "text": "posted"}
    nodes = [{"id": "tell", "type": "notification", "config": told}]
    publish_patch(company, {"approved_to_active": {"nodes": nodes, "edges": []}})
    return company


@pytest.fixture
def client(database: Database, company: Company, traced: Traced) -> Client:
    return Client(wire(database, telemetry=traced.telemetry), company.tenant_id)


@pytest.fixture
def waves(worker: Database, traced: Traced, monkeypatch: pytest.MonkeyPatch) -> Worker:
    # A slow machine must not split the wave.
    monkeypatch.setattr("signet.engine.execution.wave.MAX_WAVE_SECONDS", 600.0)
    return make_worker(worker, traced.telemetry)


def new(number: str) -> dict[str, Any]:
    return {"entity_type": "invoice", "data": {**INVOICE, "number": number}}


def test_one_trace_from_the_call_to_the_effect(
    client: Client, waves: Worker, worker: Database, traced: Traced, admin: Admin
) -> None:
    made = client.post("/v1/documents", new("R-1"))
    drain(waves, [client.tenant_id])
    traced.take()
    asked = client.post(
        f"{made.headers['location']}/requests", {"transition": "submit"}, if_match='"1"', traceparent=TRACE
    )
    assert asked.status == 202
    spans = traced.take()
    request = spans["POST /v1/documents/<document_id>/requests"]
    assert (trace_of(request), parent_of(request)) == (TRACE_ID, CALLER)
    assert request.kind is SpanKind.SERVER
    assert request.attributes is not None
    assert request.attributes["http.response.status_code"] == 202
    mutate = spans["mutate"]
    assert (trace_of(mutate), parent_of(mutate)) == (TRACE_ID, id_of(request))

    drain(waves, [client.tenant_id])
    spans = traced.take()
    wave = spans["wave"]
    assert (trace_of(wave), parent_of(wave)) == (TRACE_ID, id_of(request))
    assert (wave.kind, wave.links) == (SpanKind.CONSUMER, ())
    for name in ("nodes lifecycle_gate", "nodes notification", "nodes pure"):
        assert parent_of(spans[name]) == id_of(wave)
        begin, end = spans[name].start_time or 0, spans[name].end_time or 0
        assert (wave.start_time or 0) <= begin <= end <= (wave.end_time or 0)
    ((traceparent,),) = admin.execute("SELECT trace_id FROM workflow_side_effects_outbox").fetchall()
    assert traceparent == f"00-{TRACE_ID}-{id_of(request)}-01"

    sent = Mailbox()
    Effects(worker, {"email": sent}, traced.telemetry).work(client.tenant_id)
    effect = traced.take()["effect"]
    assert (trace_of(effect), parent_of(effect), effect.kind) == (TRACE_ID, id_of(request), SpanKind.CLIENT)
    assert sent.traces == [f"00-{TRACE_ID}-{id_of(effect)}-01"], "whoever gets it goes on in the trace"


def test_a_wave_of_many_calls_is_linked_to_each(client: Client, waves: Worker, traced: Traced) -> None:
    for number in range(3):
        client.post("/v1/documents", new(f"R-{number}"), traceparent=TRACE if number else "")
    requests = [span for name, span in traced.take().items() if name.startswith("POST")]
    drain(waves, [client.tenant_id])
    wave = traced.take()["wave"]
    assert wave.parent is None
    assert len(wave.links) == 3
    assert id_of(requests[-1]) in {f"{link.context.span_id:016x}" for link in wave.links}


def test_what_goes_wrong_is_marked_and_not_quoted(client: Client, traced: Traced) -> None:
    client.post("/v1/documents", new("hunter2"))
    traced.take()
    refused = client.post("/v1/documents", {"entity_type": "hunter2", "data": {}})
    assert refused.status == 422
    spans = traced.take()
    request, mutate = spans["POST /v1/documents"], spans["mutate"]
    assert request.status.status_code is StatusCode.UNSET, "a caller's fault is none of ours"
    assert mutate.attributes is not None and mutate.attributes["signet.refused"] == 1
    assert not any("hunter2" in span.to_json() for span in spans.values())


def test_a_traceparent_that_is_none_begins_a_trace(client: Client, traced: Traced) -> None:
    client.get("/v1/health", traceparent="00-" + "0" * 32 + "-" + "0" * 16 + "-01")
    span = traced.take()["GET /v1/health"]
    assert span.parent is None


def test_what_a_caller_does_not_sample_is_not_traced(client: Client, traced: Traced, admin: Admin) -> None:
    unsampled = f"00-{TRACE_ID}-{CALLER}-00"
    client.post("/v1/documents", new("R-1"), traceparent=unsampled)
    assert traced.take() == {}
    kept = {row[0] for row in admin.execute("SELECT trace_id FROM workflow_instances").fetchall()}
    assert all(trace.startswith(f"00-{TRACE_ID}-") and trace.endswith("-00") for trace in kept)


def test_a_span_that_raises_has_the_code(traced: Traced) -> None:
    with pytest.raises(Rejected), traced.telemetry.span("wave", [TRACE], {}):
        raise Rejected("DOCUMENT_NOT_FOUND", "there is no hunter2")
    (span,) = traced.take().values()
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "DOCUMENT_NOT_FOUND")
    assert "hunter2" not in span.to_json()


SCRIPT = """
import os, sys
os.environ.update({environment!r})
from signet.settings import read_settings
from signet.wiring.process import make_telemetry
telemetry = make_telemetry(read_settings(os.environ), sys.stdout)
with telemetry.span("wave", [], {{}}) as span:
    print(span.traceparent is not None)
print(sorted({{name.partition(".")[0] for name in sys.modules}} & {{"opentelemetry", "sentry_sdk", "boto3"}}))
"""


@pytest.mark.parametrize(
    ("environment", "traces", "loaded"),
    [
        ({}, False, []),
        ({"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1"}, False, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", "OTEL_SDK_DISABLED": "true"}, False, []),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1"}, True, ["opentelemetry"]),
        ({"OTEL_TRACES_EXPORTER": "console"}, True, ["opentelemetry"]),
        ({"SENTRY_DSN": "https://key@localhost/1"}, False, ["sentry_sdk"]),
    ],
)
def test_only_what_is_switched_on_is_loaded(
    environment: dict[str, str], traces: bool, loaded: list[str]
) -> None:
    script = SCRIPT.format(environment={"SIGNET_DATABASE_URL": "postgresql://", **environment})
    # Nothing listens there: spans that cannot be sent are given up at once.
    ended = f"{script}os._exit(0) if not sys.stdout.flush() else None\n"
    done = subprocess.run(
        [sys.executable, "-c", ended],
        env={"PYTHONPATH": f"{ROOT / 'shared'}:{ROOT}", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.splitlines()[-2:] == [str(traces), str(loaded)], done


class Collector(SpanExporter):
    def __init__(self) -> None:
        self.asked = 0
        self.answer = SpanExportResult.FAILURE

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.asked += 1
        return self.answer

    def shutdown(self) -> None:
        pass


def test_who_is_answered_does_not_wait_for_a_collector_that_is_down() -> None:
    """Hold back each answer until its spans are sent; after a failure, do not even try for a time."""
    collector, now = Collector(), [0.0]
    tracing = Tracing(SimpleSpanProcessor(RestingExporter(collector, lambda: now[0])), "signet-test")

    def answer() -> None:
        with tracing.span("request", [], {}):
            pass

    for _ in range(3):
        answer()
    assert collector.asked == 1
    collector.answer, now[0] = SpanExportResult.SUCCESS, REST_SECONDS
    for _ in range(2):
        answer()
    assert collector.asked == 3


def test_an_export_takes_no_longer_than_a_flush_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the export itself: the SDK's flush waits for it and ignores its own timeout."""
    asked: list[float] = []

    class Exporter(Collector):
        def __init__(self, timeout: float) -> None:
            super().__init__()
            asked.append(timeout)

    monkeypatch.setattr("opentelemetry.exporter.otlp.proto.http.trace_exporter.OTLPSpanExporter", Exporter)
    make_tracing("otlp", "signet-test")
    assert asked == [EXPORT_SECONDS] and EXPORT_SECONDS * 1_000 <= FLUSH_MILLISECONDS
