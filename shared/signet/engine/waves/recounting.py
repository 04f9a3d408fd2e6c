"""Who loses a role may have been the last who could decide something: open requests are looked through.

Whoever takes the role away leaves one trigger, about the tenant and not about an instance. A worker reads a
page of the requests that ask the role, wakes the instances of those in which nobody is sure to be able to
vote, and leaves the next page to the next trigger. The waves that are woken count again, and escalate or
pause with the reason. A delegation that ends changes nothing: where a delegate may vote, so may whom he
stands in for.
"""

from typing import Any
from uuid import UUID

from signet.core.idempotency import event_key
from signet.ids import created_at_of, make_id
from signet.store.approval_requests import insert_triggers, list_asking_role
from signet.store.database import Database
from signet.store.queue import EVENTS, ClaimedEvent, complete, relock

ROLE_LOST = "role_lost"
MAX_SEATS_LOOKED_AT = 500
_FIRST = UUID(int=0)


def make_role_lost(tenant_id: UUID, role: str, after: UUID = _FIRST) -> dict[str, Any]:
    return _make_trigger(tenant_id, ROLE_LOST, {"role": role, "after": str(after)})


def look_through(database: Database, tenant_id: UUID, trigger: ClaimedEvent, claim_id: UUID) -> None:
    """One page, in one transaction."""
    role, after = trigger.payload_json["role"], UUID(trigger.payload_json["after"])
    with database.transaction(tenant_id) as connection:
        if not relock(connection, EVENTS, tenant_id, [trigger], claim_id):
            return  # its lease ran out, and another one is at it
        page = list_asking_role(connection, tenant_id, role, after=after, limit=MAX_SEATS_LOOKED_AT)
        woken = {row.instance_id for row in page if not row.has_voter}
        triggers = [_make_trigger(instance_id, "continue", {}) for instance_id in sorted(woken)]
        if len(page) == MAX_SEATS_LOOKED_AT:
            triggers.append(make_role_lost(tenant_id, role, page[-1].id))
        insert_triggers(connection, tenant_id, triggers)
        complete(connection, EVENTS, tenant_id, [trigger], claim_id)


def _make_trigger(subject_id: UUID, event_type: str, content: dict[str, Any]) -> dict[str, Any]:
    identifier = make_id()
    payload = {"cause_id": str(identifier), **content}
    return {
        "id": identifier,
        "created_at": created_at_of(identifier),
        "instance_id": subject_id,
        "event_type": event_type,
        "payload": payload,
        "idempotency_key": f"\\x{event_key(subject_id, event_type, payload, 0).hex()}",
    }
