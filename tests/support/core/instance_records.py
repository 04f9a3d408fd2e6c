"""Records of instances, as they could have been read, for the tests of their explanation."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from signet.core.compiler.artifact import Artifact
from signet.core.contracts.contract import Contract
from signet.core.explain.instance import explain_instance, write_instance
from signet.core.explain.instance_record import (
    ExplainedDocument,
    ExplainedInstance,
    ExplainedStep,
    InstanceRecords,
)
from signet.core.runtime.position import Token, TokenState
from tests.support.core.small_workflows import PATCH, compile_patch, make_contract

CONTRACT = make_contract()
WORKFLOW = compile_patch(PATCH)
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
INSTANCE = ExplainedInstance(
    id=UUID(int=1),
    definition_id=UUID(int=2),
    definition_version=1,
    entity_type="invoice",
    entity_id=UUID(int=3),
    status="running",
    reason=None,
    version=2,
    actor_id="carl",
    request_id=None,
    active_tokens=[],
    started_at=NOW,
    updated_at=NOW,
)
DOCUMENT = ExplainedDocument(contract_version=1, status="draft", version=1, is_deleted=False)
DRAFT, FINANCE = "sys:state:draft", "usr:approvals:finance"
CONDITION = {"expression": "entity.grand_total > 0", "variables": {"entity.grand_total": 7}, "result": True}


def token(node: str, state: str = "waiting") -> dict[str, Any]:
    return Token("T", node, TokenState(state), 1).to_json()


def step(node: str, node_type: str = "state", *, is_open: bool = False, **changes: Any) -> ExplainedStep:
    made = ExplainedStep(
        id=UUID(int=4),
        seq=2,
        end_seq=None if is_open else 2,
        node_id=node,
        node_type=node_type,
        token_id="T",
        status="running" if is_open else "completed",
        run_as="actor",
        actor_user_id="carl",
        output_json=None,
        error=None,
        started_at=NOW,
        completed_at=None if is_open else NOW,
        resume_at=None,
        waiting_for_event_key=None,
        entity_version=0,
    )
    return replace(made, **changes)


def control(name: str, **data: Any) -> ExplainedStep:
    return step(f"sys:control:{name}", "control", output_json=data)


def record(**changes: Any) -> InstanceRecords:
    """Make the records; `status`, `reason`, `tokens` and `request_id` are the instance's."""
    own = {name: changes.pop(name) for name in ("status", "reason", "request_id") if name in changes}
    instance = replace(INSTANCE, active_tokens=changes.pop("tokens", []), **own)
    nothing: dict[str, Any] = {"steps": [], "request": None, "triggers": [], "effects": [], "turns": []}
    return InstanceRecords(**{"instance": instance, "document": DOCUMENT, **nothing, **changes})


def at(node: str, **changes: Any) -> InstanceRecords:
    """Make the records of an instance that waits at the node."""
    node_type = changes.pop("node_type", "state")
    return record(tokens=[token(node)], steps=[step(node, node_type, is_open=True, **changes)])


def tell(found: InstanceRecords, workflow: Artifact = WORKFLOW, contract: Contract | None = CONTRACT) -> str:
    return "\n".join(write_instance(explain_instance(workflow, contract, found)))
