"""Traces by OpenTelemetry. Imported only where the environment switches them on: see `settings.py`.

Collector and sampler are set in the environment under OpenTelemetry's names, and its SDK reads them. Parents
come from traceparents alone (of a header, of a row) and never from a context, because both sides of a queue
share none.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.trace import Link, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from signet.engine.telemetry import Span, WaveReport
from signet.telemetry.crash import code_of, name_error

MAX_LINKS = 100
FLUSH_MILLISECONDS = 2_000
# A flush ignores its own limit and waits for the exporter, which by default takes 10 seconds.
EXPORT_SECONDS = 2.0
# After a failure nothing is exported for so long, because callers must not wait for a broken collector.
REST_SECONDS = 30.0
_PROPAGATOR = TraceContextTextMapPropagator()
_KINDS = {"request": SpanKind.SERVER, "wave": SpanKind.CONSUMER, "effect": SpanKind.CLIENT}


class Tracing:
    def __init__(self, processor: SpanProcessor, service: str) -> None:
        self._provider = TracerProvider(resource=Resource.create({"service.name": service}))
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("signet")

    @contextmanager
    def span(
        self, name: str, traceparents: Sequence[str], attributes: Mapping[str, str | int]
    ) -> Iterator[Span]:
        parents = [context for cause in traceparents[:MAX_LINKS] if (context := _read(cause)) is not None]
        is_child = len(parents) == 1
        with self._tracer.start_as_current_span(
            name,
            context=trace.set_span_in_context(_remote(parents[0])) if is_child else otel_context.Context(),
            kind=_KINDS.get(name, SpanKind.INTERNAL),
            attributes={f"signet.{key}": value for key, value in attributes.items()},
            links=[] if is_child else [Link(parent) for parent in parents],
            # Its message may have personal data: only name and code are told.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield _Traced(span)
            except Exception as error:
                span.set_status(Status(StatusCode.ERROR, code_of(error) or name_error(error)))
                raise

    def add_wave(self, report: WaveReport) -> None:
        """Add a span for each type of node below the wave's, from its first step to the end of its last."""
        now, clock = time.time_ns(), time.monotonic()
        for node_type, work in report.work.items():
            span = self._tracer.start_span(
                f"nodes {node_type}",
                start_time=now - _nanoseconds(clock - work.began),
                attributes={
                    "signet.node_type": node_type,
                    "signet.steps": work.steps,
                    "signet.busy_ms": work.seconds * 1_000,
                },
            )
            span.end(now - _nanoseconds(clock - work.ended))
        trace.get_current_span().set_attributes(
            {"signet.instances": report.instances, "signet.rounds": report.rounds}
        )

    def flush(self) -> None:
        """Flush the spans, before Lambda freezes the process."""
        self._provider.force_flush(FLUSH_MILLISECONDS)


class _Traced:
    def __init__(self, span: trace.Span) -> None:
        self._span = span
        context = span.get_span_context()
        self.traceparent: str | None = (
            f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"
        )

    def describe(self, name: str, attributes: Mapping[str, str | int]) -> None:
        self._span.update_name(name)
        self._span.set_attributes({**attributes})

    def fail(self, code: str) -> None:
        self._span.set_status(Status(StatusCode.ERROR, code))


def make_tracing(exporter: str, service: str) -> Tracing:
    return Tracing(BatchSpanProcessor(RestingExporter(_make_exporter(exporter))), service)


class RestingExporter(SpanExporter):
    """An exporter that leaves a failing collector alone for a while; spans that end meanwhile are lost."""

    def __init__(self, exporter: SpanExporter, clock: Callable[[], float] = time.monotonic) -> None:
        self._exporter = exporter
        self._clock = clock
        self._rests_until = float("-inf")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self._clock() < self._rests_until:
            return SpanExportResult.FAILURE
        result = self._exporter.export(spans)
        if result is not SpanExportResult.SUCCESS:
            self._rests_until = self._clock() + REST_SECONDS
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


def _make_exporter(exporter: str) -> SpanExporter:
    if exporter == "console":
        return ConsoleSpanExporter()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(timeout=EXPORT_SECONDS)


def _read(traceparent: str) -> trace.SpanContext | None:
    context = _PROPAGATOR.extract({"traceparent": traceparent}, otel_context.Context())
    found = trace.get_current_span(context).get_span_context()
    return found if found.is_valid else None


def _remote(context: trace.SpanContext) -> trace.Span:
    return trace.NonRecordingSpan(context)


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)
