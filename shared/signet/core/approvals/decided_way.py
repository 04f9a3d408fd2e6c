"""The way of a document through its statuses, and where people have decided on it.

The graph of a definition says what asks everybody. The record says what people have decided about this
document. Behind an approval is what stands behind by either of them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


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
