"""What may be done to a document, who does it, and what comes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID

from signet.core.errors import Failed, Rejected


@dataclass(frozen=True, slots=True)
class Create:
    entity_type: str
    data: Mapping[str, Any]
    id: UUID | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Update:
    """`patch` is a JSON merge patch; with `is_full` it is the whole of the data."""

    id: UUID
    expected_version: int
    patch: Mapping[str, Any]
    is_full: bool = False
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RequestTransition:
    id: UUID
    expected_version: int
    transition: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RunAction:
    """Only a step of the document's own workflow, which holds it locked, may leave the version out.

    `context` are the variables of the workflow whose step it is.
    """

    id: UUID
    expected_version: int | None
    action: str
    payload: Mapping[str, Any]
    reason: str | None = None
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Delete:
    id: UUID
    expected_version: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Amend:
    """Asked for explicitly, where the contract allows it (a settled state)."""

    id: UUID
    expected_version: int
    patch: Mapping[str, Any]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ConcludeTransition:
    """What a lifecycle gate of the document's own workflow does: the one way in which a status changes.

    `to` is None where the status stays; the request that was served ends either way.
    """

    id: UUID
    transition: str
    to: str | None
    request_status: Literal["performed", "refused"]
    reason: str | None = None


# What may be asked for of a document that is there.
OfEdit = Update | RequestTransition | RunAction | Delete | Amend
Operation = Create | OfEdit | ConcludeTransition


# Of several operations: all of them or none, or each on its own.
Mode = Literal["all", "each"]


@dataclass(frozen=True, slots=True)
class Applied:
    """`document_id` is the new document's where an edit made an amendment of `original_id`.

    `output` is what an action gives back.
    """

    document_id: UUID
    version: int
    status: str
    original_id: UUID | None = None
    request_id: UUID | None = None
    instance_id: UUID | None = None
    output: Mapping[str, Any] | None = None


# Failed is an action whose author's function did not do what it should.
Refused = Rejected | Failed
Outcome = Applied | Refused
