"""The operations on documents, and their outcomes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from signet.core.errors import Failed, Rejected
from signet.core.expressions import FollowedField


@dataclass(frozen=True, slots=True)
class Create:
    entity_type: str
    data: Mapping[str, Any]
    id: UUID | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """An edit. `patch` is a JSON merge patch, or with `is_full` the whole data."""

    id: UUID
    expected_version: int
    patch: Mapping[str, Any]
    is_full: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RequestTransition:
    """A request for a transition. `seen` is the digest of what its maker has seen behind refs."""

    id: UUID
    expected_version: int
    transition: str
    reason: str | None = None
    seen: str | None = None


@dataclass(frozen=True, slots=True)
class RunAction:
    """A run of one of the contract's actions.

    Only a step of the document's own workflow, which holds it locked, may leave the version out. `context`
    are the variables of that workflow, `sources` what its payload has read behind refs. `reads_variables`
    says whether it takes values from the variables.
    """

    id: UUID
    expected_version: int | None
    action: str
    payload: Mapping[str, Any]
    reason: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)
    sources: frozenset[FollowedField] = frozenset()
    reads_variables: bool = False
    # Asks whether a step runs it where people have approved what the document says.
    is_approved: Callable[[], bool] | Literal[False] = False


@dataclass(frozen=True, slots=True)
class Delete:
    id: UUID
    expected_version: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Amend:
    """An explicit request for an amendment, where the contract allows it in a settled state."""

    id: UUID
    expected_version: int
    patch: Mapping[str, Any]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ConcludeTransition:
    """The end of a transition at a lifecycle gate of the document's own workflow.

    No other operation changes a status. `to` is None where the status stays; the request that was served ends
    either way.
    """

    id: UUID
    transition: str
    to: str | None
    request_status: Literal["performed", "refused"]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class WithdrawRequest:
    """The withdrawal of an open request for a transition, by the person who asked."""

    id: UUID
    request_id: UUID
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Correct:
    """A correction by an operator, under an open incident: no edit window holds it, the contract does."""

    id: UUID
    patch: Mapping[str, Any]
    reason: str | None = None


# The operations on an existing document.
OfEdit = Update | RequestTransition | RunAction | Delete | Amend
Operation = Create | OfEdit | ConcludeTransition | WithdrawRequest | Correct


# With `all`, operations are done together or not at all; with `each`, each on its own.
Mode = Literal["all", "each"]


@dataclass(frozen=True, slots=True)
class Applied:
    """An operation that was done.

    An edit that made an amendment has the new document as `document_id`, and its original as `original_id`.
    `output` is the output of an action.
    """

    document_id: UUID
    version: int
    status: str
    original_id: UUID | None = None
    request_id: UUID | None = None
    instance_id: UUID | None = None
    output: Mapping[str, Any] | None = None


# Failed means that the author's function of an action broke its terms.
Refused = Rejected | Failed
Outcome = Applied | Refused
