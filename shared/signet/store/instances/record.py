"""The record of one instance, from which its explanation is made."""

from collections import defaultdict
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row

from signet.core.approvals.eligibility import Delegation, Seat
from signet.core.explain.instance_record import (
    PASSED_BY,
    ApprovalRecord,
    DecisionRecord,
    EditRecord,
    EffectRecord,
    ExplainedDocument,
    ExplainedInstance,
    ExplainedStep,
    ExplainedTransitionRequest,
    InstanceRecords,
    LeftRecord,
    OpenAmendment,
    RejectionRecord,
    TriggerRecord,
    TurnRecord,
)
from signet.store.database import Connection
from signet.store.statements import Statements

MAX_STEPS = 100
MAX_OTHERS = 20
MAX_REJECTIONS = 5
# In the order of the class's fields.
_DELEGATION = (
    "delegation_id",
    "user_id",
    "delegate_id",
    "entity_type",
    "from_time",
    "to_time",
    "is_revoked",
    "created_by",
    "given_by",
    "given_at",
)
_SQL = Statements(__file__)
_Row = TypeVar("_Row")


def read_record(connection: Connection, tenant_id: UUID, instance_id: UUID) -> InstanceRecords | None:
    """Read the record; a snapshot keeps steps and row, request and document consistent."""
    key = {"tenant_id": tenant_id, "id": instance_id, "limit": MAX_OTHERS}
    instances = _read(connection, ExplainedInstance, _SQL.read_instance, key)
    if not instances:
        return None
    (instance,) = instances
    key |= {"after": instance.version - MAX_STEPS, "document_id": instance.entity_id}
    documents = _read(connection, ExplainedDocument, _SQL.read_document, key)
    requests = _read(connection, ExplainedTransitionRequest, _SQL.read_open_request, key)
    amendments = _read(connection, OpenAmendment, _SQL.read_open_amendment, key)
    approvals = _read_approvals(connection, key)
    key |= {"since": min((approval.document_version for approval in approvals), default=0)}
    passed = key | {"passed_by": sorted(PASSED_BY)}
    ended_steps = connection.cursor(row_factory=scalar_row).execute(_SQL.count_ended_steps, passed).fetchone()
    return InstanceRecords(
        instance,
        documents[0] if documents else None,
        _read(connection, ExplainedStep, _SQL.read_steps, key),
        requests[0] if requests else None,
        _read(connection, TriggerRecord, _SQL.list_triggers, key),
        _read(connection, EffectRecord, _SQL.list_effects, key),
        _read(connection, TurnRecord, _SQL.list_turns, key),
        approvals,
        _read(connection, EditRecord, _SQL.list_edits, key) if approvals else (),
        left=_read(connection, LeftRecord, _SQL.list_left, key),
        rejections=_read(connection, RejectionRecord, _SQL.list_rejections, key | {"limit": MAX_REJECTIONS}),
        amendment=amendments[0] if amendments else None,
        ended_steps=ended_steps or 0,
    )


def _read_approvals(connection: Connection, key: dict[str, Any]) -> list[ApprovalRecord]:
    approvals = _read(connection, ApprovalRecord, _SQL.list_approvals, key)
    if not approvals:
        return []
    key = {**key, "request_ids": [approval.id for approval in approvals]}
    seats: dict[UUID, list[Seat]] = defaultdict(list)
    decisions: dict[UUID, list[DecisionRecord]] = defaultdict(list)
    with connection.cursor(row_factory=dict_row) as cursor:
        for row in cursor.execute(_SQL.list_seats, key).fetchall():
            seats[row.pop("request_id")].append(Seat(**row))
        for row in cursor.execute(_SQL.list_decisions, key).fetchall():
            decisions[row.pop("request_id")].append(_make_decision(row))
    return [
        replace(approval, seats=seats[approval.id], decisions=decisions[approval.id])
        for approval in approvals
    ]


def _make_decision(row: dict[str, Any]) -> DecisionRecord:
    given = [row.pop(name) for name in _DELEGATION]
    return DecisionRecord(**row, delegation=Delegation(*given) if given[0] is not None else None)


def _read(connection: Connection, row: type[_Row], statement: str, values: dict[str, Any]) -> list[_Row]:
    with connection.cursor(row_factory=class_row(row)) as cursor:
        return cursor.execute(statement, values).fetchall()
