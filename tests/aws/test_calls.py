"""Signed calls: over one connection, repeated where it was closed meanwhile, with failures by name."""

from collections.abc import Iterator

import pytest

from signet.aws.calls import CallFailed
from signet.aws_settings import AwsSettings
from tests.aws.speaking import Speaker, speaking


@pytest.fixture
def speaker() -> Iterator[Speaker]:
    with speaking() as made:
        yield made


def test_calls_share_a_connection(speaker: Speaker) -> None:
    speaker.say({"a": 1}, {"a": 2})
    calls = speaker.calls()
    assert [calls.call("SendMessage", {"n": n}) for n in (1, 2)] == [{"a": 1}, {"a": 2}]
    assert len(speaker.connections) == 1
    heard = speaker.heard[0]
    assert heard.body == {"n": 1}
    assert heard.headers["x-amz-target"] == "AmazonSQS.SendMessage"
    assert heard.headers["content-type"] == "application/x-amz-json-1.0"
    assert heard.headers["authorization"].startswith(
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260301/eu-central-1/"
    )
    assert heard.headers["x-amz-security-token"] == "a/session+token=="


def test_a_connection_that_was_closed_is_made_again(speaker: Speaker) -> None:
    speaker.answers = [(200, b"{}"), None, (200, b'{"again": true}')]
    calls = speaker.calls()
    calls.call("SendMessage", {})
    assert calls.call("SendMessage", {}) == {"again": True}
    assert len(speaker.connections) == 2


def test_a_new_connection_is_not_tried_twice(speaker: Speaker) -> None:
    speaker.answers = [None]
    with pytest.raises(CallFailed):
        speaker.calls().call("SendMessage", {})
    assert len(speaker.heard) == 1


def test_a_refusal_has_its_own_name(speaker: Speaker) -> None:
    speaker.say({"__type": "com.amazonaws.sqs#QueueDoesNotExist", "message": "no"}, status=400)
    with pytest.raises(CallFailed, match="QueueDoesNotExist") as caught:
        speaker.calls().call("SendMessage", {})
    assert (caught.value.reason, caught.value.code) == ("QueueDoesNotExist", "AWS_CALL_FAILED")


@pytest.mark.parametrize(("status", "text"), [(200, b"<html>"), (502, b"[1]"), (500, b"\xff")])
def test_what_cannot_be_read_is_a_failure(speaker: Speaker, status: int, text: bytes) -> None:
    speaker.answers = [(status, text)]
    with pytest.raises(CallFailed, match=str(status)):
        speaker.calls().call("SendMessage", {})


def test_nobody_there_is_a_failure(speaker: Speaker) -> None:
    calls = speaker.calls()
    speaker.url = "http://127.0.0.1:1"
    with pytest.raises(CallFailed, match="ConnectionRefusedError"):
        speaker.calls().call("SendMessage", {})
    # After a restore the earlier connection is closed.
    calls.close()
    assert calls.call("SendMessage", {}) == {}


def test_addresses_are_those_of_the_region_unless_others_are_given() -> None:
    plain = AwsSettings(region="eu-central-1")
    assert plain.find_endpoint("sqs") == "https://sqs.eu-central-1.amazonaws.com"
    dual = AwsSettings(region="eu-central-1", is_dual_stack=True)
    assert dual.find_endpoint("sqs") == "https://sqs.eu-central-1.api.aws"
    given = AwsSettings(region="eu-central-1", endpoints={"": "http://all", "sqs": "http://one"})
    assert [given.find_endpoint(name) for name in ("sqs", "secretsmanager")] == ["http://one", "http://all"]
