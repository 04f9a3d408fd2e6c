"""Secrets of tenants in files: `<folder>/<tenant>/<name>`, each read when it is needed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from signet.core.validation.text import NAME

MAX_SECRET_CHARACTERS = 1_000

# Returns a tenant's secret by its name, or None; it appears in no log and no message.
ReadSecret = Callable[[UUID, str], str | None]


@dataclass(frozen=True, slots=True)
class SecretsFolder:
    """A folder of secrets; a tenant's names reach no further than its own subfolder."""

    folder: Path

    def __call__(self, tenant_id: UUID, name: str) -> str | None:
        if NAME.fullmatch(name) is None:
            return None
        try:
            with (self.folder / str(tenant_id) / name).open(encoding="ascii") as file:
                return file.read(MAX_SECRET_CHARACTERS).strip()
        except (OSError, UnicodeDecodeError):
            return None


def no_secrets(tenant_id: UUID, name: str) -> str | None:
    """Return no secret, for deployments without a place for them."""
    return None
