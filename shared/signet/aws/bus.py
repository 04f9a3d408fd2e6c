"""Events for other systems: CloudEvents on a bus of EventBridge, each as the `detail` of one entry."""

from signet.aws.clients import Clients
from signet.aws.failures import strip_people, try_call
from signet.core.canonical_json import canonical_bytes
from signet.core.integrations.cloud_events import CloudEvent
from signet.outbound.connector import Delivery, OutboundMessage

# EventBridge counts source, detail-type and detail of an entry, and a time as 14 bytes.
MAX_ENTRY_BYTES = 262_144
TIME_BYTES = 14
_FINAL = frozenset({"ValidationException", "ResourceNotFoundException", "InvalidArgument", "MalformedDetail"})


class Bus:
    """The connector of a bus; `source` names Signet in its rules, and may not begin with `aws.`."""

    def __init__(self, clients: Clients, name: str, source: str) -> None:
        self._clients = clients
        self._name = name
        self._source = source

    def deliver(self, message: OutboundMessage) -> Delivery:
        event = CloudEvent(
            message.id,
            self._source,
            str(message.payload["event"]),
            message.created_at,
            message.tenant_id,
            message.payload.get("payload", {}),
            message.payload.get("subject"),
            message.trace_id,
        )
        detail = canonical_bytes(event.to_json())
        if len(detail) + len(event.source) + len(event.type) + TIME_BYTES >= MAX_ENTRY_BYTES:
            return Delivery(
                None,
                f"EVENT_TOO_LARGE: an event has fewer than {MAX_ENTRY_BYTES} bytes",
                is_final=True,
                has_left=False,
            )
        entry = {
            "EventBusName": self._name,
            "Source": event.source,
            "DetailType": event.type,
            "Time": event.time,
            "Detail": detail.decode(),
        }
        answer = try_call(lambda: self._clients.get("events").put_events(Entries=[entry]), _FINAL)
        return answer if isinstance(answer, Delivery) else _read_entry(answer["Entries"][0])


def _read_entry(entry: dict[str, str]) -> Delivery:
    """Read the result of the only entry, which may fail in a call that succeeds."""
    code = entry.get("ErrorCode")
    if not code:
        return Delivery(200, None, {"event_id": entry["EventId"]})
    reason = f"REFUSED: {code}: {strip_people(entry.get('ErrorMessage', ''))}"
    return Delivery(200, reason, {"code": code}, is_final=code in _FINAL)
