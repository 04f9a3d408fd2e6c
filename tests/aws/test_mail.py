"""Mail by SES: one to each person, recognized by its header, with no content in the stored result."""

import json
from http.server import BaseHTTPRequestHandler

import pytest
from botocore.config import Config
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.ses.models import ses_backends

from signet.aws import clients as module
from signet.aws.clients import MAX_ATTEMPTS, Clients
from signet.aws.mail import ID_HEADER, MAX_SUBJECT_CHARACTERS, MAX_TEXT_BYTES, Mail
from signet.outbound import fan_out
from signet.outbound.connector import Delivery, Recipient
from tests.support.services.outgoing_effects import (
    ANN,
    BEN,
    CLEO,
    EFFECT,
    TENANT,
    message,
    refuse,
    serving,
    stubbed,
)
from tests.support.services.webhook_receiver import answering

SENDER = "Signet <signet@a.example>"


def test_it_is_sent_by_who_is_verified(clients: Clients) -> None:
    with mock_aws():
        mail = Mail(clients, "signet@a.example")
        refused = mail.deliver(message(ANN))
        assert (refused.is_delivered, refused.is_final) == (False, True)
        clients.get("sesv2").create_email_identity(EmailIdentity="signet@a.example")
        delivery = mail.deliver(message(ANN, BEN))
        sent = ses_backends[DEFAULT_ACCOUNT_ID]["eu-central-1"].sent_messages
    assert delivery.is_delivered
    assert delivery.body == {"told": {"ann": sent[0].id, "ben": sent[1].id}}
    assert [one.destinations["ToAddresses"] for one in sent] == [["ann@a.example"], ["ben@a.example"]]
    assert (sent[0].subject, sent[0].body) == ("Look", "At this")


def test_what_stands_in_it(clients: Clients) -> None:
    with stubbed(clients, "sesv2") as stub:
        wanted = {
            "FromEmailAddress": SENDER,
            "Destination": {"ToAddresses": ["ann@a.example"]},
            "Content": {
                "Simple": {
                    "Subject": {"Data": "Look Bcc: eve@a.example", "Charset": "UTF-8"},
                    "Body": {"Text": {"Data": "At this", "Charset": "UTF-8"}},
                    "Headers": [{"Name": ID_HEADER, "Value": str(EFFECT)}],
                }
            },
            "EmailTags": [
                {"Name": "effect", "Value": str(EFFECT)},
                {"Name": "tenant", "Value": str(TENANT)},
            ],
        }
        stub.add_response("send_email", {"MessageId": "m-1"}, wanted)
        payload = {"subject": "Look\r\nBcc: eve@a.example", "text": "At this"}
        assert Mail(clients, SENDER).deliver(message(ANN, payload=payload)).is_delivered


def test_a_long_subject_is_cut(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    payload = {"subject": "x" * 500, "text": "At this"}
    with serving(monkeypatch, answering(200, b'{"MessageId": "m-1"}')) as service:
        Mail(clients, SENDER).deliver(message(ANN, payload=payload))
    ((_, _, body),) = service.received
    assert json.loads(body)["Content"]["Simple"]["Subject"]["Data"] == "x" * MAX_SUBJECT_CHARACTERS


@pytest.mark.parametrize(
    ("code", "status", "is_final"),
    [
        ("MessageRejected", 400, True),
        ("MailFromDomainNotVerifiedException", 400, True),
        ("BadRequestException", 400, True),
        ("TooManyRequestsException", 429, False),
        ("LimitExceededException", 400, False),
        ("SendingPausedException", 400, False),
        ("AccessDeniedException", 403, False),
        ("InternalFailure", 500, False),
    ],
)
def test_what_is_refused(clients: Clients, code: str, status: int, is_final: bool) -> None:
    sentence = "Email address is not verified: ann@a.example, +4915112345671"
    with stubbed(clients, "sesv2") as stub:
        refuse(stub, "send_email", code, sentence, status)
        delivery = Mail(clients, SENDER).deliver(message(ANN))
    assert (delivery.is_delivered, delivery.is_final) == (False, is_final)
    assert delivery.error == (
        f"REFUSED: {code}: Email address is not verified: (address), (number) (for ann)"
    )
    assert "a.example" not in json.dumps(delivery.body)


def test_who_has_no_address_is_on_record(clients: Clients) -> None:
    with stubbed(clients, "sesv2") as stub:
        stub.add_response("send_email", {"MessageId": "m-1"})
        delivery = Mail(clients, SENDER).deliver(message(ANN, CLEO))
    assert delivery.is_delivered and delivery.has_left
    missed = {"cleo": "ADDRESS_MISSING: no mail address is known"}
    assert delivery.body == {"told": {"ann": "m-1"}, "missed": missed}


@pytest.mark.parametrize(
    ("people", "reason"),
    [
        ([], "NOBODY_MEANT: no active member is whom this is for"),
        ([CLEO], "ADDRESS_MISSING: no mail address is known (for cleo)"),
        (
            [Recipient(f"u{n:02}", "U", None, None) for n in range(12)],
            "ADDRESS_MISSING: no mail address is known (for "
            + ", ".join(f"u{n:02}" for n in range(10))
            + " and 2 more)",
        ),
    ],
)
def test_whom_nobody_can_reach(clients: Clients, people: list[Recipient], reason: str) -> None:
    delivery = Mail(clients, SENDER).deliver(message(*people))
    assert not delivery.has_left
    assert (delivery.error, delivery.is_final) == (reason, True)


def test_who_has_it_is_not_sent_it_again(clients: Clients) -> None:
    mail = Mail(clients, SENDER)
    with stubbed(clients, "sesv2") as stub:
        stub.add_response("send_email", {"MessageId": "m-1"})
        refuse(stub, "send_email", "TooManyRequestsException", "slower", 429)
        first = mail.deliver(message(ANN, BEN, CLEO))
        assert (first.is_delivered, first.is_final, first.status) == (False, False, 429)
        assert first.error == "REFUSED: TooManyRequestsException: slower (for ben)"
        assert (first.body["told"], first.body["left"]) == ({"ann": "m-1"}, ["ben"])
        stub.add_response("send_email", {"MessageId": "m-2"})
        again = mail.deliver(message(ANN, BEN, CLEO, earlier=first.body))
    assert again.is_delivered
    assert again.body["told"] == {"ann": "m-1", "ben": "m-2"}


def test_whom_the_time_does_not_suffice_for_is_left(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "FAN_OUT_SECONDS", -1.0)
    delivery = Mail(clients, SENDER).deliver(message(ANN, BEN))
    assert (delivery.error or "").startswith("TIMED_OUT: there was no time for everybody")
    assert not delivery.is_final


def test_too_large_a_text_is_never_sent(clients: Clients) -> None:
    delivery = Mail(clients, SENDER).deliver(message(ANN, payload={"text": "x" * (MAX_TEXT_BYTES + 1)}))
    assert (delivery.is_final, (delivery.error or "").split(":")[0]) == (True, "MESSAGE_TOO_LARGE")


def test_a_silent_service_is_given_up_and_tried_again(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CONFIG", module._CONFIG.merge(Config(read_timeout=0.05)))

    def be_silent(handler: BaseHTTPRequestHandler) -> None:
        handler.connection.recv(1)

    with serving(monkeypatch, be_silent) as service:
        delivery = Mail(clients, SENDER).deliver(message(ANN))
    assert delivery.error == "TIMED_OUT: the service took too long (for ann)"
    assert not delivery.is_final
    assert len(service.received) == MAX_ATTEMPTS


def test_nobody_there(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    delivery = Mail(clients, SENDER).deliver(message(ANN))
    assert (delivery.error, delivery.is_final) == ("NOT_REACHED: EndpointConnectionError (for ann)", False)


def test_without_credentials_nothing_is_sent(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    delivery: Delivery = Mail(clients, SENDER).deliver(message(ANN))
    assert (delivery.error or "").startswith("CREDENTIALS_MISSING")


def test_a_mistake_of_ours_forgets_nobody_who_has_it() -> None:
    """Send the next attempt to the others only."""
    sent: list[str] = []

    def send(address: str) -> Delivery:
        if address == BEN.email:
            raise KeyError("MessageId")
        sent.append(address)
        return Delivery(None, None, "m-1")

    delivery = fan_out.deliver_to_each(message(ANN, BEN), "mail address", lambda person: person.email, send)
    assert (delivery.error, delivery.is_final) == ("CONNECTOR_FAILED: KeyError (for ben)", False)
    assert delivery.body == {"told": {"ann": "m-1"}, "left": ["ben"]}
    fan_out.deliver_to_each(
        message(ANN, BEN, earlier=delivery.body), "mail address", lambda person: person.email, send
    )
    assert sent == [ANN.email]
