"""The issuer's keys: when they are asked for, what is held meanwhile, and what is taken for a key."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from signet.api.auth.jwks import (
    FIRST_PAUSE_SECONDS,
    FRESH_SECONDS,
    MAX_KEY_SET_BYTES,
    MAX_KEYS,
    MAX_STALE_SECONDS,
    PAUSE_SECONDS,
    Keys,
    KeySet,
    KeysUnreadable,
    fetch_keys,
    read_keys,
)
from signet.core.errors import Rejected, Transient
from tests.support.services.token_issuer import EC_KEY, RSA_KEY, KeyServer, serving_keys, show_ec, show_rsa


@pytest.fixture
def server() -> Iterator[KeyServer]:
    with serving_keys() as served:
        yield served


class KeySetIssuer:
    """An issuer with keys to show, a count of the questions, and a clock."""

    def __init__(self, *kids: str) -> None:
        self.kids: tuple[str, ...] | None = kids
        self.asked = 0
        self.now = 0.0
        self.keys = KeySet(self.fetch, lambda: self.now)

    def fetch(self) -> Keys:
        self.asked += 1
        if self.kids is None:
            raise KeysUnreadable("down")
        return {kid: cast(jwt.PyJWK, SimpleNamespace(key=kid)) for kid in self.kids}


def test_keys_are_kept_until_they_are_no_longer_fresh() -> None:
    issuer = KeySetIssuer("a")
    for _ in range(3):
        assert issuer.keys.find("a").key == "a"
    assert issuer.asked == 1
    issuer.now = FRESH_SECONDS
    issuer.keys.find("a")
    assert issuer.asked == 2


def test_a_rotated_key_is_found_and_the_old_one_goes() -> None:
    issuer = KeySetIssuer("a")
    issuer.keys.find("a")
    issuer.kids, issuer.now = ("b",), PAUSE_SECONDS
    assert issuer.keys.find("b").key == "b"
    with pytest.raises(Rejected) as caught:
        issuer.keys.find("a")
    assert (caught.value.code, issuer.asked) == ("TOKEN_INVALID", 2)


def test_an_unknown_kid_makes_us_ask_no_more_than_once_in_a_while() -> None:
    issuer = KeySetIssuer("a")
    issuer.keys.find("a")
    for number in range(5):
        issuer.now = PAUSE_SECONDS + number
        with pytest.raises(Rejected):
            issuer.keys.find(f"unknown {number}")
    assert issuer.asked == 2


def test_without_the_issuer_what_is_held_goes_on_for_a_day() -> None:
    issuer = KeySetIssuer("a")
    issuer.keys.find("a")
    issuer.kids, issuer.now = None, FRESH_SECONDS
    assert issuer.keys.find("a").key == "a"
    issuer.now = FRESH_SECONDS + 1
    assert issuer.keys.find("a").key == "a"
    assert issuer.asked == 2, "a failure is not tried again at once"
    with pytest.raises(Transient):
        issuer.keys.find("b")
    issuer.now = MAX_STALE_SECONDS
    with pytest.raises(Transient) as caught:
        issuer.keys.find("a")
    assert caught.value.code == "TOKEN_KEYS_UNAVAILABLE"


def test_as_long_as_there_is_none_it_is_tried_again_soon() -> None:
    issuer = KeySetIssuer("a")
    issuer.kids = None
    with pytest.raises(Transient):
        issuer.keys.find("a")
    with pytest.raises(Transient):
        issuer.keys.find("a")
    assert issuer.asked == 1
    issuer.kids, issuer.now = ("a",), FIRST_PAUSE_SECONDS
    assert issuer.keys.find("a").key == "a"


def test_who_has_a_key_does_not_wait_for_who_asks() -> None:
    issuer = KeySetIssuer("a")
    issuer.keys.find("a")
    issuer.now = FRESH_SECONDS
    asking = issuer.fetch

    def ask_while_asking() -> Keys:
        # The same lock is held, so this would hang if it had to wait.
        assert issuer.keys.find("a").key == "a"
        return asking()

    issuer.keys._fetch = ask_while_asking
    assert issuer.keys.find("a").key == "a"


def test_keys_are_fetched_and_made_ready(server: KeyServer) -> None:
    server.show(show_rsa("r1"), show_ec("e1"))
    keys = fetch_keys(f"{server.url}?v=1")
    assert {kid: key.algorithm_name for kid, key in keys.items()} == {"r1": "RS256", "e1": "ES256"}
    assert keys["r1"].key.public_numbers() == RSA_KEY.public_key().public_numbers()
    assert keys["e1"].key.public_numbers() == EC_KEY.public_key().public_numbers()
    assert server.asked == ["/keys?v=1"]


@pytest.mark.parametrize(
    ("status", "body", "sentence"),
    [
        (500, b"{}", "answered with 500"),
        (200, b"<html>", "not JSON"),
        (200, b"\xff", "not JSON"),
        (200, b"[" * 100_000, "not JSON"),
        (200, b"[]", "no list"),
        (200, b'{"keys": {}}', "no list"),
        (200, json.dumps({"keys": [{}] * (MAX_KEYS + 1)}).encode(), "no list"),
        (200, b'{"keys": [7, {}]}', "no key"),
        (200, b" " * (MAX_KEY_SET_BYTES + 1), "more than"),
    ],
)
def test_an_answer_that_is_none(server: KeyServer, status: int, body: bytes, sentence: str) -> None:
    server.status, server.body = status, body
    with pytest.raises(KeysUnreadable, match=sentence):
        fetch_keys(server.url)


def test_a_redirect_is_not_followed(server: KeyServer) -> None:
    server.status, server.headers = 302, {"location": f"{server.url}/elsewhere"}
    with pytest.raises(KeysUnreadable, match="302"):
        fetch_keys(server.url)
    assert len(server.asked) == 1


def test_a_server_that_says_nothing_is_not_waited_for(server: KeyServer) -> None:
    server.is_stuck = True
    with pytest.raises(KeysUnreadable):
        fetch_keys(server.url, seconds=0.2)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/keys", "https://127.0.0.1:1/keys", "http://x.invalid/"])
def test_a_server_that_is_not_there(url: str) -> None:
    with pytest.raises(KeysUnreadable):
        fetch_keys(url)


WEAK = rsa.generate_private_key(public_exponent=65_537, key_size=1_024)
P384 = ec.generate_private_key(ec.SECP384R1())


@pytest.mark.parametrize(
    "shown",
    [
        show_rsa("x", use="enc"),
        show_rsa("x", alg="HS256"),
        show_rsa("x", alg="RS512"),
        show_rsa("x", alg="ES256"),
        show_rsa("x", d="AQAB"),
        show_rsa("x", key_ops=["sign"]),
        show_rsa("x", key_ops="verify"),
        show_rsa("x", n="!"),
        show_rsa("x", n=7),
        show_rsa("x", WEAK),
        show_rsa(""),
        show_rsa("x" * 301),
        {**show_rsa("x"), "kid": 7},
        show_ec("x", P384),
        show_ec("x", x="AAAA"),
        show_ec("x", alg="RS256"),
        {"kty": "oct", "kid": "x", "k": "c2VjcmV0", "alg": "HS256"},
        {"kty": "OKP", "crv": "Ed25519", "kid": "x", "x": "AAAA"},
    ],
)
def test_what_may_not_verify_is_left_out(shown: dict[str, Any]) -> None:
    body = json.dumps({"keys": [shown, show_ec("good")]}).encode()
    assert list(read_keys(body)) == ["good"]


def test_of_two_keys_with_one_kid_the_first_counts() -> None:
    keys = read_keys(json.dumps({"keys": [show_rsa("x"), show_ec("x")]}).encode())
    assert keys["x"].algorithm_name == "RS256"
