"""One request over HTTP on a connection of its own, as one person sends it."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# In place of a status: nobody answered.
NO_ANSWER = 0
TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class ServerAddress:
    host: str
    port: int


@dataclass(frozen=True)
class PlannedRequest:
    method: str
    path: str
    token: str
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    def list_headers(self) -> dict[str, str]:
        sent = {"authorization": f"Bearer {self.token}", **self.headers}
        return {**sent, "content-type": "application/json"} if self.body else sent


@dataclass(frozen=True)
class SentAnswer:
    status: int
    headers: Mapping[str, str]
    text: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.text)


def send(address: ServerAddress, request: PlannedRequest) -> SentAnswer:
    connection = http.client.HTTPConnection(address.host, address.port, timeout=TIMEOUT_SECONDS)
    try:
        return send_on(connection, request)
    except (OSError, http.client.HTTPException):
        return SentAnswer(NO_ANSWER, {}, b"")
    finally:
        connection.close()


def send_on(connection: http.client.HTTPConnection, request: PlannedRequest) -> SentAnswer:
    connection.request(request.method, request.path, request.body or None, request.list_headers())
    answer = connection.getresponse()
    headers = {name.lower(): value for name, value in answer.getheaders()}
    return SentAnswer(answer.status, headers, answer.read())
