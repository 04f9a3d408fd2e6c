"""The local gateway over real sockets: connections, answers, starting and stopping."""

import base64
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from signet.local import gateway as gateway_module
from signet.local.gateway import MAX_CONNECTIONS, Gateway, GatewayFailed, open_gateway
from tests.support.services.gateway import HOST, address_of, ask_for_event, echo, send_raw


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    with open_gateway("127.0.0.1", 0) as gateway:
        gateway.start(echo)
        yield gateway


@pytest.fixture
def connection(gateway: Gateway) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection(*address_of(gateway), timeout=10)) as connection:
        yield connection


def answer_with(answer: object) -> tuple[int, dict[str, str], list[str], bytes]:
    with open_gateway("127.0.0.1", 0) as gateway:
        gateway.start(lambda event, context: answer)
        with closing(http.client.HTTPConnection(*address_of(gateway), timeout=10)) as connection:
            connection.request("GET", "/")
            response = connection.getresponse()
            cookies = response.headers.get_all("set-cookie", [])
            return response.status, dict(response.headers), cookies, response.read()


def test_a_connection_is_kept_and_pipelining_keeps_the_order(gateway: Gateway) -> None:
    requests = b"".join(b"GET /%d HTTP/1.1\r\n%s\r\n" % (n, HOST) for n in range(20))
    answer = send_raw(gateway, requests + b"GET /last HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    paths = [json.loads(part[: part.rindex(b"}") + 1])["rawPath"] for part in answer.split(b"\r\n\r\n")[1:]]
    assert paths == [*(f"/{n}" for n in range(20)), "/last"]


def test_http_1_0_ends_after_its_answer(gateway: Gateway) -> None:
    answer = send_raw(gateway, b"GET / HTTP/1.0\r\n" + HOST + b"\r\n")
    assert b"connection: close" in answer
    assert b'"protocol": "HTTP/1.0"' in answer


def test_head_has_the_length_of_a_body_and_no_body(connection: http.client.HTTPConnection) -> None:
    connection.request("HEAD", "/")
    response = connection.getresponse()
    assert int(response.headers["content-length"]) > 0
    assert response.read() == b""
    assert ask_for_event(connection, "GET", "/after")["rawPath"] == "/after"


def test_many_at_once() -> None:
    """Hold all requests in the handler at the same time."""
    count = 16
    meeting = threading.Barrier(count, timeout=10)

    def meet(event: dict[str, Any], context: Any) -> dict[str, Any]:
        meeting.wait()
        return {"statusCode": 200, "body": event["rawPath"]}

    def ask(number: int) -> bytes:
        with closing(http.client.HTTPConnection(*address_of(shared), timeout=10)) as connection:
            connection.request("GET", f"/{number}")
            return connection.getresponse().read()

    with open_gateway("127.0.0.1", 0) as shared, ThreadPoolExecutor(count) as pool:
        shared.start(meet)
        assert list(pool.map(ask, range(count))) == [b"/%d" % number for number in range(count)]


def test_connections_are_bounded(gateway: Gateway) -> None:
    clients = [socket.create_connection(address_of(gateway), timeout=10) for _ in range(MAX_CONNECTIONS)]
    try:
        with socket.create_connection(address_of(gateway), timeout=10) as client:
            assert client.recv(65_536).startswith(b"HTTP/1.1 503 ")
    finally:
        for client in clients:
            client.close()


def test_the_rest_of_a_burst_waits_for_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_module, "BURST_SECONDS", 60.0)
    with open_gateway("127.0.0.1", 0) as full:
        full.start(lambda event, context: {"statusCode": 204})
        clients = [socket.create_connection(address_of(full), timeout=10) for _ in range(MAX_CONNECTIONS)]
        try:
            with socket.create_connection(address_of(full), timeout=10) as client:
                client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                clients.pop().close()
                assert client.recv(65_536).startswith(b"HTTP/1.1 204 ")
        finally:
            for one in clients:
                one.close()


def test_an_idle_connection_ends(monkeypatch: pytest.MonkeyPatch, gateway: Gateway) -> None:
    monkeypatch.setattr(gateway_module._GatewayConnection, "timeout", 0.1)
    assert send_raw(gateway, b"GET / HTTP/1.1\r\n") == b""


def test_an_answer_of_every_part() -> None:
    status, headers, cookies, body = answer_with(
        {
            "statusCode": 201,
            "headers": {"Content-Type": "image/png", "X-Number": 7, "X-Flag": True, "Content-Length": "99"},
            "cookies": ["a=1; HttpOnly", "b=2"],
            "body": base64.b64encode(b"\x89PNG").decode(),
            "isBase64Encoded": True,
        }
    )
    assert (status, cookies, body) == (201, ["a=1; HttpOnly", "b=2"], b"\x89PNG")
    assert headers["content-type"] == "image/png"
    assert headers["x-number"] == "7"
    assert headers["x-flag"] == "true"
    assert headers["content-length"] == "4"
    assert headers["date"].endswith("GMT")


@pytest.mark.parametrize(
    ("answer", "status", "content_type", "body"),
    [
        ({"message": "hello"}, 200, "application/json", b'{"message": "hello"}'),
        ("hello", 200, "application/json", b"hello"),
        (None, 200, "application/json", b"null"),
        ({"statusCode": 200, "body": "hello"}, 200, "text/plain; charset=utf-8", b"hello"),
        ({"statusCode": "202", "body": "ä"}, 202, "text/plain; charset=utf-8", "ä".encode()),
        ({"statusCode": 299}, 299, None, b""),
        ({"statusCode": 204}, 204, None, b""),
    ],
)
def test_answers_that_leave_parts_out(
    answer: object, status: int, content_type: str | None, body: bytes
) -> None:
    got_status, headers, _, got_body = answer_with(answer)
    assert (got_status, headers.get("content-type"), got_body) == (status, content_type, body)
    assert ("content-length" in headers) is (status != 204)


@pytest.mark.parametrize(
    "answer",
    [
        {"statusCode": 99},
        {"statusCode": 1_000},
        {"statusCode": "ok"},
        {"statusCode": None},
        {"statusCode": 200, "headers": ["a"]},
        {"statusCode": 200, "headers": {"a": ["b"]}},
        {"statusCode": 200, "headers": {"a b": "c"}},
        {"statusCode": 200, "headers": {"a": "b\r\nset-cookie: c"}},
        {"statusCode": 200, "headers": {"a": "ä"}},
        {"statusCode": 200, "cookies": "a=1"},
        {"statusCode": 200, "cookies": ["a\r\nb: c"]},
        {"statusCode": 200, "body": {"a": 1}},
        {"statusCode": 200, "body": "\ud800"},
        {"statusCode": 200, "body": "?", "isBase64Encoded": True},
        {"statusCode": 200, "body": "x" * (6 * 1_048_576 + 1)},
        {"not": {"json"}},
    ],
    ids=lambda answer: repr(answer)[:60],
)
def test_an_answer_that_cannot_be_sent(answer: object) -> None:
    status, headers, _, body = answer_with(answer)
    assert (status, json.loads(body)) == (500, {"message": "Internal Server Error"})
    assert headers["content-type"] == "application/json"


def test_a_handler_that_raises_tells_nothing_and_the_connection_lives(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def raise_once(event: dict[str, Any], context: Any) -> object:
        if event["rawPath"] == "/bad":
            raise ValueError("hunter2")
        return "fine"

    with open_gateway("127.0.0.1", 0) as gateway:
        gateway.start(raise_once)
        with closing(http.client.HTTPConnection(*address_of(gateway), timeout=10)) as connection:
            connection.request("GET", "/bad")
            response = connection.getresponse()
            assert (response.status, response.read()) == (500, b'{"message": "Internal Server Error"}')
            connection.request("GET", "/good")
            assert connection.getresponse().read() == b"fine"
    assert "hunter2" in caplog.text


def test_the_context_is_lambdas() -> None:
    seen: list[Any] = []

    def look(event: dict[str, Any], context: Any) -> object:
        seen.append(context)
        return context.get_remaining_time_in_millis()

    with open_gateway("127.0.0.1", 0) as gateway:
        gateway.start(look)
        with closing(http.client.HTTPConnection(*address_of(gateway), timeout=10)) as connection:
            connection.request("GET", "/")
            assert 0 < int(connection.getresponse().read()) <= 29_000
    assert seen[0].function_name == "signet-api"
    assert seen[0].memory_limit_in_mb == "1024"
    assert seen[0].invoked_function_arn.endswith(":function:signet-api")
    assert seen[0].aws_request_id


def test_a_taken_port_names_itself_and_the_way_out(gateway: Gateway) -> None:
    host, port = address_of(gateway)
    with pytest.raises(GatewayFailed, match=rf"Port {port} cannot be used \(Address already in use\).*PORT="):
        Gateway(host, port)


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_that_is_none(port: int) -> None:
    with pytest.raises(GatewayFailed, match="there is no such port"):
        Gateway("127.0.0.1", port)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.0.1", "example.com", "127.0.0.1.example.com"])
def test_only_the_loopback(host: str) -> None:
    with pytest.raises(GatewayFailed, match="loopback only"):
        Gateway(host, 0)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.2"])
def test_names_of_the_loopback(host: str) -> None:
    with open_gateway(host, 0) as gateway:
        gateway.start(echo)
        with closing(http.client.HTTPConnection(*address_of(gateway), timeout=10)) as connection:
            assert ask_for_event(connection, "GET", "/")["rawPath"] == "/"


def test_stopping_lets_a_request_finish_and_frees_the_port() -> None:
    entered, leave = threading.Event(), threading.Event()

    def wait(event: dict[str, Any], context: Any) -> object:
        entered.set()
        leave.wait(10)
        return "finished"

    with open_gateway("127.0.0.1", 0) as gateway, ThreadPoolExecutor(2) as pool:
        gateway.start(wait)
        asked = pool.submit(send_raw, gateway, b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
        assert entered.wait(10)
        stopped = pool.submit(gateway.stop)
        time.sleep(0.1)
        assert not stopped.done()
        leave.set()
        assert asked.result(10).endswith(b"finished")
        stopped.result(10)
        with open_gateway(*address_of(gateway)):
            pass


def test_an_idle_connection_does_not_hold_up_a_stop(gateway: Gateway) -> None:
    with socket.create_connection(address_of(gateway), timeout=10):
        time.sleep(0.1)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(gateway.stop).result(20)
