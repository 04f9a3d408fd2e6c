"""Firings: the causes that automations listen to, with the person and the chain of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from signet.core.automations.chain import Chain, parse_chain, write_chain

Cause = Literal["change", "manual"]


@dataclass(frozen=True, slots=True)
class Firing:
    """One cause with all that a start reads of it: no value of a document is in it."""

    cause: Cause
    # The actor as JSON: id, roles, and the persons who are responsible.
    actor: Mapping[str, Any]
    document_id: str | None = None
    entity_type: str | None = None
    # The version that the change has made; 0 without a document.
    version: int = 0
    # Of a change: the act as the trail names it.
    act: str | None = None
    chain: Chain = ()
    # Of a manual start: its checked input.
    payload: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        document = {"id": self.document_id, "type": self.entity_type, "version": self.version}
        return {
            "cause": self.cause,
            "actor": dict(self.actor),
            "document": document if self.document_id is not None else None,
            "act": self.act,
            "chain": write_chain(self.chain),
            "payload": dict(self.payload),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Firing":
        document = stored["document"] or {"id": None, "type": None, "version": 0}
        return cls(
            stored["cause"],
            stored["actor"],
            document["id"],
            document["type"],
            document["version"],
            stored["act"],
            parse_chain(stored["chain"]),
            stored["payload"],
        )


def describe_firing(firing: Firing) -> dict[str, Any]:
    """Describe a firing for people who ask why: who, what, and about which document."""
    described = {
        "cause": firing.cause,
        "actor": firing.actor["id"],
        "document_id": firing.document_id,
        "version": firing.version or None,
        "act": firing.act,
        "chain": [str(link) for link in firing.chain] or None,
    }
    return {name: value for name, value in described.items() if value is not None}


def make_change_payload(
    actor: Mapping[str, Any], document: tuple[str, str, int], act: str, chain: Sequence[Any]
) -> dict[str, Any]:
    """Make the payload of the starts by a change: `document` is its id, its type and its new version."""
    document_id, entity_type, version = document
    return Firing("change", actor, document_id, entity_type, version, act, tuple(chain)).to_json()
