"""Open requests, checked again when a person who may be their last voter loses a role or a permission.

The change leaves one trigger, about the tenant and not about an instance. A worker reads one page of the
requests that ask the role or the person. It wakes the instances in which nobody is sure to be able to vote,
and leaves the next page to the next trigger. The woken waves count again. They pause with the reason, or wait
for the time of the escalation: nobody hastens it by clearing the bench. The end of a delegation changes
nothing: a delegate can vote only where the delegator can.

A role that loses permissions may have given them to people who are asked by name, or by other roles. Its
trigger names those, one page of its holders at a time, and leaves a trigger of the first kind for each.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import Seat, list_open_holders
from signet.core.approvals.entitlement import has_without_condition
from signet.core.approvals.policy import Stage, list_asked_roles
from signet.engine.cache import ContractCache
from signet.store.approvals.requests import (
    AskingRow,
    find_first_asked,
    list_asked_roles_of_tenant,
    list_asking,
    list_holders_asked,
    read_candidates,
)
from signet.store.database import Connection, Database
from signet.store.outbox.queue import EVENTS, ClaimedTrigger, complete, insert_triggers, make_trigger, relock
from signet.store.tenants import eligibility

VOTER_LOST = "voter_lost"
MAX_SEATS_LOOKED_AT = 500
MAX_HOLDERS_LOOKED_AT = 500
_FIRST = UUID(int=0)


def make_voter_lost(
    tenant_id: UUID, *, role: str | None = None, user_id: str | None = None, after: UUID = _FIRST
) -> dict[str, Any]:
    return make_trigger(tenant_id, VOTER_LOST, {"role": role, "user_id": user_id, "after": str(after)})


def make_permission_lost(tenant_id: UUID, role: str, after: str | None = None) -> dict[str, Any]:
    """Make the trigger of a role that lost permissions; `after` is the last holder that was looked at."""
    return make_trigger(tenant_id, VOTER_LOST, {"holders_of": role, "after": after})


def recheck_requests(
    database: Database, contracts: ContractCache, tenant_id: UUID, trigger: ClaimedTrigger, claim_id: UUID
) -> None:
    """Check one page of requests in one transaction."""
    lost = trigger.payload_json
    with database.transaction(tenant_id) as connection:
        if not relock(connection, EVENTS, tenant_id, [trigger], claim_id):
            return  # the lease ran out, and another worker has the trigger
        if "holders_of" in lost:
            triggers = _follow_holders(connection, tenant_id, lost["holders_of"], lost["after"])
        else:
            triggers = _wake_without_voter(connection, contracts, tenant_id, lost)
        insert_triggers(connection, tenant_id, triggers)
        complete(connection, EVENTS, tenant_id, [trigger], claim_id)


def _follow_holders(
    connection: Connection, tenant_id: UUID, role: str, after: str | None
) -> list[dict[str, Any]]:
    """Make the triggers of a page of holders who are asked by name, and of the roles that are asked.

    The first page names all of those roles, for any may have a holder in common with this one.
    """
    roles = list_asked_roles_of_tenant(connection, tenant_id) if after is None else []
    page = list_holders_asked(connection, tenant_id, role, after=after or "", limit=MAX_HOLDERS_LOOKED_AT)
    triggers = [make_voter_lost(tenant_id, role=asked) for asked in roles]
    triggers += [make_voter_lost(tenant_id, user_id=user_id) for user_id, is_asked in page if is_asked]
    if len(page) == MAX_HOLDERS_LOOKED_AT:
        triggers.append(make_permission_lost(tenant_id, role, page[-1][0]))
    return triggers


def _wake_without_voter(
    connection: Connection, contracts: ContractCache, tenant_id: UUID, lost: Mapping[str, Any]
) -> list[dict[str, Any]]:
    role, user_id, after = lost["role"], lost["user_id"], UUID(lost["after"])
    page = list_asking(connection, tenant_id, role, user_id, after=after, limit=MAX_SEATS_LOOKED_AT)
    woken = _list_without_voter(connection, contracts, tenant_id, page)
    woken |= _list_uncertain(connection, tenant_id, page)
    triggers = [make_trigger(instance_id, "continue", {}) for instance_id in sorted(woken)]
    if len(page) == MAX_SEATS_LOOKED_AT:
        triggers.append(make_voter_lost(tenant_id, role=role, user_id=user_id, after=page[-1].id))
    return triggers


def _list_without_voter(
    connection: Connection, contracts: ContractCache, tenant_id: UUID, page: Sequence[AskingRow]
) -> set[UUID]:
    """List the instances in which no holder is sure to have the permissions that a voter needs."""
    asked = {person for row in page if row.needed for person in row.holders}
    known = read_candidates(connection, tenant_id, asked, (), at_most=0) if asked else {}
    woken = set()
    for row in page:
        if not row.needed:
            has_voter = bool(row.holders)
        else:
            contract = contracts.read(connection, tenant_id, row.entity_type, row.contract_version)
            has_voter = contract is not None and any(
                has_without_condition(contract, row.needed, known[person].permissions)
                for person in row.holders
                if person in known
            )
        if not has_voter:
            woken.add(row.instance_id)
    return woken


def _list_uncertain(connection: Connection, tenant_id: UUID, page: Sequence[AskingRow]) -> set[UUID]:
    """List the instances whose voters may be barred: the document's own people have changed eligibility."""
    if not page:
        return set()
    authors = eligibility.list_authors(connection, tenant_id, min(row.since for row in page))
    return {
        row.instance_id
        for row in page
        for persons, changed_at in authors
        if changed_at >= row.since and not set(row.barred).isdisjoint(persons)
    }


def has_lost_holder(
    connection: Connection, tenant_id: UUID, document_id: UUID, stage: Stage, seats: Sequence[Seat]
) -> bool:
    """Return if a person that the stage asks was disabled, or lost the role.

    It counts since the document was first asked about: asking again forgets nobody. A stage without an
    escalation has no time to wait for.
    """
    since = None if stage.escalate is None else find_first_asked(connection, document_id)
    if since is None:
        return False
    users, _ = list_open_holders(seats)
    roles = list_asked_roles(stage, seats)
    return eligibility.has_lost_holder(connection, tenant_id, since=since, user_ids=users, roles=roles)
