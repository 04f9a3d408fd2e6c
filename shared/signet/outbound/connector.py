"""What is to leave the system, and what came of it; each sort of effect has one connector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Destination:
    """A tenant's endpoint, as its row says."""

    name: str
    url: str
    secret_refs: Sequence[str]
    # Where not empty, the tenant may call only these.
    hosts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Recipient:
    user_id: str
    display_name: str
    email: str | None
    phone: str | None


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """One effect. `id` stays the same however often it is tried: receivers know it again by that."""

    id: UUID
    tenant_id: UUID
    effect_type: str
    payload: Mapping[str, Any]
    created_at: datetime
    now: datetime
    trace_id: str | None
    destination: Destination | None
    recipients: Sequence[Recipient]
    # The evidence of the attempt before; None where there was none.
    earlier: Any = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """`status` is None where nothing answered; `is_final` where trying again is pointless."""

    status: int | None
    error: str | None
    body: Any = None
    duration_ms: float = 0.0
    is_final: bool = False
    # The receiver wants no more, ever.
    is_gone: bool = False

    @property
    def is_delivered(self) -> bool:
        return self.error is None


class Connector(Protocol):
    def deliver(self, message: OutboundMessage) -> Delivery:
        """Never raises for what the world outside does."""
        ...
