"""The issuer's public keys (a JWKS): fetched, kept for a while, and found by the `kid` of a token.

A kept key is used while another thread fetches new ones, and for a day if the issuer cannot be reached. An
unknown `kid` makes us fetch, but no more often than every PAUSE_SECONDS: sending nonsense changes nothing.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from signet.core.errors import Rejected, Transient

if TYPE_CHECKING:
    from jwt import PyJWK

FRESH_SECONDS = 600.0
MAX_STALE_SECONDS = 86_400.0
PAUSE_SECONDS = 30.0
# While there is no key at all, every request waits for one.
FIRST_PAUSE_SECONDS = 2.0
FETCH_SECONDS = 3.0
MAX_KEY_SET_BYTES = 262_144
MAX_KEYS = 100
MAX_KID_CHARACTERS = 300
MIN_RSA_BITS, MAX_RSA_BITS = 2_048, 8_192
_READ_BYTES = 16_384
_OK = 200
_LOG = logging.getLogger("signet.api")


Keys = Mapping[str, "PyJWK"]


class KeysUnreadable(Exception):
    """A failure to read the issuer's keys, with its reason for the log."""


class KeySet:
    """The keys of one issuer; one set serves all threads of a process."""

    def __init__(self, fetch: Callable[[], Keys], read_seconds: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._read_seconds = read_seconds
        self._asking = threading.Lock()
        self._keys: Keys = {}
        self._got_at = self._asked_at = float("-inf")
        self._has_failed = False

    def find(self, kid: str) -> "PyJWK":
        if self._should_ask(kid):
            self._ask_alone(kid)
        key = self._keys.get(kid)
        if key is not None and self._read_seconds() - self._got_at < MAX_STALE_SECONDS:
            return key
        if self._has_failed:
            raise Transient("TOKEN_KEYS_UNAVAILABLE", "the issuer's keys cannot be fetched at the moment")
        raise Rejected("TOKEN_INVALID", "The token is not valid: no key of its issuer has its kid.")

    def _should_ask(self, kid: str) -> bool:
        now = self._read_seconds()
        if now - self._asked_at < (PAUSE_SECONDS if self._keys else FIRST_PAUSE_SECONDS):
            return False
        return kid not in self._keys or now - self._got_at >= FRESH_SECONDS

    def _ask_alone(self, kid: str) -> None:
        # A request with a kept key goes on; one without waits for the keys that another thread is fetching.
        if not self._asking.acquire(blocking=kid not in self._keys):
            return
        try:
            if self._should_ask(kid):
                self._ask()
        finally:
            self._asking.release()

    def _ask(self) -> None:
        try:
            self._keys, self._got_at = self._fetch(), self._read_seconds()
            self._has_failed = False
        except KeysUnreadable as error:
            self._has_failed = True
            _LOG.warning("the issuer's keys: %s", error)
        finally:
            # From its end, so that a slow fetch is not repeated at once.
            self._asked_at = self._read_seconds()


def fetch_keys(url: str, seconds: float = FETCH_SECONDS) -> Keys:
    """Fetch in a thread of its own, which limits the time of it all: names, handshake, headers, body."""
    outcome: SimpleQueue[Keys | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            outcome.put(read_keys(_download(url, seconds)))
        except Exception as error:
            outcome.put(error)

    threading.Thread(target=ask, name="signet-keys", daemon=True).start()
    try:
        found = outcome.get(timeout=seconds)
    except Empty:
        raise KeysUnreadable(f"no answer within {seconds} seconds") from None
    if isinstance(found, Exception):
        raise KeysUnreadable(str(found)) from found
    return found


def _download(url: str, seconds: float) -> bytes:
    """Download from the place in settings only, without redirects and proxies."""
    end = time.monotonic() + seconds
    place = urlsplit(url)
    make = HTTPSConnection if place.scheme == "https" else HTTPConnection
    connection = make(place.hostname or "", place.port, timeout=seconds)
    try:
        path = place.path or "/"
        connection.request("GET", f"{path}?{place.query}" if place.query else path)
        answer = connection.getresponse()
        if answer.status != _OK:
            raise KeysUnreadable(f"answered with {answer.status}")
        body = b""
        while part := answer.read1(_READ_BYTES):
            body += part
            if len(body) > MAX_KEY_SET_BYTES:
                raise KeysUnreadable(f"has more than {MAX_KEY_SET_BYTES} bytes")
            if time.monotonic() > end:
                raise KeysUnreadable(f"took longer than {seconds} seconds")
        return body
    except (OSError, HTTPException, ValueError) as error:
        raise KeysUnreadable(f"cannot be read: {error!r}") from error
    finally:
        connection.close()


def read_keys(body: bytes) -> Keys:
    """Return the keys that may verify a token. Those of another kind or use, or too weak, are left out."""
    # With its cryptography some 20 ms of CPU that only a request with a token should cost.
    from jwt import PyJWKSet, PyJWKSetError

    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise KeysUnreadable("is not JSON") from error
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(listed) > MAX_KEYS:
        raise KeysUnreadable(f"is no list of at most {MAX_KEYS} keys")
    keys: dict[str, PyJWK] = {}
    with suppress(PyJWKSetError):
        for key in PyJWKSet([each for each in listed if _may_verify(each)]):
            if key.key_type != "RSA" or MIN_RSA_BITS <= key.key.key_size <= MAX_RSA_BITS:
                keys.setdefault(str(key.key_id), key)
    if not keys:
        raise KeysUnreadable("holds no key that could verify a token")
    return keys


def _may_verify(shown: Any) -> bool:
    match shown:
        case {"d": _}:
            # A private key in a public place is no secret any more.
            return False
        case {"kty": "RSA"}:
            algorithm = "RS256"
        case {"kty": "EC", "crv": "P-256"}:
            algorithm = "ES256"
        case _:
            return False
    kid, operations = shown.get("kid"), shown.get("key_ops")
    return (
        isinstance(kid, str)
        and 0 < len(kid) <= MAX_KID_CHARACTERS
        and shown.get("alg", algorithm) == algorithm
        and shown.get("use", "sig") == "sig"
        and (operations is None or (isinstance(operations, list) and "verify" in operations))
    )
