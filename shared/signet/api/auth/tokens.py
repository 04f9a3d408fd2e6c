"""JWTs: those of the deployment's issuer, and for development those of a shared secret.

Each way of verifying has a closed list of algorithms, given by its key. A token's header chooses a key and
never its use. So neither `none` nor a public key taken for a secret is possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from signet.api.auth.claims import invalid, parse_principal
from signet.api.auth.jwks import KeySet, fetch_keys
from signet.core.errors import Rejected
from signet.core.tenants.principal import VerifiedToken
from signet.settings import ClaimNames, IssuerSettings

DEVELOPMENT_ISSUER = "signet-development"
DEVELOPMENT_AUDIENCE = "signet-development"
DEVELOPMENT_ALGORITHM = "HS256"
MIN_SECRET_BYTES = 32
# The issuer's clock may differ from ours by so much.
LEEWAY_SECONDS = 30


@dataclass(frozen=True, slots=True)
class IssuerTokens:
    settings: IssuerSettings
    keys: KeySet
    operator_role: str | None = None

    def verify(self, token: str, header: dict[str, Any]) -> VerifiedToken:
        kid = header.get("kid")
        if not isinstance(kid, str):
            raise invalid("it does not name its key")
        key = self.keys.find(kid)
        claims = _decode(
            token,
            key.key,
            key.algorithm_name,
            issuer=self.settings.issuer,
            audiences=self.settings.audiences,
            leeway=LEEWAY_SECONDS,
        )
        principal = parse_principal(claims, self.settings.claims, self.operator_role)
        return VerifiedToken(principal, float(claims["exp"]) + LEEWAY_SECONDS)


@dataclass(frozen=True, slots=True)
class DevelopmentTokens:
    secret: str
    operator_role: str | None = None

    def __post_init__(self) -> None:
        check_development_secret(self.secret)

    def verify(self, token: str) -> VerifiedToken:
        claims = _decode(
            token,
            self.secret,
            DEVELOPMENT_ALGORITHM,
            issuer=DEVELOPMENT_ISSUER,
            audiences=[DEVELOPMENT_AUDIENCE],
            leeway=0,
        )
        principal = parse_principal(claims, ClaimNames(), self.operator_role)
        return VerifiedToken(principal, float(claims["exp"]))


@dataclass(frozen=True, slots=True)
class Tokens:
    """Ways of verifying that this deployment has; without any, no token is valid."""

    issuer: IssuerTokens | None = None
    development: DevelopmentTokens | None = None

    def verify(self, token: str) -> VerifiedToken:
        header = _parse_header(token)
        if self.development is not None and header.get("alg") == DEVELOPMENT_ALGORITHM:
            return self.development.verify(token)
        if self.issuer is None:
            raise invalid("no key is configured that could verify it")
        return self.issuer.verify(token, header)


def make_tokens(
    development_secret: str | None = None,
    issuer: IssuerSettings | None = None,
    operator_role: str | None = None,
) -> Tokens:
    return Tokens(
        _make_issuer_tokens(issuer, operator_role) if issuer else None,
        None if development_secret is None else DevelopmentTokens(development_secret, operator_role),
    )


def _make_issuer_tokens(settings: IssuerSettings, operator_role: str | None) -> IssuerTokens:
    return IssuerTokens(settings, KeySet(lambda: fetch_keys(settings.keys_url)), operator_role)


def load_verifying() -> None:
    """Load the library before the first token is verified."""
    import_module("jwt")


def check_development_secret(secret: str) -> str:
    if len(secret.encode()) < MIN_SECRET_BYTES:
        raise Rejected(
            "DEVELOPMENT_SECRET_TOO_SHORT",
            f"the development secret needs at least {MIN_SECRET_BYTES} bytes",
            remedy="make one with: python3 -c 'import secrets; print(secrets.token_hex(32))'",
        )
    return secret


def _parse_header(token: str) -> dict[str, Any]:
    import jwt  # with its cryptography some 20 ms of CPU that only a request with a token should cost

    try:
        return jwt.get_unverified_header(token)
    except (jwt.PyJWTError, ValueError, RecursionError) as error:
        raise invalid("it is no JWT") from error


def _decode(
    token: str, key: Any, algorithm: str, *, issuer: str, audiences: Sequence[str], leeway: int
) -> dict[str, Any]:
    import jwt

    try:
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            issuer=issuer,
            leeway=leeway,
            options={"require": ["exp", "iss"], "verify_aud": False},
        )
    except jwt.ExpiredSignatureError:
        raise Rejected(
            "TOKEN_EXPIRED", "The token has expired.", remedy="Ask the issuer for a new one."
        ) from None
    except (jwt.PyJWTError, ArithmeticError, ValueError, TypeError, RecursionError) as error:
        raise invalid("it does not verify") from error
    _check_audience(claims, audiences)
    return claims


def _check_audience(claims: dict[str, Any], audiences: Sequence[str]) -> None:
    """Check the audience as API Gateway's authorizer does: without `aud`, by `client_id` (Cognito)."""
    audience = claims.get("aud", claims.get("client_id"))
    named_audiences = [audience] if isinstance(audience, str) else audience
    if not isinstance(named_audiences, list) or not any(
        name in audiences for name in named_audiences if isinstance(name, str)
    ):
        raise invalid("it is for another audience")
