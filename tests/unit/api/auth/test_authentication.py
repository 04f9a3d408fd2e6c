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

from signet.api.auth.authentication import MAX_TOKEN_CHARACTERS, Authentication
from signet.api.auth.claims import MAX_ROLES
from signet.api.auth.tokens import make_tokens
from signet.core.errors import Rejected
from signet.core.tenants.principal import Principal
from signet.local.development_token import (
    MAX_LIFETIME_SECONDS,
    make_development_token,
    read_development_secret,
)

SECRET = "the secret of the unit tests, long enough"
TENANT = UUID("018f2c8e-0000-7000-8000-00000000000a")
NOW = datetime.now(UTC)
# Longer than a run of all tests takes: NOW is the moment of collection.
LIFETIME_SECONDS = 86_400


def make_claims(**changes: object) -> dict[str, Any]:
    claims: dict[str, Any] = {
        "iss": "signet-development",
        "aud": "signet-development",
        "sub": "anna",
        "tenant_id": str(TENANT),
        "roles": ["clerk"],
        "exp": int(NOW.timestamp()) + LIFETIME_SECONDS,
    }
    claims.update(changes)
    return {name: value for name, value in claims.items() if value is not None}


def sign(claims: dict[str, Any], secret: str = SECRET, algorithm: str = "HS256") -> str:
    return jwt.encode(claims, secret, algorithm=algorithm)


def authenticate(authorization: str | None, secret: str | None) -> Principal:
    return Authentication(make_tokens(secret).verify)(authorization)


def code_of(authorization: str | None, secret: str | None = SECRET) -> str:
    with pytest.raises(Rejected) as caught:
        authenticate(authorization, secret)
    assert SECRET not in str(caught.value)
    return caught.value.code


def test_a_good_token_is_a_principal() -> None:
    token = make_development_token(SECRET, TENANT, "anna", ["clerk", "approver"], LIFETIME_SECONDS, NOW)
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
        "Bearer a.b.c",
        "Bearer ...",
        "Bearer ä",
        "Bearer x y",
        "Bearer " + "x" * (MAX_TOKEN_CHARACTERS + 1),
    ],
)
def test_nonsense(header: str) -> None:
    assert code_of(header) == "TOKEN_INVALID"


@pytest.mark.parametrize("header", ["Basic YW5uYTpwdw==", "x" * 100])
def test_another_scheme_is_no_token(header: str) -> None:
    assert code_of(header) == "TOKEN_MISSING"


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
        {"iss": None},
        {"aud": None},
        {"iss": "https://login.example.com"},
        {"aud": "signet"},
        {"exp": "soon"},
        {"sub": ""},
        {"sub": "a\x00b"},
        {"sub": "a" * 201},
        {"sub": "key:erp"},
        {"sub": "signet:system"},
        {"tenant_id": str(UUID(int=0))},
        {"exp": float("inf")},
        {"aud": [7, None]},
        {"tenant_id": ""},
        {"tenant_id": "1"},
        {"tenant_id": 7},
        {"tenant_id": f"{{{TENANT}}}"},
        {"tenant_id": f"urn:uuid:{TENANT}"},
        {"tenant_id": TENANT.hex},
        {"roles": {"clerk": True}},
        {"roles": [1]},
        {"roles": ["clerk"] * (MAX_ROLES + 1)},
    ],
    ids=repr,
)
def test_a_claim_that_is_missing_or_wrong(changes: dict[str, object]) -> None:
    assert code_of(f"Bearer {sign(make_claims(**changes))}") == "TOKEN_INVALID"


def test_a_subject_that_is_no_text() -> None:
    # PyJWT refuses to make such a token, so it is signed as bytes.
    payload = json.dumps(make_claims(sub=7)).encode()
    assert code_of(f"Bearer {jwt.api_jws.encode(payload, SECRET, algorithm='HS256')}") == "TOKEN_INVALID"


@pytest.mark.parametrize(
    ("claim", "roles"),
    [
        (None, ()),
        ([], ()),
        ("clerk  approver", ("clerk", "approver")),
        # A name that no tenant can give a role is another system's.
        (["clerk", "", "Finance Managers", "signet:operator", "a" * 64], ("clerk",)),
    ],
)
def test_roles_are_a_list_or_a_text(claim: object, roles: tuple[str, ...]) -> None:
    assert authenticate(f"Bearer {sign(make_claims(roles=claim))}", SECRET).roles == roles


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
