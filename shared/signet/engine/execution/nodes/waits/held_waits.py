"""The waits for events that a wave has begun and ended: held by key, so that an event finds them at once."""

from collections.abc import Collection, Mapping
from uuid import UUID

from signet.engine.execution.nodes.context import InstanceContext
from signet.store.database import Connection
from signet.store.instances.event_waits import hold_waits


def hold_event_waits(
    connection: Connection, tenant_id: UUID, contexts: Mapping[UUID, InstanceContext]
) -> Collection[UUID]:
    """Hold what has begun to wait, and lock the keys of what has ended. Return who is offered a kept event.

    All keys of a wave are locked together and in order, at its end: so no two waves wait for each other.
    """
    rows, ended = [], []
    for context in contexts.values():
        execution = context.execution
        for step in execution.changed.values():
            node = execution.workflow.nodes.get(step.node)
            if node is None or node.type.name != "wait_event" or step.id is None:
                continue
            if execution.open.get(step.token) is not step:
                ended.append(step.id)
                continue
            rows += [
                {
                    "event_key": key,
                    "step_id": step.id,
                    "instance_id": context.row.id,
                    "payload_schema": node.config.get("schema"),
                }
                for key in context.waits[step.token].new_keys
            ]
    return hold_waits(connection, tenant_id, rows, ended) if rows or ended else ()
