"""The one way in which an automation starts: a new instance, or on record why there is none.

The caller's transaction holds the locks of the tenant's switch and of the automation. So a stop or a pause
waits for the starts that were before it, and none follows its commit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.automations.chain import Link, write_chain
from signet.core.automations.firings import Firing, describe_firing
from signet.core.automations.start_decision import (
    StartRefusal,
    StartSwitches,
    check_chain,
    check_open,
    check_rates,
    check_switches,
    name_overlap_key,
)
from signet.core.automations.trigger import Overlap, StartLimits
from signet.core.compiler.envelope import START
from signet.core.documents.personal_data import resolve_personal
from signet.core.errors import Rejected
from signet.core.runtime.position import Position
from signet.core.runtime.projection import Actor
from signet.core.runtime.tokens import begin
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.responsible import ResponsiblePersons, find_overflow
from signet.engine.cache import CompiledCache
from signet.engine.documents.change import format_moment, make_org
from signet.ids import created_at_of, make_id
from signet.store.automations import starts as store
from signet.store.automations.starts import LockedAutomation, NewInstance, StartDocument
from signet.store.database import Connection
from signet.store.documents.write import TransactionContext
from signet.store.outbox.queue import insert_triggers, make_trigger
from signet.store.responsible_sets import keep_responsible

# The event by which a newer start cancels an instance.
REPLACED = "replaced"


# It is tried again, or waits for another instance with its key.
_HAS_NEXT = ("delayed", "queued", "replaces")


@dataclass(frozen=True, slots=True)
class Start:
    """A firing of one automation, by the definition that was in force when it happened."""

    # The id of the instance that it makes.
    id: UUID
    automation_id: UUID
    definition_id: UUID
    firing: Firing
    trace_id: str | None = None


class StartTransaction:
    """The starts of one transaction: locked together, decided one by one, each after the ones before it."""

    def __init__(
        self,
        connection: Connection,
        tenant_id: UUID,
        transaction: TransactionContext,
        compiled: CompiledCache,
        starts: list[Start],
    ) -> None:
        self._connection = connection
        self._tenant_id = tenant_id
        self._now = transaction.now
        self._org = make_org(tenant_id, transaction)
        self._compiled = compiled
        # The tenant first, then the automations in the order of their ids.
        self._switch = store.lock_switch(connection, tenant_id)
        ids = sorted({start.automation_id for start in starts})
        self._automations = store.lock_automations(connection, tenant_id, ids)
        definitions = sorted({start.definition_id for start in starts})
        self._persons = store.read_persons(connection, tenant_id, definitions)
        self._history: list[Mapping[str, Any]] = []

    def start(self, start: Start) -> StartRefusal | None:
        """Start the automation, or return why not; both are on record."""
        automation = self._automations[start.automation_id]
        refusal = self._decide(automation, start)
        if refusal is None:
            self._note(start, "started", {"instance_id": str(start.id)})
        elif refusal.verdict != "ignored":
            said = {"code": refusal.code, "reason": refusal.sentence}
            self._note(start, refusal.verdict, said, is_repeated=refusal.verdict == "delayed")
        return refusal

    def release_after(self, refusal: StartRefusal | None, released_key: str | None) -> None:
        """Release the next start where one that had waited makes no instance, whose end would release it."""
        if released_key is not None and refusal is not None and refusal.verdict not in _HAS_NEXT:
            store.release_next(self._connection, released_key)

    def write(self) -> None:
        """Write what became of each."""
        store.insert_history(self._connection, self._tenant_id, self._history)

    def _decide(self, automation: LockedAutomation, start: Start) -> StartRefusal | None:
        stop = self._switch.stop_note
        switches = StartSwitches(stop, automation.definition_id is None, automation.pause_note)
        refusal = check_switches(switches)
        if refusal is not None:
            return refusal
        definition = self._persons[start.definition_id]
        workflow = self._compiled.read(
            self._connection, self._tenant_id, start.definition_id, definition.version
        )
        trigger, link = workflow.content["trigger"], Link(automation.name, start.firing.document_id)
        return (
            self._check_document(workflow, start.firing)
            or check_chain(trigger, link, start.firing.chain)
            or self._check_bounds(automation, workflow, start)
            or self._begin(automation, workflow, start, link)
        )

    def _check_document(self, workflow: Workflow, firing: Firing) -> StartRefusal | None:
        """Ask the condition of the trigger, about the document as the change has left it."""
        document = None
        if firing.document_id is not None:
            known = self._connection, self._tenant_id, UUID(firing.document_id), firing.version
            document = store.read_document(*known)
            if document is None or (document.deleted_at is not None and firing.act != "delete"):
                return StartRefusal(
                    "not_started", "DOCUMENT_GONE", "the document was deleted before it started"
                )
        condition = workflow.start_condition
        if condition is None:
            return None
        evaluation = condition.evaluate(self._make_environment(firing, document))
        if evaluation.value is True:
            return None
        return StartRefusal(
            "not_started", "CONDITION_FALSE", f"the condition '{condition.text}' does not hold"
        )

    def _make_environment(self, firing: Firing, document: StartDocument | None) -> dict[str, Any]:
        before, after = _read_sides(firing, document)
        actor = {"user_id": firing.actor["id"], "roles": firing.actor["roles"]}
        return {
            "entity": after,
            "before": before,
            "after": after,
            "refs": {},
            "actor": actor,
            "org": self._org,
            "now": format_moment(self._now),
            "payload": firing.payload,
        }

    def _check_bounds(
        self, automation: LockedAutomation, workflow: Workflow, start: Start
    ) -> StartRefusal | None:
        limits = StartLimits(**workflow.content.get("limits", {}))
        refusal = check_rates(limits, automation.meter, self._switch.meter, self._now)
        if refusal is not None:
            return refusal
        overlap = Overlap(**workflow.content.get("overlap", {}))
        key = name_overlap_key(overlap, str(automation.id), start.firing.document_id, str(start.id))
        known = self._connection, self._tenant_id
        is_open = store.lock_open(*known, key) if overlap.mode != "allow" else []
        counts = store.count_open(*known, automation.id, key, limits.open_instances, len(is_open))
        refusal = check_open(overlap, limits, counts)
        if refusal is not None and refusal.verdict == "replaces":
            self._replace(key, is_open, start)
        if refusal is not None and refusal.verdict in ("queued", "replaces"):
            self._queue(automation, start, key)
        return refusal

    def _replace(self, key: str, is_open: list[UUID], start: Start) -> None:
        """Have what is open with the key cancelled by its next wave, and drop what waits for it."""
        content = {"by": str(start.id)}
        triggers = [make_trigger(found, REPLACED, content, start.trace_id) for found in is_open]
        insert_triggers(self._connection, self._tenant_id, triggers)
        for dropped in store.drop_queued(self._connection, self._tenant_id, key):
            said = {"code": "OVERLAP_REPLACED", "reason": f"the newer start {start.id} has replaced it"}
            self._note(parse_start(*dropped), "not_started", said)

    def _queue(self, automation: LockedAutomation, start: Start, key: str) -> None:
        payload = make_start_payload(start)
        store.queue_start(
            self._connection,
            self._tenant_id,
            key,
            start_id=start.id,
            automation_id=automation.id,
            payload=payload,
            version=start.firing.version,
            trace_id=start.trace_id,
        )

    def _begin(
        self, automation: LockedAutomation, workflow: Workflow, start: Start, link: Link
    ) -> StartRefusal | None:
        """Write the instance; it acts for the person behind the cause, and its authors answer with them."""
        firing, definition = start.firing, self._persons[start.definition_id]
        actor = Actor.from_json(firing.actor)
        persons = actor.responsible | frozenset(definition.persons)
        overflow = find_overflow(persons)
        if overflow is not None:
            return StartRefusal("not_started", overflow.code, overflow.message)
        overlap = Overlap(**workflow.content.get("overlap", {}))
        chain = write_chain((*firing.chain, link))
        new = NewInstance(
            id=start.id,
            automation_id=automation.id,
            definition_id=start.definition_id,
            definition_version=definition.version,
            entity_type=firing.entity_type,
            entity_id=UUID(firing.document_id) if firing.document_id is not None else None,
            entity_version=firing.version,
            subject_id=firing.document_id or automation.name,
            overlap_key=name_overlap_key(overlap, str(automation.id), firing.document_id, str(start.id)),
            begin_node=START,
            actor_id=actor.id,
            actor_roles=actor.roles,
            responsible=self._keep(persons),
            active_tokens=[begin(Position(), START, firing.version).to_json()],
            trace_id=start.trace_id,
            cause=firing.to_json(),
            chain=chain,
        )
        if not store.insert_instance(self._connection, self._tenant_id, new, self._now):
            return StartRefusal("ignored", "STARTED_BEFORE", "it has started before")
        self._count(automation)
        trigger = make_trigger(
            start.id, "create_instance", {"birth": "created", "chain": chain}, start.trace_id
        )
        insert_triggers(self._connection, self._tenant_id, [trigger])
        return None

    def _keep(self, persons: ResponsiblePersons) -> str:
        return keep_responsible(self._connection, self._tenant_id, persons)

    def _count(self, automation: LockedAutomation) -> None:
        own, of_tenant = automation.meter.add(self._now), self._switch.meter.add(self._now)
        store.count_start(self._connection, self._tenant_id, automation.id, own, of_tenant)
        counted = replace(automation, started_minute=own.minute, started_count=own.count)
        self._automations[automation.id] = counted
        self._switch = replace(self._switch, meter=of_tenant)

    def _note(self, start: Start, entry: str, said: Mapping[str, Any], *, is_repeated: bool = False) -> None:
        # What may be said of one firing again and again has the id of the firing, and so one line.
        identifier = start.id if is_repeated else make_id()
        self._history.append(
            {
                "id": identifier,
                "created_at": created_at_of(identifier),
                "automation_id": start.automation_id,
                "entry": entry,
                "actor_id": start.firing.actor["id"],
                "data": {**describe_firing(start.firing), "definition_id": str(start.definition_id), **said},
                "trace_id": start.trace_id,
            }
        )


def make_start_payload(start: Start) -> dict[str, Any]:
    """Make the payload of a start as the database writes it for a change."""
    named = {"automation_id": str(start.automation_id), "definition_id": str(start.definition_id)}
    return {**start.firing.to_json(), **named}


def parse_start(start_id: UUID, payload: Mapping[str, Any], trace_id: str | None) -> Start:
    if "automation_id" not in payload:
        raise Rejected("REQUEST_INVALID", f"the start {start_id} names no automation")
    automation_id, definition_id = UUID(payload["automation_id"]), UUID(payload["definition_id"])
    return Start(start_id, automation_id, definition_id, Firing.from_json(payload), trace_id)


def _read_sides(
    firing: Firing, document: StartDocument | None
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]:
    """Return the document before and after the change; before is None of one that is new."""
    if document is None:
        return None, None
    sides: dict[int, Mapping[str, Any]] = {}
    for stored in document.versions or ():
        snapshot = stored["snapshot"]
        sides[stored["version"]] = {
            **resolve_personal(snapshot["data"], document.personal or {}),
            "id": firing.document_id,
            "status": snapshot["status"],
            "version": stored["version"],
            "creator": document.creator_id,
            "created_at": format_moment(document.created_at),
            "updated_at": format_moment(datetime.fromisoformat(stored["written_at"])),
        }
    before = sides.get(firing.version - 1) if firing.cause == "change" else None
    return before, sides.get(firing.version)
