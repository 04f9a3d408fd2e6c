"""Seats that two operators would add: whether the person could vote from one now."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from signet.core.approvals.additions import choose_added_seat
from signet.core.approvals.eligibility import Allowed
from signet.core.contracts.compiled_contract import Denial
from signet.engine.approvals.vote_reader import ReadRequest, VoteReader
from signet.engine.cache import ContractCache
from signet.engine.documents.change import describe_org
from signet.store.database import Connection
from signet.store.tenants.tenants import find_tenant, read_now

CLOSED = "APPROVAL_CLOSED"


def find_vain_seat(connection: Connection, tenant_id: UUID, request_id: UUID, person: str) -> Denial | None:
    """Return why a seat in the present stage would be of no use to the person; None where it counts."""
    tenant = find_tenant(connection, tenant_id)
    org: Mapping[str, Any] = {} if tenant is None else describe_org(tenant_id, tenant.name, tenant.settings)
    reader = VoteReader(connection, tenant_id, ContractCache(), org, read_now(connection))
    found = reader.read([request_id], [person]).get(request_id)
    return None if found is None else _judge(found, person)


def _judge(found: ReadRequest, person: str) -> Denial | None:
    if found.check is None:
        return found.refusal
    if isinstance(found.check.choose(person), Allowed):
        return Denial("APPROVAL_SEAT_HELD", f"{person} may decide without it")
    choice = choose_added_seat(found.check, person)
    if isinstance(choice, Allowed):
        return None
    if choice.code == CLOSED:
        stage = found.request.stage
        return Denial(CLOSED, f"stage {stage} is decided, and no other stage has begun")
    return choice
