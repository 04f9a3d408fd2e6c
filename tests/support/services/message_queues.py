"""SQS as far as wake-ups need it: takes signed batches over HTTP, and hands them out as Lambda gets them.

The test decides the fate of each message on its way.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from tests.support.services.loopback import serving

NAMESPACE = UUID(int=8)


class QueueMessage(NamedTuple):
    """A message. `number` counts all that were ever sent."""

    number: int
    queue: str
    body: str
    delay_seconds: int = 0


# The copies of a message that arrive: none, itself, or several.
Fate = Callable[[QueueMessage], Sequence[QueueMessage]]


def arrive(message: QueueMessage) -> Sequence[QueueMessage]:
    return [message]


@dataclass
class MessageQueues:
    fate: Fate = arrive
    waiting: list[QueueMessage] = field(default_factory=list)
    sent_count: int = 0
    request_count: int = 0
    url: str = ""

    def queue_url(self, name: str) -> str:
        return f"{self.url}/000000000000/{name}"

    def take(self, body: dict[str, Any], authorization: str) -> dict[str, Any]:
        assert "/sqs/aws4_request" in authorization
        assert 0 < len(body["Entries"]) <= 10
        self.request_count += 1
        queue = body["QueueUrl"].rpartition("/")[2]
        for entry in body["Entries"]:
            self.sent_count += 1
            message = QueueMessage(self.sent_count, queue, entry["MessageBody"], entry["DelaySeconds"])
            self.waiting.extend(self.fate(message))
        return {"Successful": [{"Id": entry["Id"]} for entry in body["Entries"]], "Failed": []}

    def pick(self, queue: str, count: int = 10) -> list[QueueMessage]:
        """Take the oldest messages of a queue, delayed or not: the test says what time it is."""
        chosen = [message for message in self.waiting if message.queue == queue][:count]
        for message in chosen:
            self.waiting.remove(message)
        return chosen


def make_event(messages: Sequence[QueueMessage]) -> dict[str, Any]:
    """Make the event as an event source mapping hands a batch over."""
    return {"Records": [_make_record(message) for message in messages]}


def _make_record(message: QueueMessage) -> dict[str, Any]:
    return {
        "messageId": str(uuid5(NAMESPACE, str(message.number))),
        "receiptHandle": f"handle-{message.number}",
        "body": message.body,
        "attributes": {
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1772368245000",
            "SenderId": "AROAEXAMPLE:signet-dev-api",
            "ApproximateFirstReceiveTimestamp": "1772368245010",
        },
        "messageAttributes": {},
        "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:eu-central-1:000000000000:{message.queue}",
        "awsRegion": "eu-central-1",
    }


@contextmanager
def standing_queues() -> Iterator[MessageQueues]:
    queues = MessageQueues()

    class QueueHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text = json.dumps(queues.take(body, self.headers["authorization"])).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: Any) -> None:
            pass

    with serving(QueueHandler) as port:
        queues.url = f"http://127.0.0.1:{port}"
        yield queues
