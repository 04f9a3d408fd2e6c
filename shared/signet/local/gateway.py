"""The local API Gateway: HTTP on the loopback in, real HTTP API events (payload format 2.0) to a handler.

It treats a request as AWS does, surprises included. The path arrives decoded (and ends at a decoded `?`), the
query string as sent, cookies apart from the headers. Refusals are `{"message": …}`, as on AWS. Many threads
call the handler at once.
"""

import ipaddress
import json
import logging
import re
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from email.message import Message
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import unquote_to_bytes

from signet.core.errors import Rejected
from signet.local.gateway_event import (
    CONTROL,
    TOKEN,
    GatewayRequest,
    GatewayResponse,
    make_context,
    make_event,
    parse_answer,
)

Handler = Callable[[dict[str, Any], Any], object]

MAX_CONNECTIONS = 64
MAX_BACKLOG = 128
BURST_SECONDS = 1.0
MAX_BODY_BYTES = 6 * 1_048_576
MAX_HEADER_BYTES = 10_240
MAX_DRAINED_BYTES = 16 * 1_048_576
IDLE_SECONDS = 30.0
DRAIN_SECONDS = 1.0
STOP_SECONDS = 5.0
POLL_SECONDS = 0.05
_CHUNK_BYTES = 65_536
_REQUEST_LINE = re.compile(rb"[!-~]+ [!-~]+ HTTP/1\.[01]\r?\n")
_ORIGIN = re.compile(r"https?://[^/#]*", re.IGNORECASE)
_LOG = logging.getLogger("signet.local.gateway")


class GatewayFailed(Rejected):
    """A failure to open the gateway, for a reason that its user can change."""


class Gateway:
    """A local gateway, which answers once it has a handler.

    It holds its port from the start, so that a taken one is known early.
    """

    def __init__(self, host: str, port: int) -> None:
        address = _check_loopback(host)
        try:
            self._server = _GatewayServer(address, port)
        except (OSError, OverflowError) as error:
            reason = error.strerror if isinstance(error, OSError) else "there is no such port"
            raise GatewayFailed(
                "GATEWAY_PORT_TAKEN",
                f"Port {port} cannot be used ({reason}). Choose another with PORT=, as in make run PORT=8701",
            ) from None
        shown = f"[{address}]" if ":" in address else address
        self.url = f"http://{shown}:{self._server.server_address[1]}"
        self._thread: threading.Thread | None = None

    def start(self, handler: Handler) -> None:
        """Answer in a thread of the gateway's own, until `stop`."""
        self._server.handler = handler
        self._thread = threading.Thread(target=self._server.serve, name="gateway", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Refuse new requests, let those in progress finish (for some seconds), and free the port."""
        self._server.end()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)


@contextmanager
def open_gateway(host: str, port: int) -> Iterator[Gateway]:
    """Open a gateway; port 0 takes any free one."""
    gateway = Gateway(host, port)
    try:
        yield gateway
    finally:
        gateway.stop()


def _check_loopback(host: str) -> str:
    """Return the address of a name for this machine; the gateway is for development, and local only."""
    address = "127.0.0.1" if host.lower() == "localhost" else host
    if not _is_loopback(address):
        raise GatewayFailed(
            "GATEWAY_HOST_NOT_LOOPBACK", f"The local gateway listens on the loopback only, not on {host}."
        )
    return address


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost" or host.lower().endswith(".localhost")


class _GatewayServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A server with a thread for each connection, and a bounded number of connections."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = MAX_BACKLOG

    def __init__(self, address: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.handler: Handler | None = None
        self._connections: set[socket.socket] = set()
        self._changed = threading.Condition()
        self._serving = self._ended = False
        # The last place may have been taken a moment ago. Until then nobody is refused.
        self._full_until = 0.0
        super().__init__((address, port), _GatewayConnection)

    def serve(self) -> None:
        with self._changed:
            if self._ended:
                return
            self._serving = True
        self.serve_forever(POLL_SECONDS)

    def end(self) -> None:
        with self._changed:
            self._ended = True
        if self._serving:
            self.shutdown()
        self.server_close()
        with self._changed:
            for connection in self._connections:
                # A thread that waits for another request reads the end; one that answers still can.
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RD)
            self._changed.wait_for(lambda: not self._connections, STOP_SECONDS)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            # The rest of a burst waits in the backlog until a place is free, but not for long.
            admitted = self._changed.wait_for(self._has_place, max(self._full_until - time.monotonic(), 0.0))
            if admitted:
                self._connections.add(request)
                self._full_until = time.monotonic() + BURST_SECONDS
        if admitted:
            super().process_request(request, client_address)
            return
        with suppress(OSError):
            request.sendall(_as_bytes(_refusal(HTTPStatus.SERVICE_UNAVAILABLE), closing=True, bodiless=False))
        self.shutdown_request(request)

    def _has_place(self) -> bool:
        return len(self._connections) < MAX_CONNECTIONS

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._connections.discard(request)
            self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            _LOG.exception("a connection ended with an error")


class _GatewayConnection(BaseHTTPRequestHandler):
    """One client's connection: request after request, until either side ends it."""

    server: _GatewayServer
    raw_requestline: bytes
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS
    wbufsize = _CHUNK_BYTES

    def parse_request(self) -> bool:
        if not _REQUEST_LINE.fullmatch(self.raw_requestline):
            self.command = ""
            self.send_error(HTTPStatus.BAD_REQUEST)
            return False
        return super().parse_request()

    def handle_expect_100(self) -> bool:
        return True  # sent by _serve, once the headers have passed

    def _serve(self) -> None:
        started = time.perf_counter()
        refused = _check_headers(self.headers, len(self.raw_requestline))
        target = _parse_target(self.path)
        if refused is not None or target is None:
            self.send_error(refused or HTTPStatus.BAD_REQUEST)
            return
        body = self._read_body()
        if body is None:
            self.close_connection = True
            return
        answer = self._call_handler(*target, body)
        self._send(answer)
        elapsed = (time.perf_counter() - started) * 1000
        _LOG.info("%s %s %d %.1f ms", self.command, target[0], answer.status, elapsed)

    do_DELETE = do_GET = do_HEAD = do_OPTIONS = do_PATCH = do_POST = do_PUT = do_TRACE = do_QUERY = _serve

    def _read_body(self) -> bytes | None:
        length = int(self.headers.get("Content-Length", "0"))
        if self.headers.get("Expect", "").lower() == "100-continue" and length:
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.wfile.flush()
        body = self.rfile.read(length)
        return body if len(body) == length else None

    def _call_handler(self, path: str, query: str, body: bytes) -> GatewayResponse:
        request = GatewayRequest(
            method=self.command,
            path=path,
            query=query,
            protocol=self.request_version,
            headers=self.headers.items(),
            body=body,
            source_ip=self.client_address[0],
            port=self.server.server_address[1],
        )
        try:
            if self.server.handler is None:
                return _refusal(HTTPStatus.SERVICE_UNAVAILABLE)
            return parse_answer(self.server.handler(make_event(request), make_context()))
        except Exception:
            _LOG.exception("the handler failed on %s %s", self.command, path)
            return _refusal(HTTPStatus.INTERNAL_SERVER_ERROR)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Send an error and end the connection, because the rest of its input cannot be trusted."""
        self.close_connection = True
        self._send(_refusal(HTTPStatus(code)))
        self._drain()

    def _send(self, answer: GatewayResponse) -> None:
        bodiless = self.command == "HEAD"
        self.wfile.write(_as_bytes(answer, closing=self.close_connection, bodiless=bodiless))
        self.wfile.flush()

    def _drain(self) -> None:
        """Read the rest, because closing over unread bytes resets the connection and may lose the answer."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(DRAIN_SECONDS)
            deadline, drained = time.monotonic() + STOP_SECONDS, 0
            while drained < MAX_DRAINED_BYTES and time.monotonic() < deadline:
                chunk = len(self.connection.recv(_CHUNK_BYTES))
                if not chunk:
                    break
                drained += chunk

    def log_message(self, format: str, *args: object) -> None:
        _LOG.debug(format, *args)


def _check_headers(headers: Message, request_line_bytes: int) -> HTTPStatus | None:
    """Refuse headers that two readers could understand in two ways, or that are too large."""
    pairs = headers.items()
    if request_line_bytes + sum(len(name) + len(value) for name, value in pairs) > MAX_HEADER_BYTES:
        return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    # The parser stops at a line that is no header and takes the rest for a payload.
    if headers.defects or headers.get_payload():
        return HTTPStatus.BAD_REQUEST
    if not all(TOKEN.fullmatch(name) and not CONTROL.search(value) for name, value in pairs):
        return HTTPStatus.BAD_REQUEST
    return _check_host(headers) or _check_length(headers)


def _check_host(headers: Message) -> HTTPStatus | None:
    hosts = headers.get_all("Host", [])
    if len(hosts) != 1:
        return HTTPStatus.BAD_REQUEST
    name = re.sub(r":\d*$", "", hosts[0].strip()).strip("[]")
    # A web page that wants to read the answers makes another name point here (DNS rebinding).
    return None if _is_loopback(name) else HTTPStatus.MISDIRECTED_REQUEST


def _check_length(headers: Message) -> HTTPStatus | None:
    lengths = headers.get_all("Content-Length", [])
    if "Transfer-Encoding" in headers:
        return HTTPStatus.BAD_REQUEST if lengths else HTTPStatus.LENGTH_REQUIRED
    if not lengths:
        return None
    if len(lengths) > 1 or not (lengths[0].isascii() and lengths[0].isdigit()):
        return HTTPStatus.BAD_REQUEST
    # Compared by length first, because int() raises on thousands of digits.
    too_long = len(lengths[0]) > len(str(MAX_BODY_BYTES)) or int(lengths[0]) > MAX_BODY_BYTES
    return HTTPStatus.REQUEST_ENTITY_TOO_LARGE if too_long else None


def _parse_target(target: str) -> tuple[str, str] | None:
    """Parse `/path?query` or a whole address into the decoded path and the query as sent."""
    path, _, query = target.partition("?")
    if _ORIGIN.match(path):
        path = _ORIGIN.sub("", path) or "/"
    if not path.startswith("/"):
        return None
    try:
        decoded = unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        return None
    return decoded.partition("?")[0], query


def _refusal(status: HTTPStatus) -> GatewayResponse:
    body = json.dumps({"message": status.phrase}).encode()
    return GatewayResponse(status, [("content-type", "application/json")], body)


def _as_bytes(answer: GatewayResponse, *, closing: bool, bodiless: bool) -> bytes:
    try:
        phrase = HTTPStatus(answer.status).phrase
    except ValueError:
        phrase = ""
    headers = [("date", formatdate(usegmt=True)), *answer.headers]
    has_body = answer.status not in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
    if has_body:
        headers.append(("content-length", str(len(answer.body))))
    if closing:
        headers.append(("connection", "close"))
    lines = [f"HTTP/1.1 {answer.status} {phrase}", *(f"{name}: {value}" for name, value in headers)]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
    return head + answer.body if has_body and not bodiless else head
