"""Incidents: lists and groups with the acts that repair each, who looks after them, and bulk retries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from signet.core.approvals.decided_way import StatusRun, find_decision, read_way
from signet.core.approvals.given_decision import GivenDecision
from signet.core.documents.amendments import ORIGINAL_GONE
from signet.core.errors import FieldError, Rejected, Transient
from signet.core.explain.instance_record import AcceptedAct, IncidentRecord
from signet.core.incidents.incident import DOCUMENT_WITHOUT_WORKFLOW
from signet.core.repair.correction_check import check_correction
from signet.core.repair.restart_check import EndedPlace, check_beginning, list_sequels
from signet.core.runtime.execution import InstanceExecution
from signet.core.runtime.go_to_targets import list_targets
from signet.core.runtime.operator_actions import list_acts
from signet.core.runtime.position import Token, parse_position
from signet.core.runtime.projection import Projection
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.validation.text import find_text_problem
from signet.engine.access.admin import administering
from signet.engine.access.read import LAST, reading
from signet.engine.cache import CompiledCache
from signet.engine.execution.rebuild import read_last_place
from signet.engine.instances.actions import Instances, InstanceState
from signet.engine.instances.bulk_acts import BulkOrder, Seen, act_on_many
from signet.engine.instances.operator_transaction import permission_of
from signet.store.approvals.decided_ways import list_status_runs
from signet.store.approvals.given_decisions import list_given_decisions
from signet.store.database import Connection, Database
from signet.store.incidents.incidents import (
    HeldInstanceRow,
    IncidentRow,
    acknowledge_incident,
    care_for_incident,
    find_incident,
    group_incidents,
    list_incidents,
    list_oldest_open,
    read_held_instances,
)
from signet.store.incidents.incidents import IncidentFilter as IncidentFilter
from signet.store.incidents.incidents import IncidentGroupRow as IncidentGroupRow
from signet.store.instances.earlier_steps import list_acted
from signet.store.instances.moves import find_left_instance
from signet.store.tenants.people import find_member

READ, CARE = "incident:read", "incident:care"
MAX_GROUPS = 200
MAX_NOTE_CHARACTERS = 4_000
MAX_RETRIED = 100
MAX_EXPLAINED = 20
# The acts that end an instance, which say what follows.
_ENDING = ("cancel", "fail")
# The subject type of the audit rows.
INCIDENT = "incident"


@dataclass(frozen=True, slots=True)
class RepairAct:
    """An act that the server would accept now, with the permission that it needs.

    `targets` are the nodes that `go_to` may name. `then` is what may follow an end, where that must be said.
    """

    name: str
    permission: str
    targets: Sequence[str] = ()
    then: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident; `instance_version` is what an act on its instance must match."""

    id: UUID
    instance_id: UUID
    instance_version: int | None
    entity_type: str | None
    document_id: UUID | None
    # Null where the cause concerns the instance as a whole.
    token: str | None
    node: str | None
    endpoint: str | None
    code: str
    kind: str
    message: str
    # How often the node has been held in this instance, this time included.
    attempts: int
    opened_at: datetime
    acknowledged_by: str | None
    acknowledged_at: datetime | None
    assignee: str | None
    note: str | None
    closed_at: datetime | None
    # What closed it, and who did that.
    closing: str | None
    closed_by: str | None
    acts: Sequence[RepairAct]


class Incidents:
    """The use case; `instances` does what repairs."""

    def __init__(self, database: Database, compiled: CompiledCache, instances: Instances) -> None:
        self._database = database
        self._compiled = compiled
        self._instances = instances

    def list_newest(
        self, principal: Principal, wanted: IncidentFilter, *, before: UUID | None, limit: int
    ) -> Sequence[Incident]:
        with self._reading(principal) as connection:
            tenant_id = principal.tenant_id
            rows = list_incidents(connection, tenant_id, wanted, before=before or LAST, limit=limit)
            return _show(connection, self._compiled, tenant_id, rows)

    def list_groups(self, principal: Principal) -> Sequence[IncidentGroupRow]:
        """List open incidents by their cause, the largest group first."""
        with self._reading(principal) as connection:
            return group_incidents(connection, principal.tenant_id, limit=MAX_GROUPS)

    def read(self, principal: Principal, incident_id: UUID) -> Incident:
        with self._reading(principal) as connection:
            row = _require(find_incident(connection, principal.tenant_id, incident_id), incident_id)
            (incident,) = _show(connection, self._compiled, principal.tenant_id, [row])
        return incident

    def acknowledge(self, caller: Caller, incident_id: UUID) -> Incident:
        """Acknowledge an open incident; the first person who does is kept."""
        actor_id = caller.principal.subject
        return self._care(
            caller, incident_id, "acknowledge", partial(acknowledge_incident, actor_id=actor_id)
        )

    def assign(self, caller: Caller, incident_id: UUID, assignee: str | None, note: str | None) -> Incident:
        """Name the person who looks after it, and keep a note for others; null takes either away."""
        _check_note(note)

        def write(connection: Connection, tenant_id: UUID, incident_id: UUID) -> bool:
            _require_member(connection, tenant_id, assignee)
            return care_for_incident(connection, tenant_id, incident_id, assignee=assignee, note=note)

        return self._care(caller, incident_id, "assign", write)

    def retry_many(
        self, caller: Caller, wanted: IncidentFilter, reason: str, *, dry_run: bool = False
    ) -> list[tuple[UUID, InstanceState | Rejected | Transient]]:
        """Retry the instances of the oldest open incidents with one cause, those of the oldest first."""
        with self._reading(caller.principal) as connection:
            tenant_id = caller.principal.tenant_id
            ids = list_oldest_open(connection, tenant_id, wanted, limit=MAX_RETRIED)
            held = {row.id: row for row in read_held_instances(connection, tenant_id, ids)}
        seen = [Seen(id_, held[id_].version) for id_ in ids if id_ in held]
        order = BulkOrder("retry", seen, reason, dry_run=dry_run)
        outcomes = act_on_many(self._instances, caller, order)
        return [(one.id, outcome) for one, outcome in zip(seen, outcomes, strict=True)]

    def _care(
        self, caller: Caller, incident_id: UUID, act: str, write: Callable[[Connection, UUID, UUID], bool]
    ) -> Incident:
        tenant_id = caller.principal.tenant_id
        with administering(self._database, caller) as admin:
            admin.require(CARE)
            is_open = write(admin.connection, tenant_id, incident_id)
            row = _require(find_incident(admin.connection, tenant_id, incident_id), incident_id)
            if not is_open:
                raise Rejected("INCIDENT_CLOSED", f"the incident was closed at {row.closed_at}")
            admin.note((INCIDENT, str(incident_id)), act, _describe_care(row))
            (incident,) = _show(admin.connection, self._compiled, tenant_id, [row])
        return incident

    @contextmanager
    def _reading(self, principal: Principal) -> Iterator[Connection]:
        with reading(self._database, principal) as read:
            read.require(READ)
            yield read.connection


def list_open(
    database: Database, tenant_id: UUID, wanted: IncidentFilter, *, limit: int
) -> Sequence[Incident]:
    """List incidents for the command line, the newest first."""
    with database.transaction(tenant_id) as connection:
        rows = list_incidents(connection, tenant_id, wanted, before=LAST, limit=limit)
        return _show(connection, CompiledCache(), tenant_id, rows)


def read_one(database: Database, tenant_id: UUID, incident_id: UUID) -> Incident:
    """Read one incident for the command line, open or closed."""
    with database.transaction(tenant_id) as connection:
        row = _require(find_incident(connection, tenant_id, incident_id), incident_id)
        (incident,) = _show(connection, CompiledCache(), tenant_id, [row])
        return incident


def list_of_instance(connection: Connection, tenant_id: UUID, instance_id: UUID) -> list[IncidentRecord]:
    """List the open incidents of an instance for its explanation, the oldest first."""
    rows = list_incidents(
        connection, tenant_id, IncidentFilter(instance_id=instance_id), before=LAST, limit=MAX_EXPLAINED
    )
    shown = _show(connection, CompiledCache(), tenant_id, rows) if rows else ()
    return [_make_record(incident) for incident in reversed(shown)]


def list_groups(database: Database, tenant_id: UUID) -> Sequence[IncidentGroupRow]:
    """List the causes of open incidents for the command line, the largest group first."""
    with database.transaction(tenant_id) as connection:
        return group_incidents(connection, tenant_id, limit=MAX_GROUPS)


def _show(
    connection: Connection, compiled: CompiledCache, tenant_id: UUID, rows: Sequence[IncidentRow]
) -> Sequence[Incident]:
    instance_ids = sorted({row.instance_id for row in rows if row.closed_at is None})
    held = {row.id: row for row in read_held_instances(connection, tenant_id, instance_ids)}
    documents = sorted({row.document_id for row in held.values() if row.document_id is not None})
    runs = list_status_runs(connection, tenant_id, documents) if documents else {}
    since = {
        row.id: find_decision(runs.get(row.document_id, ()) if row.document_id is not None else ())
        for row in held.values()
    }
    known = _Known(
        list_given_decisions(connection, tenant_id, documents),
        list_acted(connection, tenant_id, since) if since else {},
        runs,
    )
    found: list[Incident] = []
    for row in rows:
        instance, acts = held.get(row.instance_id), list[RepairAct]()
        if row.closed_at is None and instance is not None:
            tokens: Sequence[Token] = ()
            if row.code == DOCUMENT_WITHOUT_WORKFLOW:
                left = find_left_instance(connection, tenant_id, row.instance_id)
                (instance,) = read_held_instances(connection, tenant_id, [left])
                tokens = read_last_place(connection, compiled, tenant_id, left)
            workflow = compiled.read(
                connection, tenant_id, instance.definition_id, instance.definition_version
            )
            acts = _list_acts(workflow, row, instance, known, tokens)
        version = instance.version if instance is not None else None
        found.append(Incident(**asdict(row), instance_version=version, acts=acts))
    return found


@dataclass(frozen=True, slots=True)
class _Known:
    """The decisions and ways by document, and what has acted by instance; each is read once."""

    given: Mapping[UUID, Sequence[GivenDecision]]
    acted: Mapping[UUID, Mapping[str, bool]]
    runs: Mapping[UUID, Sequence[StatusRun]]

    def is_decided(self, workflow: Workflow, document_id: UUID | None) -> bool:
        """Return whether people have decided about the document on its way to its status."""
        runs = self.runs.get(document_id, ()) if document_id is not None else ()
        return read_way(runs, workflow.is_behind_approvals).is_decided


def _list_acts(
    workflow: Workflow, row: IncidentRow, held: HeldInstanceRow, known: _Known, tokens: Sequence[Token]
) -> list[RepairAct]:
    acted = known.acted.get(row.instance_id, {})
    is_correctable = _is_correctable(workflow, held, known.given)
    is_decided = known.is_decided(workflow, held.document_id)
    if row.code == DOCUMENT_WITHOUT_WORKFLOW:
        place = EndedPlace(tokens, acted, is_decided)
        return _list_acts_on_document(workflow, place, held, is_correctable=is_correctable)
    position = parse_position(held.active_tokens)
    projection = Projection(status=held.status, position=position, reason=held.reason)
    execution = InstanceExecution(workflow, projection, is_decided=is_decided)
    return _list_acts_on_instance(execution, row, held, acted, is_correctable=is_correctable)


def _is_correctable(
    workflow: Workflow, held: HeldInstanceRow, given: Mapping[UUID, Sequence[GivenDecision]]
) -> bool:
    """Return whether the document may be corrected; `held` is its instance, or the last one it had."""
    if held.document_id is None or held.document_status is None:
        return False
    decisions = given.get(held.document_id, ())
    refused = check_correction(
        workflow,
        held.document_status,
        decisions,
        is_amendment=held.is_amendment,
        deciding=held.deciding,
    )
    return refused is None


def _list_acts_on_document(
    workflow: Workflow, place: EndedPlace, held: HeldInstanceRow, *, is_correctable: bool
) -> list[RepairAct]:
    """List the acts on a document without a workflow; `held` is its last instance."""
    status = held.document_status or ""
    refused = check_beginning(workflow, place, status, is_amendment=held.is_amendment)
    names = ["restart"] if refused is None else []
    names += ["correct"] if is_correctable else []
    return [RepairAct(name, permission_of(name)) for name in names]


def _list_acts_on_instance(
    execution: InstanceExecution,
    row: IncidentRow,
    held: HeldInstanceRow,
    acted: Mapping[str, bool],
    *,
    is_correctable: bool,
) -> list[RepairAct]:
    token = execution.projection.position.tokens.get(row.token) if row.token is not None else None
    status = held.document_status or ""
    targets = list_targets(execution, status)
    sequels = list_sequels(execution, acted, held.document_status, is_amendment=held.is_amendment)
    is_over = row.code == ORIGINAL_GONE
    if is_over:
        sequels = [one for one in sequels if one != "restart"]
    then = () if None in sequels else tuple(one for one in sequels if one is not None)
    acts = list_acts(
        execution,
        token,
        status,
        is_paused_by_person=held.is_paused_by_person,
        is_behind=held.is_behind,
        is_correctable=is_correctable,
    )
    return [
        RepairAct(
            name,
            permission_of(name),
            targets if name == "go_to" else (),
            then if name in _ENDING else (),
        )
        for name in acts
        if (sequels if name in _ENDING else not is_over)
    ]


def _make_record(incident: Incident) -> IncidentRecord:
    return IncidentRecord(
        id=incident.id,
        code=incident.code,
        kind=incident.kind,
        message=incident.message,
        token=incident.token,
        node=incident.node,
        endpoint=incident.endpoint,
        attempts=incident.attempts,
        opened_at=incident.opened_at,
        acknowledged_by=incident.acknowledged_by,
        assignee=incident.assignee,
        acts=[AcceptedAct(act.name, act.permission, act.targets, act.then) for act in incident.acts],
    )


def _require(row: IncidentRow | None, incident_id: UUID) -> IncidentRow:
    if row is None:
        raise Rejected("INCIDENT_NOT_FOUND", f"there is no incident {incident_id}")
    return row


def _require_member(connection: Connection, tenant_id: UUID, assignee: str | None) -> None:
    """Require an active member: another name may look like one."""
    found = find_member(connection, tenant_id, assignee) if assignee is not None else None
    if assignee is None or (found is not None and found.status == "active"):
        return
    mistake = FieldError("/assignee", "MEMBER_NOT_FOUND", "is no active member")
    raise Rejected("FIELDS_INVALID", "the assignee is no active member", fields=(mistake,))


def _check_note(note: str | None) -> None:
    problem = find_text_problem(note) if note is not None else None
    if note is not None and len(note) > MAX_NOTE_CHARACTERS:
        problem = f"has more than {MAX_NOTE_CHARACTERS} characters"
    elif note is not None and any(not sign.isprintable() and sign not in "\n\t" for sign in note):
        problem = problem or "holds a character that nobody sees"
    if problem is not None:
        mistake = FieldError("/note", "FIELD_TEXT_INVALID", problem)
        raise Rejected("FIELDS_INVALID", f"the note {problem}", fields=(mistake,))


def _describe_care(row: IncidentRow) -> dict[str, Any]:
    return {"assignee": row.assignee, "note": row.note, "instance_id": str(row.instance_id)}
