"""Wake-ups as messages of SQS: permission to work, sent right after a commit."""

import json
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence

from signet.aws.calls import SignedCall
from signet.core.errors import SignetError, Transient
from signet.store.wake_ups import QueueName, WakeUp

# The limit of one request to SQS.
MAX_ENTRIES = 10
# Work due later than a message can wait is found by the relay.
MAX_DELAY_SECONDS = 900
# After a failure nothing is sent for so long, because callers must not wait for a broken service.
REST_SECONDS = 5.0
_LOG = logging.getLogger("signet.wake_ups")


class QueuedWakeUps:
    """A best-effort sender: no failure reaches the transaction that has committed work."""

    def __init__(
        self, calls: SignedCall, urls: Mapping[QueueName, str], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._calls = calls
        self._urls = urls
        self._clock = clock
        self._rests_until = float("-inf")

    def __call__(self, wake_ups: Collection[WakeUp]) -> None:
        if self._clock() < self._rests_until:
            return
        try:
            # The first failure ends it, because the caller must not wait for a second one.
            for name in self._urls:
                self._send_to(name, wake_ups)
        except Exception as error:
            # Any error at all: what was committed must be answered.
            self._rests_until = self._clock() + REST_SECONDS
            _LOG.warning("nobody was woken: %s", error)

    def send(self, wake_ups: Collection[WakeUp]) -> None:
        """Send all wake-ups, or raise: this is for the relay, which has no other behind it.

        A queue that is away keeps no other from its wake-ups.
        """
        failures: list[SignetError] = []
        for name in self._urls:
            try:
                self._send_to(name, wake_ups)
            except SignetError as failure:
                failures.append(failure)
        if failures:
            raise failures[0]

    def _send_to(self, name: QueueName, wake_ups: Collection[WakeUp]) -> None:
        queued = [
            wake_up
            for wake_up in wake_ups
            if wake_up.queue == name and wake_up.delay_seconds <= MAX_DELAY_SECONDS
        ]
        for start in range(0, len(queued), MAX_ENTRIES):
            self._send(self._urls[name], queued[start : start + MAX_ENTRIES])

    def _send(self, url: str, wake_ups: Sequence[WakeUp]) -> None:
        entries = [
            {"Id": str(index), "MessageBody": write_message(wake_up), "DelaySeconds": wake_up.delay_seconds}
            for index, wake_up in enumerate(wake_ups)
        ]
        answer = self._calls.call("SendMessageBatch", {"QueueUrl": url, "Entries": entries})
        if answer.get("Failed"):
            sentence = f"{len(answer['Failed'])} of {len(entries)} wake-ups were refused"
            raise Transient("WAKE_UPS_REFUSED", sentence)


def write_message(wake_up: WakeUp) -> str:
    return json.dumps({"tenant": str(wake_up.tenant_id), "kind": wake_up.queue}, separators=(",", ":"))
