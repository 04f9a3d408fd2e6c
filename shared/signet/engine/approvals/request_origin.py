"""The check that the control explains a request before a vote on it counts."""

from typing import Any
from uuid import UUID

from signet.core.approvals.policy import Policy, policy_of_chain
from signet.core.approvals.request_origin import AskedRequest, find_foreign_request
from signet.core.approvals.seat_origin import UNPROVEN
from signet.core.errors import Rejected
from signet.core.runtime.workflow import Workflow
from signet.engine.cache import CompiledCache
from signet.store.approvals.decisions import RequestRow
from signet.store.database import Connection

CALL_AN_OPERATOR = "Tell an operator: something has written past the workflow."


def find_unproven(
    compiled: CompiledCache, connection: Connection, tenant_id: UUID, request: RequestRow, policy: Policy
) -> Rejected | None:
    """Return why no vote on the locked request counts: its definition asks nothing of the kind."""
    origin: Any = request.origin
    asked = AskedRequest(
        node_id=request.node_id,
        step_node_id=origin["step_node_id"],
        policy=policy,
        chain_name=request.chain_name,
        chain_policy=_read_chain(origin["chain"]),
        voter_permissions=request.voter_permissions or (),
        is_double=origin["is_double"],
    )
    reason = find_foreign_request(
        asked, _read_workflow(compiled, connection, tenant_id, origin["definition"])
    )
    return None if reason is None else Rejected(UNPROVEN, reason, remedy=CALL_AN_OPERATOR)


def _read_workflow(
    compiled: CompiledCache, connection: Connection, tenant_id: UUID, definition: Any
) -> Workflow | None:
    if definition is None:
        return None
    return compiled.read(connection, tenant_id, UUID(definition["id"]), definition["version"])


def _read_chain(chain: Any) -> Policy | None:
    if chain is None:
        return None
    terms = {"same_person": chain["same_person"], "permission": chain["permission"]}
    return policy_of_chain(chain["steps"], **terms)[0]
