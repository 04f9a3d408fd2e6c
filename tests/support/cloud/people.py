"""People of the tenant, over HTTP, with tokens of the issuer."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any, TypeVar
from uuid import uuid4

ANSWER_SECONDS = 30.0
# Anything on this machine may take so long; after that it does not happen.
PATIENCE_SECONDS = 30.0
_POLL_SECONDS = 0.02
Found = TypeVar("Found")


@dataclass(frozen=True)
class DeployedAnswer:
    status: int
    headers: Message
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    @property
    def etag(self) -> str:
        return str(self.headers["etag"])

    def expect(self, *statuses: int) -> "DeployedAnswer":
        assert self.status in statuses, f"{self.status}: {self.text}"
        return self


@dataclass(frozen=True)
class DeployedCaller:
    url: str
    token: str | None = None

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> DeployedAnswer:
        """Send a request. Header names have `_` where HTTP has a hyphen."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token is not None:
            sent["authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            sent["content-type"] = "application/json"
        request = urllib.request.Request(self.url + path, data, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
                return DeployedAnswer(answer.status, answer.headers, answer.read().decode())
        except urllib.error.HTTPError as answer:
            with answer:
                return DeployedAnswer(answer.code, answer.headers, answer.read().decode())

    def get(self, path: str, **headers: str) -> DeployedAnswer:
        return self.call("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> DeployedAnswer:
        return self.call("POST", path, body, **{"idempotency_key": str(uuid4()), **headers})


def await_that(find: Callable[[], Found | None], what: str) -> Found:
    """Return what is found in the end, asking again and again because no message tells when."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := find()):
        assert time.monotonic() < deadline, f"never: {what}"
        time.sleep(_POLL_SECONDS)
    return found


def make_trace() -> Mapping[str, str]:
    """Make a traceparent header of our own, and the id that every hop must then name."""
    trace = uuid4().hex
    return {"id": trace, "traceparent": f"00-{trace}-{uuid4().hex[:16]}-01"}
