"""Text messages by SNS, one to each number. A phone cannot recognise a repeated message."""

from typing import Any

from signet.aws.clients import Clients
from signet.aws.failures import try_call
from signet.outbound.connector import Delivery, OutboundMessage, Recipient
from signet.outbound.fan_out import deliver_to_each

# For all parts together that SNS makes of it.
MAX_TEXT_BYTES = 1_600
_FINAL = frozenset(
    {
        "InvalidParameter",
        "InvalidParameterValue",
        "ParameterValueInvalid",
        "ValidationException",
        "EndpointDisabled",
        "OptedOut",
    }
)
_ATTRIBUTES = {"AWS.SNS.SMS.SMSType": {"DataType": "String", "StringValue": "Transactional"}}


class TextMessages:
    def __init__(self, clients: Clients) -> None:
        self._clients = clients

    def deliver(self, message: OutboundMessage) -> Delivery:
        """Send the text alone: a text message has no subject."""
        text = str(message.payload.get("text", ""))
        if len(text.encode(errors="replace")) > MAX_TEXT_BYTES:
            reason = f"MESSAGE_TOO_LARGE: a text message has at most {MAX_TEXT_BYTES} bytes"
            return Delivery(None, reason, is_final=True, has_left=False)
        return deliver_to_each(message, "phone number", _find_number, lambda number: self._send(number, text))

    def _send(self, number: str, text: str) -> Delivery:
        answer = try_call(
            lambda: self._client.publish(PhoneNumber=number, Message=text, MessageAttributes=_ATTRIBUTES),
            _FINAL,
        )
        return answer if isinstance(answer, Delivery) else Delivery(None, None, answer["MessageId"])

    @property
    def _client(self) -> Any:
        return self._clients.get("sns")


def _find_number(person: Recipient) -> str | None:
    return person.phone
