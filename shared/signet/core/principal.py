"""Who asks. Everything that a request may see or do follows from it."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Principal:
    tenant_id: UUID
    subject: str
    roles: tuple[str, ...]
