"""An issuer of tokens for tests: keys of its own, and a loopback server that shows the public ones."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from uuid import UUID

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.support.services.loopback import serving

ISSUER, AUDIENCE = "https://login.example.com/", "signet-api"
TENANT = UUID("018f2c8e-0000-7000-8000-00000000000a")
RSA_KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
OTHER_RSA_KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def show_rsa(kid: str, key: rsa.RSAPrivateKey = RSA_KEY, **changes: Any) -> dict[str, Any]:
    shown = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {**shown, "kid": kid, "use": "sig", "alg": "RS256", "key_ops": ["verify"], **changes}


def show_ec(kid: str, key: ec.EllipticCurvePrivateKey = EC_KEY, **changes: Any) -> dict[str, Any]:
    return {**jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, **changes}


def make_claims(**changes: Any) -> dict[str, Any]:
    claims = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "anna",
        "tenant_id": str(TENANT),
        "roles": ["clerk"],
        "exp": int(time.time()) + 600,
        **changes,
    }
    return {name: value for name, value in claims.items() if value is not None}


def sign(key: Any = RSA_KEY, algorithm: str = "RS256", kid: str | None = "r1", **changes: Any) -> str:
    headers = {} if kid is None else {"kid": kid}
    # Signed as bytes, because the library would refuse claims of the wrong type.
    payload = json.dumps(make_claims(**changes)).encode()
    return jwt.api_jws.encode(payload, key, algorithm=algorithm, headers=headers)


def sign_by_hand(header: Mapping[str, Any], secret: bytes, **changes: Any) -> str:
    """Sign what no library would: a public key serves as the secret of an HMAC."""
    signed = f"{_encode(header)}.{_encode(make_claims(**changes))}"
    signature = hmac.new(secret, signed.encode(), hashlib.sha256).digest()
    return f"{signed}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


def _encode(part: Mapping[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")


def list_public_texts(key: rsa.RSAPrivateKey = RSA_KEY) -> list[bytes]:
    """Return the forms in which a verifier might hold the public key."""
    public = key.public_key()
    return [
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(Encoding.PEM, PublicFormat.PKCS1),
        public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).strip(),
        json.dumps(show_rsa("r1", key)).encode(),
    ]


@dataclass
class KeyServer:
    """A server that gives prepared answers and counts the questions."""

    url: str = ""
    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    # A stuck server answers nothing before `released`.
    is_stuck: bool = False
    released: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)

    def show(self, *keys: Mapping[str, Any]) -> None:
        self.body = json.dumps({"keys": keys}).encode()


@contextmanager
def serving_keys() -> Iterator[KeyServer]:
    told = KeyServer()

    class KeySetHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            told.asked.append(self.path)
            if told.is_stuck:
                told.released.wait(30)
                return
            self.send_response(told.status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(told.body)

        def log_message(self, *_: Any) -> None:
            pass

    with serving(KeySetHandler) as port:
        told.url = f"http://127.0.0.1:{port}/keys"
        try:
            yield told
        finally:
            told.released.set()
