"""Effects that wait because their endpoint is missing or switched off: held, and freed when it is there.

An effect that is held costs no attempt and does not die. Its instance has an incident meanwhile. Each is
looked at again from time to time, so that it goes on however its endpoint was switched on.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from uuid import UUID

from signet.engine.execution.failed_triggers import wake_instances
from signet.store.database import Connection
from signet.store.integrations.endpoints import EndpointRecord, disable_endpoint
from signet.store.outbox.effect_acts import free_held, hold_effects, list_withdrawn
from signet.store.outbox.queue import ClaimedEffect

HELD_SECONDS = 3_600.0


def describe_disabled(endpoint: EndpointRecord) -> str:
    """Describe why an endpoint holds what is for it."""
    reason = endpoint.disabled_reason or "by hand"
    return f"ENDPOINT_DISABLED: the endpoint '{endpoint.name}' is switched off: {reason}"


def describe_missing(name: str) -> str:
    """Describe why a call waits for an endpoint that does not exist."""
    return f"ENDPOINT_UNKNOWN: the tenant has no endpoint '{name}'"


def hold_gone(
    connection: Connection,
    tenant_id: UUID,
    gone: Sequence[tuple[ClaimedEffect, EndpointRecord, str]],
    claim_id: UUID,
) -> None:
    """Hold what a receiver wants no more, by the status of its answer, and switch its endpoint off."""
    held = []
    for effect, endpoint, status in gone:
        reason = f"the receiver answered {status}: it wants no more"
        disable_endpoint(connection, tenant_id, endpoint.name, reason)
        held.append((effect, describe_disabled(replace(endpoint, disabled_reason=reason))))
    hold_claimed(connection, tenant_id, held, claim_id)
    tell_of_withdrawn(connection, tenant_id, {effect.id for effect, _ in held})


def hold_claimed(
    connection: Connection, tenant_id: UUID, held: Sequence[tuple[ClaimedEffect, str]], claim_id: UUID
) -> None:
    """Hold claimed effects, and tell the instances of those that were not held before."""
    changed = hold_effects(connection, tenant_id, held, claim_id, delay_seconds=HELD_SECONDS)
    wake_instances(connection, tenant_id, [effect for effect in changed if effect.is_new])


def free_endpoint(connection: Connection, tenant_id: UUID, name: str) -> None:
    """Free what waits for an endpoint, now that it is there and on; the incidents about it close."""
    wake_instances(connection, tenant_id, free_held(connection, tenant_id, name))


def tell_of_withdrawn(connection: Connection, tenant_id: UUID, ids: Collection[UUID]) -> None:
    """Wake the instances of effects that an operator withdrew on their way, and that did not arrive."""
    wake_instances(connection, tenant_id, list_withdrawn(connection, tenant_id, ids))
