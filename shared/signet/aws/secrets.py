"""Tenants' secrets in Secrets Manager: `<prefix>/<tenant>/<name>`, kept for a short time."""

import time
from collections.abc import Callable
from uuid import UUID

from signet.aws.calls import CallFailed, SignedCall
from signet.core.validation.text import NAME

# A replaced secret may still be used for so long.
KEPT_SECONDS = 60.0
MAX_KEPT = 1_000
_UNKNOWN = frozenset({"ResourceNotFoundException", "InvalidRequestException"})


class SecretsManager:
    """Secrets by path; a tenant's names reach no further than its own path."""

    def __init__(self, calls: SignedCall, prefix: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._calls = calls
        self._prefix = prefix
        self._clock = clock
        self._kept: dict[str, tuple[float, str | None]] = {}

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        if NAME.fullmatch(name) is None:
            return None
        path = f"{self._prefix}/{tenant_id}/{name}"
        cached = self._kept.get(path)
        if cached is not None and self._clock() < cached[0]:
            return cached[1]
        secret = self._read(path)
        if len(self._kept) >= MAX_KEPT:
            self._kept.clear()
        self._kept[path] = (self._clock() + KEPT_SECONDS, secret)
        return secret

    def _read(self, path: str) -> str | None:
        """Read a secret; one that is to be deleted counts as missing."""
        try:
            answer = self._calls.call("GetSecretValue", {"SecretId": path})
        except CallFailed as failure:
            if failure.reason in _UNKNOWN:
                return None
            raise
        text = answer.get("SecretString")
        return text.strip() if isinstance(text, str) else None
