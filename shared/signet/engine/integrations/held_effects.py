"""Effects that wait because their endpoint is switched off: held, and freed when it is switched on.

An effect that is held costs no attempt and does not die. Its instance has an incident meanwhile. Each is
looked at again from time to time, so that it goes on however its endpoint was switched on.
"""

from collections.abc import Collection, Sequence
from uuid import UUID

from signet.engine.execution.failed_triggers import wake_instances
from signet.store.database import Connection
from signet.store.integrations.endpoints import EndpointRecord
from signet.store.outbox.effect_acts import free_held, hold_effects, list_withdrawn
from signet.store.outbox.queue import ClaimedEffect

HELD_SECONDS = 3_600.0


def describe_disabled(endpoint: EndpointRecord) -> str:
    """Describe why an endpoint holds what is for it."""
    return f"the endpoint '{endpoint.name}' is switched off: {endpoint.disabled_reason or 'by hand'}"


def hold_claimed(
    connection: Connection, tenant_id: UUID, held: Sequence[tuple[ClaimedEffect, str]], claim_id: UUID
) -> None:
    """Hold claimed effects, and tell the instances of those that were not held before."""
    changed = hold_effects(connection, tenant_id, held, claim_id, delay_seconds=HELD_SECONDS)
    wake_instances(connection, tenant_id, [effect for effect in changed if effect.is_new])


def free_endpoint(connection: Connection, tenant_id: UUID, name: str) -> None:
    """Free what an endpoint holds, now that it is switched on; the incidents about it close."""
    wake_instances(connection, tenant_id, free_held(connection, tenant_id, name))


def tell_of_withdrawn(connection: Connection, tenant_id: UUID, ids: Collection[UUID]) -> None:
    """Wake the instances of effects that an operator withdrew on their way, and that did not arrive."""
    wake_instances(connection, tenant_id, list_withdrawn(connection, tenant_id, ids))
