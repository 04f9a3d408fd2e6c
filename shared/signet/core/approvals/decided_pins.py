"""The pins of a request that decides: what its requester decided about is what is used behind its gate.

The request keeps all that its contract lets expressions read. Its gate looks at what the definition reads.
"""

from collections.abc import Mapping
from typing import Any

from signet.core.approvals.pins import Pins

# Names the request in the pins that its gate has used.
_REQUEST = "request"


def list_changed_since(asked: Pins, now: Pins, approved: Pins) -> list[str]:
    """List the refs that lead to something else now than when the request was made.

    What an approval has pinned is used as it was approved, and concerns no requester.
    """
    return sorted(
        ref
        for ref, pin in now.items()
        if not _is_approved(pin, approved.get(ref)) and not _is_same(pin, asked.get(ref))
    )


def pin_decided(now: Pins, approved: Pins, request_id: str) -> Pins:
    """Return what holds behind the gate: what was approved, and else what the request decides about."""
    decided = {
        ref: {**pin, _REQUEST: request_id}
        for ref, pin in now.items()
        if not _is_approved(pin, approved.get(ref))
    }
    return {**approved, **decided}


def describe_decision(pin: Mapping[str, Any]) -> str:
    """Name the decision that holds a pin."""
    if "approval" in pin:
        return f"approval {pin['approval']}"
    return f"request {pin[_REQUEST]}" if _REQUEST in pin else "an approval of an older release"


def _is_approved(pin: Mapping[str, Any], held: Mapping[str, Any] | None) -> bool:
    return held is not None and "approval" in held and held["document_id"] == pin["document_id"]


def _is_same(pin: Mapping[str, Any], asked: Mapping[str, Any] | None) -> bool:
    """Return whether it says the same, and nobody else has written it in between."""
    if asked is None or asked["document_id"] != pin["document_id"]:
        return False
    was_there, is_there = asked["version"] is not None, pin["version"] is not None
    if was_there != is_there or not set(pin["responsible"]) <= set(asked["responsible"]):
        return False
    known = asked["values"]
    return all(name in known and known[name] == value for name, value in pin["values"].items())
