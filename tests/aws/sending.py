"""Effects to send, and services with answers from the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from botocore.stub import Stubber

from signet.aws.clients import Clients
from signet.outbound.connector import OutboundMessage, Recipient
from tests.outbound.receiver import Answer, WebhookReceiver, receiving

EFFECT, TENANT = UUID(int=7), UUID(int=1)
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
ANN = Recipient("ann", "Ann", "ann@a.example", "+4915112345671")
BEN = Recipient("ben", "Ben", "ben@a.example", "+4915112345672")
CLEO = Recipient("cleo", "Cleo", None, None)
_MESSAGE = OutboundMessage(
    EFFECT,
    TENANT,
    "email",
    {"subject": "Look", "text": "At this"},
    MOMENT,
    MOMENT,
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    None,
    [ANN],
)


def message(*people: Recipient, **more: Any) -> OutboundMessage:
    return replace(_MESSAGE, recipients=people, **more)


@contextmanager
def stubbed(clients: Clients, service: str) -> Iterator[Stubber]:
    """Stub the service's answers, in order; the block must ask for every one of them."""
    with Stubber(clients.get(service)) as stub:
        yield stub
        stub.assert_no_pending_responses()


@contextmanager
def serving(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> Iterator[WebhookReceiver]:
    """Serve on the loopback, at the address that the environment names for all services."""
    with receiving(answer) as receiver:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{receiver.port}")
        yield receiver


def refuse(stub: Stubber, operation: str, code: str, sentence: str = "no", status: int = 400) -> None:
    stub.add_client_error(operation, code, sentence, http_status_code=status)
