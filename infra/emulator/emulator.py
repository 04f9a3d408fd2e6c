"""AWS on one machine for as long as it is needed: Postgres, an issuer, ministack; all gone afterwards.

with running_emulator() as emulator: ...
"""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import boto3

from infra.emulator.certificates import make_authority
from infra.emulator.issuer import EmulatedIssuer, running_issuer
from infra.emulator.plan import EmulatorPlan
from infra.emulator.state_folder import open_state_folder
from signet.local.postgres import PostgresServer, throwaway_postgres

ROOT = Path(__file__).resolve().parents[2]
# `make` installs these: ministack with its own libraries, and the runtime that Lambda has beside a function.
TOOLS = ROOT / ".venv-emulator"
REGION = "us-east-1"
START_SECONDS = 60.0
STOP_SECONDS = 10.0
QUOTED_LOG_LINES = 20
_POLL_SECONDS = 0.02


class EmulatorFailed(Exception):
    pass


@dataclass(frozen=True)
class Emulator:
    plan: EmulatorPlan
    issuer: EmulatedIssuer
    postgres: PostgresServer
    pid: int

    @property
    def session(self) -> boto3.Session:
        """Return a session of the account's root, who may do everything."""
        return boto3.Session(
            aws_access_key_id="test", aws_secret_access_key="test", region_name=self.plan.region
        )

    @property
    def log(self) -> Path:
        return self.plan.state / "emulator.log"

    def make_api_url(self, api_id: str) -> str:
        """Return the API's URL. Its path names the API, because Python resolves no names below localhost."""
        return f"{self.plan.gateway_url}/_aws/execute-api/{api_id}/$default"


@contextmanager
def running_emulator() -> Iterator[Emulator]:
    """Run the emulator. Call it from the main thread only, as its Postgres demands."""
    with (
        throwaway_postgres() as postgres,
        running_issuer() as issuer,
        open_state_folder() as state,
    ):
        plan = _make_plan(state, postgres)
        make_authority(plan.authority, plan.authority_key)
        _trust_own_socket(postgres)
        with _running_ministack(plan) as process:
            yield Emulator(plan, issuer, postgres, process.pid)


def _make_plan(state: Path, postgres: PostgresServer) -> EmulatorPlan:
    gateway_port, door_port = _find_free_ports(2)
    return EmulatorPlan(
        region=REGION,
        gateway_port=gateway_port,
        state=state,
        # The interpreter without our environment: a function has its bundle and the runtime of Lambda.
        function_python=Path(getattr(sys, "_base_executable", sys.executable)),
        function_runtime=TOOLS / "runtime",
        authority=state / "authority.pem",
        authority_key=state / "authority.key",
        database_folder=postgres.socket_directory,
        database_port=postgres.port,
        door_port=door_port,
    )


def _find_free_ports(count: int) -> list[int]:
    """Return different ports: all are held until the last is found."""
    held = [socket.socket() for _ in range(count)]
    try:
        for socket_ in held:
            socket_.bind(("127.0.0.1", 0))
        return [socket_.getsockname()[1] for socket_ in held]
    finally:
        for socket_ in held:
            socket_.close()


def _trust_own_socket(postgres: PostgresServer) -> None:
    """Let Postgres trust its socket, which only the door and root can reach. The door checks its clients."""
    import psycopg

    rules = postgres.data_directory / "pg_hba.conf"
    lines = "SELECT 'local all all trust' UNION ALL SELECT 'host all all 127.0.0.1/32 scram-sha-256'"
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"COPY ({lines}) TO '{rules}'".encode())
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def _running_ministack(plan: EmulatorPlan) -> Iterator[subprocess.Popen[bytes]]:
    plan_file = plan.state / "plan.json"
    plan.write(plan_file)
    with (plan.state / "emulator.log").open("wb") as log:
        process = subprocess.Popen(
            [str(TOOLS / "bin" / "python"), "-m", "infra.emulator.launcher", str(plan_file)],
            cwd=ROOT,
            env={"PATH": os.defpath, "HOME": str(plan.state), "LANG": "C.UTF-8"},
            stdin=subprocess.PIPE,  # The emulator ends when this closes.
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal is for this process alone.
        )
    try:
        _await_ready(plan, process)
        yield process
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_ready(plan: EmulatorPlan, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not _is_ready(plan):
        if process.poll() is not None or time.monotonic() > deadline:
            log = (plan.state / "emulator.log").read_text(errors="replace").splitlines()
            raise EmulatorFailed("ministack did not start:\n" + "\n".join(log[-QUOTED_LOG_LINES:]))
        time.sleep(_POLL_SECONDS)


def _is_ready(plan: EmulatorPlan) -> bool:
    try:
        with urllib.request.urlopen(f"{plan.gateway_url}/_ministack/health", timeout=1) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, OSError):
        return False
