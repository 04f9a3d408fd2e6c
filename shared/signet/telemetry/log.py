"""Structured log lines in JSON by Powertools: one for each request, wave and failure.

A line names the caller, the act, its outcome and its duration. It never has a body, header, token, error
message, or a path as it was sent: names and codes only.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import IO, Any
from uuid import UUID

import orjson
from aws_lambda_powertools import Logger

from signet.engine.telemetry import (
    UNPROVEN_CODES,
    EffectReport,
    HousekeepingReport,
    RequestReport,
    StuckInstance,
    SweptQueue,
    WaveReport,
)
from signet.telemetry.crash import code_of, describe_crash, name_error

_FIRST_UNEXPECTED_STATUS = 500


class Log:
    """The log of a process, for any number of threads."""

    def __init__(self, service: str, level: str, stream: IO[str]) -> None:
        logger = Logger(
            service=service,
            level=level,
            stream=stream,
            json_serializer=_to_text,
            # A message that is no JSON need not be tried as JSON.
            json_deserializer=_keep,
            use_rfc3339=True,
            utc=True,
            # The place of the call is always this module.
            location=None,
        )
        self._handler = logger.registered_handler
        self._level = logger.log_level

    def write_request(self, report: RequestReport) -> None:
        fields: dict[str, Any] = {
            "correlation_id": report.request_id,
            "trace_id": report.trace_id,
            "tenant_id": report.tenant_id,
            "method": report.method,
            "route": report.route,
            "status": report.status,
            "code": report.code,
            "duration_ms": round(report.seconds * 1_000, 3),
            "function_request_id": report.function_request_id,
            "limit_of": report.limit_of,
            "could_wait": report.could_wait,
        }
        if report.status < _FIRST_UNEXPECTED_STATUS:
            self._write(logging.INFO, "request", fields)
            return
        if report.error is not None:
            fields["crash"] = describe_crash(report.error)
        self._write(logging.ERROR, "request", fields)

    def write_wave(self, report: WaveReport) -> None:
        fields = {
            "tenant_id": report.tenant_id,
            "trace_id": report.trace_id,
            "triggers": report.triggers,
            "instances": report.instances,
            "rounds": report.rounds,
            "steps": sum(report.steps.values()),
            "effects": sum(report.effects.values()),
            "released": report.released,
            "retried": report.retried,
            "dead": report.dead,
            "lapsed": report.lapsed,
            "paused": len(report.paused),
            "duration_ms": round(report.seconds * 1_000, 3),
        }
        self._write(logging.INFO, "wave", fields)
        for paused in report.paused:
            # An approval without its proof was written past the API.
            level = logging.ERROR if paused.code in UNPROVEN_CODES else logging.WARNING
            about = {"tenant_id": report.tenant_id, "trace_id": report.trace_id}
            self._write(level, "instance paused", {**about, "instance_id": paused.id, "code": paused.code})

    def write_effect(self, report: EffectReport) -> None:
        fields = {
            "tenant_id": report.tenant_id,
            "trace_id": report.trace_id,
            "effect_type": report.effect_type,
            "outcome": report.outcome,
            "answered": report.answered,
            "duration_ms": round(report.seconds * 1_000, 3),
        }
        level = logging.INFO if report.outcome == "delivered" else logging.WARNING
        self._write(level, "effect", fields)

    def write_expired(self, tenant_id: UUID, again: int, dead: int) -> None:
        fields = {"tenant_id": tenant_id, "again": again, "dead": dead}
        self._write(logging.WARNING, "leases expired", fields)

    def write_given_back(self, tenant_id: UUID, queue: str, count: int, code: str) -> None:
        fields = {"tenant_id": tenant_id, "queue": queue, "count": count, "code": code}
        self._write(logging.WARNING, "given back", fields)

    def write_stranded(self, tenant_id: UUID, instance_id: UUID, code: str) -> None:
        fields = {"tenant_id": tenant_id, "instance_id": instance_id, "code": code}
        self._write(logging.ERROR, "given back for too long", fields)

    def write_housekeeping(self, report: HousekeepingReport) -> None:
        fields: dict[str, Any] = {
            "task": report.task,
            "outcome": report.outcome,
            "rows": report.rows,
            "lag_seconds": round(report.lag_seconds, 3),
            "duration_ms": round(report.seconds * 1_000, 3),
        }
        if report.error is None:
            self._write(logging.INFO, "housekeeping", fields)
            return
        fields |= {"code": code_of(report.error) or name_error(report.error)}
        self._write(logging.ERROR, "housekeeping", {**fields, "crash": describe_crash(report.error)})

    def write_stuck(self, tenant_id: UUID, count: int, named: Sequence[StuckInstance]) -> None:
        instances = [
            {"instance_id": instance.id, "why": instance.why, "remedy": instance.remedy} for instance in named
        ]
        fields = {"tenant_id": tenant_id, "count": count, "instances": instances}
        self._write(logging.WARNING, "instances stuck", fields)

    def write_incidents(self, open_by_code: Mapping[str, int], unattended: int) -> None:
        fields = {"open": dict(open_by_code), "unattended": unattended}
        self._write(logging.WARNING if unattended else logging.INFO, "incidents open", fields)

    def write_sweep(self, queues: Mapping[str, SweptQueue]) -> None:
        fields = {
            name: {"tenants": queue.tenants, "oldest_seconds": round(queue.oldest_seconds, 3)}
            for name, queue in queues.items()
        }
        self._write(logging.INFO, "sweep", fields)

    def write_thread_failure(self, thread: str, error: BaseException) -> None:
        fields = {"thread": thread, "code": code_of(error) or name_error(error)}
        self._write(logging.ERROR, "thread failed", {**fields, "crash": describe_crash(error)})

    def write_failure(self, error: BaseException, about: Mapping[str, str]) -> None:
        fields = {**about, "code": code_of(error) or name_error(error), "crash": describe_crash(error)}
        self._write(logging.ERROR, "instance failed", fields)

    def _write(self, level: int, message: str, fields: Mapping[str, Any]) -> None:
        """Write a line from a record made here, because finding the caller is half of a line's cost."""
        if level >= self._level:
            about = {"msg": message, "levelno": level, "levelname": logging.getLevelName(level)}
            self._handler.handle(logging.makeLogRecord({**about, **fields}))


def _to_text(line: Any) -> str:
    return orjson.dumps(line, default=str).decode()


def _keep(text: Any) -> str:
    return str(text)
