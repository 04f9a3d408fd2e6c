"""Authentication: an `Authorization` header becomes a principal, by a person's JWT or a machine's key.

Verifying is the largest part of a request's cost. So a verified token is kept for a short time, by its hash.
For KEEP_SECONDS a disabled member or a suspended tenant may still be admitted, and a key may still read. What
a key may change something by is verified each time: who owns it counts for what it writes.
"""

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from threading import Lock

from signet.api.auth.claims import invalid
from signet.core.errors import Rejected
from signet.core.tenants.principal import Principal, VerifiedToken

MAX_TOKEN_CHARACTERS = 8_192
KEEP_SECONDS = 15.0
MAX_KEPT = 10_000
Verify = Callable[[str], VerifiedToken]


class Authentication:
    """A function of the header; one serves all threads of a process."""

    def __init__(
        self,
        verify: Verify,
        admit: Callable[[Principal], None] = lambda principal: None,
        read_time: Callable[[], float] = time.time,
    ) -> None:
        self._verify = verify
        self._admit = admit
        self._read_time = read_time
        self._lock = Lock()
        self._kept: OrderedDict[bytes, VerifiedToken] = OrderedDict()

    def __call__(self, authorization: str | None, *, may_write: bool = False) -> Principal:
        """Return the principal of a token, of a key that `may_write` as it is at this moment."""
        token = _parse_bearer(authorization)
        digest = sha256(token.encode(errors="surrogatepass")).digest()
        now = self._read_time()
        with self._lock:
            known = self._kept.get(digest)
        if known is not None and now < known.until and not (may_write and known.principal.is_key):
            return known.principal
        verified = self._verify(token)
        self._admit(verified.principal)
        self._keep(digest, VerifiedToken(verified.principal, min(verified.until, now + KEEP_SECONDS)))
        return verified.principal

    def _keep(self, digest: bytes, verified: VerifiedToken) -> None:
        with self._lock:
            self._kept[digest] = verified
            self._kept.move_to_end(digest)
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)


def check_metrics_token(authorization: str | None, expected: str | None) -> None:
    """Require the deployment's own secret, which belongs to no tenant."""
    token = _parse_bearer(authorization)
    if expected is None:
        raise invalid("this deployment has no token for its metrics")
    if not hmac.compare_digest(token.encode(errors="surrogatepass"), expected.encode()):
        raise invalid("it is not the metrics token of this deployment")


def _parse_bearer(authorization: str | None) -> str:
    if authorization is None or not authorization.strip():
        raise Rejected(
            "TOKEN_MISSING",
            "The request carries no token.",
            remedy="Send the header 'Authorization: Bearer <token>'.",
        )
    scheme, _, token = authorization.strip().partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer":
        # Another scheme is no token of this one (RFC 6750, 3.1).
        raise Rejected(
            "TOKEN_MISSING",
            "The request carries no bearer token.",
            remedy="Send the header 'Authorization: Bearer <token>'.",
        )
    if not token:
        raise invalid("the header is not of the form 'Bearer <token>'")
    if len(token) > MAX_TOKEN_CHARACTERS:
        raise invalid(f"it is longer than {MAX_TOKEN_CHARACTERS} characters")
    return token
