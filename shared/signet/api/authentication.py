"""A bearer JWT becomes a principal."""

import hashlib
import hmac
import threading
import time
from collections.abc import Callable
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.principal import Principal

DEVELOPMENT_ISSUER = "signet-development"
DEVELOPMENT_AUDIENCE = "signet-development"
DEVELOPMENT_ALGORITHM = "HS256"
MIN_SECRET_BYTES = 32
MAX_TOKEN_CHARACTERS = 8_192
MAX_SUBJECT_CHARACTERS = 200
MAX_ROLES = 200
MAX_KNOWN_TOKENS, MAX_KNOWN_SECONDS = 1_000, 60.0
MAX_ROLE_CHARACTERS = 63
_REQUIRED_CLAIMS = ["exp", "sub", "iss", "aud", "tenant_id", "roles"]


def check_development_secret(secret: str) -> str:
    if len(secret.encode()) < MIN_SECRET_BYTES:
        raise Rejected(
            "DEVELOPMENT_SECRET_TOO_SHORT",
            f"the development secret needs at least {MIN_SECRET_BYTES} bytes",
            remedy="make one with: python3 -c 'import secrets; print(secrets.token_hex(32))'",
        )
    return secret


def make_authentication(development_secret: str | None) -> Callable[[str | None], Principal]:
    if development_secret is not None:
        check_development_secret(development_secret)
    return VerifiedTokens(development_secret).authenticate


class VerifiedTokens:
    """Those that this process has verified lately: verifying one takes as long as all the rest of a request.

    A token is known by its hash for a minute at most, and never for longer than it is valid. A key that is
    taken out of use is so after that minute.
    """

    def __init__(self, development_secret: str | None, read_seconds: Callable[[], float] = time.time) -> None:
        self._secret = development_secret
        # The same clock by which a token expires.
        self._read_seconds = read_seconds
        self._known: dict[bytes, tuple[float, Principal]] = {}
        self._lock = threading.Lock()

    def authenticate(self, authorization: str | None) -> Principal:
        token, now = _read_bearer(authorization), self._read_seconds()
        key = hashlib.sha256(token.encode(errors="surrogatepass")).digest()
        known = self._known.get(key)
        if known is not None and now < known[0]:
            return known[1]
        claims = _verify_with(token, self._secret)
        principal = _read_principal(claims)
        self._keep(key, min(float(str(claims["exp"])), now + MAX_KNOWN_SECONDS), principal)
        return principal

    def _keep(self, key: bytes, until: float, principal: Principal) -> None:
        with self._lock:
            self._known.pop(key, None)
            while len(self._known) >= MAX_KNOWN_TOKENS:
                del self._known[next(iter(self._known))]
            self._known[key] = until, principal


def authenticate(authorization: str | None, development_secret: str | None) -> Principal:
    """The principal of an `Authorization` header. Without a secret no token is valid."""
    return _read_principal(_verify_with(_read_bearer(authorization), development_secret))


def _verify_with(token: str, development_secret: str | None) -> dict[str, object]:
    if development_secret is None:
        raise _invalid("no key is configured that could verify it")
    return _verify(token, check_development_secret(development_secret))


def check_operator(authorization: str | None, expected: str | None) -> None:
    """Of who operates the service: a secret of the deployment, and no token of a tenant."""
    token = _read_bearer(authorization)
    if expected is None:
        raise _invalid("this deployment has no token for its metrics")
    if not hmac.compare_digest(token.encode(errors="surrogatepass"), expected.encode()):
        raise _invalid("it is not that of this deployment's metrics")


def _read_bearer(authorization: str | None) -> str:
    if authorization is None or not authorization.strip():
        raise Rejected(
            "TOKEN_MISSING",
            "The request carries no token.",
            remedy="Send the header 'Authorization: Bearer <token>'.",
        )
    scheme, _, token = authorization.strip().partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise _invalid("the header is not of the form 'Bearer <token>'")
    if len(token) > MAX_TOKEN_CHARACTERS:
        raise _invalid(f"it is longer than {MAX_TOKEN_CHARACTERS} characters")
    return token


def _verify(token: str, secret: str) -> dict[str, object]:
    import jwt  # with its cryptography some 20 ms of CPU that only a request with a token should cost

    try:
        claims: dict[str, object] = jwt.decode(
            token,
            secret,
            # A closed list: the token's own header never chooses, so neither `none` nor a swapped family.
            algorithms=[DEVELOPMENT_ALGORITHM],
            audience=DEVELOPMENT_AUDIENCE,
            issuer=DEVELOPMENT_ISSUER,
            options={"require": _REQUIRED_CLAIMS},
        )
    except jwt.ExpiredSignatureError:
        raise Rejected(
            "TOKEN_EXPIRED", "The token has expired.", remedy="Ask the issuer for a new one."
        ) from None
    except jwt.PyJWTError as error:
        raise _invalid("it does not verify") from error
    return claims


def _read_principal(claims: dict[str, object]) -> Principal:
    tenant, subject, roles = claims["tenant_id"], claims["sub"], claims["roles"]
    try:
        tenant_id = UUID(tenant) if isinstance(tenant, str) else None
    except ValueError:
        tenant_id = None
    # UUID() also reads braces and urn:uuid:; one spelling is enough.
    if tenant_id is None or str(tenant_id) != str(tenant).lower():
        raise _invalid("its claim tenant_id is not a UUID")
    if not isinstance(subject, str) or not _is_name(subject, MAX_SUBJECT_CHARACTERS):
        raise _invalid("its claim sub is not a name")
    if not isinstance(roles, list) or len(roles) > MAX_ROLES:
        raise _invalid("its claim roles is not a list of role names")
    if not all(isinstance(role, str) and _is_name(role, MAX_ROLE_CHARACTERS) for role in roles):
        raise _invalid("its claim roles is not a list of role names")
    return Principal(tenant_id, subject, tuple(roles))


def _is_name(text: str, longest: int) -> bool:
    return 0 < len(text) <= longest and text.isprintable()


def _invalid(reason: str) -> Rejected:
    return Rejected("TOKEN_INVALID", f"The token is not valid: {reason}.")
