"""Mail by SES: one message to each person, so that nobody learns the addresses of the others."""

from typing import Any

from signet.aws.clients import Clients
from signet.aws.failures import try_call
from signet.outbound.connector import Delivery, OutboundMessage, Recipient
from signet.outbound.fan_out import deliver_to_each

MAX_SUBJECT_CHARACTERS = 200
MAX_TEXT_BYTES = 262_144
# The same in every attempt, so that a mailbox can recognise the message.
ID_HEADER = "X-Signet-Effect-Id"
_FINAL = frozenset(
    {
        "MessageRejected",
        "MailFromDomainNotVerifiedException",
        "NotFoundException",
        "BadRequestException",
        "InvalidParameterValue",
        "ValidationException",
    }
)


class Mail:
    """The connector of mail; `sender` is verified by SES: `Name <name@a.example>`, or the address alone."""

    def __init__(self, clients: Clients, sender: str) -> None:
        self._clients = clients
        self._sender = sender

    def deliver(self, message: OutboundMessage) -> Delivery:
        text = str(message.payload.get("text", ""))
        if len(text.encode(errors="replace")) > MAX_TEXT_BYTES:
            return Delivery(
                None,
                f"MESSAGE_TOO_LARGE: a mail has at most {MAX_TEXT_BYTES} bytes",
                is_final=True,
                has_left=False,
            )
        subject = _on_one_line(str(message.payload.get("subject", "")))
        return deliver_to_each(
            message,
            "mail address",
            _find_address,
            lambda address: self._send(message, address, subject, text),
        )

    def _send(self, outgoing: OutboundMessage, address: str, subject: str, text: str) -> Delivery:
        message = {
            "Subject": {"Data": subject, "Charset": "UTF-8"},
            "Body": {"Text": {"Data": text, "Charset": "UTF-8"}},
            "Headers": [{"Name": ID_HEADER, "Value": str(outgoing.id)}],
        }
        # SES repeats the tags in its reports of bounces and complaints.
        tags = [
            {"Name": "effect", "Value": str(outgoing.id)},
            {"Name": "tenant", "Value": str(outgoing.tenant_id)},
        ]
        answer = try_call(
            lambda: self._client.send_email(
                FromEmailAddress=self._sender,
                Destination={"ToAddresses": [address]},
                Content={"Simple": message},
                EmailTags=tags,
            ),
            _FINAL,
        )
        return answer if isinstance(answer, Delivery) else Delivery(None, None, answer["MessageId"])

    @property
    def _client(self) -> Any:
        return self._clients.get("sesv2")


def _find_address(person: Recipient) -> str | None:
    return person.email


def _on_one_line(subject: str) -> str:
    """Join lines, because a line break in a subject would begin another header."""
    return " ".join(subject.split())[:MAX_SUBJECT_CHARACTERS]
