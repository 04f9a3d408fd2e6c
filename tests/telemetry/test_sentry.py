"""Events for Sentry: types, codes, places and a few tags, but no value that a caller has sent."""

import io
import json
from typing import Any
from uuid import uuid4

import sentry_sdk.transport
from sentry_sdk.envelope import Envelope

from signet.core.errors import Defect, Rejected, Transient
from signet.engine.telemetry import RequestReport
from signet.telemetry.fan_out import TelemetryFanOut
from signet.telemetry.log import Log
from signet.telemetry.sentry import Sentry, scrub

DSN = "https://key@sentry.example.com/1"
PERSONAL = "hunter2"


class KeptEvents(sentry_sdk.transport.Transport):
    """A transport that keeps the events."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Any] = []

    def capture_envelope(self, envelope: Envelope) -> None:
        self.events.append(envelope.get_event())


def fail(words: str) -> Exception:
    try:
        raise ValueError(f"cannot read {words}")
    except ValueError as error:
        return error


def test_a_failure_is_told_without_its_words() -> None:
    kept = KeptEvents()
    sentry = Sentry(DSN, "staging", kept)
    about = {"instance_id": "i", "trace_id": "t", "password": PERSONAL}
    sentry.capture(fail(PERSONAL), about)
    (event,) = kept.events
    (told,) = event["exception"]["values"]
    assert told["type"] == "ValueError"
    assert told["stacktrace"]["frames"][-1]["function"] == "fail"
    assert event["tags"] == {"code": "ValueError", "instance_id": "i", "trace_id": "t"}
    assert event["environment"] == "staging"
    assert PERSONAL not in json.dumps(event, default=str)


def test_what_a_library_collects_is_left_out() -> None:
    event = {
        "event_id": "e",
        "level": "error",
        "tags": {"code": "X", "email": PERSONAL},
        "request": {"data": PERSONAL, "headers": {"authorization": PERSONAL}, "cookies": PERSONAL},
        "user": {"id": PERSONAL},
        "extra": {"body": PERSONAL},
        "contexts": {"trace": {"data": PERSONAL}},
        "breadcrumbs": {"values": [{"message": PERSONAL}]},
        "message": PERSONAL,
        "logentry": {"message": PERSONAL},
        "server_name": PERSONAL,
        "exception": {
            "values": [
                {
                    "type": "ValueError",
                    "value": PERSONAL,
                    "stacktrace": {
                        "frames": [{"function": "f", "vars": {"a": PERSONAL}, "context_line": PERSONAL}]
                    },
                }
            ]
        },
    }
    left = scrub(event, {})
    assert PERSONAL not in json.dumps(left)
    assert left["exception"]["values"][0]["stacktrace"] == {"frames": [{"function": "f"}]}
    assert (left["event_id"], left["level"], left["tags"]) == ("e", "error", {"code": "X"})


def test_only_what_nobody_foresaw_is_told() -> None:
    kept = KeptEvents()
    watching = TelemetryFanOut(
        Log(f"test-{uuid4()}", "CRITICAL", io.StringIO()), sentry=Sentry(DSN, "staging", kept)
    )
    for error in (Rejected("DOCUMENT_NOT_FOUND", "x"), Transient("DATABASE_UNAVAILABLE", "x"), None):
        watching.request_ended(RequestReport("r", "t", "GET", "/v1/health", 503, 0.1, error=error))
    watching.failed(Rejected("PERMISSION_DENIED", "x"), {})
    assert kept.events == []
    watching.request_ended(RequestReport("r", "t", "GET", "/v1/health", 500, 0.1, error=fail("x")))
    watching.failed(Defect("INVARIANT", "x"), {"instance_id": "i"})
    assert [event["tags"]["code"] for event in kept.events] == ["ValueError", "INVARIANT"]
    assert kept.events[0]["tags"]["route"] == "/v1/health"
