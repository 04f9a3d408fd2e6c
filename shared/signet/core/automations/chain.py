"""The chain of a change: which automations have acted for which documents since a person did.

It travels with each event that a step causes. A person's act begins a new one.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

# A longer chain is a dead letter.
MAX_DEPTH = 16
# The events that changes write: the last of them says what an instance goes on for. Time, answers from
# outside and what a wave leaves to the next go on with the chain of before.
CAUSED_BY_CHANGES = frozenset(
    ("create_instance", "mutation", "transition_requested", "approval_decided", "request_withdrawn")
)


class Link(NamedTuple):
    """One automation that has started for one document, or for none."""

    automation: str
    document: str | None

    def __str__(self) -> str:
        return f"{self.automation} ({self.document or 'no document'})"


Chain = tuple[Link, ...]


def parse_chain(stored: Any) -> Chain:
    return tuple(Link(automation, document) for automation, document in stored or ())


def write_chain(chain: Chain) -> list[list[str | None]]:
    return [[link.automation, link.document] for link in chain]


def describe_chain(chain: Chain) -> str:
    return " → ".join(map(str, chain))


def find_chain(events: list[tuple[str, Mapping[str, Any]]], known: Chain) -> Chain:
    """Return the chain that an instance goes on with; `events` are those that woke it, the oldest first."""
    told = [payload.get("chain") for kind, payload in events if kind in CAUSED_BY_CHANGES]
    return parse_chain(told[-1]) if told else known
