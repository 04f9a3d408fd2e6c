"""Triggers: rows that wake an instance. They say that something happened, never what to run."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from signet.core.runtime.idempotency_keys import event_key
from signet.ids import created_at_of, make_id


def make_trigger(
    subject_id: UUID,
    event_type: str,
    content: Mapping[str, Any],
    trace_id: str | None = None,
    *,
    entity_version: int = 0,
) -> dict[str, Any]:
    """Make the row of a trigger.

    Its own id is its cause, so that two triggers of equal content stay two. A repeated write of one cause is
    the same trigger.
    """
    identifier = make_id()
    payload = {**content, "cause_id": str(identifier)}
    return {
        "id": identifier,
        "created_at": created_at_of(identifier),
        "instance_id": subject_id,
        "entity_version": entity_version,
        "event_type": event_type,
        "payload": payload,
        "trace_id": trace_id,
        "idempotency_key": f"\\x{event_key(subject_id, event_type, payload, entity_version).hex()}",
    }
