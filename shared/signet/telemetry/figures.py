"""Figures of this process since its start, counted in memory for /metrics; labels are of closed sets."""

import os
import resource
import threading
import time
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from signet.engine.telemetry import (
    EffectReport,
    EventFate,
    Figure,
    HousekeepingReport,
    RequestReport,
    WaveReport,
)

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0)
SIZES = (1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0)
# A metric has at most so many combinations of labels; further ones are counted together.
MAX_SERIES = 2_000
OTHER = "other"
Sample = tuple[str, Mapping[str, str], float]


@dataclass(slots=True)
class _Counter:
    name: str
    meaning: str
    labels: tuple[str, ...]
    values: dict[tuple[str, ...], float] = field(default_factory=dict)

    def add(self, amount: float, *labels: str) -> None:
        if labels not in self.values and len(self.values) >= MAX_SERIES:
            labels = (OTHER,) * len(labels)
        self.values[labels] = self.values.get(labels, 0.0) + amount

    def show(self) -> Figure:
        samples = [
            ("", dict(zip(self.labels, key, strict=True)), value) for key, value in self.values.items()
        ]
        return Figure(self.name, "counter", self.meaning, samples)


@dataclass(slots=True)
class _Histogram:
    name: str
    meaning: str
    labels: tuple[str, ...]
    bounds: tuple[float, ...]
    # By combination of labels: the count of each bucket, the last without a bound; and the sum.
    counts: dict[tuple[str, ...], list[int]] = field(default_factory=dict)
    sums: dict[tuple[str, ...], float] = field(default_factory=dict)

    def add(self, amount: float, *labels: str, times: int = 1) -> None:
        counts = self.counts.get(labels)
        if counts is None:
            if len(self.counts) >= MAX_SERIES:
                labels = (OTHER,) * len(labels)
            counts = self.counts.setdefault(labels, [0] * (len(self.bounds) + 1))
        counts[bisect_left(self.bounds, amount)] += times
        self.sums[labels] = self.sums.get(labels, 0.0) + amount * times

    def show(self) -> Figure:
        samples: list[Sample] = []
        for key, counts in self.counts.items():
            labels, below = dict(zip(self.labels, key, strict=True)), 0
            for bound, count in zip((*self.bounds, None), counts, strict=True):
                below += count
                shown = "+Inf" if bound is None else f"{bound:g}"
                samples.append(("_bucket", {**labels, "le": shown}, below))
            samples += [("_sum", labels, self.sums[key]), ("_count", labels, below)]
        return Figure(self.name, "histogram", self.meaning, samples)


class Figures:
    """The counters of a process, for any number of threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._began = time.time()
        self._requests = _Counter(
            "signet_requests_total", "Requests that were answered.", ("method", "route", "status")
        )
        self._request_seconds = _Histogram(
            "signet_request_seconds", "How long a request took.", ("method", "route"), SECONDS
        )
        self._quota_refusals = _Counter(
            "signet_quota_refusals_total", "Requests that a quota refused.", ("limit_of",)
        )
        self._request_waits = _Counter(
            "signet_request_waits_total", "Requests that preferred to wait.", ("outcome",)
        )
        self._wave_size = _Histogram("signet_wave_instances", "Instances that a wave moved.", (), SIZES)
        self._wave_seconds = _Histogram("signet_wave_seconds", "How long a wave took.", (), SECONDS)
        self._waits = _Histogram(
            "signet_trigger_wait_seconds", "From when a trigger was due to when it was done.", (), SECONDS
        )
        self._due_lags = _Histogram("signet_due_lag_seconds", "How late a wait was ended.", (), SECONDS)
        self._steps = _Counter("signet_steps_total", "Steps that were begun.", ("node_type",))
        self._step_seconds = _Histogram(
            "signet_step_seconds", "What a step took of its wave.", ("node_type",), SECONDS
        )
        self._effects = _Counter("signet_effects_total", "Effects that were enqueued.", ("effect_type",))
        self._attempts = _Counter(
            "signet_effect_attempts_total", "Attempts to deliver an effect.", ("effect_type", "outcome")
        )
        self._attempt_seconds = _Histogram(
            "signet_effect_seconds", "How long an attempt took.", ("effect_type",), SECONDS
        )
        self._task_runs = _Counter(
            "signet_housekeeping_runs_total", "Runs of housekeeping tasks.", ("task", "outcome")
        )
        self._task_rows = _Counter(
            "signet_housekeeping_rows_total", "Rows that they have dealt with.", ("task",)
        )
        self._paused = _Counter(
            "signet_pauses_total", "Tokens held and instances paused by a wave.", ("code",)
        )
        self._lapsed = _Counter("signet_votes_lapsed_total", "Votes that a gate could not use any more.", ())
        self._outcomes = _Counter("signet_trigger_outcomes_total", "How triggers ended.", ("outcome",))
        self._given_back = _Counter(
            "signet_given_back_total",
            "Triggers and effects that an outage gave back without an attempt.",
            ("queue", "code"),
        )
        self._heavy_seconds = _Histogram(
            "signet_heavy_call_seconds",
            "How long a call about a large definition took in a process of its own.",
            ("outcome",),
            SECONDS,
        )
        self._events = _Counter("signet_inbound_events_total", "Events by what they found.", ("fate",))
        self._thread_failures = _Counter(
            "signet_thread_failures_total", "Looks of a background thread that failed.", ("thread", "code")
        )
        self._looks: dict[str, float] = {}

    def add_request(self, report: RequestReport) -> None:
        with self._lock:
            self._requests.add(1, report.method, report.route, str(report.status))
            self._request_seconds.add(report.seconds, report.method, report.route)
            if report.limit_of is not None:
                self._quota_refusals.add(1, report.limit_of)
            if report.could_wait is not None:
                self._request_waits.add(1, "waited" if report.could_wait else "no_place")

    def add_wave(self, report: WaveReport) -> None:
        with self._lock:
            self._wave_size.add(report.instances)
            self._wave_seconds.add(report.seconds)
            for wait in report.waits:
                self._waits.add(wait)
            for lag in report.due_lags:
                self._due_lags.add(lag)
            for node_type, count in report.steps.items():
                self._steps.add(count, node_type)
            for node_type, work in report.work.items():
                if work.steps:
                    self._step_seconds.add(work.seconds / work.steps, node_type, times=work.steps)
            for effect_type, count in report.effects.items():
                self._effects.add(count, effect_type)
            for paused in report.paused:
                self._paused.add(1, paused.code)
            if report.lapsed:
                self._lapsed.add(report.lapsed)
            self._add_outcomes(done=len(report.waits), retried=report.retried, dead=report.dead)

    def add_effect(self, report: EffectReport) -> None:
        with self._lock:
            self._attempts.add(1, report.effect_type, report.outcome)
            self._attempt_seconds.add(report.seconds, report.effect_type)

    def add_expired(self, again: int, dead: int) -> None:
        with self._lock:
            self._add_outcomes(retried=again, dead=dead)

    def add_given_back(self, queue: str, count: int, code: str) -> None:
        with self._lock:
            self._given_back.add(count, queue, code)

    def add_heavy_call(self, outcome: str, seconds: float) -> None:
        with self._lock:
            self._heavy_seconds.add(seconds, outcome)

    def add_event(self, fate: EventFate) -> None:
        with self._lock:
            self._events.add(1, fate)

    def add_look(self, thread: str) -> None:
        self._looks[thread] = time.time()

    def add_thread_failure(self, thread: str, code: str) -> None:
        with self._lock:
            self._thread_failures.add(1, thread, code)

    def list_looks(self) -> Mapping[str, datetime]:
        return {thread: datetime.fromtimestamp(at, UTC) for thread, at in dict(self._looks).items()}

    def add_housekeeping(self, report: HousekeepingReport) -> None:
        with self._lock:
            self._task_runs.add(1, report.task, report.outcome)
            self._task_rows.add(report.rows, report.task)

    def list(self) -> Sequence[Figure]:
        with self._lock:
            shown = [
                figure.show()
                for figure in (
                    *(self._requests, self._request_seconds, self._quota_refusals, self._request_waits),
                    *(self._wave_size, self._wave_seconds, self._waits, self._due_lags),
                    *(self._steps, self._step_seconds, self._effects, self._outcomes, self._given_back),
                    *(self._paused, self._lapsed),
                    *(self._attempts, self._attempt_seconds),
                    *(self._task_runs, self._task_rows, self._thread_failures),
                    *(self._heavy_seconds, self._events),
                )
            ]
        looks = [("", {"thread": thread}, at) for thread, at in dict(self._looks).items()]
        name, meaning = "signet_thread_looked_timestamp_seconds", "When a thread last looked for work."
        return [*shown, Figure(name, "gauge", meaning, looks), *_read_process(self._began)]

    def _add_outcomes(self, **counts: int) -> None:
        for outcome, count in counts.items():
            self._outcomes.add(count, outcome)


def _read_process(began: float) -> Sequence[Figure]:
    """Read the figures of the process, under the names that every Prometheus client uses."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return [
        _one("process_cpu_seconds_total", "counter", "CPU time.", used.ru_utime + used.ru_stime),
        _one("process_start_time_seconds", "gauge", "When this process began to count.", began),
        _one("process_resident_memory_bytes", "gauge", "Memory that it holds.", _read_memory()),
        _one("process_threads", "gauge", "Threads of Python.", threading.active_count()),
    ]


def _one(name: str, kind: Literal["counter", "gauge"], meaning: str, value: float) -> Figure:
    return Figure(name, kind, meaning, [("", {}, value)])


def _read_memory() -> float:
    pages = Path("/proc/self/statm")
    if not pages.exists():
        # Elsewhere only the largest size so far is known.
        return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1_024
    return float(pages.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
