"""A receiver of webhooks nearby, which checks signatures as the standard says, with no code of ours."""

import base64
import hashlib
import hmac
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from queue import SimpleQueue
from typing import Any

from tests.support.services.loopback import serving

ADDRESS = "127.0.0.1"
SECRET = "whsec_" + base64.b64encode(b"the ledger's secret, 32 bytes !!").decode()


@dataclass(frozen=True)
class Received:
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_signed(self) -> bool:
        key = base64.b64decode(SECRET.removeprefix("whsec_"))
        said = b".".join(
            [self.headers["webhook-id"].encode(), self.headers["webhook-timestamp"].encode(), self.body]
        )
        expected = base64.b64encode(hmac.new(key, said, hashlib.sha256).digest()).decode()
        return f"v1,{expected}" in self.headers["webhook-signature"].split(" ")


@dataclass
class HttpReceiver:
    port: int
    received: SimpleQueue[Received] = field(default_factory=SimpleQueue)
    status: int = 200
    # While it is not set, callers wait.
    may_answer: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://{ADDRESS}:{self.port}"


@contextmanager
def receiving() -> Iterator[HttpReceiver]:
    class HttpReceiverHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.received.put(Received(self.path, headers, body))
            receiver.may_answer.wait()
            try:
                self.send_response(receiver.status)
                self.send_header("content-length", "0")
                self.end_headers()
            except OSError:
                pass  # the caller was killed meanwhile

        def log_message(self, *_: Any) -> None:
            pass

    with serving(HttpReceiverHandler) as port:
        receiver = HttpReceiver(port)
        receiver.may_answer.set()
        try:
            yield receiver
        finally:
            receiver.may_answer.set()
