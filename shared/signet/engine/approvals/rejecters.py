"""The standing of people who rejected a document and are to be asked again; read in waves and for views."""

from collections.abc import Collection, Sequence
from uuid import UUID

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.rejecters import RejecterStanding, find_barred_rejecters, list_rejecters
from signet.core.tenants.responsible import ResponsiblePersons
from signet.engine.approvals.approver_lookup import read_roles_of
from signet.store.approvals.requests import find_first_asked
from signet.store.database import Connection
from signet.store.tenants.eligibility import read_eligibility_changes


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
    )
    return RejecterStanding(roles, approved_elsewhere, changes)
