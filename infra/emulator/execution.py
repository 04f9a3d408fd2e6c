"""Runs every Python function of ministack under the real runtime client instead of ministack's own worker.

An environment is ministack's notion of one warm process: it leases environments to invocations, and reaps
idle ones.
"""

import hashlib
import io
import json
import os
import re
import sys
import threading
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ministack.core import lambda_runtime
from ministack.services import lambda_svc, sts

from infra.emulator.function_process import INIT_SECONDS, FunctionProcess, InvocationOutcome, StartFailed
from infra.emulator.plan import EmulatorPlan
from infra.emulator.runtime_api import Invocation

_CREDENTIALS_SECONDS = 7 * 86_400
_CERTIFICATES = re.compile(r"/opt/certificates/[\w.-]+")
_extracting = threading.Lock()


def run_functions_as_lambda_does(plan: EmulatorPlan) -> None:
    choose_other = lambda_runtime._worker_class_for
    execute_other = lambda_svc._execute_function_warm

    def is_python(config: Mapping[str, Any]) -> bool:
        return str(config.get("Runtime", "")).startswith("python")

    def choose(config: dict[str, Any]) -> Any:
        return (
            type("Environment", (Environment,), {"plan": plan}) if is_python(config) else choose_other(config)
        )

    def execute(function: dict[str, Any], event: Any, request_id: str) -> Any:
        config = function.get("config") or function
        way = lambda_svc._execute_function_provided_warm if is_python(config) else execute_other
        return way(function, event, request_id)

    lambda_runtime._worker_class_for = choose
    lambda_svc._execute_function_warm = execute


class Environment(lambda_runtime.Worker):  # type: ignore[misc]  # ministack has no types
    plan: EmulatorPlan

    def __init__(self, name: str, config: dict[str, Any], code: bytes) -> None:
        super().__init__(name, config, code)
        self._running: FunctionProcess | None = None

    def invoke(
        self, event: Any, request_id: str, *, trace_id: str | None = None, invoked_function_arn: str = ""
    ) -> dict[str, Any]:
        with self._lock:
            was_cold = not self._is_running
            if was_cold:
                self._spawn()
            seconds = float(self.config.get("Timeout", 3))
            deadline = int((time.time() + seconds) * 1000)
            payload = json.dumps(event).encode()
            running = self._running
            assert running is not None
            outcome = running.invoke(
                Invocation(request_id, payload, deadline, invoked_function_arn, trace_id), seconds
            )
            self._note()
            return _describe(outcome, running.take_output(), was_cold)

    def _spawn(self) -> None:
        """Start the process. With SnapStart ministack calls this before the first request too."""
        folder = _extract(self.plan.state / "code", self.code_zip)
        environment = make_environment(self.plan, self.config, folder)
        seconds = INIT_SECONDS
        while True:
            started = self._running = FunctionProcess(
                self.plan.function_python, self.config["Handler"], folder, environment
            )
            try:
                started.await_start(seconds)
            except TimeoutError as error:
                # Lambda repeats a slow start once, with the function's own time.
                if seconds != INIT_SECONDS:
                    raise StartFailed(str(error)) from None
                seconds = max(INIT_SECONDS + 1, float(self.config.get("Timeout", 3)))
            else:
                self._note()
                return

    @property
    def _is_running(self) -> bool:
        return self._running is not None and self._running.is_alive

    def _note(self) -> None:
        """Write the fields from which ministack learns that the environment lives."""
        self._proc = self._running.process if self._is_running and self._running else None
        self._cold = False

    def _discard_tmpdir(self) -> None:
        """End the process; ministack calls this when it has ended its own."""
        if self._running is not None:
            self._running.end()


def _describe(outcome: InvocationOutcome, log: str, was_cold: bool) -> dict[str, Any]:
    report = {"cold_start": was_cold, "log": log}
    if outcome.problem is None:
        return {"status": "ok", "result": outcome.body, **report}
    return {
        "status": "error",
        "error": outcome.problem.get("errorMessage", ""),
        "error_payload": outcome.problem,
        **report,
    }


def make_environment(plan: EmulatorPlan, config: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Return only the variables of Lambda, of the template and of this machine's doors, none of our own."""
    name, region = config["FunctionName"], plan.region
    layers = [
        _extract(plan.state / "layers", content) / "python"
        for reference in config.get("Layers") or ()
        if (content := lambda_svc._resolve_layer_zip(reference)) is not None
    ]
    return {
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "TZ": ":UTC",
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join(str(path) for path in (folder, *layers, plan.function_runtime)),
        "LAMBDA_TASK_ROOT": str(folder),
        "LAMBDA_RUNTIME_DIR": str(plan.function_runtime),
        "AWS_EXECUTION_ENV": f"AWS_Lambda_python{sys.version_info.major}.{sys.version_info.minor}",
        "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
        "AWS_LAMBDA_FUNCTION_NAME": name,
        "AWS_LAMBDA_FUNCTION_VERSION": config.get("Version", "$LATEST"),
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(config.get("MemorySize", 128)),
        "AWS_LAMBDA_LOG_GROUP_NAME": config.get("LoggingConfig", {}).get("LogGroup") or f"/aws/lambda/{name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": hashlib.sha256(os.urandom(16)).hexdigest()[:32],
        "AWS_REGION": region,
        "AWS_DEFAULT_REGION": region,
        "_HANDLER": config["Handler"],
        **_make_credentials(config),
        **{
            name: _find_below_opt(plan, value) for name, value in lambda_svc._runtime_env_vars(config).items()
        },
        "AWS_ENDPOINT_URL": plan.gateway_url,
        **_lead_to_doors(plan),
    }


def _make_credentials(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the credentials of the function's role."""
    credentials: dict[str, str] = lambda_runtime.execution_credentials(config)
    session = sts._sessions.get(credentials["AWS_ACCESS_KEY_ID"])
    if session is not None:
        # On AWS they expire, and their checker reads when; no run lasts that long.
        session.setdefault("Expiration", time.time() + _CREDENTIALS_SECONDS)
    return {name: value for name, value in credentials.items() if value}


def _find_below_opt(plan: EmulatorPlan, value: str) -> str:
    """Replace paths below /opt, which a function does not have here; only certificates are named there."""
    return _CERTIFICATES.sub(str(plan.authority), value)


def _lead_to_doors(plan: EmulatorPlan) -> dict[str, str]:
    """Return variables that lead to local doors; names of AWS keep their certificates and signatures."""
    return {
        "PGHOSTADDR": "127.0.0.1",
        "PGPORT": str(plan.door_port),
        "PGSSLROOTCERT": str(plan.authority),
        "SSL_CERT_FILE": str(plan.authority),
    }


def _extract(place: Path, content: bytes) -> Path:
    """Extract the content once: environments of one function share the files, which they only read."""
    folder = place / hashlib.sha256(content).hexdigest()[:24]
    with _extracting:
        if not folder.exists():
            unfinished = folder.with_suffix(".unfinished")
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                lambda_svc._extract_zip_preserving_mode(archive, str(unfinished))
            unfinished.rename(folder)
    return folder
