"""Standard Webhooks 1.0.0: the specification's own example, and everything that does not hold."""

import base64
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.integrations.webhook_signatures import (
    OWN_TYPE,
    TOLERANCE_SECONDS,
    is_own,
    parse_secret,
    sign,
    verify,
    write_message_id,
)

# The example of the specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID, MOMENT, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
SIGNED = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def headers(**changes: str) -> dict[str, str]:
    own = {"webhook-id": ID, "webhook-timestamp": str(MOMENT), "webhook-signature": SIGNED}
    return own | {name.replace("_", "-"): value for name, value in changes.items()}


def secret() -> bytes:
    return parse_secret(SECRET)


def test_the_example_of_the_specification() -> None:
    assert sign([secret()], ID, MOMENT, BODY) == headers()
    assert verify([secret()], headers(), BODY, MOMENT) == ID


def test_while_a_secret_is_replaced_either_holds() -> None:
    new = b"n" * 24
    both = sign([new, secret()], ID, MOMENT, BODY)
    assert len(both["webhook-signature"].split(" ")) == 2
    for one in (new, secret()):
        assert verify([one], both, BODY, MOMENT) == ID
        assert verify([b"x" * 24, one], both, BODY, MOMENT) == ID


@pytest.mark.parametrize(
    "changes",
    [
        {"webhook_id": "msg_other"},
        {"webhook_id": ""},
        {"webhook_id": "m" * 201},
        {"webhook_id": "a\nb"},
        {"webhook_timestamp": str(MOMENT + 1)},
        {"webhook_timestamp": ""},
        {"webhook_timestamp": "now"},
        {"webhook_timestamp": "١"},
        {"webhook_timestamp": "9" * 13},
        {"webhook_signature": ""},
        {"webhook_signature": "v1"},
        {"webhook_signature": "v1,"},
        {"webhook_signature": SIGNED.replace("v1,", "v2,")},
        {"webhook_signature": SIGNED.removeprefix("v1,")},
        {"webhook_signature": SIGNED[:-2] + "ü="},
        {"webhook_signature": " ".join(["v1,x"] * 10 + [SIGNED])},
    ],
)
def test_what_is_not_signed_is_refused(changes: dict[str, str]) -> None:
    with pytest.raises(Rejected) as raised:
        verify([secret()], headers(**changes), BODY, MOMENT)
    assert raised.value.code == "WEBHOOK_UNSIGNED"


def test_another_body_and_another_secret_are_refused() -> None:
    for secrets, body in [([secret()], BODY + b" "), ([b"x" * 24], BODY), ([], BODY)]:
        with pytest.raises(Rejected):
            verify(secrets, headers(), body, MOMENT)


@pytest.mark.parametrize("late", [-TOLERANCE_SECONDS, 0, TOLERANCE_SECONDS])
def test_a_clock_may_be_off_a_little(late: int) -> None:
    assert verify([secret()], headers(), BODY, MOMENT + late) == ID


@pytest.mark.parametrize("late", [-TOLERANCE_SECONDS - 1, TOLERANCE_SECONDS + 1])
def test_an_old_message_is_not_taken_again(late: int) -> None:
    with pytest.raises(Rejected):
        verify([secret()], headers(), BODY, MOMENT + late)


@pytest.mark.parametrize(
    "text",
    ["", "whsec_", SECRET.removeprefix("whsec_"), "whsec_not base64", "whsec_é"]
    + [f"whsec_{base64.b64encode(b'x' * size).decode()}" for size in (23, 65)],
)
def test_a_secret_of_another_form(text: str) -> None:
    with pytest.raises(Rejected) as raised:
        parse_secret(text)
    assert raised.value.code == "WEBHOOK_SECRET_INVALID"


@pytest.mark.parametrize("size", [24, 64])
def test_a_secret_of_the_shortest_and_the_longest_form(size: int) -> None:
    assert parse_secret(f"whsec_{base64.b64encode(b'x' * size).decode()}") == b"x" * size


@pytest.mark.parametrize(
    ("message_id", "content", "own"),
    [
        (write_message_id(UUID(int=1)), {"type": OWN_TYPE}, True),
        (write_message_id(UUID(int=1)), {"type": "invoice.paid"}, False),
        (write_message_id(UUID(int=1)), [OWN_TYPE], False),
        (ID, {"type": OWN_TYPE}, False),
    ],
)
def test_a_message_of_our_own_form_is_told_apart(message_id: str, content: Any, own: bool) -> None:
    assert is_own(message_id, content) is own
