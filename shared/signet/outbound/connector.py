"""Messages that leave the system, and their deliveries; each type of effect has one connector."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol
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


# Those of the answers 4xx that say how the receiver is: it waited too long, or has too much to do.
_OF_RECEIVER = frozenset({408, 425, 429})


# Why an answer is kept as text: its first part alone is kept, it is JSON that cannot be kept, or it is none.
KeptAsText = Literal["part", "broken", "plain"]


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
    # Why the body is a text, where it is not the JSON that was said.
    kept_as_text: KeptAsText | None = None

    @property
    def is_delivered(self) -> bool:
        return self.error is None

    @property
    def refuses_message(self) -> bool:
        """Return whether the receiver has answered, and refuses this message: that says nothing of others."""
        status = self.status or 0
        return 400 <= status < 500 and status not in _OF_RECEIVER and not self.is_gone

    @property
    def shows_failure(self) -> bool:
        """Return whether the attempt says that the receiver is not well."""
        return not (self.is_delivered or self.is_final or self.refuses_message)


class Connector(Protocol):
    def deliver(self, message: OutboundMessage) -> Delivery:
        """Deliver a message; failures of the outside world raise nothing."""
        ...
