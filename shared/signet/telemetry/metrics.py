"""Metrics in CloudWatch's embedded format, by Powertools: a line of JSON on standard output.

Dimensions are of closed sets (service, route, node type, effect type, task, code), because each combination
is billed as a metric. Tenant, status and trace are beside them in the line, for searching.
"""

from collections.abc import Mapping, Sequence
from typing import IO, Any
from uuid import UUID

import orjson
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

from signet.engine.telemetry import (
    PEOPLE_CODES,
    UNPROVEN_CODES,
    EffectReport,
    HousekeepingReport,
    RequestReport,
    SweptQueue,
    WaveReport,
)

# The format's limit for one metric in a line.
MAX_VALUES = 100
Values = Mapping[str, tuple[MetricUnit, Sequence[float]]]


class Metrics:
    def __init__(self, namespace: str, service: str, stream: IO[str]) -> None:
        # Only its format is used: its own collection would mix all threads.
        self._format = AmazonCloudWatchEMFProvider(namespace=namespace, service=service)
        self._service = service
        self._stream = stream

    def write_request(self, report: RequestReport) -> None:
        values = {
            "Requests": (MetricUnit.Count, [1.0]),
            "RequestDuration": (MetricUnit.Milliseconds, [report.seconds * 1_000]),
            "ClientErrors": (MetricUnit.Count, [float(400 <= report.status < 500)]),
            "ServerErrors": (MetricUnit.Count, [float(report.status >= 500)]),
        }
        self._write(
            values,
            {"route": f"{report.method} {report.route}"},
            {"status": report.status, "correlation_id": report.request_id, "trace_id": report.trace_id},
        )
        beside = {"tenant_id": str(report.tenant_id), "trace_id": report.trace_id}
        if report.limit_of is not None:
            refused = {"QuotaRefusals": (MetricUnit.Count, [1.0])}
            self._write(refused, {"limit_of": report.limit_of}, beside)
        if report.could_wait is False:
            self._write({"WaitsRefused": (MetricUnit.Count, [1.0])}, {}, beside)

    def write_wave(self, report: WaveReport) -> None:
        values: dict[str, tuple[MetricUnit, Sequence[float]]] = {
            "Waves": (MetricUnit.Count, [1.0]),
            "WaveSize": (MetricUnit.Count, [float(report.instances)]),
            "WaveDuration": (MetricUnit.Milliseconds, [report.seconds * 1_000]),
            "Steps": (MetricUnit.Count, [float(sum(report.steps.values()))]),
            "TriggersRetried": (MetricUnit.Count, [float(report.retried)]),
            "DeadLetters": (MetricUnit.Count, [float(report.dead)]),
            "VotesLapsed": (MetricUnit.Count, [float(report.lapsed)]),
            "ApprovalsUnproven": (MetricUnit.Count, [float(report.count_paused(UNPROVEN_CODES))]),
            "PausesForPeople": (MetricUnit.Count, [float(report.count_paused(PEOPLE_CODES))]),
        }
        if report.waits:
            values["TriggerWait"] = (MetricUnit.Milliseconds, [wait * 1_000 for wait in report.waits])
        if report.due_lags:
            values["DueLag"] = (MetricUnit.Milliseconds, [lag * 1_000 for lag in report.due_lags])
        self._write(values, {}, {"tenant_id": str(report.tenant_id), "trace_id": report.trace_id})
        for node_type, work in report.work.items():
            taken = {
                "StepsTaken": (MetricUnit.Count, [float(work.steps)]),
                "StepDuration": (MetricUnit.Milliseconds, [work.seconds / max(work.steps, 1) * 1_000]),
            }
            self._write(taken, {"node_type": node_type}, {})
        for effect_type, count in report.effects.items():
            self._write({"Effects": (MetricUnit.Count, [float(count)])}, {"effect_type": effect_type}, {})

    def write_effect(self, report: EffectReport) -> None:
        values: dict[str, tuple[MetricUnit, Sequence[float]]] = {
            "EffectAttempts": (MetricUnit.Count, [1.0]),
            "EffectDuration": (MetricUnit.Milliseconds, [report.seconds * 1_000]),
            "EffectFailures": (MetricUnit.Count, [float(report.outcome == "failed")]),
            "EffectDeadLetters": (MetricUnit.Count, [float(report.outcome == "dead")]),
        }
        beside = {"tenant_id": str(report.tenant_id), "trace_id": report.trace_id}
        self._write(values, {"effect_type": report.effect_type}, beside)

    def write_expired(self, again: int, dead: int) -> None:
        values = {
            "LeasesExpired": (MetricUnit.Count, [float(again + dead)]),
            "DeadLetters": (MetricUnit.Count, [float(dead)]),
        }
        self._write(values, {}, {})

    def write_given_back(self, queue: str, count: int) -> None:
        self._write({"GivenBack": (MetricUnit.Count, [float(count)])}, {"queue": queue}, {})

    def write_stranded(self) -> None:
        self._write({"DeadLetters": (MetricUnit.Count, [1.0])}, {}, {})

    def write_housekeeping(self, report: HousekeepingReport) -> None:
        values = {
            "TaskRows": (MetricUnit.Count, [float(report.rows)]),
            "TaskSeconds": (MetricUnit.Seconds, [report.seconds]),
            "TaskLag": (MetricUnit.Seconds, [report.lag_seconds]),
            "TaskFailures": (MetricUnit.Count, [float(report.outcome == "failed")]),
        }
        self._write(values, {"task": report.task}, {"outcome": report.outcome})
        if report.outcome == "failed":
            # For all tasks together: an alarm watches one metric, and tasks come and go.
            self._write({"HousekeepingFailures": (MetricUnit.Count, [1.0])}, {}, {})

    def write_stuck(self, tenant_id: UUID, count: int) -> None:
        values = {"StuckInstances": (MetricUnit.Count, [float(count)])}
        self._write(values, {}, {"tenant_id": str(tenant_id)})

    def write_incidents(self, open_by_code: Mapping[str, int], unattended: int) -> None:
        self._write({"IncidentsUnattended": (MetricUnit.Count, [float(unattended)])}, {}, {})
        for code, count in open_by_code.items():
            self._write({"Incidents": (MetricUnit.Count, [float(count)])}, {"code": code}, {})

    def write_sweep(self, queues: Mapping[str, SweptQueue]) -> None:
        for name, queue in queues.items():
            values = {
                "DueTenants": (MetricUnit.Count, [float(queue.tenants)]),
                "OldestDue": (MetricUnit.Seconds, [queue.oldest_seconds]),
            }
            self._write(values, {"queue": name}, {})

    def _write(self, values: Values, dimensions: Mapping[str, str], beside: Mapping[str, Any]) -> None:
        metrics = {
            name: {"Unit": unit.value, "Value": list(numbers[:MAX_VALUES])}
            for name, (unit, numbers) in values.items()
        }
        named = {**dimensions, "service": self._service}
        line = self._format.serialize_metric_set(metrics, named, {**beside})
        self._stream.write(orjson.dumps(line).decode() + "\n")
        self._stream.flush()
