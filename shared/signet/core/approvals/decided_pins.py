"""The pins of a request that decides: what its requester decided about is what is used behind its gate.

The request keeps all that its contract lets expressions read. Its gate looks at what the definition reads.
Who asks names what they have seen of it, by a digest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from signet.core.approvals.pins import Pins
from signet.core.canonical_json import canonical_bytes, hash_bytes
from signet.core.errors import Rejected

# Names the request in the pins that its gate has used.
_REQUEST = "request"
DIGEST_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class SeenReference:
    """The values that a document reads of another one by a ref, as people decide about them.

    `read_from` is the document that has taken its place. What is not there has no values.
    """

    ref: str
    entity_type: str
    document_id: str
    read_from: str | None
    is_there: bool
    values: Mapping[str, Any]


def list_seen(pins: Pins) -> list[SeenReference]:
    return [
        SeenReference(
            ref=ref,
            entity_type=pin["entity_type"],
            document_id=pin["document_id"],
            read_from=pin.get("read_from"),
            is_there=pin["version"] is not None,
            values=pin["values"],
        )
        for ref, pin in sorted(pins.items())
    ]


def digest_seen(seen: Sequence[SeenReference]) -> str | None:
    """Return the digest of what is seen of other documents; None where nothing is."""
    if not seen:
        return None
    return hash_bytes(canonical_bytes([asdict(one) for one in seen]))[:DIGEST_CHARACTERS]


def check_seen(pins: Pins, seen: str | None) -> Rejected | None:
    """Refuse a request that decides about values of other documents which its maker has not named."""
    now = digest_seen(list_seen(pins))
    if now is None or now == seen:
        return None
    named = ", ".join(sorted(pins))
    if seen is None:
        sentence = f"the request does not say what was seen of {named}, and it decides about that"
        remedy = "Read the document, and send the ETag of that answer as If-Match."
        return Rejected("REFERENCES_UNSEEN", sentence, remedy=remedy)
    sentence = f"{named} may say something else now than what was seen"
    remedy = "Read the document again, and decide on what it and its references say now."
    return Rejected("REFERENCES_CHANGED", sentence, remedy=remedy)


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
