"""Tokens for development on one machine, signed with a secret that never leaves it."""

import os
import secrets
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from uuid import UUID

from signet.api.auth.tokens import (
    DEVELOPMENT_ALGORITHM,
    DEVELOPMENT_AUDIENCE,
    DEVELOPMENT_ISSUER,
    MIN_SECRET_BYTES,
    check_development_secret,
)
from signet.core.errors import Rejected

MAX_LIFETIME_SECONDS = 366 * 86_400
SECRET_FILE = "development-secret"


def make_development_token(
    secret: str, tenant_id: UUID, subject: str, roles: Sequence[str], lifetime_seconds: int, now: datetime
) -> str:
    import jwt

    if not 0 < lifetime_seconds <= MAX_LIFETIME_SECONDS:
        raise Rejected("TOKEN_LIFETIME_INVALID", f"a token lives from 1 to {MAX_LIFETIME_SECONDS} seconds")
    issued_at = int(now.timestamp())
    claims = {
        "iss": DEVELOPMENT_ISSUER,
        "aud": DEVELOPMENT_AUDIENCE,
        "sub": subject,
        "tenant_id": str(tenant_id),
        "roles": list(roles),
        "iat": issued_at,
        "exp": issued_at + lifetime_seconds,
    }
    return jwt.encode(claims, check_development_secret(secret), algorithm=DEVELOPMENT_ALGORITHM)


def find_development_secret(state: Path) -> str | None:
    """Find the secret of the state folder, if there is one."""
    return read_development_secret(state) if (state / SECRET_FILE).exists() else None


def read_development_secret(state: Path) -> str:
    """Read the secret of the state folder, made at first use and readable by its owner only."""
    path = state / SECRET_FILE
    try:
        state.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(MIN_SECRET_BYTES) + "\n")
    except FileExistsError:
        pass
    except OSError as error:
        raise Rejected("FILE_UNREADABLE", f"{path} cannot be made: {error.strerror}") from None
    try:
        return check_development_secret(path.read_text(encoding="ascii").strip())
    except (OSError, UnicodeError):
        raise Rejected(
            "FILE_UNREADABLE", f"{path} cannot be read: remove it, and a new one is made"
        ) from None
