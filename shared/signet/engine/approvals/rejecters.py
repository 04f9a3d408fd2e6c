"""The standing of people who rejected a document and are to be asked again; read in waves and for views."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.pins import hash_content
from signet.core.approvals.policy import Stage
from signet.core.approvals.seats.bench import Bench
from signet.core.approvals.seats.rejecters import (
    RejectedRequest,
    RejecterStanding,
    ask_rejecters_again,
    find_barred_rejecters,
    join_rejected_seats,
    list_rejecters,
)
from signet.core.tenants.responsible import ResponsiblePersons
from signet.engine.approvals.approver_lookup import read_roles_of
from signet.engine.approvals.subject import ApprovalSubject
from signet.store.approvals.requests import find_first_asked, list_rejected_alike
from signet.store.database import Connection
from signet.store.tenants.eligibility import read_eligibility_changes


class AskedDocument(Protocol):
    """A document that people are asked about."""

    @property
    def id(self) -> UUID: ...

    @property
    def entity_type(self) -> str: ...


def find_rejected(
    connection: Connection, tenant_id: UUID, document: AskedDocument, data: Mapping[str, Any], node_id: str
) -> Sequence[RejectedRequest]:
    """Find the rejected requests of the node about the same content, the newest first."""
    digest = hash_content(document.entity_type, data)
    return list_rejected_alike(connection, tenant_id, document.id, node_id, digest, data)


def read_rejecter_standing(
    connection: Connection,
    tenant_id: UUID,
    document_id: UUID,
    seats: Sequence[Seat],
    rejected: Sequence[Seat],
    *,
    approved_elsewhere: Collection[str],
    behind: ResponsiblePersons,
) -> RejecterStanding:
    """Read how rejecters stand; where none of them is barred, nobody's changes matter."""
    rejecters = list_rejecters(seats, rejected)
    people = [rejecter.person for rejecter in rejecters]
    roles = read_roles_of(connection, tenant_id, people)
    standing = RejecterStanding(roles, approved_elsewhere)
    since = find_first_asked(connection, document_id)
    if since is None or not find_barred_rejecters(rejecters, standing):
        return standing
    own = {role for held in roles.values() for role in held}
    changes = read_eligibility_changes(
        connection,
        tenant_id,
        since=since,
        # A delegation has two sides: a rejecter who approved for another is among these with them.
        user_ids={*people, *approved_elsewhere},
        roles=own.union(rejecter.needed_role for rejecter in rejecters if rejecter.needed_role is not None),
        concerned=behind,
        bench=Bench(line_holders=people),
    )
    return RejecterStanding(roles, approved_elsewhere, changes)


def seat_rejecters(
    connection: Connection,
    tenant_id: UUID,
    about: ApprovalSubject,
    stage: Stage,
    seats: Sequence[Seat],
    found: Sequence[RejectedRequest],
) -> Sequence[Seat]:
    """Ask the seats of those whose voice rejected the same content; nobody takes a role meanwhile."""
    rejected = join_rejected_seats(found)
    if not list_rejecters(seats, rejected):
        return seats
    standing = read_rejecter_standing(
        connection,
        tenant_id,
        about.document.id,
        seats,
        rejected,
        approved_elsewhere=about.approved_elsewhere,
        behind=about.find_people_behind().everyone,
    )
    return ask_rejecters_again(stage, seats, rejected, standing)
