"""`signet run` on a database of its own, with a tenant and fresh quotas for each row."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from bench.fairness.client import PlannedRequest, SentAnswer, ServerAddress, send
from signet.authoring.files import read_document
from signet.local.development_token import make_development_token, read_development_secret
from signet.local.member_token import OPERATOR_ROLE

CONTRACT = Path(__file__).with_name("contract.yaml")
TYPE = "ticket"
# By role; a designer may not decide anything, and `none` may do nothing at all.
ROLES: Mapping[str, Sequence[str]] = {
    "boss": ["*:*"],
    "clerk": [f"{TYPE}:*"],
    "designer": ["contract:*", "definition:*"],
    "none": [],
}
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class RunningSignet:
    address: ServerAddress
    secret: str

    def make_tenant(self) -> "BenchedTenant":
        tenant = BenchedTenant(self, uuid4())
        roles = [{"role": role, "permissions": permissions} for role, permissions in ROLES.items()]
        people = [{"user_id": name, "display_name": name, "roles": ["boss"]} for name in ("olga", "sleepy")]
        content = {"name": "fair", "roles": roles, "members": people}
        tenant.ask("otis", OPERATOR_ROLE, "PUT", f"/v1/tenants/{tenant.tenant_id}", content)
        contract, _ = read_document(CONTRACT)
        tenant.ask("olga", "boss", "POST", "/v1/contracts", contract)
        version = f"/v1/contracts/{TYPE}/versions/1"
        tenant.ask("olga", "boss", "POST", f"{version}/publish", {}, {"if-match": '"1"'})
        return tenant


@dataclass(frozen=True)
class BenchedTenant:
    stage: RunningSignet
    tenant_id: UUID

    def plan(
        self,
        person: str,
        role: str,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> PlannedRequest:
        """Plan a request of a person with one role; a body of bytes is sent as it is."""
        token = make_development_token(
            self.stage.secret, self.tenant_id, person, [role], 3_600, datetime.now(UTC)
        )
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        return PlannedRequest(method, path, token, raw, headers or {})

    def ask(self, *planned: Any) -> SentAnswer:
        """Send a request that must succeed."""
        request = self.plan(*planned)
        answered = send(self.stage.address, request)
        if not 200 <= answered.status < 300:
            raise RuntimeError(f"{request.method} {request.path}: {answered.status} {answered.text[:2000]!r}")
        return answered

    def make_documents(self, person: str, count: int, **data: object) -> list[str]:
        """Make documents in bulk, and return their paths."""
        contents = [{"number": f"{person}-{number}", **data} for number in range(count)]
        documents = [{"entity_type": TYPE, "data": content} for content in contents]
        # Some at a time, for they may be large.
        step = max(1, min(count, 500_000 // max(len(json.dumps(documents[0])), 1), 1_000))
        paths = []
        for begin in range(0, count, step):
            asked = {"documents": documents[begin : begin + step]}
            items = self.ask(person, "clerk", "POST", "/v1/documents/bulk", asked).body["items"]
            paths += [f"/v1/documents/{item['id']}" for item in items]
        return paths

    def make_draft(self, patch: Mapping[str, object]) -> str:
        """Save a draft of a patch, and return its path."""
        return self.ask("dora", "designer", "POST", "/v1/definitions", patch).headers["location"]

    def publish(self, patch: Mapping[str, object]) -> None:
        place = self.ask("olga", "boss", "POST", "/v1/definitions", patch).headers["location"]
        self.ask("olga", "boss", "POST", f"{place}/publish", {}, {"if-match": '"1"'})


@contextmanager
def running_stage() -> Iterator[RunningSignet]:
    with tempfile.TemporaryDirectory(prefix="signet-bench-") as folder:
        Path(folder).chmod(0o711)
        state = Path(folder) / "state"
        port = _find_free_port()
        command = [sys.executable, "-m", "signet.cli", "run", "--port", str(port), "--state", str(state)]
        environment = {**os.environ, "SIGNET_DATABASE_URL": ""}
        with (Path(folder) / "log").open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
            )
            try:
                _wait_until_it_serves(process)
                yield RunningSignet(ServerAddress("127.0.0.1", port), read_development_secret(state))
            finally:
                process.terminate()
                process.communicate(timeout=PATIENCE_SECONDS)


def _wait_until_it_serves(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("Ctrl-C"):
            return
    raise RuntimeError("signet run ended before it served")


def _find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port
