"""The key of a machine as text: which tenant's, which key, and the secret. Carrying the tenant, it is looked
up as everything is: within one tenant."""

import base64
import hashlib
import re
from dataclasses import dataclass
from uuid import UUID

KEY_TOKEN_PREFIX = "signet_"
SECRET_BYTES = 32
_TOKEN = re.compile(r"signet_([0-9a-f]{32})_([0-9a-f]{32})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class KeyToken:
    tenant_id: UUID
    key_id: UUID
    secret_hash: bytes


def write_key_token(tenant_id: UUID, key_id: UUID, secret: bytes) -> str:
    text = base64.urlsafe_b64encode(secret).decode().rstrip("=")
    return f"{KEY_TOKEN_PREFIX}{tenant_id.hex}_{key_id.hex}_{text}"


def read_key_token(token: str) -> KeyToken | None:
    found = _TOKEN.fullmatch(token)
    if found is None:
        return None
    return KeyToken(UUID(found[1]), UUID(found[2]), hash_secret(found[3]))


def hash_secret(text: str) -> bytes:
    """Of its text: base64 spells some bytes in more ways than one, and only one of them is the key."""
    return hashlib.sha256(text.encode("ascii")).digest()
