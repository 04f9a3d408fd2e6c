"""Text messages by SNS, one to each number."""

import pytest
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.sns.models import sns_backends

from signet.aws.clients import Clients
from signet.aws.text_messages import MAX_TEXT_BYTES, TextMessages
from tests.support.services.outgoing_effects import ANN, BEN, CLEO, message, refuse, stubbed


def test_each_number_gets_the_text(clients: Clients) -> None:
    with mock_aws():
        delivery = TextMessages(clients).deliver(message(ANN, BEN, CLEO))
        sent = sns_backends[DEFAULT_ACCOUNT_ID]["eu-central-1"].sms_messages
    assert delivery.is_delivered
    assert sorted(sent.values()) == [("+4915112345671", "At this"), ("+4915112345672", "At this")]
    assert sorted(delivery.body["told"].values()) == sorted(sent)
    assert delivery.body["missed"] == {"cleo": "ADDRESS_MISSING: no phone number is known"}


@pytest.mark.parametrize(
    ("code", "status", "is_final"),
    [
        ("InvalidParameter", 400, True),
        ("OptedOut", 400, True),
        ("Throttling", 400, False),
        ("InternalError", 500, False),
        ("AuthorizationError", 403, False),
    ],
)
def test_what_is_refused(clients: Clients, code: str, status: int, is_final: bool) -> None:
    with stubbed(clients, "sns") as stub:
        refuse(stub, "publish", code, "PhoneNumber Reason: +4915112345671 is not valid", status)
        delivery = TextMessages(clients).deliver(message(ANN))
    assert delivery.error == f"REFUSED: {code}: PhoneNumber Reason: (number) is not valid (for ann)"
    assert (delivery.is_final, delivery.is_delivered) == (is_final, False)


def test_one_number_that_is_none_stops_no_other(clients: Clients) -> None:
    with stubbed(clients, "sns") as stub:
        refuse(stub, "publish", "InvalidParameter", "it is none")
        stub.add_response("publish", {"MessageId": "s-2"})
        delivery = TextMessages(clients).deliver(message(ANN, BEN))
    assert delivery.is_delivered
    assert delivery.body == {
        "told": {"ben": "s-2"},
        "missed": {"ann": "REFUSED: InvalidParameter: it is none"},
    }


def test_nobody_has_a_number(clients: Clients) -> None:
    delivery = TextMessages(clients).deliver(message(CLEO))
    assert (delivery.is_final, delivery.error) == (
        True,
        "ADDRESS_MISSING: no phone number is known (for cleo)",
    )


def test_too_long_a_text_is_never_sent(clients: Clients) -> None:
    delivery = TextMessages(clients).deliver(message(ANN, payload={"text": "ä" * (MAX_TEXT_BYTES // 2 + 1)}))
    assert (delivery.is_final, (delivery.error or "").split(":")[0]) == (True, "MESSAGE_TOO_LARGE")
