"""Delivery of one message to several people, one by one.

The outcome for each person is part of the evidence, and the next attempt leaves out those who have the
message. It counts as delivered when at least one person has it and another attempt would reach nobody more.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from signet.outbound.connector import Delivery, OutboundMessage, Recipient

# No further message is begun after this; the next attempt reaches the rest.
FAN_OUT_SECONDS = 20.0
MAX_NAMED = 10
NO_RECIPIENT = Delivery(
    None, "NOBODY_MEANT: no active member is whom this is for", is_final=True, has_left=False
)

FindAddress = Callable[[Recipient], str | None]
Send = Callable[[str], Delivery]


def deliver_to_each(
    message: OutboundMessage, address_kind: str, find_address: FindAddress, send: Send
) -> Delivery:
    """Deliver to each recipient; `send` answers with the message's id as the body.

    `address_kind` names this kind of address in errors.
    """
    if not message.recipients:
        return NO_RECIPIENT
    began = time.monotonic()
    delivered = _read_recipients(message)
    missed: dict[str, str] = {}
    left: dict[str, Delivery] = {}
    has_left = False
    for person in message.recipients:
        address = find_address(person)
        if person.user_id in delivered:
            continue
        if not address:
            missed[person.user_id] = f"ADDRESS_MISSING: no {address_kind} is known"
        elif time.monotonic() - began > FAN_OUT_SECONDS:
            left[person.user_id] = Delivery(None, "TIMED_OUT: there was no time for everybody")
        else:
            delivery = _try(send, address)
            has_left |= delivery.has_left
            if delivery.error is None:
                delivered[person.user_id] = str(delivery.body)
            elif delivery.is_final:
                missed[person.user_id] = delivery.error
            else:
                left[person.user_id] = delivery
    seconds = time.monotonic() - began
    concluded = _conclude(delivered, missed, left, round(seconds * 1_000, 1))
    return replace(concluded, has_left=has_left)


def _try(send: Send, address: str) -> Delivery:
    """Send one message; an error ends this one only, so that the record of earlier ones is kept."""
    try:
        return send(address)
    except Exception as error:
        return Delivery(None, f"CONNECTOR_FAILED: {type(error).__name__}")


def _read_recipients(outgoing: OutboundMessage) -> dict[str, str]:
    """Parse the recipients who have the message, as earlier attempts recorded them."""
    earlier = outgoing.earlier.get("told") if isinstance(outgoing.earlier, Mapping) else None
    meant = {person.user_id for person in outgoing.recipients}
    known = earlier if isinstance(earlier, Mapping) else {}
    return {user_id: str(message) for user_id, message in known.items() if user_id in meant}


def _conclude(
    delivered: dict[str, str], missed: dict[str, str], left: dict[str, Delivery], duration_ms: float
) -> Delivery:
    evidence: dict[str, Any] = {"told": delivered}
    if missed:
        evidence["missed"] = missed
    if left:
        first = next(iter(left.values()))
        evidence["left"] = sorted(left)
        return Delivery(first.status, f"{first.error} ({_name(list(left))})", evidence, duration_ms)
    if delivered:
        return Delivery(None, None, evidence, duration_ms)
    reason = next(iter(missed.values()))
    return Delivery(None, f"{reason} ({_name(list(missed))})", evidence, duration_ms, is_final=True)


def _name(people: Sequence[str]) -> str:
    more = f" and {len(people) - MAX_NAMED} more" if len(people) > MAX_NAMED else ""
    return "for " + ", ".join(people[:MAX_NAMED]) + more
