"""The way of a document through its statuses, and where people have decided on it.

The graph of a definition says what asks everybody. The record says what people have decided about this
document. Behind an approval is what stands behind by either of them. Of the decisions that they have given,
some would be used again without asking them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID


@dataclass(frozen=True, slots=True)
class StatusRun:
    """The versions that a document had in one status, one after the other."""

    version: int
    status: str
    # The versions in it that a gate has used an approval of, or that a request has decided about.
    decided_at: Sequence[int] = ()
    # People have approved it there, in a slot behind the gate.
    is_approved_behind: bool = False


@dataclass(frozen=True, slots=True)
class DecidedWay:
    """The end of the way: where the document stands."""

    # People have decided on its way there, and it has not been since where they were asked.
    is_decided: bool = False
    # What was done from this version on was done for the last decision, or since the document came behind it.
    since: int = 0
    # The version with which it came to the status that it has.
    in_status_since: int = 0

    @property
    def decided_since(self) -> int | None:
        """Return from which version on acts count for the last decision; None where nobody has decided."""
        return self.since if self.is_decided else None


def read_way(runs: Iterable[StatusRun], is_behind: Callable[[str], bool]) -> DecidedWay:
    """Follow the way; `is_behind` says by the graph alone whether a status is behind approvals.

    A decision holds until the document is back at a status that it had before.
    """
    # The statuses since each decision that holds; those of the first set were before all of them.
    known: list[set[str]] = [set()]
    since, in_status_since, is_decided, was_behind = 0, 0, False, False
    for run in runs:
        in_status_since = run.version
        before = next((index for index, statuses in enumerate(known) if run.status in statuses), None)
        if before is not None:
            del known[before + 1 :]
        elif is_decided or run.is_approved_behind:
            known.append({run.status})
        else:
            known[-1].add(run.status)
        if is_decided or not was_behind:
            since = run.version
        # A gate may lead back to the same status.
        since = max((since, *(version + 1 for version in run.decided_at)))
        is_decided, was_behind = bool(run.decided_at), len(known) > 1 or is_behind(run.status)
    return DecidedWay(len(known) > 1, since, in_status_since)


def find_decision(runs: Iterable[StatusRun]) -> int | None:
    """Return from which version on acts count for the last decision, by the record alone."""
    return read_way(runs, lambda status: False).decided_since


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
