"""The data of votes: a ballot, the people that it is judged by, and the effect of a counted vote."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from signet.core.approvals.eligibility import Delegation
from signet.core.compiler.node_configurations import Vote
from signet.core.errors import FieldError, Rejected
from signet.core.tenants.eligibility_changes import EligibilityChange
from signet.store.approvals.decisions import PersonRow

READ_AGAIN = "Read it again: the workflow asks again for the approvals that it still needs."

# Nobody is told when another document changes. The views say what asks people again.
ASKED_BY_NEXT_VOTE = (
    "The next vote is refused, and by it people are asked again with what it says now; so they are by a wake"
    " of the instance."
)


@dataclass(frozen=True, slots=True)
class VoteResult:
    """The effect of a counted vote. `stage_state` is open, approved, rejected or deadlocked."""

    request_id: UUID
    decision_id: UUID
    stage: int
    position: int
    vote: Vote
    on_behalf_of: str | None
    delegation_id: UUID | None
    stage_state: str
    request_status: str


@dataclass(frozen=True, slots=True)
class Ballot:
    """One person's vote about a request."""

    request_id: UUID
    vote: Vote
    reason: str | None = None


class StandingDocument(Protocol):
    """The document of a request, as it is now."""

    @property
    def version(self) -> int: ...

    @property
    def snapshot_hash(self) -> str | None: ...

    @property
    def instance_id(self) -> UUID | None: ...


@dataclass(frozen=True, slots=True)
class Voters:
    """The people who matter for the votes on a request, and what changed for them since it was opened."""

    people: Mapping[str, PersonRow]
    delegations: Sequence[Delegation]
    changes: Sequence[EligibilityChange]


class ReferencesChanged(Rejected):
    """A vote about what says something else now, or was erased: its workflow must ask again."""

    def __init__(self, instance_id: UUID, sentence: str, changed: Sequence[str] = ()) -> None:
        super().__init__("APPROVAL_STALE", sentence, remedy=READ_AGAIN, details={"changed": list(changed)})
        self.instance_id = instance_id


def reason_required(vote: str) -> Rejected:
    mistake = FieldError("/reason", "REASON_REQUIRED", "wants a reason")
    return Rejected("FIELDS_INVALID", f"the vote '{vote}' needs a reason", fields=(mistake,))


def approval_not_found(request_id: UUID) -> Rejected:
    return Rejected("APPROVAL_NOT_FOUND", f"there is no approval {request_id}")
