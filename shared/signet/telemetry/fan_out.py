"""Fan-out to all telemetry: each part is on or off by settings, and figures are always counted."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from signet.core.errors import Defect, SignetError
from signet.engine.telemetry import (
    SILENT_SPAN,
    EffectReport,
    EventFate,
    Figure,
    HousekeepingReport,
    RequestReport,
    Span,
    StuckInstance,
    SweptQueue,
    WaveReport,
)
from signet.telemetry.crash import code_of
from signet.telemetry.figures import Figures
from signet.telemetry.log import Log
from signet.telemetry.metrics import Metrics

if TYPE_CHECKING:
    # Loaded only where they are switched on.
    from signet.telemetry.sentry import Sentry
    from signet.telemetry.tracing import Tracing

UNEXPECTED = "INTERNAL_ERROR"


class TelemetryFanOut:
    """The engine's port, wired to logs, metrics, traces, figures and Sentry."""

    def __init__(
        self,
        log: Log,
        metrics: Metrics | None = None,
        tracing: "Tracing | None" = None,
        sentry: "Sentry | None" = None,
    ) -> None:
        self._figures = Figures()
        self._log = log
        self._metrics = metrics
        self._tracing = tracing
        self._sentry = sentry

    def span(
        self, name: str, traceparents: Sequence[str], attributes: Mapping[str, str | int]
    ) -> AbstractContextManager[Span]:
        return SILENT_SPAN if self._tracing is None else self._tracing.span(name, traceparents, attributes)

    def request_ended(self, report: RequestReport) -> None:
        self._figures.add_request(report)
        self._log.write_request(report)
        if self._metrics is not None:
            self._metrics.write_request(report)
        if self._sentry is not None and report.error is not None and is_failure(report.error):
            about = {"route": report.route, "trace_id": report.trace_id, "correlation_id": report.request_id}
            self._sentry.capture(report.error, about)

    def wave_ended(self, report: WaveReport) -> None:
        self._figures.add_wave(report)
        self._log.write_wave(report)
        if self._metrics is not None:
            self._metrics.write_wave(report)
        if self._tracing is not None:
            self._tracing.add_wave(report)

    def effect_ended(self, report: EffectReport) -> None:
        self._figures.add_effect(report)
        self._log.write_effect(report)
        if self._metrics is not None:
            self._metrics.write_effect(report)

    def leases_expired(self, tenant_id: UUID, again: int, dead: int) -> None:
        self._figures.add_expired(again, dead)
        self._log.write_expired(tenant_id, again, dead)
        if self._metrics is not None:
            self._metrics.write_expired(again, dead)

    def given_back(self, tenant_id: UUID, queue: str, count: int, code: str) -> None:
        self._figures.add_given_back(queue, count, code)
        self._log.write_given_back(tenant_id, queue, count, code)
        if self._metrics is not None:
            self._metrics.write_given_back(queue, count)

    def heavy_call_ended(self, outcome: str, seconds: float) -> None:
        self._figures.add_heavy_call(outcome, seconds)

    def event_came(self, fate: EventFate) -> None:
        self._figures.add_event(fate)

    def stranded(self, tenant_id: UUID, instance_id: UUID, code: str) -> None:
        self._figures.add_expired(0, 1)
        self._log.write_stranded(tenant_id, instance_id, code)
        if self._metrics is not None:
            self._metrics.write_stranded()

    def looked(self, thread: str) -> None:
        self._figures.add_look(thread)

    def thread_failed(self, thread: str, error: BaseException) -> None:
        self._figures.add_thread_failure(thread, code_of(error) or UNEXPECTED)
        self._log.write_thread_failure(thread, error)
        if self._sentry is not None and is_failure(error):
            self._sentry.capture(error, {"thread": thread})

    def list_looks(self) -> Mapping[str, datetime]:
        return self._figures.list_looks()

    def housekeeping_ended(self, report: HousekeepingReport) -> None:
        self._figures.add_housekeeping(report)
        self._log.write_housekeeping(report)
        if self._metrics is not None:
            self._metrics.write_housekeeping(report)
        if self._sentry is not None and report.error is not None and is_failure(report.error):
            self._sentry.capture(report.error, {"task": report.task})

    def stuck_found(self, tenant_id: UUID, count: int, named: Sequence[StuckInstance]) -> None:
        self._log.write_stuck(tenant_id, count, named)
        if self._metrics is not None:
            self._metrics.write_stuck(tenant_id, count)

    def incidents_counted(self, open_by_code: Mapping[str, int], unattended: int) -> None:
        if open_by_code:
            self._log.write_incidents(open_by_code, unattended)
        if self._metrics is not None:
            self._metrics.write_incidents(open_by_code, unattended)

    def swept(self, queues: Mapping[str, SweptQueue]) -> None:
        self._log.write_sweep(queues)
        if self._metrics is not None:
            self._metrics.write_sweep(queues)

    def failed(self, error: BaseException, about: Mapping[str, str]) -> None:
        self._log.write_failure(error, about)
        if self._sentry is not None and is_failure(error):
            self._sentry.capture(error, about)

    def list_figures(self) -> Sequence[Figure]:
        return self._figures.list()

    def flush(self) -> None:
        if self._tracing is not None:
            self._tracing.flush()
        if self._sentry is not None:
            self._sentry.flush()


def is_failure(error: BaseException) -> bool:
    """Return whether an error is a defect or none of ours.

    A refused caller and the outside world are no failures of ours.
    """
    return isinstance(error, Defect) or not isinstance(error, SignetError)
