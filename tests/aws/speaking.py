"""A service of AWS on the loopback, with answers from the test."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

from signet.aws.calls import Service, SignedCalls
from signet.aws.signing import Credentials
from signet.aws_settings import AwsSettings
from tests.loopback import serving

NOW = datetime(2026, 3, 1, 12, 30, 45, tzinfo=UTC)
CREDENTIALS = Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "a/session+token==")


@dataclass
class HeardCall:
    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass
class Speaker:
    """A server with `answers`: status and body of each in turn, the last one repeatedly. None hangs up."""

    answers: list[tuple[int, bytes] | None] = field(default_factory=lambda: [(200, b"{}")])
    heard: list[HeardCall] = field(default_factory=list)
    # The client's address of each TCP connection.
    connections: set[tuple[str, int]] = field(default_factory=set)
    url: str = ""
    made: list[SignedCalls] = field(default_factory=list)

    def calls(self, service: Service = "sqs") -> SignedCalls:
        settings = AwsSettings(region="eu-central-1", endpoints={"": self.url})
        made = SignedCalls(service, settings, lambda: CREDENTIALS, lambda: NOW)
        self.made.append(made)
        return made

    def say(self, *answers: Any, status: int = 200) -> None:
        self.answers = [(status, json.dumps(answer).encode()) for answer in answers]


@contextmanager
def speaking() -> Iterator[Speaker]:
    speaker = Speaker()

    class SpeakerHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            speaker.heard.append(HeardCall(self.path, headers, json.loads(body) if body else None))
            speaker.connections.add(self.client_address)
            said = speaker.answers.pop(0) if len(speaker.answers) > 1 else speaker.answers[0]
            if said is None:
                self.close_connection = True
                return
            status, text = said
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_PUT = do_POST

        def log_message(self, *args: Any) -> None:
            pass

    with serving(SpeakerHandler) as port:
        speaker.url = f"http://127.0.0.1:{port}"
        try:
            yield speaker
        finally:
            for calls in speaker.made:
                calls.close()
