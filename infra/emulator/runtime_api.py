"""Lambda's Runtime API for one process, which asks for the next invocation and reports its result."""

import json
import re
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any

_NEXT = re.compile(r"/2018-06-01/runtime/invocation/next")
_RESULT = re.compile(r"/2018-06-01/runtime/invocation/([^/]+)/(response|error)")
_INIT_ERROR = re.compile(r"/2018-06-01/runtime/init/error")


@dataclass(frozen=True)
class Invocation:
    request_id: str
    payload: bytes
    deadline_milliseconds: int
    function_arn: str
    trace_id: str | None


@dataclass(frozen=True)
class Ready:
    """The report that the process asked for its first invocation: its modules are loaded."""


@dataclass(frozen=True)
class InitFailed:
    problem: Any


@dataclass(frozen=True)
class InvocationAnswer:
    request_id: str
    is_error: bool
    body: Any


@dataclass(frozen=True)
class Ended:
    """The report that the process is gone."""


Report = Ready | InitFailed | InvocationAnswer | Ended


class RuntimeApi:
    """The server of one process. It puts the process's reports into one queue, in their order."""

    def __init__(self) -> None:
        self.reports: SimpleQueue[Report] = SimpleQueue()
        self._invocations: SimpleQueue[Invocation | None] = SimpleQueue()
        self._is_ready = False
        self._server = _RuntimeServer(("127.0.0.1", 0), self._make_handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    def give(self, invocation: Invocation) -> None:
        self._invocations.put(invocation)

    def close(self) -> None:
        self._invocations.put(None)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def take_next(self) -> Invocation | None:
        if not self._is_ready:
            self._is_ready = True
            self.reports.put(Ready())
        return self._invocations.get()

    def _make_handler(self) -> type["_RuntimeHandler"]:
        return type("Handler", (_RuntimeHandler,), {"api": self})


class _RuntimeServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connections that a killed process left open on our side."""


class _RuntimeHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are written apart; without this each answer waits 40 ms for an acknowledgement.
    disable_nagle_algorithm = True
    api: RuntimeApi

    def do_GET(self) -> None:
        if _NEXT.fullmatch(self.path) is None:
            self._answer(404, b"")
            return
        invocation = self.api.take_next()
        if invocation is None:
            self.close_connection = True
            return
        headers = {
            "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
            "Lambda-Runtime-Deadline-Ms": str(invocation.deadline_milliseconds),
            "Lambda-Runtime-Invoked-Function-Arn": invocation.function_arn,
        }
        if invocation.trace_id:
            headers["Lambda-Runtime-Trace-Id"] = invocation.trace_id
        self._answer(200, invocation.payload, headers)

    def do_POST(self) -> None:
        body = json.loads(self._read_body() or b"null")
        if _INIT_ERROR.fullmatch(self.path):
            self.api.reports.put(InitFailed(body))
        elif result := _RESULT.fullmatch(self.path):
            self.api.reports.put(InvocationAnswer(result[1], result[2] == "error", body))
        else:
            self._answer(404, b"")
            return
        self._answer(202, b'{"status":"OK"}')

    def _read_body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().strip(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass
