"""Acts of people on automations: to start one by hand, pause one, stop all, and see why one did not start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from signet.core.automations.firings import Firing
from signet.core.compiler.patch import Automation
from signet.core.contracts.field_values import validate_fields
from signet.core.errors import FieldError, Rejected
from signet.core.runtime.projection import Actor
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.validation.strict_model import parse_strictly
from signet.engine.access.admin import AdminTransaction, administering
from signet.engine.access.read import LAST, bound_page, reading
from signet.engine.automations.start_transaction import Start, StartTransaction
from signet.engine.cache import CompiledCache
from signet.engine.documents.command_checks import check_reason
from signet.ids import make_id
from signet.store.automations import registry as store
from signet.store.automations.registry import AutomationRecord as AutomationRecord
from signet.store.automations.registry import FiringRecord as FiringRecord
from signet.store.database import Connection, Database
from signet.store.definitions.write import find_definition
from signet.store.documents.read import find_document

READ, PAUSE, STOP, START = "automation:read", "automation:pause", "automation:stop", "automation:start"
# Behind every firing.
_LAST_MOMENT = datetime(9999, 12, 31, tzinfo=UTC)
Place = tuple[datetime, UUID]


@dataclass(frozen=True, slots=True)
class AutomationSwitchState:
    """The switch of all automations of the tenant, with the person and the reason where they are stopped."""

    is_stopped: bool
    stopped_at: datetime | None
    stopped_by: str | None
    note: str | None


@dataclass(frozen=True, slots=True)
class ManualStart:
    """An automation that a person has started: now, or as soon as another instance of it has ended."""

    automation: str
    instance_id: UUID
    is_queued: bool


class Automations:
    """The use case with its cache; one a process."""

    def __init__(self, database: Database, compiled: CompiledCache | None = None) -> None:
        self._database = database
        self._compiled = compiled or CompiledCache()

    # --- looking ---

    def list(self, principal: Principal, *, after: str, limit: int) -> Sequence[AutomationRecord]:
        with reading(self._database, principal) as read:
            read.require(READ)
            known = read.connection, principal.tenant_id
            return store.list_automations(*known, after=after, limit=bound_page(limit))

    def read(self, principal: Principal, name: str) -> AutomationRecord:
        with reading(self._database, principal) as read:
            read.require(READ)
            return _require(read.connection, principal.tenant_id, name)

    def why(
        self,
        principal: Principal,
        name: str,
        *,
        document_id: UUID | None = None,
        before: Place | None = None,
        limit: int,
    ) -> Sequence[FiringRecord]:
        """Tell what became of its firings, the newest first: what started, and why the others did not."""
        with reading(self._database, principal) as read:
            read.require(READ)
            known = read.connection, principal.tenant_id
            automation = _require(*known, name)
            return store.list_history(
                *known,
                automation.id,
                before=before or (_LAST_MOMENT, LAST),
                document_id=document_id,
                limit=bound_page(limit),
            )

    def read_switch(self, principal: Principal) -> AutomationSwitchState:
        with reading(self._database, principal) as read:
            read.require(READ)
            return _read_switch(read.connection, principal.tenant_id)

    # --- switching ---

    def pause(self, caller: Caller, name: str, note: str) -> AutomationRecord:
        """Pause an automation. What it listens to is noted as not started, and never made up for."""
        return self._pause(caller, name, _require_note(note))

    def resume(self, caller: Caller, name: str) -> AutomationRecord:
        return self._pause(caller, name, None)

    def stop_all(self, caller: Caller, note: str) -> AutomationSwitchState:
        """Stop all automations of the tenant: after the commit nothing new starts."""
        return self._switch(caller, _require_note(note))

    def allow_all(self, caller: Caller) -> AutomationSwitchState:
        return self._switch(caller, None)

    def _pause(self, caller: Caller, name: str, note: str | None) -> AutomationRecord:
        tenant_id = caller.principal.tenant_id
        with administering(self._database, caller) as act:
            act.require(PAUSE)
            automation = _require(act.connection, tenant_id, name)
            at, by = (None, None) if note is None else (act.now, caller.principal.subject)
            store.pause_automation(act.connection, tenant_id, automation.id, at=at, by=by, note=note)
            what = "resume_automation" if note is None else "pause_automation"
            act.note(("automation", name), what, {}, reason=note)
            return _require(act.connection, tenant_id, name)

    def _switch(self, caller: Caller, note: str | None) -> AutomationSwitchState:
        tenant_id = caller.principal.tenant_id
        with administering(self._database, caller) as act:
            act.require(STOP)
            at, by = (None, None) if note is None else (act.now, caller.principal.subject)
            store.switch_all(act.connection, tenant_id, at=at, by=by, note=note)
            what = "allow_automations" if note is None else "stop_automations"
            act.note(("tenant", str(tenant_id)), what, {}, reason=note)
            return _read_switch(act.connection, tenant_id)

    # --- starting by hand ---

    def start(
        self, caller: Caller, name: str, payload: Mapping[str, Any], document_id: UUID | None = None
    ) -> ManualStart:
        """Start an automation that is started by hand, with its checked input."""
        tenant_id = caller.principal.tenant_id
        with administering(self._database, caller) as act:
            act.require(START)
            automation = _require(act.connection, tenant_id, name)
            if automation.definition_id is None:
                raise Rejected("AUTOMATION_ARCHIVED", f"the automation '{name}' is archived")
            body = _read_body(act.connection, tenant_id, automation.definition_id)
            firing = _make_firing(act, automation, body, payload, document_id)
            start = Start(make_id(), automation.id, automation.definition_id, firing, caller.trace_id)
            known = act.connection, tenant_id, act.transaction, self._compiled
            starting = StartTransaction(*known, [start])
            refusal = starting.start(start)
            if refusal is not None and refusal.verdict not in ("queued", "replaces"):
                raise Rejected(refusal.code, refusal.sentence)
            starting.write()
            act.note(("automation", name), "start_automation", {"instance_id": str(start.id)})
            return ManualStart(name, start.id, refusal is not None)


def _make_firing(
    act: AdminTransaction,
    automation: AutomationRecord,
    body: Automation,
    payload: Mapping[str, Any],
    document_id: UUID | None,
) -> Firing:
    if body.trigger.on != "manual":
        sentence = f"'{automation.name}' starts by '{body.trigger.on}', and not by hand"
        raise Rejected("AUTOMATION_NOT_MANUAL", sentence)
    data, mistakes = validate_fields(body.payload, dict(payload))
    if data is None:
        fields = tuple(replace(mistake, within="payload") for mistake in mistakes)
        raise Rejected("FIELDS_INVALID", "the input is not as the automation says", fields=fields)
    principal = act.caller.principal
    actor = Actor(principal.subject, tuple(principal.roles), principal.behind).to_json()
    if (document_id is None) != (body.entity_type is None):
        wants = "names no document" if document_id is None else "names a document, and it is about none"
        mistake = FieldError("/document_id", "FIELD_INVALID", wants)
        raise Rejected("FIELDS_INVALID", f"a start of '{automation.name}' {wants}", fields=(mistake,))
    if document_id is None:
        return Firing("manual", actor, payload=data)
    act.require(f"{body.entity_type}:read")
    found = find_document(act.connection, principal.tenant_id, document_id)
    if found is None or found.entity_type != body.entity_type:
        raise Rejected("DOCUMENT_NOT_FOUND", f"there is no {body.entity_type} with this id")
    return Firing("manual", actor, str(document_id), body.entity_type, found.version, payload=data)


def _read_body(connection: Connection, tenant_id: UUID, definition_id: UUID) -> Automation:
    row = find_definition(connection, tenant_id, definition_id)
    body, _ = parse_strictly(Automation, row.parse_document()) if row is not None else (None, ())
    if body is None:
        raise Rejected("DEFINITION_NOT_FOUND", f"there is no readable definition {definition_id}")
    return body


def _require(connection: Connection, tenant_id: UUID, name: str) -> AutomationRecord:
    found = store.find_automation(connection, tenant_id, name)
    if found is None:
        sentence = f"there is no published automation '{name}'"
        raise Rejected("AUTOMATION_NOT_FOUND", sentence, remedy="List them, and use the name of one.")
    return found


def _read_switch(connection: Connection, tenant_id: UUID) -> AutomationSwitchState:
    switch = store.read_switch(connection, tenant_id)
    is_stopped = switch.stop_note is not None
    return AutomationSwitchState(is_stopped, switch.stopped_at, switch.stopped_by, switch.stop_note)


def _require_note(note: str) -> str:
    rejected = check_reason(note)
    if rejected is not None:
        raise rejected
    if not note.strip():
        mistake = FieldError("/note", "REASON_REQUIRED", "wants a note")
        raise Rejected("FIELDS_INVALID", "this act needs a note", fields=(mistake,))
    return note
