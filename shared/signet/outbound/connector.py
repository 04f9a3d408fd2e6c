"""Messages that leave the system, and their deliveries; each type of effect has one connector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Destination:
    """A tenant's endpoint, as its row describes it."""

    name: str
    url: str
    secret_refs: Sequence[str]
    # If not empty, the tenant may call only these.
    hosts: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Recipient:
    user_id: str
    display_name: str
    email: str | None
    phone: str | None


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """One effect; its `id` is the same in every attempt, so that receivers recognise it."""

    id: UUID
    tenant_id: UUID
    effect_type: str
    payload: Mapping[str, Any]
    created_at: datetime
    now: datetime
    trace_id: str | None
    destination: Destination | None
    recipients: Sequence[Recipient]
    # The evidence of the attempt before; None at the first attempt.
    earlier: Any = None


@dataclass(frozen=True, slots=True)
class Delivery:
    """The outcome of an attempt: `status` is None without an answer, `is_final` if retries are pointless."""

    status: int | None
    error: str | None
    body: Any = None
    duration_ms: float = 0.0
    is_final: bool = False
    # The receiver never wants another message.
    is_gone: bool = False
    # Something went out, or may have: False only where the attempt ended before.
    has_left: bool = True

    @property
    def is_delivered(self) -> bool:
        return self.error is None


class Connector(Protocol):
    def deliver(self, message: OutboundMessage) -> Delivery:
        """Deliver a message; failures of the outside world raise nothing."""
        ...
