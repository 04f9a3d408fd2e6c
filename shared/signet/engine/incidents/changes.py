"""The incidents that an instance has opened and closed since it was last written."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.incidents.incident import DOCUMENT_WITHOUT_WORKFLOW, code_of, kind_of, name_closing
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.hold_change import HoldChange
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.principal import SYSTEM_SUBJECT
from signet.ids import make_id
from signet.store.incidents.incidents import write_incidents
from signet.store.instances.waves import InstanceRow
from signet.store.pipeline import DeferredStatement


def write_hold_changes(
    changed: Iterable[tuple[InstanceRow, InstanceExecution]], tenant_id: UUID, now: datetime
) -> DeferredStatement:
    """Make the statement that opens and closes the incidents of these instances."""
    opened: list[dict[str, Any]] = []
    closed: list[Mapping[str, Any]] = []
    for row, execution in changed:
        for change in execution.hold_changes:
            if change.is_new:
                opened.append(_make_opened(row, execution, change))
            else:
                _close(opened, closed, row.id, change)
    return write_incidents(tenant_id, opened, closed, now)


def _close(
    opened: list[dict[str, Any]], closed: list[Mapping[str, Any]], instance_id: UUID, change: HoldChange
) -> None:
    """Close an incident that is stored, or one that this transaction has opened itself."""
    actor = change.step.actor.id if change.step.actor is not None else SYSTEM_SUBJECT
    values = {"closing": name_closing(change), "closed_by": actor}
    seq = change.token.hold.seq if change.token is not None and change.token.hold is not None else None
    own = _find_opened(opened, instance_id, seq)
    if own is not None:
        own.update(values)
        return
    closed.append({"instance_id": instance_id, "seq": seq, **values})


def find_code(workflow: Workflow, change: HoldChange) -> str:
    """Find the code of the incident that a new hold opens."""
    said = change.step.data if change.step.is_control else change.step.evidence
    if said.get("then") == "leave":
        return DOCUMENT_WITHOUT_WORKFLOW
    node = workflow.nodes[change.token.node] if change.token is not None else None
    return code_of(change.code, node.type.name if node is not None else None)


def _make_opened(row: InstanceRow, execution: InstanceExecution, change: HoldChange) -> dict[str, Any]:
    token, step = change.token, change.step
    node = execution.workflow.nodes[token.node] if token is not None else None
    code = find_code(execution.workflow, change)
    return {
        "id": make_id(),
        "instance_id": row.id,
        "seq": token.hold.seq if token is not None and token.hold is not None else step.seq,
        "entity_type": row.entity_type,
        "entity_id": row.entity_id,
        "token_id": token.id if token is not None else None,
        "node_id": token.node if token is not None else None,
        # The step that failed: what it did not deliver is withdrawn when the incident closes.
        "step_id": None if step.is_control else step.id,
        "endpoint": node.config.get("endpoint") if node is not None else None,
        "requester_id": execution.projection.actor.id or None,
        "code": code,
        "kind": kind_of(code),
        "message": change.reason,
        "closing": None,
        "closed_by": None,
    }


def _find_opened(
    opened: Iterable[dict[str, Any]], instance_id: UUID, seq: int | None
) -> dict[str, Any] | None:
    return next(
        (
            row
            for row in opened
            if row["instance_id"] == instance_id
            and row["closing"] is None
            and (row["seq"] == seq if seq is not None else row["token_id"] is None)
        ),
        None,
    )
