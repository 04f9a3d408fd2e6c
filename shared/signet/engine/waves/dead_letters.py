"""An instance is paused when a trigger of it is a dead letter: it is shown, and it can be resumed."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from signet.core.idempotency import step_key
from signet.core.projection import CONTROL
from signet.ids import created_at_of, make_id
from signet.store.database import Connection
from signet.store.instances import pause_instances
from signet.store.queue import ClaimedEvent


def pause_for(connection: Connection, tenant_id: UUID, dead: Iterable[ClaimedEvent]) -> None:
    """Also where its workflow cannot be loaded, and where nobody came back to say what went wrong."""
    rows = {trigger.instance_id: _make_row(trigger) for trigger in dead}
    if rows:
        pause_instances(connection, tenant_id, list(rows.values()))


def _make_row(trigger: ClaimedEvent) -> dict[str, Any]:
    step_id, history_id = make_id(), make_id()
    # Of this death: a trigger that is sent again may die again.
    key = step_key(trigger.instance_id, CONTROL, f"step:{step_id}", 0)
    return {
        "id": trigger.instance_id,
        "reason": trigger.error or "",
        "step_id": step_id,
        "step_created_at": created_at_of(step_id),
        "idempotency_key": f"\\x{key.hex()}",
        "output": {"reason": trigger.error or "", "trigger": str(trigger.id)},
        "history_id": history_id,
        "history_created_at": created_at_of(history_id),
        "trace_id": trigger.trace_id,
    }
