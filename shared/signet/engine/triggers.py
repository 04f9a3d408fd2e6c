"""Triggers: rows that wake an instance, and say what happened, never what to run."""

from collections.abc import Mapping
from datetime import datetime
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
    definition_version: int | None = None,
    due_at: datetime | None = None,
) -> dict[str, Any]:
    """Make the row of a trigger. Its own id is its cause, so that two of equal content stay two."""
    identifier = make_id()
    payload = {**content, "cause_id": str(identifier)}
    key = event_key(subject_id, event_type, payload, entity_version)
    return {
        "id": identifier,
        "created_at": created_at_of(identifier),
        "instance_id": subject_id,
        "entity_version": entity_version,
        "definition_version": definition_version,
        "event_type": event_type,
        "payload": payload,
        "trace_id": trace_id,
        "idempotency_key": f"\\x{key.hex()}",
        "due_at": due_at,
    }
