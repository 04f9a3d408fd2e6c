"""Secrets of tenants in files: `<folder>/<tenant>/<name>`, each read when it is needed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from signet.core.validation.text import NAME

MAX_SECRET_CHARACTERS = 1_000

# A tenant's secret by its name, in no log and no message; None where there is none.
ReadSecret = Callable[[UUID, str], str | None]


@dataclass(frozen=True, slots=True)
class SecretsFolder:
    """A tenant's own folder is all that its names can reach."""

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
    """Where nobody has said where secrets are."""
    return None
