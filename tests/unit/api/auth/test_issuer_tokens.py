"""Tokens of the deployment's issuer: those that pass, those that do not, and their subjects."""

import base64
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from uuid import UUID

import jwt
import pytest

from signet.api.auth import authentication, tokens
from signet.api.auth.authentication import KEEP_SECONDS, Authentication
from signet.api.auth.jwks import fetch_keys
from signet.api.auth.tokens import LEEWAY_SECONDS, make_tokens
from signet.core.errors import Rejected, Transient
from signet.core.tenants.principal import NO_TENANT, Principal, VerifiedToken
from signet.settings import ClaimNames, IssuerSettings
from tests.support.services.token_issuer import (
    AUDIENCE,
    EC_KEY,
    ISSUER,
    OTHER_RSA_KEY,
    RSA_KEY,
    TENANT,
    KeyServer,
    list_public_texts,
    serving_keys,
    show_ec,
    show_rsa,
    sign,
    sign_by_hand,
)

SECRET = "the secret of the unit tests, long enough"
OPERATOR = "signet:operator"


@pytest.fixture
def server() -> Iterator[KeyServer]:
    with serving_keys() as served:
        served.show(show_rsa("r1"), show_ec("e1"))
        yield served


def make(server: KeyServer, secret: str | None = None, claims: ClaimNames | None = None) -> Authentication:
    issuer = IssuerSettings(ISSUER, (AUDIENCE, "another"), server.url, claims or ClaimNames())
    return Authentication(make_tokens(secret, issuer, OPERATOR).verify)


def read(authenticate: Authentication, token: str) -> Principal:
    return authenticate(f"Bearer {token}")


def code_of(authenticate: Authentication, token: str) -> str:
    with pytest.raises(Rejected) as caught:
        read(authenticate, token)
    return caught.value.code


def test_good_tokens_of_both_families(server: KeyServer) -> None:
    authenticate = make(server)
    assert read(authenticate, sign()) == Principal(TENANT, "anna", ("clerk",))
    assert read(authenticate, sign(EC_KEY, "ES256", "e1")) == Principal(TENANT, "anna", ("clerk",))
    assert len(server.asked) == 1


def test_a_public_key_is_never_a_secret(server: KeyServer) -> None:
    """It is none with a development secret and none without one."""
    for authenticate in (make(server), make(server, SECRET)):
        for text in list_public_texts():
            forged = sign_by_hand({"alg": "HS256", "typ": "JWT", "kid": "r1"}, text)
            assert code_of(authenticate, forged) == "TOKEN_INVALID"


def test_the_development_secret_signs_nothing_of_the_issuer(server: KeyServer) -> None:
    authenticate = make(server, SECRET)
    assert code_of(authenticate, jwt.encode(_claims(), SECRET, "HS256")) == "TOKEN_INVALID"
    own = {**_claims(), "iss": "signet-development", "aud": "signet-development"}
    assert read(authenticate, jwt.encode(own, SECRET, "HS256")).subject == "anna"
    # Without a secret it is an issuer like any other.
    assert code_of(make(server), jwt.encode(own, SECRET, "HS256", headers={"kid": "r1"})) == "TOKEN_INVALID"


def _claims() -> dict[str, Any]:
    return jwt.decode(sign(), options={"verify_signature": False})


@pytest.mark.parametrize(
    "make_token",
    [
        lambda: sign(OTHER_RSA_KEY),
        lambda: sign(algorithm="RS512"),
        lambda: sign(algorithm="PS256"),
        lambda: sign(kid="e1"),
        lambda: sign(EC_KEY, "ES256", "r1"),
        lambda: sign(kid=None),
        lambda: jwt.encode({"sub": "anna"}, "", algorithm="none", headers={"kid": "r1"}),
        lambda: sign_by_hand({"alg": "none", "kid": "r1"}, b""),
        lambda: sign_by_hand({"alg": "RS256", "kid": "r1"}, b"x"),
        lambda: sign_by_hand({"alg": "RS256", "kid": {"a": 1}}, b"x"),
        lambda: sign_by_hand({"alg": ["RS256"], "kid": "r1"}, b"x"),
        lambda: sign_by_hand({"alg": "RS256", "kid": "r1", "crit": ["x"], "x": 1}, b"x"),
        lambda: "W10.W10.W10",
        lambda: "a.b.c",
    ],
    ids=range(14),
)
def test_what_does_not_verify(server: KeyServer, make_token: Callable[[], str]) -> None:
    assert code_of(make(server), make_token()) == "TOKEN_INVALID"


def test_a_header_without_end_is_no_crash(server: KeyServer) -> None:
    deep = base64.urlsafe_b64encode(b'{"a":' + b"[" * 5_000).decode().rstrip("=")
    assert code_of(make(server), f"{deep}.e30.e30") == "TOKEN_INVALID"


def from_now(changes: dict[str, Any]) -> dict[str, Any]:
    """Make moments of seconds from now, so that the names of the tests are always the same."""
    return {
        name: int(time.time()) + value if isinstance(value, int) else value for name, value in changes.items()
    }


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"iss": "https://login.example.com"}, "TOKEN_INVALID"),
        ({"iss": None}, "TOKEN_INVALID"),
        ({"iss": [ISSUER]}, "TOKEN_INVALID"),
        ({"aud": "signet"}, "TOKEN_INVALID"),
        ({"aud": None}, "TOKEN_INVALID"),
        ({"aud": []}, "TOKEN_INVALID"),
        ({"aud": "signet", "client_id": AUDIENCE}, "TOKEN_INVALID"),
        ({"aud": None, "client_id": "signet"}, "TOKEN_INVALID"),
        ({"exp": None}, "TOKEN_INVALID"),
        ({"exp": -LEEWAY_SECONDS - 5}, "TOKEN_EXPIRED"),
        ({"nbf": LEEWAY_SECONDS + 600}, "TOKEN_INVALID"),
        ({"iat": LEEWAY_SECONDS + 600}, "TOKEN_INVALID"),
        ({"tenant_id": "acme"}, "TOKEN_INVALID"),
        ({"tenant_id": None}, "TOKEN_INVALID"),
        ({"tenant_id": str(NO_TENANT), "roles": [OPERATOR]}, "TOKEN_INVALID"),
        ({"sub": None}, "TOKEN_INVALID"),
        ({"sub": "key:erp"}, "TOKEN_INVALID"),
        ({"sub": "signet:service_account"}, "TOKEN_INVALID"),
    ],
    ids=repr,
)
def test_a_claim_that_does_not_pass(server: KeyServer, changes: dict[str, Any], code: str) -> None:
    assert code_of(make(server), sign(**from_now(changes))) == code


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": -1},
        {"nbf": 1},
        {"aud": ["elsewhere", "another"]},
        {"aud": None, "client_id": AUDIENCE},
    ],
    ids=repr,
)
def test_a_claim_that_passes(server: KeyServer, changes: dict[str, Any]) -> None:
    assert read(make(server), sign(**from_now(changes))).subject == "anna"


def test_claims_are_where_settings_say(server: KeyServer) -> None:
    names = ClaimNames("email", "https://a.example/tenant", "realm_access.roles")
    token = sign(
        sub="auth0|7",
        email="anna@a.example",
        tenant_id=None,
        roles=None,
        realm_access={"roles": ["clerk", "offline access", OPERATOR]},
        **{"https://a.example/tenant": str(TENANT)},
    )
    assert read(make(server, claims=names), token) == Principal(TENANT, "anna@a.example", ("clerk",), True)
    elsewhere: dict[str, Any] = {"email": "anna", "https://a.example/tenant": str(TENANT)}
    empties: list[Any] = [["clerk"], 7, {}]
    for empty in empties:
        assert read(make(server, claims=names), sign(realm_access=empty, **elsewhere)).roles == ()
    assert (
        code_of(make(server, claims=names), sign(realm_access={"roles": 7}, **elsewhere)) == "TOKEN_INVALID"
    )


def test_an_operator_needs_no_tenant(server: KeyServer) -> None:
    found = read(make(server), sign(tenant_id=None, roles=[OPERATOR]))
    assert found == Principal(NO_TENANT, "anna", (), True)
    assert read(make(server), sign(roles="clerk signet:operator")).is_operator
    assert not read(make(server), sign(roles=["operator"])).is_operator


def test_when_the_issuer_cannot_be_reached_it_is_not_the_callers_fault(
    server: KeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.is_stuck = True
    monkeypatch.setattr(tokens, "fetch_keys", partial(fetch_keys, seconds=0.2))
    with pytest.raises(Transient) as caught:
        read(make(server), sign())
    assert caught.value.code == "TOKEN_KEYS_UNAVAILABLE"


class Verifier:
    def __init__(self, until: float = 1e12) -> None:
        self.until = until
        self.count = 0

    def __call__(self, token: str) -> VerifiedToken:
        self.count += 1
        return VerifiedToken(Principal(UUID(int=1), token, ()), self.until)


def test_a_token_is_verified_once_in_a_while_and_never_after_its_end() -> None:
    verifier, clock = Verifier(until=KEEP_SECONDS + 5), [0.0]
    authenticate = Authentication(verifier, read_time=lambda: clock[0])
    for moment, count in [(0, 1), (KEEP_SECONDS - 1, 1), (KEEP_SECONDS, 2), (KEEP_SECONDS + 4, 2)]:
        clock[0] = moment
        assert read(authenticate, "anna").subject == "anna"
        assert verifier.count == count
    clock[0] = KEEP_SECONDS + 5
    read(authenticate, "anna")
    assert verifier.count == 3, "what has expired is verified, and refused by that"


def test_a_key_is_verified_by_each_request_that_may_write() -> None:
    """The new owner would otherwise stand behind nothing of what it writes for a while."""
    verifier = Verifier()
    authenticate = Authentication(verifier)
    for may_write, count in [(False, 1), (False, 1), (True, 2), (True, 3), (False, 3)]:
        authenticate("Bearer key:1", may_write=may_write)
        assert verifier.count == count
    person = Verifier()
    kept = Authentication(person)
    for _ in range(3):
        kept("Bearer anna", may_write=True)
    assert person.count == 1


def test_another_token_is_another_person() -> None:
    verifier = Verifier()
    authenticate = Authentication(verifier)
    assert [read(authenticate, name).subject for name in ("anna", "bert", "anna")] == ["anna", "bert", "anna"]
    assert verifier.count == 2


def test_only_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "MAX_KEPT", 2)
    verifier = Verifier()
    authenticate = Authentication(verifier)
    for name in ("anna", "bert", "carl", "anna"):
        read(authenticate, name)
    assert verifier.count == 4


def test_who_is_not_admitted_is_not_remembered() -> None:
    verifier = Verifier()

    def admit(principal: Principal) -> None:
        raise Rejected("MEMBER_INACTIVE", "no")

    authenticate = Authentication(verifier, admit)
    for count in (1, 2):
        assert code_of(authenticate, "anna") == "MEMBER_INACTIVE"
        assert verifier.count == count


def test_the_keys_of_tests_are_two() -> None:
    assert RSA_KEY.public_key().public_numbers() != OTHER_RSA_KEY.public_key().public_numbers()
