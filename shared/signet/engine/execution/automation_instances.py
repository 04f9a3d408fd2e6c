"""Instances that automations have brought about: by which chain they go on, and what replaces them."""

from collections.abc import Iterable
from uuid import UUID

from signet.core.automations.chain import parse_chain, write_chain
from signet.engine.automations.start_transaction import REPLACED
from signet.engine.execution.nodes.context import InstanceContext
from signet.store.automations.starts import keep_chains
from signet.store.pipeline import DeferredStatement


def end_replaced(context: InstanceContext) -> bool:
    """Cancel an instance that a newer start has replaced. Return whether one has."""
    if not context.has_trigger(REPLACED) or not context.execution.is_live:
        return False
    reason = "OVERLAP_REPLACED: a newer start of the automation has replaced it"
    context.execution.control("cancelled", {"reason": reason})
    return True


def keep_new_chains(tenant_id: UUID, contexts: Iterable[InstanceContext]) -> list[DeferredStatement]:
    """Keep by which chains instances go on from now on, also when they wait; most waves have none."""
    rows = [
        {"instance_id": context.row.id, "chain": write_chain(context.chain)}
        for context in contexts
        if context.chain != parse_chain(context.cause.chain)
    ]
    return [keep_chains(tenant_id, rows)] if rows else []
