"""Bodies that two readers would take for different things."""

import base64

import orjson
import pytest
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from signet.api.http.message import check_body, read_origin
from signet.core.errors import Rejected


def make_event(body: str, *, encoded: bool) -> APIGatewayProxyEventV2:
    sent = base64.b64encode(body.encode()).decode() if encoded else body
    event = {"headers": {"content-type": "application/json"}, "body": sent, "isBase64Encoded": encoded}
    return APIGatewayProxyEventV2(event, orjson.loads)


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize(
    "body",
    [
        '{"vote": "rejected", "vote": "approved"}',
        '{"vote": "rejected", "v\\u006fte": "approved"}',
        '{"decisions": [{"vote": "rejected", "vote": "approved"}]}',
    ],
)
def test_a_member_twice_is_refused(body: str, encoded: bool) -> None:
    with pytest.raises(Rejected) as caught:
        check_body(make_event(body, encoded=encoded))
    assert caught.value.code == "BODY_MALFORMED" and "twice" in caught.value.message


@pytest.mark.parametrize("encoded", [False, True])
def test_a_member_in_each_of_two_objects_is_taken(encoded: bool) -> None:
    body = '{"decisions": [{"vote": "rejected"}, {"vote": "approved"}], "vote": "approved"}'
    event = make_event(body, encoded=encoded)
    check_body(event)
    assert event.json_body["vote"] == "approved"


def test_the_origin_is_what_the_gateway_saw_and_what_the_request_says() -> None:
    event = {"requestContext": {"http": {"sourceIp": "10.0.3.7"}}}
    assert read_origin(event, {"user-agent": "curl/8"}) == ("10.0.3.7", "curl/8")
    assert read_origin(event, {}) == ("10.0.3.7", None)
    said = read_origin(event, {"user-agent": "a\x00b\ud800c\n" + "d" * 300})
    assert said is not None and said[1] == "abc" + "d" * 194
    assert read_origin({"requestContext": {"http": {"sourceIp": "\n"}}}, {}) is None


@pytest.mark.parametrize("event", [{}, {"requestContext": None}, {"requestContext": {"http": {}}}])
def test_an_event_without_an_address_has_no_origin(event: dict[str, object]) -> None:
    assert read_origin(event, {"user-agent": "curl/8"}) is None
