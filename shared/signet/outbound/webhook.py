"""Webhooks: one POST to a tenant's endpoint, whose address is checked inside the connection.

The checked address is the connected one: a name may resolve to another address a moment later (DNS
rebinding), so it is resolved once. Redirects are not followed. Each phase has a time limit, and so has the
whole. Of the answer no more is read than is kept, and one byte that tells if there is more.
"""

import http.client
import io
import json
import re
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

from signet.core.canonical_json import canonical_bytes
from signet.core.documents.payload_limits import check_payload
from signet.core.errors import Rejected, SignetError
from signet.core.integrations.webhook_signatures import OWN_TYPE, parse_secret, sign, write_message_id
from signet.core.tenants.allowed_hosts import is_among
from signet.outbound.addresses import find_refusal
from signet.outbound.connector import Delivery, KeptAsText, OutboundMessage
from signet.outbound.secrets import ReadSecret, no_secrets

CONNECT_SECONDS = 5.0
READ_SECONDS = 10.0
TOTAL_SECONDS = 20.0
MAX_BODY_BYTES = 262_144
MAX_ANSWER_BYTES = 16_384
MAX_URL_CHARACTERS = 2_000
# A name as it is resolved, or an address. An encoded dot would read as another host than it is.
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|[0-9a-f:.]+")
MAX_ADDRESSES = 8
PORTS = frozenset({443, 8443})
USER_AGENT = "signet-webhooks/1"
GONE = 410
_READ_CHUNK_BYTES = 4_096
# What begins so was meant as JSON.
_OPENINGS = ("{", "[", '"')

Resolve = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True, slots=True)
class AllowedAddresses:
    """Exceptions from the rule of public addresses, by a deployment or a tenant."""

    # Allowed in spite of the rule, at any port and by plain HTTP: for nearby receivers and for tests.
    addresses: frozenset[str] = frozenset()
    # If not empty, only these: names, or `*.` and a domain.
    hosts: Sequence[str] = ()


PUBLIC = AllowedAddresses()
_FAILURES: Sequence[tuple[type[Exception], str]] = (
    (ConnectionRefusedError, "nothing listens at the address"),
    (socket.gaierror, "the name leads to no address"),
    (ConnectionError, "the connection was cut"),
    (http.client.HTTPException, "what came back is no HTTP answer"),
    (OSError, "there is no way to the address"),
)
_NAMED_ALONE = "plain HTTP and other ports are for addresses that SIGNET_WEBHOOK_ADDRESSES names"
_ALLOW = "Send a URL with https. On a machine of your own, start Signet with SIGNET_WEBHOOK_ADDRESSES."


class Webhooks:
    """The connector of webhooks (Standard Webhooks 1.0.0).

    Every valid secret signs, so that one can replace another.
    """

    def __init__(self, read: ReadSecret, allowed: AllowedAddresses) -> None:
        self._read = read
        self._allowed = allowed

    def deliver(self, message: OutboundMessage) -> Delivery:
        destination = message.destination
        if destination is None:
            return _refuse("ENDPOINT_UNKNOWN: the tenant has no endpoint of that name")
        body = canonical_bytes(
            {
                "type": OWN_TYPE,
                "timestamp": message.created_at.isoformat(),
                "data": message.payload.get("payload", {}),
            }
        )
        try:
            texts = [self._read(message.tenant_id, name) for name in destination.secret_refs]
            # A missing secret signs nothing; the other one still does.
            secrets = [parse_secret(text) for text in texts if text is not None]
        except SignetError as error:
            return _refuse(f"SECRET_UNREADABLE: {error.code}")
        if not secrets:
            unset = "; SIGNET_SECRETS_FOLDER is not set here" if self._read is no_secrets else ""
            return _refuse(f"SECRET_MISSING: none of the endpoint's secrets can be read{unset}")
        headers = sign(secrets, write_message_id(message.id), int(message.now.timestamp()), body)
        if message.trace_id:
            headers["traceparent"] = message.trace_id
        return post(destination.url, body, headers, replace(self._allowed, hosts=destination.hosts))


class _Refused(Exception):
    """A lasting reason against reaching the endpoint."""


def check_url(url: str, allowed: AllowedAddresses) -> SplitResult:
    """Check the form of an endpoint's URL; the address of its name is checked at each delivery."""
    if len(url) > MAX_URL_CHARACTERS or not url.isascii() or not url.isprintable() or " " in url:
        raise _reject(f"wants at most {MAX_URL_CHARACTERS} visible ASCII characters")
    try:
        parts = urlsplit(url)
        port = _read_port(parts)
        # As in resolving: a part that is empty or too long raises UnicodeError.
        (parts.hostname or "").encode("idna")
    except ValueError:
        raise _reject("is no URL") from None
    if parts.scheme != "https" and not (parts.scheme == "http" and allowed.addresses):
        raise _reject(f"wants https; {_NAMED_ALONE}", remedy=_ALLOW)
    if not parts.hostname or parts.username is not None or parts.password is not None or parts.fragment:
        raise _reject("wants a host, and neither a user nor a fragment")
    if not _HOST.fullmatch(parts.hostname):
        raise _reject("wants a host of letters, digits, hyphens and dots, or an address")
    if port not in PORTS and not (allowed.addresses and port):
        ports = ", ".join(map(str, sorted(PORTS)))
        raise _reject(f"wants one of the ports {ports}; {_NAMED_ALONE}", remedy=_ALLOW)
    if allowed.hosts and not is_among(parts.hostname, allowed.hosts):
        raise Rejected(
            "ENDPOINT_HOST_REFUSED",
            "the endpoint's host is not among those that this tenant may call",
            remedy="Have the host added to the tenant's webhook_hosts.",
        )
    return parts


def post(
    url: str,
    body: bytes,
    headers: Mapping[str, str],
    allowed: AllowedAddresses,
    *,
    resolve: Resolve | None = None,
    context: ssl.SSLContext | None = None,
) -> Delivery:
    """Send one POST; failures of the outside world raise nothing."""
    started = time.monotonic()
    has_left = False
    try:
        parts = check_url(url, allowed)
        if len(body) > MAX_BODY_BYTES:
            raise _Refused(f"BODY_TOO_LARGE: a webhook has at most {MAX_BODY_BYTES} bytes")
        deadline = started + TOTAL_SECONDS
        with closing(_PinnedConnection(parts, allowed, resolve or _resolve, context, deadline)) as connection:
            connection.connect()
            has_left = True
            delivery = _send(connection, parts, body, headers)
    except _Refused as error:
        delivery = Delivery(None, str(error), is_final=True)
    except Rejected as error:
        delivery = Delivery(None, f"{error.code}: {error}", is_final=True)
    except TimeoutError:
        delivery = Delivery(None, "TIMED_OUT: the endpoint took too long")
    except ssl.SSLError as error:
        delivery = Delivery(None, f"TLS_FAILED: {error.reason or 'the connection is not secure'}")
    except (OSError, http.client.HTTPException) as error:
        delivery = Delivery(None, f"NOT_REACHED: {_describe_failure(error)}")
    duration_ms = round((time.monotonic() - started) * 1_000, 1)
    return replace(delivery, duration_ms=duration_ms, has_left=has_left)


def _read_port(parts: SplitResult) -> int:
    if parts.port is not None:
        return parts.port
    return 443 if parts.scheme == "https" else 80


class _PinnedConnection(http.client.HTTPConnection):
    """A connection to a checked address under the requested name, until its time is over."""

    def __init__(
        self,
        parts: SplitResult,
        allowed: AllowedAddresses,
        resolve: Resolve,
        context: ssl.SSLContext | None,
        deadline: float,
    ) -> None:
        self._is_secure = parts.scheme == "https"
        self._allowed = allowed
        self._resolve = resolve
        self._context = context or _make_context()
        self._deadline = deadline
        super().__init__(str(parts.hostname), _read_port(parts), timeout=CONNECT_SECONDS)

    def connect(self) -> None:
        address = self._choose()
        self.sock = socket.create_connection((address, self.port), CONNECT_SECONDS)
        # The resolver cannot be wrong here, but the socket's own answer is safer than an assumption.
        peer = self.sock.getpeername()[0]
        self._check(peer)
        if self._is_secure:
            self.sock = self._context.wrap_socket(self.sock, server_hostname=self.host)
        self.sock.settimeout(READ_SECONDS)

    def getresponse(self) -> http.client.HTTPResponse:
        """Read the status line and headers within the time limit.

        Otherwise each byte might come soon, and the last never.
        """
        reading = cast(socket.socket, _ResponseReader(self.sock, self._deadline))
        answer = http.client.HTTPResponse(reading, method="POST")
        answer.begin()
        return answer

    def _choose(self) -> str:
        """Choose an address; all must be allowed, because a name that also leads inside is refused."""
        addresses = self._resolve(self.host, self.port)[:MAX_ADDRESSES]
        if not addresses:
            raise OSError("the name leads nowhere")
        for address in addresses:
            self._check(address)
        return addresses[0]

    def _check(self, address: str) -> None:
        if address in self._allowed.addresses:
            return
        refusal = find_refusal(address)
        if refusal is not None:
            raise _Refused(f"ADDRESS_REFUSED: the endpoint's name leads to an address that is {refusal}")
        if not self._is_secure or self.port not in PORTS:
            raise _Refused("ADDRESS_REFUSED: plain HTTP and other ports are for named addresses only")


def _send(
    connection: _PinnedConnection, parts: SplitResult, body: bytes, headers: Mapping[str, str]
) -> Delivery:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    sent = {
        **headers,
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "accept-encoding": "identity",
        "connection": "close",
    }
    connection.request("POST", target, body, sent)
    answer = connection.getresponse()
    return _read_delivery(answer.status, *_read_body(answer))


def _resolve(host: str, port: int) -> list[str]:
    addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in addresses))


class _ResponseReader(io.RawIOBase):
    """A reader of the answer: each part within its time, and all of it within the rest of the whole."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(min(READ_SECONDS, left))
        return self._sock.recv_into(buffer)

    def makefile(self, mode: str) -> io.BufferedReader:
        """Return a file, as http.client wants from a socket."""
        return io.BufferedReader(self)


@cache
def _make_context() -> ssl.SSLContext:
    """Make the TLS context, once: loading the authorities takes longer than a call."""
    return ssl.create_default_context()


def _read_body(answer: http.client.HTTPResponse) -> tuple[bytes, bool]:
    """Read as much of the body as is kept. Return also whether there is more, or was to be more."""
    parts: list[bytes] = []
    size = 0
    while size <= MAX_ANSWER_BYTES and not answer.isclosed():
        part = answer.read1(min(_READ_CHUNK_BYTES, MAX_ANSWER_BYTES + 1 - size))
        if not part:
            break
        parts.append(part)
        size += len(part)
    return b"".join(parts)[:MAX_ANSWER_BYTES], size > MAX_ANSWER_BYTES or bool(answer.length)


def _read_delivery(status: int, body: bytes, is_part: bool) -> Delivery:
    content, kept_as_text = _parse_body(body, is_part=is_part)
    delivery = Delivery(status, None, content, kept_as_text=kept_as_text)
    if 200 <= status < 300:
        return delivery
    if 300 <= status < 400:
        return replace(delivery, error=f"REDIRECTED: {status}, which is not followed")
    is_gone = status == GONE
    return replace(delivery, error=f"ANSWERED: {status}", is_final=is_gone, is_gone=is_gone)


def _parse_body(body: bytes, *, is_part: bool) -> tuple[Any, KeptAsText | None]:
    """Parse the body as JSON if it can be stored, and else return its text, with the reason."""
    text = body.decode(errors="replace").replace("\0", "")
    if is_part:
        return {"text": text}, "part"
    if not body:
        return None, None
    try:
        content = json.loads(body.decode(), object_pairs_hook=_read_members)
        is_kept = check_payload(content) is None
    except (ValueError, RecursionError):
        return {"text": text}, "broken" if text.lstrip().startswith(_OPENINGS) else "plain"
    return (content, None) if is_kept else ({"text": text}, "broken")


def _read_members(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with a member twice: its readers would not agree on which one counts."""
    content = dict(members)
    if len(content) < len(members):
        raise ValueError("a member comes twice")
    return content


def _describe_failure(error: Exception) -> str:
    """Say in words why nothing was reached: by the first kind that the failure is of."""
    return next(words for kind, words in _FAILURES if isinstance(error, kind))


def _refuse(error: str) -> Delivery:
    """Answer an attempt that sends nothing, because something is missing here."""
    return Delivery(None, error, has_left=False)


def _reject(sentence: str, remedy: str = "") -> Rejected:
    return Rejected("ENDPOINT_INVALID", f"the endpoint's address {sentence}", remedy=remedy)
