"""Signed calls to a service of AWS that speaks JSON, one at a time over a kept connection."""

import http.client
import json
import ssl
from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Lock
from typing import Any, Literal, NamedTuple, Protocol
from urllib.parse import urlsplit

from signet.aws.credentials import GetCredentials
from signet.aws.signing import SignatureScope, sign
from signet.aws_settings import AwsSettings
from signet.core.errors import Transient

CONNECT_SECONDS = 1.0
ANSWER_SECONDS = 2.0
MAX_ANSWER_BYTES = 262_144

Service = Literal["sqs", "secretsmanager", "scheduler"]


class Dialect(NamedTuple):
    """The protocol of a service that has one address for all of its operations."""

    target: str
    content_type: str


_DIALECTS: Mapping[Service, Dialect] = {
    "sqs": Dialect("AmazonSQS", "application/x-amz-json-1.0"),
    "secretsmanager": Dialect("secretsmanager", "application/x-amz-json-1.1"),
}


class SignedCall(Protocol):
    def call(self, operation: str, parameters: Mapping[str, Any]) -> dict[str, Any]: ...


class SignedCreate(Protocol):
    def create(self, path: str, parameters: Mapping[str, Any]) -> dict[str, Any]: ...


class CallFailed(Transient):
    """A refusal by a service, with its own name for it in `reason`; or a failure to reach the service."""

    def __init__(self, service: Service, reason: str) -> None:
        super().__init__("AWS_CALL_FAILED", f"{service}: {reason}")
        self.reason = reason


class SignedCalls:
    """Signed calls to one service."""

    def __init__(
        self,
        service: Service,
        settings: AwsSettings,
        credentials: GetCredentials,
        clock: Callable[[], datetime],
    ) -> None:
        self._service: Service = service
        self._region = settings.region
        self._credentials = credentials
        self._clock = clock
        self._place = urlsplit(settings.find_endpoint(service))
        self._lock = Lock()
        self._connection: http.client.HTTPConnection | None = None

    def call(self, operation: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        dialect = _DIALECTS[self._service]
        headers = {"content-type": dialect.content_type, "x-amz-target": f"{dialect.target}.{operation}"}
        return self._post("/", headers, parameters)

    def create(self, path: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Create a thing in a service that has an address for each; `path` needs no quoting."""
        return self._post(path, {"content-type": "application/json"}, parameters)

    def close(self) -> None:
        """Close the connection, so that a process that was frozen or restored makes a new one."""
        with self._lock:
            self._drop()

    def _post(self, path: str, headers: Mapping[str, str], parameters: Mapping[str, Any]) -> dict[str, Any]:
        body = json.dumps(parameters, separators=(",", ":")).encode()
        path = self._place.path.rstrip("/") + path
        scope = SignatureScope(self._region, self._service, self._clock())
        signed = sign(self._credentials(), scope, self._place.netloc, path, headers, body)
        try:
            with self._lock:
                status, answer = self._send_once(path, signed, body)
        except (OSError, http.client.HTTPException) as error:
            raise CallFailed(self._service, type(error).__name__) from error
        return self._read(status, answer)

    def _send_once(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """Send a request, and send it again over a new connection if the kept one is gone.

        The other side closes idle connections.
        """
        connection = self._connection
        if connection is not None:
            try:
                return self._send(connection, path, headers, body)
            except (OSError, http.client.HTTPException):
                self._drop()
        self._connection = self._connect()
        try:
            return self._send(self._connection, path, headers, body)
        except BaseException:
            self._drop()
            raise

    def _send(
        self, connection: http.client.HTTPConnection, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, bytes]:
        connection.request("POST", path, body, dict(headers))
        answer = connection.getresponse()
        # An unread rest would be taken for the next answer.
        content = answer.read(MAX_ANSWER_BYTES)
        if not answer.isclosed():
            self._drop()
        return answer.status, content

    def _connect(self) -> http.client.HTTPConnection:
        host, port = str(self._place.hostname), self._place.port
        if self._place.scheme == "http":
            connection = http.client.HTTPConnection(host, port, timeout=CONNECT_SECONDS)
        else:
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(host, port, timeout=CONNECT_SECONDS, context=context)
        connection.connect()
        connection.sock.settimeout(ANSWER_SECONDS)
        return connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _read(self, status: int, answer: bytes) -> dict[str, Any]:
        try:
            content = json.loads(answer) if answer else {}
        except ValueError:
            content = None
        if not isinstance(content, dict):
            raise CallFailed(self._service, f"answered {status} with something unreadable")
        if status != http.client.OK:
            raise CallFailed(self._service, str(content.get("__type", status)).rpartition("#")[2])
        return content
