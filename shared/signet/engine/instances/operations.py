"""Operations of a tenant: its queues, its dead letters and its usage."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from signet.authoring.actions import REGISTRY
from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.quotas import QUOTAS
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.cache import CompiledCache
from signet.engine.dispatch.measure_bounds import MeasureBounds
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.engine.incidents.counts import IncidentCount, count_open
from signet.engine.instances.actions import Instances
from signet.engine.instances.dead_effects import REQUEUE, DeadEffects
from signet.engine.instances.discards import DISCARD, Discards
from signet.engine.instances.lists import MAX_STUCK, list_stuck
from signet.ids import has_created_at
from signet.store.database import Connection, Database
from signet.store.instances.write import find_dead_triggers
from signet.store.operations.overview import DeadLetter as DeadLetter
from signet.store.operations.overview import (
    PartitionedTable,
    PythonAction,
    Usage,
    find_dead_effects,
    list_dead_letters,
    list_partitioned,
    list_python_actions,
    read_usage,
)
from signet.store.outbox.measures import (
    Pace,
    QueueDepth,
    QueueFigures,
    depth_of,
    find_oldest,
    measure_queue,
    read_pace,
)
from signet.store.outbox.queue import QUEUES, Queue
from signet.store.tenants.quotas import TenantQuota, list_quota_meters
from signet.store.wake_ups import QueueName as QueueName

READ = "operation:read"
PACE_SECONDS = 3_600.0
MAX_REQUEUED = 100
MAX_ACTIONS = 1_000
# Errors of the whole call, and not of one of its items.
_OF_THE_CALL = ("PERMISSION_DENIED", "QUOTA_EXCEEDED", "TENANT_INACTIVE")


@dataclass(frozen=True, slots=True)
class QueueState:
    """The rows of a queue by state, and the rows done in the last hour."""

    name: QueueName
    depth: QueueDepth
    last_hour: Pace


@dataclass(frozen=True, slots=True)
class QuotaState:
    """The rest of a quota that is in use at the moment."""

    name: str
    capacity: int
    refill_seconds: int
    left: int


@dataclass(frozen=True, slots=True)
class Overview:
    queues: Sequence[QueueState]
    stuck_instances: int
    usage: Usage
    quotas: Sequence[QuotaState]
    partitions: Sequence[PartitionedTable]
    # Published Python actions that the answering process has loaded no function for.
    actions_not_loaded: Sequence[PythonAction]


@dataclass(frozen=True, slots=True)
class HandledLetter:
    """A dead letter that is back in its queue, or discarded."""

    id: UUID


class Operations:
    """The overview of a whole tenant, and its dead letters, for operators. One in each process."""

    def __init__(
        self, database: Database, instances: Instances, caches: DocumentCaches, compiled: CompiledCache
    ) -> None:
        self._database = database
        self._instances = instances
        self._bounds = MeasureBounds()
        self._effects = DeadEffects(database, caches, compiled)
        self._discards = Discards(database, caches, compiled)

    def overview(self, principal: Principal) -> Overview:
        """Read the figures, each by a bounded read that counts no further than its limit."""
        tenant_id = principal.tenant_id
        with self._allowed(principal) as read:
            connection = read.connection
            queues = [self._measure(connection, queue, tenant_id) for queue in QUEUES]
            usage = read_usage(connection, tenant_id, since_seconds=PACE_SECONDS)
            quotas = _read_quotas(read)
            partitions = list_partitioned(connection)
            declared = list_python_actions(connection, tenant_id, limit=MAX_ACTIONS)
        stuck = list_stuck(self._database, tenant_id, limit=MAX_STUCK)
        missing = [one for one in declared if REGISTRY.find(one.entity_type, one.name) is None]
        return Overview(queues, len(stuck), usage, quotas, partitions, missing)

    def list_dead_letters(
        self, principal: Principal, *, queue: QueueName | None, before: UUID | None, limit: int
    ) -> list[DeadLetter]:
        """List dead letters, the newest first."""
        with self._allowed(principal) as read:
            return list_dead_letters(
                read.connection, principal.tenant_id, queue=queue, before=before, limit=limit
            )

    def requeue(
        self, caller: Caller, ids: Sequence[UUID], reason: str | None = None
    ) -> list[HandledLetter | Rejected]:
        """Return each dead letter to its queue, as if it had never been tried."""
        _check_count(ids)
        tenant_id = caller.principal.tenant_id
        with reading(self._database, caller.principal) as read:
            read.require(REQUEUE)
            events, effects = _find_dead(read.connection, tenant_id, ids)
        refused: dict[UUID, Rejected] = {}
        done = _act_on(events, lambda chosen: self._instances.requeue(caller, chosen).triggers, refused)
        done |= _act_on(effects, lambda chosen: self._effects.requeue(caller, chosen, reason), refused)
        return [_describe(identifier, done, refused) for identifier in ids]

    def discard(
        self, caller: Caller, ids: Sequence[UUID], reason: str, *, dry_run: bool = False
    ) -> list[HandledLetter | Rejected]:
        """Discard each dead letter with the reason, so that nobody sends it again."""
        _check_count(ids)
        tenant_id = caller.principal.tenant_id
        with reading(self._database, caller.principal) as read:
            read.require(DISCARD)
            events, effects = _find_dead(read.connection, tenant_id, ids)
        refused: dict[UUID, Rejected] = {}
        done: Set[UUID] = frozenset()
        queues: tuple[tuple[QueueName, Sequence[UUID]], ...] = (("events", events), ("effects", effects))
        for name, found in queues:
            discard = partial(self._discards.discard, caller, name, reason=reason, dry_run=dry_run)
            done |= _act_on(found, discard, refused)
        return [_describe(identifier, done, refused) for identifier in ids]

    def measure_queues(self) -> dict[str, QueueFigures]:
        """Measure the queues of all tenants, for operators of the service."""
        with self._database.tenantless_transaction() as connection:
            return {
                queue.name: measure_queue(connection, queue, self._find_since(connection, queue, None))
                for queue in QUEUES
            }

    def _measure(self, connection: Connection, queue: Queue[Any], tenant_id: UUID) -> QueueState:
        since = self._find_since(connection, queue, tenant_id)
        depth = depth_of(connection, queue, tenant_id, since)
        pace = read_pace(connection, queue, tenant_id, since_seconds=PACE_SECONDS, since=since)
        return QueueState(queue.name, depth, pace)

    def _find_since(self, connection: Connection, queue: Queue[Any], tenant_id: UUID | None) -> datetime:
        return self._bounds.find((queue.name, tenant_id), lambda: find_oldest(connection, queue, tenant_id))

    def measure_incidents(self) -> Sequence[IncidentCount]:
        """Count the open incidents of all tenants, for operators of the service."""
        with self._database.tenantless_transaction() as connection:
            return count_open(connection)

    @contextmanager
    def _allowed(self, principal: Principal) -> Iterator[ReadTransaction]:
        with reading(self._database, principal) as read:
            read.require(READ)
            yield read


def _check_count(ids: Sequence[UUID]) -> None:
    if len(ids) > MAX_REQUEUED:
        raise Rejected("BATCH_TOO_LARGE", f"at most {MAX_REQUEUED} dead letters at a time, not {len(ids)}")


def _find_dead(
    connection: Connection, tenant_id: UUID, ids: Sequence[UUID]
) -> tuple[Sequence[UUID], Sequence[UUID]]:
    """Find the dead letters among these ids: triggers, and effects."""
    wanted = [identifier for identifier in sorted(set(ids)) if has_created_at(identifier)]
    events = [dead.id for dead in find_dead_triggers(connection, tenant_id, wanted)]
    return events, [dead.id for dead in find_dead_effects(connection, tenant_id, wanted)]


def _read_quotas(read: ReadTransaction) -> list[QuotaState]:
    levels = list_quota_meters(read.connection, read.principal.tenant_id, list(QUOTAS.values()))
    return [_describe_quota(level) for level in levels if level.full_seconds > 0]


def _describe_quota(level: TenantQuota) -> QuotaState:
    used = level.full_seconds / level.refill_seconds * level.capacity
    return QuotaState(level.name, level.capacity, level.refill_seconds, max(int(level.capacity - used), 0))


def _act_on(
    ids: Sequence[UUID], act: Callable[[Sequence[UUID]], Set[UUID]], refused: dict[UUID, Rejected]
) -> Set[UUID]:
    """Act on all at once, or one by one where one of them is refused."""
    if not ids:
        return frozenset()
    try:
        return act(ids)
    except Rejected as error:
        if error.code in _OF_THE_CALL:
            raise
        if len(ids) == 1:
            refused[ids[0]] = error
            return frozenset()
    return frozenset().union(*(_act_on([identifier], act, refused) for identifier in ids))


def _describe(
    identifier: UUID, done: Set[UUID], refused: Mapping[UUID, Rejected]
) -> HandledLetter | Rejected:
    if identifier in done:
        return HandledLetter(identifier)
    return refused.get(identifier) or Rejected(
        "DEAD_LETTER_NOT_FOUND", f"there is no dead letter {identifier}"
    )
