"""CPU milliseconds of a fresh process with bytecode: to import the API handler, and to answer once."""

import compileall
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.api import SETTINGS, make_event
from bench.company import BenchTenant, durable_server, make_tenants, open_database
from signet.store.schema.server import act_as

ROOT = Path(__file__).resolve().parents[1]
RUNS = 15
GOAL_MILLISECONDS = 150
_PROBE = """
import json, sys, time
event, answers = json.load(sys.stdin), sys.stdout
# What the handler logs is made and thrown away.
sys.stdout = open("/dev/null", "w")
start = time.process_time()
{}
print((time.process_time() - start) * 1000, file=answers)
"""
HANDLER = "functions.api.handler"
# The libraries that it imports, each alone in a process of its own.
PARTS = {
    HANDLER: "import functions.api.handler",
    "  psycopg and its pool alone": "import psycopg, psycopg_pool",
    "  pydantic alone": "import pydantic",
    "  Powertools resolver alone": "from aws_lambda_powertools.event_handler import APIGatewayHttpResolver",
    "boto3, for comparison": "import boto3",
    "signet.wiring.engine": "import signet.wiring.engine",
    "everything, for a snapshot": "from signet.wiring.api import load_everything; load_everything()",
}
_ANSWER = """
from functions.api.handler import handler
answer = handler(event, None)
assert answer["statusCode"] == 200, answer
"""


def measure() -> Iterator[str]:
    for folder in ["shared", "functions"]:
        compileall.compile_dir(ROOT / folder, quiet=1)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment |= SETTINGS
    with durable_server() as url:
        database = open_database(url, 1)
        (tenant,) = make_tenants(database, [1])
        database.close()
        environment["SIGNET_DATABASE_URL"] = act_as(url, "signet_api")
        for label, statement in PARTS.items():
            yield _measure(label, statement, environment, {})
        for name, path in _list_first_requests(tenant).items():
            yield _measure(f"import and answer {name}", _ANSWER, environment, make_event(path, tenant))


def _list_first_requests(tenant: BenchTenant) -> Mapping[str, str]:
    return {
        "/openapi.json": "/openapi.json",
        "GET health": "/v1/health",
        "GET document": f"/v1/documents/{tenant.document_ids[0]}",
        "GET instances": "/v1/instances",
    }


def _measure(label: str, statement: str, environment: Mapping[str, str], event: Mapping[str, object]) -> str:
    runs = [_measure_once(statement, environment, event) for _ in range(RUNS)]
    goal = f"   goal ≤ {GOAL_MILLISECONDS} ms" if label == HANDLER else ""
    return f"{label:32} {min(runs):6.1f} ms best, {statistics.median(runs):6.1f} ms median{goal}"


def _measure_once(statement: str, environment: Mapping[str, str], event: Mapping[str, object]) -> float:
    completed = subprocess.run(
        [sys.executable, "-c", _PROBE.format(statement)],
        input=json.dumps(event),
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return float(completed.stdout)
