"""Lines of structured JSON by Powertools: one for each request, one for each wave, one for each failure.

A line says who, what, how it ended and how long it took. It never has a body, a header, a token, a message of
an error, or a path as it was sent: names and codes only.
"""

from collections.abc import Mapping
from typing import IO, Any
from uuid import UUID

import orjson
from aws_lambda_powertools import Logger

from signet.engine.telemetry import RequestReport, WaveReport
from signet.telemetry.crash import code_of, describe_crash, name_error

_FIRST_UNEXPECTED_STATUS = 500


class Log:
    """One a process; any number of threads."""

    def __init__(self, service: str, level: str, stream: IO[str]) -> None:
        self._logger = Logger(
            service=service,
            level=level,
            stream=stream,
            json_serializer=_write,
            # A message that is no JSON need not be tried as JSON.
            json_deserializer=_keep,
            use_rfc3339=True,
            utc=True,
            # Where the line was written says nothing: it is always here.
            location=None,
        )

    def write_request(self, report: RequestReport) -> None:
        said: dict[str, Any] = {
            "correlation_id": report.request_id,
            "trace_id": report.trace_id,
            "tenant_id": report.tenant_id,
            "method": report.method,
            "route": report.route,
            "status": report.status,
            "code": report.code,
            "duration_ms": round(report.seconds * 1_000, 3),
            "function_request_id": report.function_request_id,
        }
        if report.status < _FIRST_UNEXPECTED_STATUS:
            self._logger.info("request", extra=said)
            return
        if report.error is not None:
            said["crash"] = describe_crash(report.error)
        self._logger.error("request", extra=said)

    def write_wave(self, report: WaveReport) -> None:
        said = {
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
            "duration_ms": round(report.seconds * 1_000, 3),
        }
        self._logger.info("wave", extra=said)

    def write_expired(self, tenant_id: UUID, again: int, dead: int) -> None:
        self._logger.warning("leases expired", extra={"tenant_id": tenant_id, "again": again, "dead": dead})

    def write_failure(self, error: BaseException, about: Mapping[str, str]) -> None:
        said = {**about, "code": code_of(error) or name_error(error), "crash": describe_crash(error)}
        self._logger.error("instance failed", extra=said)


def _write(line: Any) -> str:
    return orjson.dumps(line, default=str).decode()


def _keep(text: Any) -> str:
    return str(text)
