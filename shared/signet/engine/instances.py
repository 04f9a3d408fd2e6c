"""What people do to an instance from outside of its graph: pause, resume, fail, wake, rebuild, requeue.

Each is one transaction that locks the documents, then the instances, as everybody does, but never a wave's
advisory lock: a wave passes by what is locked here, and comes back. What changes an instance is a step of it
with a receipt, so that a rebuild finds the same row; and there is a line in its history and an audit row.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from signet.core.errors import FieldError, Rejected
from signet.engine.compiled import CompiledCache
from signet.engine.documents.intake import check_reason
from signet.engine.documents.opened import DocumentCaches
from signet.engine.documents.operations import Author
from signet.engine.operating import Operating
from signet.engine.waves.place import InstancePlace
from signet.store.database import Database
from signet.store.instances import (
    DeadTrigger,
    ListedInstance,
    StuckRow,
    find_dead_triggers,
    find_entity,
    list_instances,
    list_instances_of_document,
    list_stuck,
)
from signet.store.queue import EVENTS, requeue_dead

# What a tenant's roles grant: to set instances going, and to stop them.
OPERATE, CONTROL = "workflow:operate", "workflow:control"
MAX_REQUEUED = 100
# Longer than any lease, and than what failed waits before it is tried again.
IDLE_SECONDS = 600.0
MAX_STUCK = 1_000
MAX_LISTED = 200
LIVE = ("running", "paused")
# What may help, the likeliest first. Waking makes a lost trigger good, rebuilding a wrong row; and both wake.
REMEDIES = ("wake", "rebuild", "fail")
REMEDIES_OF_A_WRONG_ROW = ("rebuild", "fail", "wake")


@dataclass(frozen=True, slots=True)
class InstanceState:
    """An instance after an operator's act; `version` is what the next one must match."""

    id: UUID
    status: str
    version: int


@dataclass(frozen=True, slots=True)
class Requeued:
    """Which triggers will be tried again, and which instances go on that they had paused."""

    triggers: frozenset[UUID]
    resumed: Sequence[UUID]


@dataclass(frozen=True, slots=True)
class Stuck:
    """An instance that should go on, and that nothing will wake.

    `why` is what it does not see: a token that is `ready`, an open request (`asked`), an answer from outside
    (`answered`), a moment that is past (`overdue`); or that it waits for nothing at all (`nothing_open`).
    """

    id: UUID
    entity_type: str | None
    entity_id: UUID | None
    current_nodes: Sequence[str]
    version: int
    idle_since: datetime
    why: str
    remedies: Sequence[str]


class Instances:
    """The use case with its caches; one a process."""

    def __init__(self, database: Database, caches: DocumentCaches, compiled: CompiledCache) -> None:
        self._database = database
        self._caches = caches
        self._compiled = compiled

    def pause(self, author: Author, instance_id: UUID, expected_version: int, reason: str) -> InstanceState:
        """It rests where it is. What wakes it meanwhile is done with at once; resuming reads the tables."""
        with self._locked(author, instance_id, CONTROL) as operating:
            place = operating.open(instance_id)
            check_version(place, expected_version)
            _require_running(place, "paused")
            _require_reason(reason)
            operating.control(place, "paused", reason)
            operating.note(instance_id, "pause", reason)
        return _state_of(place)

    def resume(self, author: Author, instance_id: UUID, expected_version: int) -> InstanceState:
        """What could not go on is tried again; while the cause is there, it pauses again and says so."""
        with self._locked(author, instance_id, OPERATE) as operating:
            place = operating.open(instance_id)
            check_version(place, expected_version)
            if place.row.status != "paused":
                sentence = f"the instance is {place.row.status}: only a paused one can be resumed"
                raise Rejected("INSTANCE_NOT_PAUSED", sentence)
            operating.control(place, "resumed")
            operating.wake(place)
            operating.note(instance_id, "resume")
        return _state_of(place)

    def fail(self, author: Author, instance_id: UUID, expected_version: int, reason: str) -> InstanceState:
        """Given up, for good. Its document stays as it is; a request begins a new instance at its status."""
        with self._locked(author, instance_id, CONTROL) as operating:
            place = operating.open(instance_id)
            check_version(place, expected_version)
            if place.row.status not in LIVE:
                raise Rejected("INSTANCE_ENDED", f"the instance is {place.row.status} already")
            _require_reason(reason)
            operating.control(place, "failed", reason)
            operating.note(instance_id, "fail", reason)
        return _state_of(place)

    def wake(self, author: Author, instance_id: UUID) -> InstanceState:
        """As if something had happened: it looks around, and goes on where it can."""
        with self._locked(author, instance_id, OPERATE) as operating:
            place = operating.open(instance_id)
            _require_running(place, "woken")
            operating.wake(place)
            operating.note(instance_id, "wake")
        return _state_of(place)

    def rebuild(self, author: Author, instance_id: UUID) -> bool:
        """Its row made anew from its steps, then woken. Whether the row said anything else than they do."""
        with self._locked(author, instance_id, OPERATE) as operating:
            was_other = operating.rebuild(instance_id)
            place = operating.open(instance_id)
            if place.journey.is_running:
                operating.wake(place)
            operating.note(instance_id, "rebuild", detail={"was_other": was_other})
        return was_other

    def requeue(self, author: Author, trigger_ids: Sequence[UUID]) -> Requeued:
        """Dead letters go back as if they had never been tried; what one of them had paused goes on.

        What is no dead letter is missing in the answer.
        """
        if len(trigger_ids) > MAX_REQUEUED:
            sentence = f"at most {MAX_REQUEUED} triggers at a time, not {len(trigger_ids)}"
            raise Rejected("BATCH_TOO_LARGE", sentence)
        tenant_id, wanted = author.principal.tenant_id, sorted(set(trigger_ids))
        with self._database.transaction(tenant_id) as connection:
            dead = find_dead_triggers(connection, tenant_id, wanted)
            entities = {trigger.instance_id: trigger.entity_id for trigger in dead if trigger.has_instance}
            operating = Operating(connection, author, self._caches, self._compiled, entities)
            operating.require(OPERATE)
            done = requeue_dead(connection, EVENTS, tenant_id, [trigger.id for trigger in dead])
            back = [trigger for trigger in dead if trigger.id in done]
            resumed = [
                instance_id for instance_id in sorted(entities) if _take_back(operating, instance_id, back)
            ]
            operating.write()
        return Requeued(frozenset(done), resumed)

    def list_newest(
        self,
        tenant_id: UUID,
        *,
        statuses: Sequence[str] = LIVE,
        document_id: UUID | None = None,
        limit: int = MAX_LISTED,
    ) -> Sequence[ListedInstance]:
        """Of those in these statuses, or of all that a document has had."""
        limit = max(1, min(limit, MAX_LISTED))
        with self._database.transaction(tenant_id) as connection:
            if document_id is not None:
                return list_instances_of_document(connection, tenant_id, document_id, limit=limit)
            return list_instances(connection, tenant_id, statuses=statuses, limit=limit)

    def list_stuck(
        self, tenant_id: UUID, *, idle_seconds: float = IDLE_SECONDS, limit: int = MAX_STUCK
    ) -> Sequence[Stuck]:
        """Those that have been so for longest first. What waits, is paused or will be woken is not stuck."""
        with self._database.transaction(tenant_id) as connection:
            rows = list_stuck(
                connection, tenant_id, idle_seconds=idle_seconds, limit=max(1, min(limit, MAX_STUCK))
            )
        return [_read_stuck(row) for row in rows]

    @contextmanager
    def _locked(self, author: Author, instance_id: UUID, permission: str) -> Iterator[Operating]:
        tenant_id = author.principal.tenant_id
        with self._database.exchange(tenant_id, find_entity(tenant_id, instance_id)) as exchange:
            found = exchange.opening_row
            entities = {instance_id: found[0]} if found is not None else {}
            operating = Operating(exchange.connection, author, self._caches, self._compiled, entities)
            # Before anything is said of the instance: who may not learns nothing of it.
            operating.require(permission)
            yield operating
            operating.write()


def _take_back(operating: Operating, instance_id: UUID, back: Sequence[DeadTrigger]) -> bool:
    """Whether the instance goes on: the trigger whose failure had paused it is what wakes it."""
    own = [trigger.id for trigger in back if trigger.instance_id == instance_id]
    if not own:
        return False
    place = operating.open(instance_id)
    operating.note(instance_id, "requeue", detail={"triggers": [str(each) for each in own]})
    if place.row.status != "paused" or operating.read_pausing_trigger(instance_id) not in own:
        return False
    operating.control(place, "resumed")
    operating.note(instance_id, "resume")
    return True


def _read_stuck(row: StuckRow) -> Stuck:
    remedies = REMEDIES_OF_A_WRONG_ROW if row.why == "nothing_open" else REMEDIES
    return Stuck(
        row.id,
        row.entity_type,
        row.entity_id,
        row.current_nodes,
        row.version,
        row.updated_at,
        row.why,
        remedies,
    )


def check_version(place: InstancePlace, expected: int) -> None:
    if place.row.version != expected:
        raise Rejected(
            "INSTANCE_VERSION_CONFLICT",
            f"the instance is at version {place.row.version}, not {expected}",
            remedy="Read it again, and decide on what it does now.",
            details={"current_version": place.row.version},
        )


def _require_running(place: InstancePlace, act: str) -> None:
    if place.row.status != "running":
        sentence = f"the instance is {place.row.status}: only a running one can be {act}"
        remedy = "Resume it." if place.row.status == "paused" else ""
        raise Rejected("INSTANCE_NOT_RUNNING", sentence, remedy=remedy)


def _require_reason(reason: str) -> None:
    rejected = check_reason(reason)
    if rejected is not None:
        raise rejected
    if not reason.strip():
        mistake = FieldError("/reason", "REASON_REQUIRED", "wants a reason")
        raise Rejected("FIELDS_INVALID", "stopping an instance wants a reason", fields=(mistake,))


def _state_of(place: InstancePlace) -> InstanceState:
    return InstanceState(place.row.id, place.journey.projection.status, place.journey.projection.version)
