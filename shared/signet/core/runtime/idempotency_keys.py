"""The keys by which a step, a join, an event, an effect or a tick happens once; each has 32 bytes.

See WF-02, WF-11 and WF-16.
"""

import hashlib
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from signet.core.canonical_json import content_hash


def step_key(instance_id: UUID | str, node_id: str, token_id: str, entity_version: int) -> bytes:
    return _digest(str(instance_id), node_id, token_id, str(entity_version))


def join_key(instance_id: UUID | str, join_node_id: str, epoch: int) -> bytes:
    """Return the key of a join. Its epoch is the split's step, which has the version at that time."""
    return _digest(str(instance_id), join_node_id, f"epoch:{epoch}")


def event_key(instance_id: UUID, event_type: str, payload: Any, entity_version: int) -> bytes:
    return _digest(str(instance_id), event_type, content_hash(payload), str(entity_version))


def effect_key(step_execution_id: UUID, effect_type: str, payload: Any) -> bytes:
    return _digest(str(step_execution_id), effect_type, content_hash(payload))


def tick_key(automation: str, schedule: str, tick: datetime) -> bytes:
    """Return the key of a firing, without a version: a publication repeats no tick."""
    return _digest(automation, schedule, tick.astimezone(UTC).isoformat(timespec="microseconds"))


def _digest(*parts: str) -> bytes:
    # Lengths keep ('ab', 'c') and ('a', 'bc') apart.
    text = "".join([f"{len(part)}:{part}" for part in parts])
    return hashlib.sha256(text.encode()).digest()
