"""Wake-ups as messages: in batches, each to its queue, and never a failure for the committing caller."""

import json
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.aws.calls import CallFailed
from signet.aws.wake_ups import MAX_DELAY_SECONDS, REST_SECONDS, QueuedWakeUps
from signet.core.errors import Transient
from signet.store.wake_ups import WakeUp

A, B = UUID(int=1), UUID(int=2)
URLS: dict[Any, str] = {"events": "https://q/events", "effects": "https://q/effects"}


class Queues:
    def __init__(self) -> None:
        self.sent: list[tuple[str, list[dict[str, Any]]]] = []
        self.failure: Exception | None = None
        self.refused: list[Any] = []

    def call(self, operation: str, parameters: Any) -> dict[str, Any]:
        assert operation == "SendMessageBatch"
        self.sent.append((parameters["QueueUrl"], parameters["Entries"]))
        if self.failure is not None:
            raise self.failure
        return {"Failed": self.refused} if self.refused else {}


def test_each_queue_gets_its_own() -> None:
    queues = Queues()
    QueuedWakeUps(queues, URLS)([WakeUp(A, "effects"), WakeUp(A, "events", 7), WakeUp(B, "events")])
    (events, first), (effects, second) = queues.sent
    assert (events, effects) == ("https://q/events", "https://q/effects")
    assert [(json.loads(entry["MessageBody"]), entry["DelaySeconds"]) for entry in first] == [
        ({"tenant": str(A), "kind": "events"}, 7),
        ({"tenant": str(B), "kind": "events"}, 0),
    ]
    assert json.loads(second[0]["MessageBody"]) == {"tenant": str(A), "kind": "effects"}


@given(count=st.integers(0, 45))
def test_no_request_has_more_than_sqs_takes(count: int) -> None:
    queues = Queues()
    QueuedWakeUps(queues, URLS)([WakeUp(UUID(int=number), "events") for number in range(count)])
    sizes = [len(entries) for _, entries in queues.sent]
    assert sum(sizes) == count
    assert all(0 < size <= 10 for size in sizes)
    assert all(len({entry["Id"] for entry in entries}) == len(entries) for _, entries in queues.sent)


def test_what_is_due_later_than_a_message_can_wait_is_left_to_the_relay() -> None:
    queues = Queues()
    wake_ups = [WakeUp(A, "events", MAX_DELAY_SECONDS), WakeUp(B, "events", MAX_DELAY_SECONDS + 1)]
    QueuedWakeUps(queues, URLS)(wake_ups)
    assert [json.loads(entry["MessageBody"])["tenant"] for entry in queues.sent[0][1]] == [str(A)]


def test_after_a_failure_nobody_waits_for_the_queue_for_a_while() -> None:
    queues, now = Queues(), [100.0]
    queues.failure = CallFailed("sqs", "ConnectionRefusedError")
    wake_ups = QueuedWakeUps(queues, URLS, lambda: now[0])
    wake_ups([WakeUp(A, "events"), WakeUp(A, "effects")])
    now[0] += REST_SECONDS - 0.1
    wake_ups([WakeUp(A, "events")])
    assert len(queues.sent) == 1
    now[0] += 0.2
    queues.failure = None
    wake_ups([WakeUp(A, "events")])
    assert len(queues.sent) == 2


def test_the_relay_is_told_and_no_queue_suffers_for_another() -> None:
    queues = Queues()
    queues.refused = [{"Id": "0"}]
    with pytest.raises(Transient, match="1 of 1"):
        QueuedWakeUps(queues, URLS).send([WakeUp(A, "events"), WakeUp(A, "effects")])
    assert [url for url, _ in queues.sent] == ["https://q/events", "https://q/effects"]


def test_whatever_goes_wrong_is_not_told_to_whoever_has_committed() -> None:
    """Swallow the error: raised, it would turn the committed work into a failure."""
    queues = Queues()
    queues.failure = ValueError("a header that cannot be sent")
    QueuedWakeUps(queues, URLS)([WakeUp(A, "events")])
    assert len(queues.sent) == 1
