"""An issuer of JWTs for one machine: a key made at its start, served over loopback, and a mint.

Every client gets any token that it asks for: this stands for an identity provider, and is none.
"""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

AUDIENCE = "signet"
LIFETIME_SECONDS = 3_600
MAX_REQUEST_BYTES = 10_000
_ALGORITHM = "RS256"
_KEY_ID = "emulator"


@dataclass(frozen=True)
class EmulatedIssuer:
    url: str
    _key: rsa.RSAPrivateKey

    @property
    def keys_url(self) -> str:
        return f"{self.url}/keys"

    def mint(
        self,
        *,
        subject: str,
        tenant_id: str,
        roles: Sequence[str] = (),
        lifetime_seconds: int = LIFETIME_SECONDS,
    ) -> str:
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": AUDIENCE,
            "sub": subject,
            "tenant_id": tenant_id,
            "roles": list(roles),
            "iat": now,
            "exp": now + lifetime_seconds,
        }
        return jwt.encode(claims, self._key, _ALGORITHM, headers={"kid": _KEY_ID})

    def show(self, path: str) -> Mapping[str, Any] | None:
        match path:
            case "/.well-known/openid-configuration":
                return {"issuer": self.url, "jwks_uri": self.keys_url}
            case "/keys":
                public = jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
                return {"keys": [{**public, "kid": _KEY_ID, "use": "sig", "alg": _ALGORITHM}]}
        return None


@contextmanager
def running_issuer() -> Iterator[EmulatedIssuer]:
    class Handler(_IssuerHandler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        Handler.issuer = issuer = EmulatedIssuer(f"http://127.0.0.1:{server.server_port}", key)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()


class _IssuerHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    issuer: EmulatedIssuer

    def do_GET(self) -> None:
        shown = self.issuer.show(self.path)
        if shown is None:
            self._answer(404, {"error": "not_found"})
        else:
            self._answer(200, shown)

    def do_POST(self) -> None:
        try:
            length = int(self.headers.get("Content-Length", 0))
            request = json.loads(self.rfile.read(min(length, MAX_REQUEST_BYTES)))
            token = self.issuer.mint(
                subject=request["sub"], tenant_id=request["tenant_id"], roles=request.get("roles", ())
            )
        except (ValueError, KeyError, TypeError) as error:
            self._answer(400, {"error": "invalid_request", "error_description": repr(error)})
            return
        self._answer(200, {"access_token": token, "token_type": "Bearer", "expires_in": LIFETIME_SECONDS})

    def _answer(self, status: int, body: Mapping[str, Any]) -> None:
        written = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(written)))
        self.end_headers()
        self.wfile.write(written)

    def log_message(self, *_: Any) -> None:
        pass
