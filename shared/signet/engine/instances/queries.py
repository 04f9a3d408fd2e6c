"""Instances as people read them, for callers who may read workflows."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from signet.core.compiler.artifact import parse_artifact
from signet.core.diagrams.instance_graph import GraphDrawing, draw_instance
from signet.core.explain.instance import InstanceExplanation, write_instance
from signet.core.explain.instance_record import InstanceStatus
from signet.core.runtime.position import parse_position
from signet.core.tenants.principal import Principal
from signet.engine.access.read import reading
from signet.engine.cache import ContractCache
from signet.engine.execution.rebuild import instance_not_found
from signet.engine.instances.explain import explain
from signet.engine.instances.lists import Stuck, list_stuck
from signet.store.database import Connection, Database
from signet.store.instances import read as store
from signet.store.instances.lists import END, list_instances
from signet.store.instances.lists import InstanceFilter as InstanceFilter
from signet.store.instances.lists import ListedInstance as ListedInstance
from signet.store.instances.read import HistoryEntry as HistoryEntry
from signet.store.instances.write import read_pause

READ = "workflow:read"
PausedBy = Literal["person", "engine"]
Kind = Literal["envelope", "automation"]
EditWindow = Literal["editable", "amend_only", "locked"]
FIRST = datetime(1, 1, 1, tzinfo=UTC), UUID(int=0)


@dataclass(frozen=True, slots=True)
class Wait:
    """The wait of a token: for a person, a moment, an event of this key, or an answer."""

    token: str
    node: str
    node_type: str
    since: datetime
    # The moment at which it goes on by itself.
    until: datetime | None
    event_key: str | None
    approval_id: UUID | None


@dataclass(frozen=True, slots=True)
class InstanceToken:
    id: str
    node: str
    state: Literal["ready", "waiting", "parted", "joined", "failed"]
    # The version of the document when the token came to its node.
    document_version: int
    # True for a token that was rejected on its way and has not been approved since.
    rejected: bool
    parent: str | None
    split: str | None
    # The reason for which it stays at its node until a person acts; null where nothing holds it.
    held: str | None


@dataclass(frozen=True, slots=True)
class InstanceTokens:
    version: int
    tokens: Sequence[InstanceToken]
    waits: Sequence[Wait]


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance. `version` is what the next act on it must match."""

    id: UUID
    kind: Kind
    status: InstanceStatus
    # The reason for being paused, failed or cancelled, and the kind of actor that paused it.
    reason: str | None
    paused_by: PausedBy | None
    version: int
    workflow: str
    definition_id: UUID
    definition_version: int
    definition_hash: str
    entity_type: str | None
    document_id: UUID | None
    document_version: int
    subject: str
    current_nodes: Sequence[str]
    tokens: Sequence[InstanceToken]
    waits: Sequence[Wait]
    # The strictest window of its tokens, and the node that holds it; null means the window of the contract.
    edit_window: EditWindow | None
    edit_window_node: str | None
    context: Mapping[str, Any]
    # The person on whose behalf its steps act, and the request that it serves.
    actor: str
    request_id: UUID | None
    depth: int
    trace_id: str | None
    due_at: datetime | None
    started_at: datetime
    ended_at: datetime | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class InstanceStep:
    """An execution of one node by one token at one version of the document.

    `data` holds further facts: the reason of a control step, the requester of a transition.
    """

    id: UUID
    seq: int
    end_seq: int | None
    node: str
    node_type: str
    token: str
    status: Literal["pending", "running", "completed", "failed", "skipped", "cancelled"]
    outcome: str | None
    chosen_edge_ids: Sequence[str]
    document_version: int
    document_version_after: int
    actor: str
    run_as: Literal["actor", "system", "service_account"]
    # What an action, a call or a message was given; null for a node that does not act.
    input: Mapping[str, Any] | None
    evidence: Mapping[str, Any]
    variables: Mapping[str, Any]
    data: Mapping[str, Any]
    error: str | None
    started_at: datetime
    ended_at: datetime | None
    duration_ms: int | None
    until: datetime | None
    event_key: str | None
    approval_id: UUID | None
    # True where a gate has used the decision that it waited for.
    applied: bool | None
    trace_id: str | None


@dataclass(frozen=True, slots=True)
class InstanceGraph(GraphDrawing):
    version: int
    definition_hash: str


@dataclass(frozen=True, slots=True)
class Explained:
    """An explanation as data and as lines of text."""

    text: Sequence[str]
    explanation: InstanceExplanation


class InstancesRead:
    def __init__(self, database: Database, contracts: ContractCache) -> None:
        self._database = database
        self._contracts = contracts

    def list_newest(
        self, principal: Principal, wanted: InstanceFilter, *, before: UUID | None, limit: int
    ) -> Sequence[ListedInstance]:
        with self._reading(principal) as connection:
            return list_instances(connection, principal.tenant_id, wanted, before=before or END, limit=limit)

    def list_stuck(self, principal: Principal, *, idle_seconds: float, limit: int) -> Sequence[Stuck]:
        """List instances that should go on, although no trigger will wake them."""
        self._permit(principal)
        return list_stuck(self._database, principal.tenant_id, idle_seconds=idle_seconds, limit=limit)

    def read(self, principal: Principal, instance_id: UUID) -> Instance:
        with self._snapshot(principal) as connection:
            tenant_id = principal.tenant_id
            record = _read(connection, tenant_id, instance_id)
            paused_by = _find_pauser(connection, tenant_id, record)
            waits = store.list_waits(connection, tenant_id, instance_id)
        return _show(record, waits, paused_by)

    def list_tokens(self, principal: Principal, instance_id: UUID) -> InstanceTokens:
        with self._snapshot(principal) as connection:
            record = _read(connection, principal.tenant_id, instance_id)
            waits = store.list_waits(connection, principal.tenant_id, instance_id)
        return InstanceTokens(record.version, _show_tokens(record), list(map(_show_wait, waits)))

    def list_steps(
        self, principal: Principal, instance_id: UUID, *, after: int, limit: int
    ) -> Sequence[InstanceStep]:
        """List steps in the order in which they began."""
        with self._reading(principal) as connection:
            tenant_id = principal.tenant_id
            steps = store.list_steps(connection, tenant_id, instance_id, after=after, limit=limit)
            if not steps:
                _read(connection, tenant_id, instance_id)
        return list(map(_show_step, steps))

    def list_history(
        self, principal: Principal, instance_id: UUID, *, after: tuple[datetime, UUID] | None, limit: int
    ) -> Sequence[HistoryEntry]:
        """List the history in the order of time."""
        with self._reading(principal) as connection:
            tenant_id = principal.tenant_id
            entries = store.list_history(
                connection, tenant_id, instance_id, after=after or FIRST, limit=limit
            )
            if not entries:
                _read(connection, tenant_id, instance_id)
        return entries

    def draw(self, principal: Principal, instance_id: UUID) -> InstanceGraph:
        """Draw the graph of the instance with the way that it has come."""
        with self._snapshot(principal) as connection:
            tenant_id = principal.tenant_id
            row = store.read_compiled_of_instance(connection, tenant_id, instance_id)
            if row is None:
                raise instance_not_found(instance_id)
            visits = store.list_visits(connection, tenant_id, instance_id)
            taken = store.count_taken_edges(connection, tenant_id, instance_id)
        artifact = parse_artifact(row.compiled_json, row.compiled_hash)
        drawing = draw_instance(artifact.content, row.active_tokens, visits, taken, row.canvas)
        return InstanceGraph(drawing.nodes, drawing.edges, row.version, artifact.hash)

    def explain(self, principal: Principal, instance_id: UUID) -> Explained:
        self._permit(principal)
        explanation = explain(self._database, self._contracts, principal.tenant_id, instance_id)
        return Explained(write_instance(explanation), explanation)

    @contextmanager
    def _reading(self, principal: Principal) -> Iterator[Connection]:
        with reading(self._database, principal) as read:
            # Before anything is looked at: a caller without the permission learns nothing of it.
            read.require(READ)
            yield read.connection

    def _permit(self, principal: Principal) -> None:
        with self._reading(principal):
            pass

    @contextmanager
    def _snapshot(self, principal: Principal) -> Iterator[Connection]:
        """Open a snapshot, so that tokens and steps belong to one moment."""
        self._permit(principal)
        with self._database.snapshot(principal.tenant_id) as connection:
            yield connection


def _read(connection: Connection, tenant_id: UUID, instance_id: UUID) -> store.InstanceRecord:
    record = store.find_instance(connection, tenant_id, instance_id)
    if record is None:
        raise instance_not_found(instance_id)
    return record


def _show(
    record: store.InstanceRecord, waits: Sequence[store.WaitRow], paused_by: PausedBy | None
) -> Instance:
    return Instance(
        id=record.id,
        kind=record.kind,
        status=record.status,
        reason=record.reason,
        paused_by=paused_by,
        version=record.version,
        workflow=record.workflow,
        definition_id=record.definition_id,
        definition_version=record.definition_version,
        definition_hash=record.definition_hash,
        entity_type=record.entity_type,
        document_id=record.entity_id,
        document_version=record.entity_version,
        subject=record.subject_id,
        current_nodes=record.current_nodes,
        tokens=_show_tokens(record),
        waits=list(map(_show_wait, waits)),
        edit_window=record.edit_window,
        edit_window_node=record.edit_window_node,
        context=record.context_json,
        actor=record.actor_id,
        request_id=record.request_id,
        depth=record.depth,
        trace_id=record.trace_id,
        due_at=record.timeout_at,
        started_at=record.started_at,
        ended_at=record.completed_at,
        updated_at=record.updated_at,
    )


def _find_pauser(connection: Connection, tenant_id: UUID, record: store.InstanceRecord) -> PausedBy | None:
    """Return who has paused it; the engine also where every token is held."""
    if record.status != "paused":
        return None
    is_held = parse_position(record.active_tokens).is_held
    pause = None if is_held else read_pause(connection, tenant_id, record.id)
    return "person" if pause is not None and pause.is_by_person else "engine"


def _show_tokens(record: store.InstanceRecord) -> Sequence[InstanceToken]:
    return [
        InstanceToken(
            id=token["id"],
            node=token["node"],
            state=token["state"],
            document_version=token["version"],
            rejected=token["rejected"],
            parent=token["parent"],
            split=token["split"],
            held=token["hold"]["reason"] if "hold" in token else None,
        )
        for token in record.active_tokens
    ]


def _show_wait(row: store.WaitRow) -> Wait:
    return Wait(
        token=row.token_id,
        node=row.node_id,
        node_type=row.node_type,
        since=row.since,
        until=row.resume_at,
        event_key=row.waiting_for_event_key,
        approval_id=row.approval_request_id,
    )


def _show_step(row: store.StepRecord) -> InstanceStep:
    output = dict(row.output_json or {})
    return InstanceStep(
        id=row.id,
        seq=row.seq,
        end_seq=row.end_seq,
        node=row.node_id,
        node_type=row.node_type,
        token=row.token_id,
        status=row.status,
        outcome=output.pop("outcome", None),
        chosen_edge_ids=output.pop("chosen_edge_ids", ()),
        document_version=row.entity_version,
        document_version_after=row.version_after,
        actor=row.actor_user_id,
        run_as=row.run_as,
        input=row.input_json,
        evidence=output.pop("evidence", {}),
        variables=output.pop("variables", {}),
        data=output,
        error=row.error,
        started_at=row.started_at,
        ended_at=row.completed_at,
        duration_ms=row.duration_ms,
        until=row.resume_at,
        event_key=row.waiting_for_event_key,
        approval_id=row.approval_request_id,
        applied=row.applied,
        trace_id=row.trace_id,
    )
