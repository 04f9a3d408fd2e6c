"""CPU milliseconds that a fresh process needs to import the API handler, bytecode present."""

import compileall
import os
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUNS = 15
GOAL_MILLISECONDS = 150
_PROBE = "import time; start = time.process_time(); {}; print((time.process_time() - start) * 1000)"
# Each of what the handler stands on, alone in a process of its own.
PARTS = {
    "functions.api.handler, wired": "import functions.api.handler, signet.wiring.api",
    "  psycopg and its pool alone": "import psycopg, psycopg_pool",
    "  pydantic alone": "import pydantic",
    "  Powertools resolver alone": "from aws_lambda_powertools.event_handler import APIGatewayHttpResolver",
    "boto3, for comparison": "import boto3",
}


def measure() -> list[str]:
    for folder in ["shared", "functions"]:
        compileall.compile_dir(ROOT / folder, quiet=1)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    lines = []
    for label, statement in PARTS.items():
        runs = [_measure_once(statement, environment) for _ in range(RUNS)]
        goal = f"   goal ≤ {GOAL_MILLISECONDS} ms" if label.startswith("functions") else ""
        lines.append(f"{label:32} {min(runs):6.1f} ms best, {statistics.median(runs):6.1f} ms median{goal}")
    return lines


def _measure_once(statement: str, environment: dict[str, str]) -> float:
    completed = subprocess.run(
        [sys.executable, "-c", _PROBE.format(statement)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return float(completed.stdout)
