"""Telemetry of waves: lines, metrics, figures of the process; and /metrics, which shows the figures."""

import io
import json
import re
import threading
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from signet.engine.cache import CompiledCache
from signet.engine.documents.commands import Create, RequestTransition
from signet.engine.execution.worker import Worker
from signet.engine.integrations.effects import Effects
from signet.engine.telemetry import HousekeepingReport, NodeWork, RequestReport, StuckInstance, WaveReport
from signet.store.database import Database
from signet.telemetry.fan_out import TelemetryFanOut
from signet.telemetry.figures import MAX_SERIES, Figures
from signet.telemetry.log import Log
from signet.telemetry.metrics import MAX_VALUES, Metrics
from signet.wiring.engine import make_caches, make_worker
from tests.support.api_application import wire
from tests.support.company import INVOICE, Company, make_company
from tests.support.database.queue_rows import put
from tests.support.drained_waves import drain
from tests.support.http_client import Client

TOKEN = "the token of whoever collects the metrics"
Admin = psycopg.Connection[Any]
OPEN_INCIDENT = """
    INSERT INTO incidents (tenant_id, id, instance_id, seq, code, kind, message, attempts, opened_at)
    VALUES (%s, %s, %s, 1, 'EFFECT_DEAD', 'outside', 'gone', 1, now() - interval '2 hours')"""


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def watching(stream: io.StringIO) -> TelemetryFanOut:
    service = f"test-{uuid4()}"
    return TelemetryFanOut(Log(service, "INFO", stream), Metrics("signet-test", service, stream))


@pytest.fixture
def company(database: Database) -> Company:
    company = make_company(database)
    company.publish("invoice")
    return company


def run_invoice(company: Company, worker: Database, watching: TelemetryFanOut) -> UUID:
    made = company.documents.mutate(company.caller(), Create("invoice", INVOICE))
    company.documents.mutate(company.caller(), RequestTransition(made.document_id, 1, "submit"))
    drain(Worker(worker, make_caches(), CompiledCache(), lambda: 0.0, watching), [company.tenant_id])
    return UUID(str(made.instance_id))


def read_lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def read_samples(text: str) -> dict[str, float]:
    """Parse the page as Prometheus does: every line is a comment or a sample."""
    samples: dict[str, float] = {}
    for line in text.splitlines():
        if line.startswith("# "):
            assert re.fullmatch(r"# (HELP \w+ .+|TYPE \w+ (counter|gauge|histogram))", line), line
            continue
        found = re.fullmatch(r'(\w+(?:\{\w+="[^"\n]*"(?:,\w+="[^"\n]*")*\})?) (\S+)', line)
        assert found is not None, line
        assert found[1] not in samples, "each once"
        samples[found[1]] = float(found[2])
    return samples


def test_a_wave_is_told(
    company: Company, worker: Database, watching: TelemetryFanOut, stream: io.StringIO
) -> None:
    run_invoice(company, worker, watching)
    lines = read_lines(stream)
    (wave,) = [line for line in lines if line.get("message") == "wave"]
    assert wave["tenant_id"] == str(company.tenant_id)
    assert (wave["triggers"], wave["instances"], wave["dead"]) == (2, 1, 0)
    assert wave["steps"] > 5
    (whole,) = [line for line in lines if "WaveSize" in line]
    assert (whole["WaveSize"], whole["Steps"]) == ([1.0], [float(wave["steps"])])
    assert len(whole["TriggerWait"]) == 2
    taken = {line["node_type"]: line["StepsTaken"][0] for line in lines if "node_type" in line}
    assert taken["lifecycle_gate"] == 2
    assert sum(taken.values()) == wave["steps"]


def test_how_late_the_engine_comes_to_a_moment_is_told(
    company: Company, worker: Database, watching: TelemetryFanOut, stream: io.StringIO, admin: Admin
) -> None:
    company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, "number": "N-1"}))
    ids = put(admin, "events", company.tenant_id, "3 seconds", count=2)
    admin.execute("SET session_replication_role = replica")
    for row_id, made_before in zip(ids, ("1 hour", "0 seconds"), strict=True):
        admin.execute(
            "UPDATE workflow_events_outbox SET created_at = due_at - %s::interval WHERE id = %s",
            (made_before, row_id),
        )
    admin.execute("SET session_replication_role = origin")
    make_worker(worker, watching).work(company.tenant_id)
    (whole,) = [line for line in read_lines(stream) if "WaveSize" in line]
    (lag,) = whole["DueLag"]
    assert lag >= 3_000 and lag in whole["TriggerWait"] and len(whole["TriggerWait"]) == 3
    samples = {one.name: one.samples for one in watching.list_figures()}["signet_due_lag_seconds"]
    assert [value for suffix, _, value in samples if suffix == "_count"] == [1]


def test_an_instance_that_fails_is_told_without_its_words(
    company: Company, worker: Database, watching: TelemetryFanOut, stream: io.StringIO, admin: Admin
) -> None:
    made = company.documents.mutate(company.caller(), Create("invoice", {**INVOICE, "number": "hunter2"}))
    admin.execute("SET session_replication_role = replica")
    admin.execute("UPDATE workflow_instances SET definition_version = 99")
    admin.execute("SET session_replication_role = origin")
    make_worker(worker, watching).work(company.tenant_id)
    (failed,) = [line for line in read_lines(stream) if line.get("message") == "instance failed"]
    assert (failed["level"], failed["code"]) == ("ERROR", "DEFINITION_NOT_FOUND")
    assert failed["instance_id"] == str(made.instance_id)
    (wave,) = [line for line in read_lines(stream) if line.get("message") == "wave"]
    assert (wave["retried"], wave["steps"]) == (1, 0)
    assert "hunter2" not in stream.getvalue()


def test_leases_that_ran_out_are_told(
    company: Company, worker: Database, watching: TelemetryFanOut, stream: io.StringIO, admin: Admin
) -> None:
    put(admin, "events", company.tenant_id, "1 hour", status="processing", attempts=5)
    make_worker(worker, watching).work(company.tenant_id)
    (told,) = [line for line in read_lines(stream) if line.get("message") == "leases expired"]
    assert (told["level"], told["again"], told["dead"]) == ("WARNING", 0, 1)


def test_housekeeping_is_told(watching: TelemetryFanOut, stream: io.StringIO) -> None:
    watching.housekeeping_ended(HousekeepingReport("prune_events", "more", 500, 1.5, 30.0))
    watching.housekeeping_ended(
        HousekeepingReport("seal_audit", "failed", 0, 0.5, 0.0, ValueError("hunter2"))
    )
    lines = read_lines(stream)
    done, failed = [line for line in lines if line.get("message") == "housekeeping"]
    assert (done["level"], done["task"], done["rows"], done["lag_seconds"]) == (
        "INFO",
        "prune_events",
        500,
        30.0,
    )
    assert (failed["level"], failed["code"]) == ("ERROR", "ValueError")
    metrics = {line["task"]: line for line in lines if "TaskRows" in line}
    assert (metrics["prune_events"]["TaskRows"], metrics["prune_events"]["TaskLag"]) == ([500.0], [30.0])
    assert metrics["seal_audit"]["TaskFailures"] == [1.0]
    told = [line for line in lines if "HousekeepingFailures" in line]
    assert [line["HousekeepingFailures"] for line in told] == [[1.0]]
    assert "hunter2" not in stream.getvalue()
    shown = {figure.name: figure.samples for figure in watching.list_figures()}
    assert shown["signet_housekeeping_rows_total"][0][2] == 500


def test_what_is_stuck_is_told_with_what_helps(watching: TelemetryFanOut, stream: io.StringIO) -> None:
    tenant_id, instance_id = uuid4(), uuid4()
    watching.stuck_found(tenant_id, 12, [StuckInstance(instance_id, "ready", "wake")])
    told, counted = read_lines(stream)
    assert (told["level"], told["tenant_id"], told["count"]) == ("WARNING", str(tenant_id), 12)
    assert told["instances"] == [{"instance_id": str(instance_id), "why": "ready", "remedy": "wake"}]
    assert (counted["StuckInstances"], counted["tenant_id"]) == ([12.0], str(tenant_id))


def test_open_incidents_are_told_by_code(watching: TelemetryFanOut, stream: io.StringIO) -> None:
    watching.incidents_counted({"EFFECT_DEAD": 3, "OTHER": 1}, 2)
    told, unattended, *by_code = read_lines(stream)
    assert (told["level"], told["open"], told["unattended"]) == ("WARNING", {"EFFECT_DEAD": 3, "OTHER": 1}, 2)
    assert unattended["IncidentsUnattended"] == [2.0] and "code" not in unattended
    assert [(line["code"], line["Incidents"]) for line in by_code] == [
        ("EFFECT_DEAD", [3.0]),
        ("OTHER", [1.0]),
    ]
    watching.incidents_counted({}, 0)
    (none,) = read_lines(stream)[4:]
    assert none["IncidentsUnattended"] == [0.0], "a gauge comes back to nothing"


def test_an_attempt_to_deliver_is_told(
    company: Company, worker: Database, watching: TelemetryFanOut, stream: io.StringIO, admin: Admin
) -> None:
    admin.execute(
        "INSERT INTO endpoints (tenant_id, name, url, secret_refs, created_by)"
        " VALUES (%s, 'erp', 'https://erp.example', '{erp}', 'olga')",
        [company.tenant_id],
    )
    put(admin, "effects", company.tenant_id)
    put(admin, "effects", company.tenant_id, attempts=4)
    assert Effects(worker, {}, watching).work(company.tenant_id) == 2
    told = [line for line in read_lines(stream) if line.get("message") == "effect"]
    assert sorted((line["effect_type"], line["outcome"]) for line in told) == [
        ("webhook", "dead"),
        ("webhook", "failed"),
    ]
    assert sum(line.get("EffectDeadLetters", [0.0])[0] for line in read_lines(stream)) == 1
    (counted,) = [one for one in watching.list_figures() if one.name == "signet_effect_attempts_total"]
    assert sorted(labels["outcome"] for _, labels, _ in counted.samples) == ["dead", "failed"]


def test_no_line_of_metrics_has_more_than_the_format_takes(
    watching: TelemetryFanOut, stream: io.StringIO
) -> None:
    watching.wave_ended(WaveReport(uuid4(), "", waits=[1.0] * 250))
    (whole,) = [line for line in read_lines(stream) if "WaveSize" in line]
    assert len(whole["TriggerWait"]) == MAX_VALUES


def test_the_figures_of_everything(
    company: Company, database: Database, worker: Database, watching: TelemetryFanOut, admin: Admin
) -> None:
    client = Client(wire(database, telemetry=watching, metrics_token=TOKEN), company.tenant_id)
    run_invoice(company, worker, watching)
    client.get("/v1/health")
    client.get(f"/v1/documents/{uuid4()}")
    put(admin, "events", company.tenant_id, "2 hours", status="failed", count=2)
    put(admin, "effects", uuid4(), status="dead_letter", count=3)
    admin.execute(OPEN_INCIDENT, [company.tenant_id, uuid4(), uuid4()])
    answered = client.get("/metrics", authorization=f"Bearer {TOKEN}")
    assert (answered.status, answered.headers["content-type"].split(";")[0]) == (200, "text/plain")
    samples = read_samples(answered.text)
    assert samples['signet_outbox_rows{queue="events",status="failed"}'] == 2
    assert samples['signet_outbox_rows{queue="effects",status="dead_letter"}'] == 3
    assert 7_200 <= samples['signet_outbox_oldest_due_seconds{queue="events"}'] < 10_000
    assert samples['signet_outbox_expired_leases{queue="events"}'] == 0
    assert samples['signet_incidents{code="EFFECT_DEAD"}'] == 1
    assert samples['signet_incidents_unattended{code="EFFECT_DEAD"}'] == 1
    assert samples['signet_requests_total{method="GET",route="/v1/health",status="200"}'] == 1
    missing = 'signet_requests_total{method="GET",route="/v1/documents/<document_id>",status="404"}'
    assert samples[missing] == 1
    assert samples['signet_request_seconds_count{method="GET",route="/v1/health"}'] == 1
    assert samples["signet_wave_instances_sum"] == 1
    assert samples['signet_trigger_outcomes_total{outcome="done"}'] == 2
    assert samples['signet_trigger_outcomes_total{outcome="retried"}'] == 0
    assert samples["signet_trigger_wait_seconds_count"] == 2
    assert samples['signet_steps_total{node_type="lifecycle_gate"}'] == 2
    assert samples['signet_step_seconds_count{node_type="lifecycle_gate"}'] == 2
    assert samples["process_resident_memory_bytes"] > 1_000_000
    assert str(company.tenant_id) not in answered.text, "no label names a tenant"


@pytest.mark.parametrize("sent", ["Bearer no", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \ud800", ""])
def test_the_figures_are_for_whoever_has_the_token(company: Company, database: Database, sent: str) -> None:
    client = Client(wire(database, metrics_token=TOKEN), company.tenant_id)
    refused = client.get("/metrics", authorization=sent)
    # Another scheme brings no token of ours.
    code = "TOKEN_INVALID" if sent.startswith("Bearer") else "TOKEN_MISSING"
    assert (refused.status, refused.code) == (401, code)
    assert "www-authenticate" in refused.headers


def test_no_tenants_administrator_sees_them_and_without_a_token_nobody_does(
    company: Company, database: Database
) -> None:
    assert Client(wire(database, metrics_token=TOKEN), company.tenant_id).get("/metrics").status == 401
    closed = Client(wire(database), company.tenant_id)
    assert closed.get("/metrics", authorization=f"Bearer {TOKEN}").code == "TOKEN_INVALID"
    # Conversely, the metrics token opens no route of a tenant.
    opened = Client(wire(database, metrics_token=TOKEN), company.tenant_id)
    assert opened.get("/v1/health", authorization=f"Bearer {TOKEN}").status == 401


def test_a_histogram_counts_what_is_below_each_bound() -> None:
    figures = Figures()
    work = {"action": NodeWork(steps=4, seconds=0.08)}
    figures.add_wave(WaveReport(uuid4(), "", instances=7, seconds=0.3, work=work))
    shown = {figure.name: figure for figure in figures.list()}
    wave = {labels.get("le", suffix): value for suffix, labels, value in shown["signet_wave_seconds"].samples}
    assert (wave["0.25"], wave["0.5"], wave["+Inf"], wave["_count"], wave["_sum"]) == (0, 1, 1, 1, 0.3)
    steps = {(labels.get("le"), suffix): v for suffix, labels, v in shown["signet_step_seconds"].samples}
    assert steps["0.01", "_bucket"] == 0
    assert steps["0.025", "_bucket"] == steps[None, "_count"] == 4
    assert round(steps[None, "_sum"], 9) == 0.08


def test_ways_of_being_labelled_are_bounded_and_threads_lose_nothing() -> None:
    figures = Figures()

    def add(thread: int) -> None:
        for number in range(MAX_SERIES):
            figures.add_request(RequestReport("r", "", "GET", f"/{thread}/{number}", 200, 0.0))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (counted,) = [figure for figure in figures.list() if figure.name == "signet_requests_total"]
    assert len(counted.samples) == MAX_SERIES + 1
    assert sum(value for _, _, value in counted.samples) == 4 * MAX_SERIES
