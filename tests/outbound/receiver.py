"""A receiver of webhooks on the loopback, with answers from the test."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import serving

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class WebhookReceiver:
    port: int
    received: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://receiver.test:{self.port}/hook?a=1"


def answering(status: int, body: bytes = b"", **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@contextmanager
def receiving(answer: Answer) -> Iterator[WebhookReceiver]:
    class WebhookReceiverHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.received.append((self.path, headers, body))
            answer(self)

        do_GET = do_POST

        def log_message(self, *args: Any) -> None:
            pass

    with serving(WebhookReceiverHandler) as port:
        receiver = WebhookReceiver(port)
        yield receiver
