"""Who asks. Everything that a request may see or do follows from it."""

from dataclasses import dataclass
from uuid import UUID

# Who a step runs as when it is no person. The service account may what its tenant's role of that name may.
SYSTEM_SUBJECT = "signet:system"
SERVICE_SUBJECT = "signet:service_account"
SERVICE_ROLE = "service_account"
# Of an operator whose token names no tenant. No tenant has it.
NO_TENANT = UUID(int=0)
# A machine acts as itself: `key:<name>`. No person has such a name, nor one of the engine's.
KEY_PREFIX = "key:"
_RESERVED = (KEY_PREFIX, "signet:")


@dataclass(frozen=True, slots=True)
class Principal:
    tenant_id: UUID
    subject: str
    roles: tuple[str, ...]
    # Of the deployment, and not of a tenant: by a role that settings name, and never by a tenant's.
    is_operator: bool = False

    @property
    def is_key(self) -> bool:
        return self.subject.startswith(KEY_PREFIX)


@dataclass(frozen=True, slots=True)
class VerifiedToken:
    """Who somebody is shown to be, and until when that holds (seconds of the epoch)."""

    principal: Principal
    until: float


def is_reserved(subject: str) -> bool:
    return subject.startswith(_RESERVED)
