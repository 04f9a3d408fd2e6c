"""The token of an API key: its tenant, its id and its secret. And the roles of a key that count.

The token names the tenant, so that a key is looked up within one tenant like everything else.
"""

import base64
import hashlib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from signet.core.tenants.permissions import grants

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


def parse_key_token(token: str) -> KeyToken | None:
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    return KeyToken(UUID(match[1]), UUID(match[2]), hash_secret(match[3]))


def hash_secret(text: str) -> bytes:
    """Hash the text, and not its bytes: several texts of base64 have the same bytes, and one is the key."""
    return hashlib.sha256(text.encode("ascii")).digest()


def list_counting_roles(
    roles: Iterable[str], permissions: Mapping[str, Collection[str]], of_owner: Collection[str]
) -> tuple[str, ...]:
    """Return the key's roles that count: its owner has every permission of them now.

    `permissions` are those of the tenant's roles; a role that the tenant does not have counts for nothing.
    """
    held = frozenset(of_owner)
    return tuple(
        role
        for role in roles
        if role in permissions and all(grants(held, permission) for permission in permissions[role])
    )
