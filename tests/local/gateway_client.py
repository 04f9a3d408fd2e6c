"""A plain client for the tests of the local gateway, and the handler that answers with its event."""

import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

from signet.local.gateway import Gateway

HOST = b"Host: localhost\r\n"


def echo(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer with the given event."""
    return {"statusCode": 200, "headers": {"content-type": "application/json"}, "body": json.dumps(event)}


def address_of(gateway: Gateway) -> tuple[str, int]:
    parts = urlsplit(gateway.url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def ask_for_event(connection: http.client.HTTPConnection, *request: Any, **more: Any) -> dict[str, Any]:
    connection.request(*request, **more)
    response = connection.getresponse()
    event: dict[str, Any] = json.loads(response.read())
    assert response.status == 200
    return event


def send_raw(gateway: Gateway, content: bytes) -> bytes:
    """Send the bytes; return everything received until the gateway closes."""
    with socket.create_connection(address_of(gateway), timeout=10) as client:
        client.sendall(content)
        return b"".join(iter(lambda: client.recv(65_536), b""))
