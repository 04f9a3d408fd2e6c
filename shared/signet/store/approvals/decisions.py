"""Approval requests as people decide and read them; waves have statements of their own."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row

from signet.core.approvals.eligibility import Delegation, Seat
from signet.core.tenants.eligibility_changes import EligibilityChange, parse_change
from signet.core.tenants.permissions import OWN_RESOURCES
from signet.core.tenants.responsible import ResponsiblePersons
from signet.store.database import Connection
from signet.store.pipeline import DeferredStatement, PipelinedTransaction
from signet.store.statements import Statements

_SQL = Statements(__file__)
RequestStatus = Literal["open", "approved", "rejected", "expired", "voided"]


@dataclass(frozen=True, slots=True)
class RequestRow:
    """A locked request."""

    id: UUID
    instance_id: UUID
    step_execution_id: UUID
    node_id: str
    document_id: UUID
    document_version: int
    snapshot_version_id: UUID
    snapshot_hash: str
    definition_hash: str
    policy: str
    policy_hash: str
    chain_name: str | None
    chain_version: int | None
    requester_id: str
    stage: int
    status: str
    outcome: str | None
    applied: bool | None
    escalate_at: datetime | None
    expire_at: datetime | None
    created_at: datetime
    # The document was first asked about then, on its present way.
    asked_since: datetime
    ended_at: datetime | None
    responsible: list[str]
    voter_permissions: list[str] | None
    pins: dict[str, Any] | None
    pins_hash: str | None
    variables: dict[str, Any] | None
    # The pinned refs whose document says something else now, and the pinned variables that do.
    changed_pins: list[str]
    changed_variables: list[str]
    # The fields of the document whose personal values were erased since people were asked.
    erased_fields: list[str]
    # The eligibility of a person has changed since: others who may vote are counted by the wave.
    has_changed_people: bool
    # People who have approved this before, or another approval that the same gate uses.
    approved_elsewhere: list[str]
    # What shows that the definition asks it; only a vote reads that.
    origin: dict[str, Any] | None = None

    @property
    def requesters(self) -> ResponsiblePersons:
        """Return the persons behind the requester, and all who asked for the same before or since."""
        return frozenset(self.responsible)


@dataclass(frozen=True, slots=True)
class PersonRow:
    user_id: str
    roles: list[str]
    # Of these roles, as the tenant defines them now.
    permissions: list[str]
    # Of the voter alone, as JSON: the changes that may bar their vote.
    changes: list[dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class LockedRequest:
    """Everything that a decision depends on, as of the moment when the request was locked."""

    request: RequestRow
    # Seats of the request's current stage, and of its other stages.
    seats: tuple[Seat, ...]
    other_seats: tuple[Seat, ...]
    people: Mapping[str, PersonRow]
    delegations: tuple[Delegation, ...]
    # What the voter, those they vote for and the document's people granted or took since it was opened.
    changes: tuple[EligibilityChange, ...]


@dataclass(frozen=True, slots=True)
class RequestRecord:
    id: UUID
    instance_id: UUID
    node_id: str
    document_id: UUID
    document_version: int
    snapshot_hash: str
    definition_hash: str
    policy: str
    policy_hash: str
    chain_name: str | None
    chain_version: int | None
    requester_id: str
    stage: int
    status: RequestStatus
    outcome: str | None
    applied: bool | None
    escalate_at: datetime | None
    expire_at: datetime | None
    created_at: datetime
    ended_at: datetime | None
    entity_type: str
    contract_version: int
    current_version: int
    snapshot: str
    request_reason: str | None


@dataclass(frozen=True, slots=True)
class ApprovalDecisionRecord:
    id: UUID
    stage: int
    position: int
    decision: str
    reason: str | None
    decided_by: str
    on_behalf_of: str | None
    delegation_id: UUID | None
    created_at: datetime


def document_statement(tenant_id: UUID, request_id: UUID) -> DeferredStatement:
    return DeferredStatement(_SQL.find_document, {"tenant_id": tenant_id, "id": request_id})


def lock_request(
    connection: Connection,
    tenant_id: UUID,
    request_id: UUID,
    user_id: str,
    *,
    now: datetime,
    at_most: int,
    responsible: Collection[str] = (),
    by_roles: Collection[str] = (),
) -> LockedRequest | None:
    """Lock and read a request in one round trip; the caller holds the document.

    Each statement sees what the locks before it waited for. `at_most` limits the people of a role: it is more
    than can be barred from voting. `by_roles` are the permissions whose condition reads the voter's roles.
    """
    values = {
        "tenant_id": tenant_id,
        "id": request_id,
        "user_id": user_id,
        "now": now,
        "at_most": at_most,
        "responsible": list(responsible),
        "by_roles": list(by_roles),
        "own_resources": sorted(OWN_RESOURCES),
    }
    with connection.pipeline():
        request = connection.cursor(row_factory=class_row(RequestRow)).execute(_SQL.lock_request, values)
        delegations = connection.cursor(row_factory=class_row(Delegation))
        delegations.execute(_SQL.lock_delegations, values)
        seats = connection.cursor(row_factory=class_row(Seat)).execute(_SQL.read_seats, values)
        people = connection.cursor(row_factory=class_row(PersonRow)).execute(_SQL.read_people, values)
        found = request.fetchone()
        if found is None:
            return None
        of_all_stages = seats.fetchall()
        voters = {person.user_id: person for person in people.fetchall()}
        stored = voters[user_id].changes if user_id in voters else None
        return LockedRequest(
            found,
            tuple(seat for seat in of_all_stages if seat.stage == found.stage),
            tuple(seat for seat in of_all_stages if seat.stage != found.stage),
            voters,
            tuple(delegations.fetchall()),
            tuple(parse_change(change) for change in stored or ()),
        )


def add_decision(
    pipeline: PipelinedTransaction, decision: Mapping[str, Any], *, closes_stage: bool, status: str | None
) -> None:
    """Add the writes of a decision, to be sent with the COMMIT.

    `status` is the request's new status, where the decision ends it.
    """
    pipeline.closing.append(DeferredStatement(_SQL.fill_seat, decision))
    pipeline.closing.append(DeferredStatement(_SQL.insert_decision, decision))
    if closes_stage:
        pipeline.closing.append(DeferredStatement(_SQL.close_seats, decision))
    if status is not None:
        ended = {**decision, "status": status, "outcome": _describe_end(decision, status)}
        pipeline.closing.append(DeferredStatement(_SQL.end_request, ended))


def _describe_end(decision: Mapping[str, Any], status: str) -> str:
    """Describe how a decision ended the request. Of a rejection it names the person and the reason."""
    where = f"stage {decision['stage']}"
    if status != "rejected":
        return f"decided in {where}"
    behalf = decision["on_behalf_of"]
    who = decision["decided_by"] if behalf is None else f"{decision['decided_by']} for {behalf}"
    return f"rejected by {who} in {where}: {decision['reason']}"


def read_requests(connection: Connection, tenant_id: UUID, ids: Collection[UUID]) -> list[RequestRow]:
    """Read requests as votes would find them. Nothing is locked, so that they may go on meanwhile."""
    with connection.cursor(row_factory=class_row(RequestRow)) as cursor:
        return cursor.execute(_SQL.read_requests, {"tenant_id": tenant_id, "ids": list(ids)}).fetchall()


def read_request(connection: Connection, tenant_id: UUID, request_id: UUID) -> RequestRecord | None:
    with connection.cursor(row_factory=class_row(RequestRecord)) as cursor:
        return cursor.execute(_SQL.read_request, {"tenant_id": tenant_id, "id": request_id}).fetchone()


def read_seats(connection: Connection, tenant_id: UUID, request_id: UUID) -> list[Seat]:
    with connection.cursor(row_factory=class_row(Seat)) as cursor:
        return cursor.execute(_SQL.read_seats, {"tenant_id": tenant_id, "id": request_id}).fetchall()


def read_decisions(connection: Connection, tenant_id: UUID, request_id: UUID) -> list[ApprovalDecisionRecord]:
    with connection.cursor(row_factory=class_row(ApprovalDecisionRecord)) as cursor:
        return cursor.execute(_SQL.read_decisions, {"tenant_id": tenant_id, "id": request_id}).fetchall()


def read_represented_people(
    connection: Connection, tenant_id: UUID, user_id: str, entity_type: str | None
) -> dict[str, list[str]]:
    """Read the person and those who delegated to them, each with their present roles."""
    values = {"tenant_id": tenant_id, "user_id": user_id, "entity_type": entity_type}
    with connection.cursor(row_factory=class_row(PersonRow)) as cursor:
        people = cursor.execute(_SQL.read_represented_people, values).fetchall()
        return {person.user_id: person.roles for person in people}
