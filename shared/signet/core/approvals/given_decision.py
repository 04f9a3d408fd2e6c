"""Decisions that people have given about a document, and those that would be used without asking again."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class GivenDecision:
    """An approval by votes, or a request that decides.

    Of an origin it is what was decided before an action made the document of it.
    """

    kind: Literal["approval", "request", "origin"]
    # The node of the approval, or the transition of the request.
    name: str
    # A gate has used it.
    is_used: bool
    # It stands in a slot behind a gate, where no gate uses it.
    is_behind_gate: bool
    # The document has been since where that gate is: who leads it on asks these people again.
    has_returned: bool
    origin_id: UUID | None = None

    @property
    def stands(self) -> bool:
        """Return whether it would be used for what the document says after a correction.

        What waits for a gate does not: a correction in front of the gate has these people asked again.
        """
        if self.origin_id is not None:
            return True
        return (self.is_used or self.is_behind_gate) and not self.has_returned

    def describe(self) -> str:
        if self.origin_id is not None:
            return f"an action made the document of {self.origin_id}, about which people had decided"
        if self.kind == "request":
            return f"people approved what the document says by their request for '{self.name}'"
        return f"people approved what the document says at {self.name}"


def find_standing(given: Iterable[GivenDecision]) -> GivenDecision | None:
    """Find a decision that would be used without asking its people again."""
    return next((decision for decision in given if decision.stands), None)
