"""Requests to the local gateway over real sockets: turned into events, or refused."""

import base64
import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from signet.local.gateway import MAX_BODY_BYTES, Gateway, open_gateway
from tests.local.gateway_client import HOST, address_of, ask_for_event, echo, send_raw


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with open_gateway("127.0.0.1", 0) as gateway:
        gateway.start(echo)
        yield gateway


@pytest.fixture
def connection(gateway: Gateway) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection(*address_of(gateway), timeout=10)) as connection:
        yield connection


def test_a_request_becomes_an_event_of_format_2(connection: http.client.HTTPConnection) -> None:
    headers = {"Content-Type": "application/json", "User-Agent": "test/1", "Authorization": "Bearer x"}
    event = ask_for_event(
        connection, "POST", "/v1/a%20b/%C3%A4?p=1&p=2&q=%20&e=", body='{"ä": 1}'.encode(), headers=headers
    )
    context = event.pop("requestContext")
    trace_id = event["headers"].pop("x-amzn-trace-id")
    port = str(connection.port)
    assert event == {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": "/v1/a b/ä",
        "rawQueryString": "p=1&p=2&q=%20&e=",
        "queryStringParameters": {"p": "1,2", "q": " ", "e": ""},
        "headers": {
            "host": f"127.0.0.1:{port}",
            "accept-encoding": "identity",
            "content-length": "9",
            "content-type": "application/json",
            "user-agent": "test/1",
            "authorization": "Bearer x",
            "x-forwarded-for": "127.0.0.1",
            "x-forwarded-port": port,
            "x-forwarded-proto": "http",
        },
        "body": '{"ä": 1}',
        "isBase64Encoded": False,
    }
    assert trace_id.startswith("Root=1-")
    assert context.pop("requestId")
    assert abs(context.pop("timeEpoch") / 1000 - time.time()) < 60
    assert time.strptime(context.pop("time"), "%d/%b/%Y:%H:%M:%S +0000")
    assert context == {
        "accountId": "000000000000",
        "apiId": "local",
        "domainName": "localhost",
        "domainPrefix": "local",
        "http": {
            "method": "POST",
            "path": "/v1/a b/ä",
            "protocol": "HTTP/1.1",
            "sourceIp": "127.0.0.1",
            "userAgent": "test/1",
        },
        "routeKey": "$default",
        "stage": "$default",
    }


def test_what_a_request_has_not_is_absent(connection: http.client.HTTPConnection) -> None:
    event = ask_for_event(connection, "GET", "/")
    assert event.keys() & {"body", "cookies", "queryStringParameters"} == set()
    assert event["rawQueryString"] == ""


def test_doubled_headers_and_cookies(gateway: Gateway) -> None:
    answer = send_raw(
        gateway,
        b"GET / HTTP/1.1\r\n" + HOST + b"X-A: 1\r\nx-a: 2\r\nCookie: a=1; b=2\r\nCookie: c=3\r\n"
        b"X-Forwarded-For: 10.0.0.1\r\nConnection: close\r\n\r\n",
    )
    event = json.loads(answer.partition(b"\r\n\r\n")[2])
    assert event["headers"]["x-a"] == "1,2"
    assert event["headers"]["x-forwarded-for"] == "10.0.0.1, 127.0.0.1"
    assert event["headers"].keys() & {"cookie", "connection"} == set()
    assert event["cookies"] == ["a=1", "b=2", "c=3"]


@pytest.mark.parametrize(
    ("content_type", "encoded"),
    [
        ("application/json; charset=utf-8", False),
        ("text/csv", False),
        ("application/xml", False),
        ("application/octet-stream", True),
        ("application/x-www-form-urlencoded", True),
        ("application/merge-patch+json", True),
    ],
)
def test_bodies_that_are_no_text_by_their_type_are_base64(
    connection: http.client.HTTPConnection, content_type: str, encoded: bool
) -> None:
    event = ask_for_event(connection, "POST", "/", body=b"a=1", headers={"content-type": content_type})
    assert event["isBase64Encoded"] is encoded
    assert event["body"] == (base64.b64encode(b"a=1").decode() if encoded else "a=1")


def test_a_text_that_is_none_is_base64(connection: http.client.HTTPConnection) -> None:
    event = ask_for_event(connection, "POST", "/", body=b"\xff", headers={"content-type": "application/json"})
    assert (event["isBase64Encoded"], event["body"]) == (True, "/w==")


@pytest.mark.parametrize(
    ("target", "path", "query"),
    [
        ("/a%2Fb", "/a/b", ""),
        ("/a%3Fb?c=%3F", "/a", "c=%3F"),
        ("/a%2525", "/a%25", ""),
        ("/a/../b//c/", "/a/../b//c/", ""),
        ("/?a=b?c", "/", "a=b?c"),
        ("http://localhost/x?y", "/x", "y"),
        ("http://localhost", "/", ""),
        ("http://localhost?y", "/", "y"),
        ("//evil.example/x", "/evil.example/x", ""),
    ],
)
def test_paths_arrive_decoded_and_queries_as_sent(
    gateway: Gateway, target: str, path: str, query: str
) -> None:
    request = f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    event = json.loads(send_raw(gateway, request.encode()).partition(b"\r\n\r\n")[2])
    assert (event["rawPath"], event["rawQueryString"]) == (path, query)
    assert event["requestContext"]["http"]["path"] == path


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n", 400),
        (b"GET /\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\n" + HOST + b"\r\n", 400),
        (b"GET / HTTP/0.9\r\n" + HOST + b"\r\n", 400),
        (b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"GET /a b HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"GET /\xc3\xa4 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"GET /%ff HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"GET * HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"GET evil HTTP/1.1\r\n" + HOST + b"\r\n", 400),
        (b"FOO / HTTP/1.1\r\n" + HOST + b"\r\n", 501),
        (b"get / HTTP/1.1\r\n" + HOST + b"\r\n", 501),
        (b"CONNECT localhost:1 HTTP/1.1\r\n" + HOST + b"\r\n", 501),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        (b"GET / HTTP/1.1\r\nHost: 192.168.0.1:80\r\n\r\n", 421),
        (b"GET / HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", 421),
        (b"GET / HTTP/1.1\r\n" + HOST + b"no header\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + HOST + b"a : b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + HOST + b"a: b\r\n c\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + HOST + b"a: b\x00c\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + HOST + b": b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n" + HOST + b"a: b\r\n" * 101 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + HOST + b"a: " + b"b" * 11_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + HOST + b"a: " + b"b" * 70_000 + b"\r\n\r\n", 431),
        (b"GET /" + b"a" * 11_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 431),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\na", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\na", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: +1\r\n\r\na", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 1_0\r\n\r\na", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: \xb2\r\n\r\na", 400),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\na", 413),
        (b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % (MAX_BODY_BYTES + 1), 413),
    ],
)
def test_a_bad_request_is_refused_and_ends_the_connection(
    gateway: Gateway, request_bytes: bytes, status: int
) -> None:
    head, _, body = send_raw(gateway, request_bytes).partition(b"\r\n\r\n")
    lines = head.lower().split(b"\r\n")
    assert lines[0].startswith(b"http/1.1 %d " % status)
    assert b"connection: close" in lines
    assert b"content-type: application/json" in lines
    assert json.loads(body).keys() == {"message"}


def test_the_gateway_lives_on_after_nonsense(
    gateway: Gateway, connection: http.client.HTTPConnection
) -> None:
    for content in (
        b"",
        b"GET",
        b"\r\n",
        b"\x00" * 1_000,
        b"POST / HTTP/1.1\r\n" + HOST + b"Content-Length: 9\r\n\r\na",
    ):
        with socket.create_connection(address_of(gateway), timeout=10) as client:
            client.sendall(content)
    assert ask_for_event(connection, "GET", "/")["rawPath"] == "/"


def test_the_largest_body(connection: http.client.HTTPConnection) -> None:
    event = ask_for_event(
        connection,
        "POST",
        "/",
        body=b"x" * (MAX_BODY_BYTES - 2_000_000),
        headers={"content-type": "text/plain"},
    )
    assert len(event["body"]) == MAX_BODY_BYTES - 2_000_000


def test_a_client_that_sends_far_too_much_still_reads_why(gateway: Gateway) -> None:
    with closing(http.client.HTTPConnection(*address_of(gateway), timeout=10)) as connection:
        connection.request("POST", "/", body=b"x" * (MAX_BODY_BYTES + 1))
        response = connection.getresponse()
        assert (response.status, json.loads(response.read())) == (
            413,
            {"message": "Request Entity Too Large"},
        )


def test_expect_100_continue(gateway: Gateway) -> None:
    with socket.create_connection(address_of(gateway), timeout=10) as client:
        client.sendall(
            b"POST / HTTP/1.1\r\n" + HOST + b"Content-Type: text/plain\r\nContent-Length: 2\r\n"
            b"Expect: 100-continue\r\nConnection: close\r\n\r\n"
        )
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"ok")
        answer = b"".join(iter(lambda: client.recv(65_536), b""))
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["body"] == "ok"
