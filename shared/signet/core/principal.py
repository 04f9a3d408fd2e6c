"""Who asks. Everything that a request may see or do follows from it."""

from dataclasses import dataclass
from uuid import UUID

# Who a step runs as when it is no person. The service account may what its tenant's role of that name may.
SYSTEM_SUBJECT = "signet:system"
SERVICE_SUBJECT = "signet:service_account"
SERVICE_ROLE = "service_account"


@dataclass(frozen=True, slots=True)
class Principal:
    tenant_id: UUID
    subject: str
    roles: tuple[str, ...]
