"""Open requests, checked again when a person loses a role or is disabled: they may have been the last voter.

The change leaves one trigger, about the tenant and not about an instance. A worker reads one page of the
requests that ask the role or the person. It wakes the instances in which nobody is sure to be able to vote,
and leaves the next page to the next trigger. The woken waves count again. They pause with the reason, or wait
for the time of the escalation: nobody hastens it by clearing the bench. The end of a delegation changes
nothing: a delegate can vote only where the delegator can.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import list_open_holders
from signet.core.approvals.policy import parse_policy
from signet.core.validation.strict_model import parse_duration_seconds
from signet.store.approvals.requests import LiveRequest, list_asking
from signet.store.database import Connection, Database
from signet.store.outbox.queue import EVENTS, ClaimedTrigger, complete, insert_triggers, make_trigger, relock
from signet.store.tenants import eligibility

VOTER_LOST = "voter_lost"
MAX_SEATS_LOOKED_AT = 500
_FIRST = UUID(int=0)


def make_voter_lost(
    tenant_id: UUID, *, role: str | None = None, user_id: str | None = None, after: UUID = _FIRST
) -> dict[str, Any]:
    return make_trigger(tenant_id, VOTER_LOST, {"role": role, "user_id": user_id, "after": str(after)})


def recheck_requests(database: Database, tenant_id: UUID, trigger: ClaimedTrigger, claim_id: UUID) -> None:
    """Check one page of requests in one transaction."""
    lost = trigger.payload_json
    role, user_id, after = lost["role"], lost["user_id"], UUID(lost["after"])
    with database.transaction(tenant_id) as connection:
        if not relock(connection, EVENTS, tenant_id, [trigger], claim_id):
            return  # the lease ran out, and another worker has the trigger
        page = list_asking(connection, tenant_id, role, user_id, after=after, limit=MAX_SEATS_LOOKED_AT)
        woken = {row.instance_id for row in page if not row.has_voter}
        triggers = [make_trigger(instance_id, "continue", {}) for instance_id in sorted(woken)]
        if len(page) == MAX_SEATS_LOOKED_AT:
            triggers.append(make_voter_lost(tenant_id, role=role, user_id=user_id, after=page[-1].id))
        insert_triggers(connection, tenant_id, triggers)
        complete(connection, EVENTS, tenant_id, [trigger], claim_id)


def has_lost_holder(connection: Connection, tenant_id: UUID, request: LiveRequest) -> bool:
    """Return if a holder of an open seat of the present stage was disabled or lost the role since it began.

    A stage without an escalation has no time to wait for.
    """
    escalate = parse_policy(request.policy, request.policy_hash).stage(request.stage).escalate
    if escalate is None or request.escalate_at is None:
        return False
    began = request.escalate_at - timedelta(seconds=parse_duration_seconds(escalate.after))
    users, roles = list_open_holders(seat for seat in request.seats if seat.stage == request.stage)
    return eligibility.has_lost_holder(connection, tenant_id, since=began, user_ids=users, roles=roles)
