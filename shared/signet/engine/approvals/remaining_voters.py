"""The question of a wave if anybody can still vote on a stage, by the check that refuses votes.

Delegates are not looked up: a delegate can vote only where the delegator can.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from signet.core.approvals.barring_changes import MAX_CHANGES
from signet.core.approvals.eligibility import Seat, can_anyone_vote, list_open_holders
from signet.core.approvals.entitlement import VoteCheck
from signet.core.approvals.pins import list_pinned_persons
from signet.core.approvals.policy import Stage, list_asked_roles
from signet.core.tenants.eligibility_changes import EligibilityChange
from signet.engine.approvals.subject import ApprovalSubject
from signet.store.approvals.requests import CandidateRow, read_candidates
from signet.store.database import Connection
from signet.store.tenants.eligibility import read_eligibility_changes

# Of a role so many members are looked at to find one who may vote.
MAX_CANDIDATES = 1_000


def can_anyone_vote_now(
    connection: Connection,
    tenant_id: UUID,
    about: ApprovalSubject,
    stage: Stage,
    seats: Sequence[Seat],
    now: datetime,
) -> bool:
    """Return if anyone can vote; the caller holds the roles."""
    users, roles = list_open_holders(seats)
    document_id = about.document.id
    # A permission or its condition may rule out any holder of a role: then as many are asked as can be.
    enough = max(MAX_CANDIDATES if about.voter_permissions else 1, 1 + _count_excluded(about, seats))
    people = read_candidates(connection, tenant_id, users, roles, at_most=enough, document_id=document_id)
    since = next((person.changed_since for person in people.values()), None)
    changes: Sequence[EligibilityChange] = ()
    if since is not None:
        # So may changes of eligibility, which are rare.
        people = read_candidates(connection, tenant_id, users, roles, at_most=MAX_CANDIDATES)
        changes = _read_changes(connection, about, stage, seats, people, since)
    check = VoteCheck(
        contract=about.contract,
        document=about.document,
        requesters=about.requesters,
        asked_since=since or now,
        opened_at=about.opened_at,
        pins=about.pins,
        needed_permissions=about.voter_permissions,
        approved_elsewhere=about.approved_elsewhere,
        stage=stage,
        seats=seats,
        roles={user_id: person.roles for user_id, person in people.items()},
        permissions={user_id: person.permissions for user_id, person in people.items()},
        delegations=(),
        changes=changes,
        now=now,
        make_env=about.make_voter_env,
    )
    return can_anyone_vote(seats, check.make_context())


def _read_changes(
    connection: Connection,
    about: ApprovalSubject,
    stage: Stage,
    seats: Sequence[Seat],
    people: Mapping[str, CandidateRow],
    since: datetime,
) -> Sequence[EligibilityChange]:
    """Read what may bar these people: what was given to them, and what was taken from those who are asked.

    Nobody gives eligibility to themselves, so that of what they were given only the document's people matter.
    With more than can be judged the stage waits for votes, and each of them finds its own.
    """
    responsible = about.document.responsible | about.requesters | list_pinned_persons(about.pins)
    own_roles = {role for person in people.values() for role in person.roles}
    holders = {seat.holder_user_id for seat in seats if seat.holder_user_id is not None}
    given = read_eligibility_changes(
        connection, since=since, user_ids=people, roles=(), concerned=responsible
    )
    taken = read_eligibility_changes(
        connection,
        since=since,
        user_ids=holders,
        roles=list_asked_roles(stage, seats) | own_roles,
        concerned=responsible.union(people),
    )
    changes = [*given, *taken]
    return changes if len(changes) <= MAX_CHANGES else ()


def _count_excluded(about: ApprovalSubject, seats: Sequence[Seat]) -> int:
    """Return at most how many people are barred, or are counted in the stage already."""
    counted = [
        person for seat in seats for person in (seat.decided_by, seat.on_behalf_of) if person is not None
    ]
    return len(about.document.responsible | about.requesters) + len(counted)
