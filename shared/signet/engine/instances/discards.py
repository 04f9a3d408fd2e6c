"""Dead letters that an operator discards with a reason: nobody will send them again.

They stay in their queue as discarded, until retention prunes them as it prunes what was done.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from types import MappingProxyType
from typing import Any
from uuid import UUID

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.engine.cache import CompiledCache
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.instances.act_checks import require_reason
from signet.engine.instances.actions import MAX_REQUEUED
from signet.engine.instances.operator_transaction import OperatorTransaction, permission_of
from signet.ids import has_created_at
from signet.store.database import Connection, Database
from signet.store.instances.write import DeadTrigger, find_dead_triggers
from signet.store.operations.overview import find_dead_effects
from signet.store.outbox.effect_acts import discard_dead
from signet.store.outbox.queue import EFFECTS, EVENTS, Queue
from signet.store.wake_ups import QueueName

DISCARD = permission_of("discard")
Find = Callable[[Connection, UUID, Sequence[UUID]], Sequence[DeadTrigger]]
# Each queue with how its dead letters are found, and the word for them in the audit row.
_QUEUES: Mapping[QueueName, tuple[Queue[Any], Find, str]] = MappingProxyType(
    {
        "events": (EVENTS, find_dead_triggers, "triggers"),
        "effects": (EFFECTS, find_dead_effects, "effects"),
    }
)


class Discards:
    """The use case with the caches of a process."""

    def __init__(self, database: Database, caches: DocumentCaches, compiled: CompiledCache) -> None:
        self._database = database
        self._caches = caches
        self._compiled = compiled

    def discard(
        self, caller: Caller, name: QueueName, ids: Iterable[UUID], reason: str, *, dry_run: bool = False
    ) -> Set[UUID]:
        """Discard dead letters of one queue, and return those that are discarded, or would be.

        Each instance has them in its history and in the audit trail.
        """
        tenant_id = caller.principal.tenant_id
        queue, find, word = _QUEUES[name]
        with self._database.transaction(tenant_id) as connection:
            dead = find(connection, tenant_id, sorted(set(ids)))
            entities = {row.instance_id: row.entity_id for row in dead if row.has_instance}
            transaction = OperatorTransaction(connection, caller, self._caches, self._compiled, entities)
            (transaction.permit if dry_run else transaction.require)(DISCARD)
            require_reason(reason)
            if dry_run:
                return {row.id for row in dead}
            done = discard_dead(connection, queue, tenant_id, [row.id for row in dead], reason)
            for instance_id in sorted(entities):
                own = [str(row.id) for row in dead if row.instance_id == instance_id and row.id in done]
                if own:
                    transaction.open(instance_id)
                    transaction.note(instance_id, "discard", reason, {word: own})
            transaction.note_orphans(
                "discard", reason, [row.id for row in dead if row.id in done and not row.has_instance]
            )
            transaction.write()
        return done

    def discard_all(
        self, caller: Caller, ids: Sequence[UUID], reason: str, *, dry_run: bool = False
    ) -> Set[UUID]:
        """Discard dead letters of both queues. An id that names none is missing in the result."""
        if len(ids) > MAX_REQUEUED:
            raise Rejected("BATCH_TOO_LARGE", f"at most {MAX_REQUEUED} at a time, not {len(ids)}")
        known = [identifier for identifier in ids if has_created_at(identifier)]
        done = [self.discard(caller, name, known, reason, dry_run=dry_run) for name in _QUEUES]
        return frozenset().union(*done)
