"""The janitor's function as the schedule starts it: over its own wiring, in its role."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import psycopg
import pytest
from aws_lambda_powertools.utilities.typing import LambdaContext

from functions.janitor.handler import RESERVE_SECONDS, handler
from signet.core.errors import Defect
from signet.engine.housekeeping import sealing
from signet.engine.housekeeping.task_run import TaskRun
from signet.settings import Settings
from signet.store.database import Database
from signet.store.wake_ups import Wake
from signet.wiring import housekeeping as wiring
from signet.wiring import process
from tests.engine.conftest import Company
from tests.pooling.reaching import as_role
from tests.simulation.deployment import Context
from tests.store.queued import put, read

EVENT = json.loads((Path(__file__).parent / "events" / "scheduled_start.json").read_text(encoding="utf-8"))
_CACHES = [process.get_settings, process.get_telemetry, wiring.get_housekeeping]
Admin = psycopg.Connection[tuple[Any, ...]]


@pytest.fixture
def deployed(owner_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SIGNET_DATABASE_URL", as_role(owner_url, "signet_janitor"))
    monkeypatch.setenv("SIGNET_ENVIRONMENT", "dev")
    # A logger of its own writes to the stream of this test.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"test-{uuid4()}")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "signet-test")
    monkeypatch.setenv("SIGNET_RETENTION_OUTBOX_DAYS", "10")
    opened: list[Database] = []

    def open_database(settings: Settings, wake: Wake) -> Database:
        opened.append(process.make_database(settings, wake))
        return opened[-1]

    monkeypatch.setattr(wiring, "make_database", open_database)
    for cached in _CACHES:
        cached.cache_clear()
    yield
    for database in opened:
        database.close()
    for cached in _CACHES:
        cached.cache_clear()


def start(event: dict[str, Any], remaining_ms: int = 300_000) -> dict[str, Any]:
    return handler(event, cast(LambdaContext, Context(remaining_ms=remaining_ms)))


def read_metrics(text: str) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines()]
    return {line["task"]: line for line in lines if "_aws" in line and "task" in line}


@pytest.mark.parametrize("event", [EVENT, {}], ids=["as the schedule says it", "as the stack says it"])
def test_a_start_does_what_is_due_and_tells_it(
    deployed: None, company: Company, admin: Admin, capsys: pytest.CaptureFixture[str], event: dict[str, Any]
) -> None:
    (expired,) = put(admin, "effects", company.tenant_id, "1 hour", status="processing")
    (done,) = put(admin, "effects", company.tenant_id, status="completed")
    admin.execute(
        "UPDATE workflow_side_effects_outbox SET completed_at = now() - interval '11 days' WHERE id = %s",
        [done],
    )
    answer = start(event)
    assert answer["failed"] == [] and answer["runs"] >= 15
    assert read(admin, "effects", "status", [expired, done]) == [("pending",)]
    metrics = read_metrics(capsys.readouterr().out)
    assert metrics["prune_effects"]["TaskRows"] == metrics["free_effects"]["TaskRows"] == [1.0]
    assert {"TaskSeconds", "TaskLag", "TaskFailures"} <= set(metrics["seal_audit"])
    assert start(event) == {"runs": 0, "failed": []}, "nothing is due again"


def test_a_task_that_fails_is_named_and_the_call_is_answered(
    deployed: None,
    company: Company,
    admin: Admin,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(turn: TaskRun) -> None:
        raise Defect("BROKEN", "hunter2")

    monkeypatch.setattr(sealing, "seal_tenants", fail)
    answer = start(EVENT)
    assert answer["failed"] == ["seal_audit"] and answer["runs"] >= 15
    told = capsys.readouterr().out
    assert read_metrics(told)["seal_audit"]["TaskFailures"] == [1.0]
    assert '"code":"BROKEN"' in told and "hunter2" not in told


def test_nothing_is_begun_that_the_time_is_too_short_for(deployed: None, company: Company) -> None:
    assert start(EVENT, remaining_ms=int(RESERVE_SECONDS * 1_000)) == {"runs": 0, "failed": []}
