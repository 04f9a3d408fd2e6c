"""AWS Signature Version 4, as pure functions: the time is passed in."""

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote, urlencode

ALGORITHM = "AWS4-HMAC-SHA256"
_EMPTY_HASH = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class Credentials:
    key_id: str
    secret: str = field(repr=False)
    # For an assumed role; Lambda's always is one.
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SignatureScope:
    """The region, service and time that a signature is valid for."""

    region: str
    service: str
    now: datetime

    @property
    def moment(self) -> str:
        return self.now.strftime("%Y%m%dT%H%M%SZ")

    @property
    def parts(self) -> Sequence[str]:
        return self.moment[:8], self.region, self.service, "aws4_request"

    @property
    def text(self) -> str:
        return "/".join(self.parts)


def sign(
    credentials: Credentials,
    scope: SignatureScope,
    host: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
) -> dict[str, str]:
    """Return the headers of a POST to `path` with a signature; names are lower case."""
    signed = {**headers, "host": host, "x-amz-date": scope.moment}
    if credentials.token is not None:
        signed["x-amz-security-token"] = credentials.token
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{signed[name].strip()}\n" for name in sorted(signed))
    request = f"POST\n{path}\n\n{lines}\n{names}\n{hashlib.sha256(body).hexdigest()}"
    proof = f"Credential={credentials.key_id}/{scope.text}, SignedHeaders={names}"
    signed["authorization"] = f"{ALGORITHM} {proof}, Signature={_prove(credentials, scope, request)}"
    return signed


def presign(
    credentials: Credentials, scope: SignatureScope, host: str, query: Mapping[str, str], lasts_seconds: int
) -> str:
    """Sign a GET of `host`'s root in its query, and return it without a scheme, as the database wants it."""
    asked = {
        **query,
        "X-Amz-Algorithm": ALGORITHM,
        "X-Amz-Credential": f"{credentials.key_id}/{scope.text}",
        "X-Amz-Date": scope.moment,
        "X-Amz-Expires": str(lasts_seconds),
        "X-Amz-SignedHeaders": "host",
    }
    if credentials.token is not None:
        asked["X-Amz-Security-Token"] = credentials.token
    text = urlencode(sorted(asked.items()), quote_via=quote, safe="-_.~")
    request = f"GET\n/\n{text}\nhost:{host}\n\nhost\n{_EMPTY_HASH}"
    return f"{host}/?{text}&X-Amz-Signature={_prove(credentials, scope, request)}"


def _prove(credentials: Credentials, scope: SignatureScope, request: str) -> str:
    digest = hashlib.sha256(request.encode()).hexdigest()
    message = f"{ALGORITHM}\n{scope.moment}\n{scope.text}\n{digest}"
    key = f"AWS4{credentials.secret}".encode()
    for part in scope.parts:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, message.encode(), hashlib.sha256).hexdigest()
