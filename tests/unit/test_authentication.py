"""Tokens that must pass and tokens that must not."""

import base64
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from signet.api.authentication import (
    MAX_KNOWN_SECONDS,
    MAX_KNOWN_TOKENS,
    MAX_ROLES,
    MAX_TOKEN_CHARACTERS,
    VerifiedTokens,
    authenticate,
)
from signet.core.errors import Rejected
from signet.core.principal import Principal
from signet.local.development_token import (
    MAX_LIFETIME_SECONDS,
    make_development_token,
    read_development_secret,
)

SECRET = "the secret of the unit tests, long enough"
TENANT = UUID("018f2c8e-0000-7000-8000-00000000000a")
NOW = datetime.now(UTC)


def make_claims(**changes: object) -> dict[str, Any]:
    claims: dict[str, Any] = {
        "iss": "signet-development",
        "aud": "signet-development",
        "sub": "anna",
        "tenant_id": str(TENANT),
        "roles": ["clerk"],
        "exp": int(NOW.timestamp()) + 600,
    }
    claims.update(changes)
    return {name: value for name, value in claims.items() if value is not None}


def sign(claims: dict[str, Any], secret: str = SECRET, algorithm: str = "HS256") -> str:
    return jwt.encode(claims, secret, algorithm=algorithm)


def code_of(authorization: str | None, secret: str | None = SECRET) -> str:
    with pytest.raises(Rejected) as caught:
        authenticate(authorization, secret)
    assert SECRET not in str(caught.value)
    return caught.value.code


def test_a_good_token_is_a_principal() -> None:
    token = make_development_token(SECRET, TENANT, "anna", ["clerk", "approver"], 600, NOW)
    assert authenticate(f"Bearer {token}", SECRET) == Principal(TENANT, "anna", ("clerk", "approver"))


@pytest.mark.parametrize("header", ["bearer {}", "BEARER  {}", "  Bearer {}  "])
def test_the_scheme_is_read_generously(header: str) -> None:
    assert authenticate(header.format(sign(make_claims())), SECRET).subject == "anna"


@pytest.mark.parametrize("header", [None, "", "   "])
def test_no_token(header: str | None) -> None:
    assert code_of(header) == "TOKEN_MISSING"


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Basic YW5uYTpwdw==",
        "Bearer a.b.c",
        "Bearer ...",
        "Bearer ä",
        "Bearer x y",
        "x" * 100,
        "Bearer " + "x" * (MAX_TOKEN_CHARACTERS + 1),
    ],
)
def test_nonsense(header: str) -> None:
    assert code_of(header) == "TOKEN_INVALID"


def test_an_expired_token() -> None:
    token = make_development_token(SECRET, TENANT, "anna", [], 60, NOW - timedelta(seconds=61))
    assert code_of(f"Bearer {token}") == "TOKEN_EXPIRED"


def test_an_expired_forgery_is_a_forgery() -> None:
    assert code_of(f"Bearer {sign(make_claims(exp=1), secret='y' * 32)}") == "TOKEN_INVALID"


def test_a_token_from_the_future() -> None:
    token = make_development_token(SECRET, TENANT, "anna", [], 600, NOW + timedelta(hours=1))
    assert code_of(f"Bearer {token}") == "TOKEN_INVALID"


def test_a_forged_token() -> None:
    assert (
        code_of(f"Bearer {sign(make_claims(), secret='another secret of enough length!!')}")
        == "TOKEN_INVALID"
    )


def test_a_changed_payload() -> None:
    head, payload, signature = sign(make_claims()).split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    claims["tenant_id"] = str(UUID(int=1))
    changed = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    assert code_of(f"Bearer {head}.{changed}.{signature}") == "TOKEN_INVALID"


def test_the_algorithm_none() -> None:
    assert code_of(f"Bearer {jwt.encode(make_claims(), '', algorithm='none')}") == "TOKEN_INVALID"


@pytest.mark.parametrize("spelling", ["none", "None", "NONE", "nOnE"])
def test_the_algorithm_none_in_every_spelling(spelling: str) -> None:
    parts = [{"alg": spelling, "typ": "JWT"}, make_claims()]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    assert code_of(f"Bearer {'.'.join(encoded)}.") == "TOKEN_INVALID"


def test_another_algorithm_with_the_right_secret() -> None:
    assert (
        code_of(f"Bearer {sign(make_claims(), secret=SECRET * 2, algorithm='HS512')}", SECRET * 2)
        == "TOKEN_INVALID"
    )


def test_an_asymmetric_algorithm() -> None:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    assert code_of(f"Bearer {jwt.encode(make_claims(), pem, algorithm='RS256')}") == "TOKEN_INVALID"


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": None},
        {"sub": None},
        {"tenant_id": None},
        {"roles": None},
        {"iss": None},
        {"aud": None},
        {"iss": "https://login.example.com"},
        {"aud": "signet"},
        {"exp": "soon"},
        {"sub": ""},
        {"sub": "a\x00b"},
        {"sub": "a" * 201},
        {"tenant_id": ""},
        {"tenant_id": "1"},
        {"tenant_id": 7},
        {"tenant_id": f"{{{TENANT}}}"},
        {"tenant_id": f"urn:uuid:{TENANT}"},
        {"tenant_id": TENANT.hex},
        {"roles": "clerk"},
        {"roles": {"clerk": True}},
        {"roles": [1]},
        {"roles": [""]},
        {"roles": ["a" * 64]},
        {"roles": ["clerk"] * (MAX_ROLES + 1)},
    ],
    ids=repr,
)
def test_a_claim_that_is_missing_or_wrong(changes: dict[str, object]) -> None:
    assert code_of(f"Bearer {sign(make_claims(**changes))}") == "TOKEN_INVALID"


def test_a_subject_that_is_no_text() -> None:
    # PyJWT refuses to make such a token, so that it is signed as bytes.
    payload = json.dumps(make_claims(sub=7)).encode()
    assert code_of(f"Bearer {jwt.api_jws.encode(payload, SECRET, algorithm='HS256')}") == "TOKEN_INVALID"


def test_a_tenant_in_capitals_is_the_same_tenant() -> None:
    assert (
        authenticate(f"Bearer {sign(make_claims(tenant_id=str(TENANT).upper()))}", SECRET).tenant_id == TENANT
    )


def test_without_a_key_no_token_is_valid() -> None:
    assert code_of(f"Bearer {sign(make_claims())}", None) == "TOKEN_INVALID"


def test_a_short_secret_is_refused_on_both_sides() -> None:
    with pytest.raises(Rejected, match="at least 32 bytes"):
        make_development_token("short", TENANT, "anna", [], 60, NOW)
    assert code_of(f"Bearer {sign(make_claims())}", "x" * 31) == "DEVELOPMENT_SECRET_TOO_SHORT"


@pytest.mark.parametrize("seconds", [0, -1, MAX_LIFETIME_SECONDS + 1])
def test_a_lifetime_has_bounds(seconds: int) -> None:
    with pytest.raises(Rejected, match="a token lives from"):
        make_development_token(SECRET, TENANT, "anna", [], seconds, NOW)


def test_the_secret_of_a_machine_is_made_once_and_is_private(tmp_path: Path) -> None:
    state = tmp_path / "state"
    secret = read_development_secret(state)
    assert read_development_secret(state) == secret
    assert len(secret) >= 32
    assert (state / "development-secret").stat().st_mode & 0o777 == 0o600


class Counted:
    """A process with a clock of its own, and how often it has verified."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds, self.count = NOW.timestamp(), 0
        self.tokens = VerifiedTokens(SECRET, lambda: self.seconds)
        verify = jwt.decode

        def decode(*given: Any, **named: Any) -> Any:
            self.count += 1
            return verify(*given, **named)

        monkeypatch.setattr(jwt, "decode", decode)

    def ask(self, token: str) -> str:
        return self.tokens.authenticate(f"Bearer {token}").subject


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


def test_a_token_is_verified_once_in_a_while(counted: Counted) -> None:
    token = sign(make_claims())
    assert [counted.ask(token) for _ in range(3)] == ["anna"] * 3
    assert counted.count == 1
    counted.seconds += MAX_KNOWN_SECONDS - 0.1
    counted.ask(token)
    assert counted.count == 1
    counted.seconds += 0.1
    counted.ask(token)
    assert counted.count == 2


def test_no_token_is_known_for_longer_than_it_is_valid(counted: Counted) -> None:
    end = int(datetime.now(UTC).timestamp()) + 3_600
    token = sign(make_claims(exp=end))
    counted.seconds = end - 30.0
    counted.ask(token)
    counted.seconds = float(end)
    counted.ask(token)
    assert counted.count == 2, "it is looked at again, by whoever says that it has expired"


def test_what_was_refused_is_refused_again(counted: Counted) -> None:
    good, forged = sign(make_claims()), sign(make_claims(), secret="a secret that nobody here has, long")
    counted.ask(good)
    for token in (forged, forged, f"{good}x", good[:-2], sign(make_claims(sub=7))):
        with pytest.raises(Rejected, match="not valid"):
            counted.ask(token)
    assert counted.count == 6


def test_so_many_tokens_are_known_and_the_oldest_goes_first(counted: Counted) -> None:
    tokens = [sign(make_claims(sub=f"user{number}")) for number in range(MAX_KNOWN_TOKENS + 1)]
    for token in tokens:
        counted.ask(token)
    counted.ask(tokens[1])
    assert counted.count == MAX_KNOWN_TOKENS + 1
    assert counted.ask(tokens[0]) == "user0"
    assert counted.count == MAX_KNOWN_TOKENS + 2
