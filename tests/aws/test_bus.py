"""Events on a bus: CloudEvents 1.0 by the rules of its specification, each a single entry."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from cloudevents.core.formats.json import JSONFormat
from moto import mock_aws

from signet.aws.bus import MAX_ENTRY_BYTES, TIME_BYTES, Bus
from signet.aws.clients import Clients
from signet.core.integrations.cloud_events import CloudEvent
from signet.outbound.connector import OutboundMessage
from tests.aws.sending import EFFECT, MOMENT, TENANT, message, refuse, serving, stubbed
from tests.outbound.receiver import answering

EVENT = {"event": "com.example.invoice.approved", "subject": "invoice/7", "payload": {"amount": 7, "to": "ä"}}
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TAKEN = b'{"FailedEntryCount": 0, "Entries": [{"EventId": "e-1"}]}'
_NAME = re.compile(r"[a-z0-9]{1,20}")


def event(**payload: Any) -> OutboundMessage:
    return message(payload={**EVENT, **payload})


def bus(clients: Clients) -> Bus:
    return Bus(clients, "signet", "signet.test")


def test_what_is_put_is_taken(clients: Clients) -> None:
    with mock_aws():
        clients.get("events").create_event_bus(Name="signet")
        delivery = bus(clients).deliver(event())
    assert delivery.is_delivered
    assert UUID(delivery.body["event_id"])


def test_what_is_put(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(monkeypatch, answering(200, TAKEN)) as service:
        assert bus(clients).deliver(event()).body == {"event_id": "e-1"}
    ((_, _, body),) = service.received
    (entry,) = json.loads(body)["Entries"]
    assert (entry["EventBusName"], entry["Source"], entry["DetailType"]) == (
        "signet",
        "signet.test",
        "com.example.invoice.approved",
    )
    assert int(entry["Time"]) == int(MOMENT.timestamp())
    detail = json.loads(entry["Detail"])
    assert detail == {
        "specversion": "1.0",
        "id": str(EFFECT),
        "source": "signet.test",
        "type": "com.example.invoice.approved",
        "subject": "invoice/7",
        "time": "2026-01-02T03:04:05.678900+00:00",
        "datacontenttype": "application/json",
        "tenant": str(TENANT),
        "traceparent": TRACE,
        "data": {"amount": 7, "to": "ä"},
    }
    check_rules(detail)


def check_rules(said: Mapping[str, Any]) -> None:
    """Check the specification's rules: required attributes, their names, and their values."""
    attributes = {name: value for name, value in said.items() if name != "data"}
    assert {"id", "source", "specversion", "type"} <= attributes.keys()
    assert all(_NAME.fullmatch(name) for name in attributes)
    assert all(isinstance(value, str) and value for value in attributes.values())
    assert datetime.fromisoformat(attributes["time"]).tzinfo is not None
    # The specification's own package refuses invalid events, too.
    read = JSONFormat().read(None, json.dumps(said))
    assert (read.get_id(), read.get_time(), read.get_data()) == (str(EFFECT), MOMENT, said["data"])
    assert read.get_extension("tenant") == str(TENANT)


def test_what_is_not_known_is_left_out() -> None:
    said = CloudEvent(EFFECT, "signet", "a.b", MOMENT, TENANT, None).to_json()
    assert not {"subject", "traceparent"} & said.keys()
    check_rules(said)


def test_it_is_the_same_event_however_often_it_is_put(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(monkeypatch, answering(200, TAKEN)) as service:
        for _ in range(2):
            assert bus(clients).deliver(event()).body == {"event_id": "e-1"}
    first, second = (json.loads(body)["Entries"] for _, _, body in service.received)
    assert first == second
    assert len(first) == 1


@pytest.mark.parametrize(
    ("code", "is_final"),
    [("InternalFailure", False), ("ThrottlingException", False), ("InvalidArgument", True)],
)
def test_an_entry_that_failed_is_none_that_arrived(clients: Clients, code: str, is_final: bool) -> None:
    with stubbed(clients, "events") as stub:
        entry = {"ErrorCode": code, "ErrorMessage": "no"}
        stub.add_response("put_events", {"FailedEntryCount": 1, "Entries": [entry]})
        delivery = bus(clients).deliver(event())
    assert (delivery.error, delivery.is_final) == (f"REFUSED: {code}: no", is_final)


@pytest.mark.parametrize(
    ("code", "status", "is_final"),
    [
        ("ThrottlingException", 400, False),
        ("InternalException", 500, False),
        ("AccessDeniedException", 400, False),
        ("ResourceNotFoundException", 400, True),
        ("ValidationException", 400, True),
    ],
)
def test_what_is_refused(clients: Clients, code: str, status: int, is_final: bool) -> None:
    with stubbed(clients, "events") as stub:
        refuse(stub, "put_events", code, "no", status)
        delivery = bus(clients).deliver(event())
    assert (delivery.error, delivery.is_final) == (f"REFUSED: {code}: no", is_final)
    assert (delivery.status, delivery.body["code"]) == (status, code)


def test_an_entry_has_its_limit(clients: Clients) -> None:
    """Count source, detail-type and detail as the limit does, and the time."""
    empty = CloudEvent(
        EFFECT, "signet.test", str(EVENT["event"]), MOMENT, TENANT, {"x": ""}, "invoice/7", TRACE
    )
    around = len(json.dumps(dict(empty.to_json()), separators=(",", ":"), ensure_ascii=False).encode())
    spent = around + len(empty.source) + len(empty.type) + TIME_BYTES
    with stubbed(clients, "events") as stub:
        stub.add_response("put_events", {"FailedEntryCount": 0, "Entries": [{"EventId": "e-1"}]})
        fits = event(payload={"x": "y" * (MAX_ENTRY_BYTES - spent - 1)})
        assert bus(clients).deliver(fits).is_delivered
        delivery = bus(clients).deliver(event(payload={"x": "y" * (MAX_ENTRY_BYTES - spent)}))
    assert (delivery.is_final, (delivery.error or "").split(":")[0]) == (True, "EVENT_TOO_LARGE")
