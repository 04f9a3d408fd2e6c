"""A POST to an endpoint: its content, the meaning of its answers, and the addresses that are never called."""

import json
import socket
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.outbound import webhook
from signet.outbound.connector import Delivery, Destination, OutboundMessage
from signet.outbound.secrets import ReadSecret, no_secrets
from signet.outbound.webhook import (
    MAX_ANSWER_BYTES,
    MAX_BODY_BYTES,
    AllowedAddresses,
    Webhooks,
    check_url,
    post,
)
from tests.support.services.webhook_receiver import WebhookReceiver, answering, receiving

LOOPBACK = "127.0.0.1"


def to_loopback(host: str, port: int) -> Sequence[str]:
    assert host == "receiver.test"
    return [LOOPBACK]


def reach(**more: Any) -> AllowedAddresses:
    return AllowedAddresses(frozenset({LOOPBACK}), **more)


def send(receiver: WebhookReceiver, body: bytes = b"{}", **headers: str) -> Delivery:
    return post(receiver.url, body, headers, reach(), resolve=to_loopback)


def test_what_is_sent_is_what_arrives() -> None:
    with receiving(answering(200, b'{"ok": true}')) as receiver:
        delivery = send(receiver, b'{"a": 1}', **{"webhook-id": "msg_1"})
    assert (delivery.status, delivery.error, delivery.body) == (200, None, {"ok": True})
    ((path, headers, body),) = receiver.received
    assert (path, body, headers["webhook-id"]) == ("/hook?a=1", b'{"a": 1}', "msg_1")
    assert headers["host"] == f"receiver.test:{receiver.port}"
    assert headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("status", "is_delivered", "is_final"),
    [
        (200, True, False),
        (204, True, False),
        (299, True, False),
        (404, False, False),
        (410, False, True),
        (429, False, False),
        (500, False, False),
        (503, False, False),
    ],
)
def test_what_counts_as_delivered(status: int, is_delivered: bool, is_final: bool) -> None:
    with receiving(answering(status)) as receiver:
        delivery = send(receiver)
    assert (delivery.status, delivery.is_delivered, delivery.is_final) == (status, is_delivered, is_final)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_a_failure_and_is_not_followed(status: int) -> None:
    with receiving(answering(200)) as inside:
        place = f"http://127.0.0.1:{inside.port}/secret"
        with receiving(answering(status, location=place)) as receiver:
            delivery = send(receiver)
    assert (delivery.status, delivery.error) == (status, f"REDIRECTED: {status}, which is not followed")
    assert inside.received == []


def test_of_a_long_answer_the_beginning_is_kept() -> None:
    with receiving(answering(200, b"x" * (MAX_ANSWER_BYTES * 4))) as receiver:
        delivery = send(receiver)
    assert delivery.is_delivered
    assert (delivery.body, delivery.kept_as_text) == ({"text": "x" * MAX_ANSWER_BYTES}, "part")


def test_an_answer_that_is_just_not_too_long_is_kept_whole() -> None:
    said = {"memo": "x" * (MAX_ANSWER_BYTES - len('{"memo": ""}'))}
    with receiving(answering(200, json.dumps(said).encode())) as receiver:
        delivery = send(receiver)
    assert (delivery.body, delivery.kept_as_text) == (said, None)


def test_an_answer_without_a_body_is_null() -> None:
    with receiving(answering(204)) as receiver:
        delivery = send(receiver)
    assert (delivery.body, delivery.kept_as_text) == (None, None)


UNKEPT = [b'{"a": "\\u0000"}', b'"\\ud800"', b"NaN", b"-Infinity", b"1e999", b"[" * 30 + b"]" * 30]


@pytest.mark.parametrize("body", UNKEPT)
def test_json_that_the_database_cannot_keep_is_kept_as_text(body: bytes) -> None:
    with receiving(answering(200, body)) as receiver:
        delivery = send(receiver)
    assert (delivery.body, delivery.kept_as_text) == ({"text": body.decode()}, "broken")


BROKEN = [b"[" * 10_000, b'{"a": "\xfc"}', b' {"a": 1, "a": 2}', b'{"a": "\0"}', b'"a']


@pytest.mark.parametrize("body", [b"\xff\xfe", b"not json", b"\0", *BROKEN])
def test_an_answer_that_is_no_json_is_kept_as_text(body: bytes) -> None:
    with receiving(answering(200, body)) as receiver:
        delivery = send(receiver)
    assert delivery.is_delivered
    assert delivery.kept_as_text == ("broken" if body in BROKEN else "plain")
    assert "\0" not in json.dumps(delivery.body)


def test_a_silent_receiver_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "READ_SECONDS", 0.05)

    def be_silent(handler: BaseHTTPRequestHandler) -> None:
        handler.connection.recv(1)

    with receiving(be_silent) as receiver:
        delivery = send(receiver)
    assert (delivery.status, delivery.error) == (None, "TIMED_OUT: the endpoint took too long")
    assert delivery.has_left
    assert not delivery.is_final


def test_a_dribbling_receiver_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "TOTAL_SECONDS", 0.0)
    with receiving(answering(200, b"xx")) as receiver:
        assert send(receiver).error == "TIMED_OUT: the endpoint took too long"


def test_headers_that_never_end_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "TOTAL_SECONDS", 0.2)

    def go_on_for_ever(handler: BaseHTTPRequestHandler) -> None:
        with suppress(OSError):
            while True:
                handler.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    with receiving(go_on_for_ever) as receiver:
        assert send(receiver).error == "TIMED_OUT: the endpoint took too long"


def test_nobody_there() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
    delivery = send(WebhookReceiver(port))
    assert (delivery.status, delivery.is_final, delivery.has_left) == (None, False, False)
    assert delivery.error == "NOT_REACHED: nothing listens at the address"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (socket.gaierror("x"), "the name leads to no address"),
        (ConnectionResetError("x"), "the connection was cut"),
        (OSError("x"), "there is no way to the address"),
    ],
)
def test_what_is_not_reached_is_said_in_words(error: OSError, words: str) -> None:
    def fail(host: str, port: int) -> Sequence[str]:
        raise error

    assert (
        post("https://a.example/", b"{}", {}, AllowedAddresses(), resolve=fail).error
        == f"NOT_REACHED: {words}"
    )


def test_too_large_a_body_is_never_sent() -> None:
    with receiving(answering(200)) as receiver:
        delivery = send(receiver, b"x" * (MAX_BODY_BYTES + 1))
    assert (delivery.is_final, delivery.has_left, receiver.received) == (True, False, [])


# --- addresses that are never called ---


class Opened(Exception):
    """The error of a connection that must not be opened."""


@pytest.fixture
def no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **more: Any) -> None:
        raise Opened

    monkeypatch.setattr(socket, "create_connection", refuse)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "224.0.0.1",
        "::1",
        "fe80::1",
        "fd00:ec2::254",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "::ffff:127.0.0.1",
        "0.0.0.0",
    ],
)
def test_a_name_that_leads_inside_is_not_called(no_connection: None, address: str) -> None:
    delivery = post("https://a.example/", b"{}", {}, AllowedAddresses(), resolve=lambda host, port: [address])
    assert delivery.is_final and not delivery.has_left
    assert (delivery.error or "").startswith("ADDRESS_REFUSED")


def test_a_name_that_leads_inside_as_well_is_not_called(no_connection: None) -> None:
    delivery = post(
        "https://a.example/", b"{}", {}, AllowedAddresses(), resolve=lambda h, p: ["8.8.8.8", "127.0.0.1"]
    )
    assert (delivery.error or "").startswith("ADDRESS_REFUSED")


@pytest.mark.parametrize(
    "host",
    [
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "0177.0.0.1",
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:0:0:1]",
        "0",
    ],
)
def test_an_address_in_whatever_spelling_is_looked_at_resolved(no_connection: None, host: str) -> None:
    """Resolve by the machine's own resolver, which accepts the spellings that C programs do."""
    delivery = post(f"https://{host}/", b"{}", {}, AllowedAddresses())
    assert (delivery.error or "").startswith("ADDRESS_REFUSED"), delivery


def test_who_answers_otherwise_the_second_time_is_not_asked_twice() -> None:
    """Rebind DNS: first a public address, then an internal one."""
    answers = [[LOOPBACK], ["10.0.0.1"]]
    with receiving(answering(200)) as receiver:
        delivery = post(receiver.url, b"{}", {}, reach(), resolve=lambda host, port: answers.pop(0))
    assert delivery.is_delivered
    assert len(answers) == 1


def test_where_the_socket_has_come_to_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check the peer's address, which reveals a lying resolver or a proxy in between."""
    real = socket.create_connection
    with receiving(answering(200)) as receiver:
        monkeypatch.setattr(
            socket, "create_connection", lambda place, timeout: real((LOOPBACK, receiver.port), timeout)
        )
        delivery = post(
            "https://a.example/",
            b"{}",
            {},
            AllowedAddresses(),
            resolve=lambda host, port: ["8.8.8.8"],
        )
    assert (delivery.error or "").startswith("ADDRESS_REFUSED")
    assert receiver.received == []


def test_plain_http_and_other_ports_reach_named_addresses_only(no_connection: None) -> None:
    for url in ("http://a.example/", "http://a.example:443/", "https://a.example:22/"):
        delivery = post(url, b"{}", {}, reach(), resolve=lambda host, port: ["8.8.8.8"])
        assert (delivery.error or "").startswith("ADDRESS_REFUSED"), url


def test_a_receiver_without_a_certificate_gets_nothing() -> None:
    with receiving(answering(200)) as receiver:
        delivery = post(receiver.url.replace("http:", "https:"), b"{}", {}, reach(), resolve=to_loopback)
    assert (delivery.error or "").startswith(("TLS_FAILED", "NOT_REACHED"))
    assert not delivery.has_left
    assert receiver.received == []


@pytest.mark.parametrize(
    "url",
    [
        "http://a.example/",
        "ftp://a.example/",
        "file:///etc/passwd",
        "gopher://a.example/",
        "//a.example/",
        "",
        "https://",
        "https:///a",
        "https://user@a.example/",
        "https://user:pw@a.example/",
        "https://a.example/#x",
        "https://a.example:22/",
        "https://a.example:0/",
        "https://a.example:99999/",
        "https://a.example:x/",
        "https://a.exämple/",
        "https://a.example/ x",
        "https://a.example/\r\nx: y",
        "https://a.example/" + "x" * 2000,
        "https://[::1",
        "https://a..example/",
        "https://./",
        "https://bank.example%2eevil.example/",
        "https://bank%2fexample.evil.example/",
        "https://[fe80::1%25eth0]/",
        "https://a;b.example/",
        "https://a*.example/",
        "https://" + "a" * 64 + ".example/",
    ],
)
def test_an_address_that_is_none_of_an_endpoint(no_connection: None, url: str) -> None:
    with pytest.raises(Rejected) as raised:
        check_url(url, AllowedAddresses())
    assert raised.value.code == "ENDPOINT_INVALID"
    assert post(url, b"{}", {}, AllowedAddresses()).is_final


@pytest.mark.parametrize(
    ("host", "is_allowed"),
    [
        ("erp.example", True),
        ("ERP.Example.", True),
        ("a.b.example", True),
        ("x.a.b.example", True),
        ("b.example", False),
        ("ab.example", False),
        ("xb.example", False),
        ("erp.example.evil.example", False),
        ("8.8.8.8", False),
    ],
)
def test_a_tenant_may_be_held_to_some_hosts(no_connection: None, host: str, is_allowed: bool) -> None:
    held = AllowedAddresses(hosts=("erp.example", "*.b.example"))
    url = f"https://{host}/"
    if is_allowed:
        assert check_url(url, held).hostname == host.lower()
        return
    with pytest.raises(Rejected) as raised:
        check_url(url, held)
    assert raised.value.code == "ENDPOINT_HOST_REFUSED"
    delivery = post(url, b"{}", {}, held)
    assert (delivery.is_final, (delivery.error or "").split(":")[0]) == (True, "ENDPOINT_HOST_REFUSED")


@pytest.mark.parametrize(
    "host", ["a.example", "A.Example.", "my_host.a-b.example", "8.8.8.8", "[2606:4700::1111]"]
)
def test_a_name_or_an_address_is_a_host(no_connection: None, host: str) -> None:
    """The lawful ones beside an encoded one."""
    assert check_url(f"https://{host}/a%2eb", AllowedAddresses()).hostname is not None


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "http://127.0.0.1:9000/", "https://a.example:22/"])
def test_what_a_setting_would_allow_names_the_setting(no_connection: None, url: str) -> None:
    with pytest.raises(Rejected) as raised:
        check_url(url, AllowedAddresses())
    assert "SIGNET_WEBHOOK_ADDRESSES" in raised.value.message
    assert "start Signet with SIGNET_WEBHOOK_ADDRESSES" in raised.value.remedy
    error = post(url, b"{}", {}, AllowedAddresses()).error or ""
    assert error.startswith("ENDPOINT_INVALID: ") and "SIGNET_WEBHOOK_ADDRESSES" in error


def deliver(read: ReadSecret) -> Delivery:
    destination = Destination("bank", "https://a.example/", ["key"])
    now = datetime(2026, 1, 1, tzinfo=UTC)
    message = OutboundMessage(UUID(int=1), UUID(int=2), "webhook", {}, now, now, None, destination, ())
    return Webhooks(read, AllowedAddresses()).deliver(message)


def test_a_missing_secret_names_the_setting_where_none_is_set(no_connection: None) -> None:
    assert deliver(no_secrets).error == (
        "SECRET_MISSING: none of the endpoint's secrets can be read; SIGNET_SECRETS_FOLDER is not set here"
    )
    assert deliver(lambda tenant_id, name: None).error == (
        "SECRET_MISSING: none of the endpoint's secrets can be read"
    )
