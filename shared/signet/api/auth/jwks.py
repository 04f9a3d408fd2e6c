"""The issuer's public keys (a JWKS): fetched, kept for a while, and looked up by the `kid` of a token.

A key that is held is used while another thread asks for news, and for a day when the issuer cannot be
reached. An unknown `kid` makes us ask again, but no more often than every PAUSE_SECONDS: whoever sends
nonsense cannot make us ask.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from queue import Empty, SimpleQueue
from typing import Any
from urllib.parse import urlsplit

import orjson

from signet.core.errors import Rejected, Transient

FRESH_SECONDS = 600.0
MAX_STALE_SECONDS = 86_400.0
PAUSE_SECONDS = 30.0
# As long as there is none at all, every request waits for one.
FIRST_PAUSE_SECONDS = 2.0
FETCH_SECONDS = 3.0
MAX_KEY_SET_BYTES = 262_144
MAX_KEYS = 100
MAX_KID_CHARACTERS = 300
MIN_RSA_BITS, MAX_RSA_BITS = 2_048, 8_192
_READ_BYTES = 16_384
_OK = 200
_LOG = logging.getLogger("signet.api")


@dataclass(frozen=True, slots=True)
class VerifyingKey:
    """A public key with the one algorithm that it may verify."""

    algorithm: str
    public_key: Any


Keys = Mapping[str, VerifyingKey]


class KeysUnreadable(Exception):
    """Why the issuer's keys could not be had; for the log."""


class KeySet:
    """One a process, for any number of threads."""

    def __init__(self, fetch: Callable[[], Keys], read_seconds: Callable[[], float] = time.monotonic) -> None:
        self._fetch = fetch
        self._read_seconds = read_seconds
        self._asking = threading.Lock()
        self._keys: Keys = {}
        self._got_at = self._asked_at = float("-inf")
        self._has_failed = False

    def find(self, kid: str) -> VerifyingKey:
        if self._should_ask(kid):
            self._ask_alone(kid)
        key = self._keys.get(kid)
        if key is not None and self._read_seconds() - self._got_at < MAX_STALE_SECONDS:
            return key
        if self._has_failed:
            raise Transient("TOKEN_KEYS_UNAVAILABLE", "the issuer's keys cannot be had at the moment")
        raise Rejected("TOKEN_INVALID", "The token is not valid: no key of its issuer has its kid.")

    def _should_ask(self, kid: str) -> bool:
        now = self._read_seconds()
        if now - self._asked_at < (PAUSE_SECONDS if self._keys else FIRST_PAUSE_SECONDS):
            return False
        return kid not in self._keys or now - self._got_at >= FRESH_SECONDS

    def _ask_alone(self, kid: str) -> None:
        # Whoever has a key goes on with it; who has none waits for the answer that another one asked for.
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
            # From its end: what took long is not asked for again at once.
            self._asked_at = self._read_seconds()


def fetch_keys(url: str, seconds: float = FETCH_SECONDS) -> Keys:
    """In a thread of its own, so that the time is a limit of all of it: names, handshake, headers, body."""
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
    """No redirect is followed and no proxy asked: the setting names the place."""
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
    """Those that may verify; what is of another kind or use, or too weak, is left out."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise KeysUnreadable("is not JSON") from error
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list) or len(listed) > MAX_KEYS:
        raise KeysUnreadable(f"is no list of at most {MAX_KEYS} keys")
    keys: dict[str, VerifyingKey] = {}
    for each in listed:
        key = _read_key(each) if isinstance(each, dict) else None
        if key is not None:
            keys.setdefault(each["kid"], key)
    if not keys:
        raise KeysUnreadable("holds no key that could verify a token")
    return keys


def _read_key(each: Mapping[str, Any]) -> VerifyingKey | None:
    kid = each.get("kid")
    if not isinstance(kid, str) or not 0 < len(kid) <= MAX_KID_CHARACTERS:
        return None
    # A private key in a public place is nobody's any more.
    if each.get("use", "sig") != "sig" or "d" in each or not _may_verify(each.get("key_ops")):
        return None
    match each.get("kty"), each.get("crv"):
        case "RSA", _:
            return _load("RS256", each)
        case "EC", "P-256":
            return _load("ES256", each)
    return None


def _may_verify(operations: object) -> bool:
    return operations is None or (isinstance(operations, list) and "verify" in operations)


def _load(algorithm: str, each: Mapping[str, Any]) -> VerifyingKey | None:
    import jwt

    if each.get("alg", algorithm) != algorithm:
        return None
    try:
        public_key = jwt.PyJWK(dict(each), algorithm).key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    if algorithm == "RS256" and not MIN_RSA_BITS <= public_key.key_size <= MAX_RSA_BITS:
        return None
    return VerifyingKey(algorithm, public_key)
