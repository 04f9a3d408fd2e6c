"""What is on record of one instance, as it was read: all that an explanation of it may look at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class InstanceRecord:
    id: UUID
    definition_id: UUID
    definition_version: int
    entity_type: str | None
    entity_id: UUID | None
    status: str
    reason: str | None
    version: int
    actor_id: str
    request_id: UUID | None
    active_tokens: Sequence[Mapping[str, Any]]
    started_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    contract_version: int
    status: str
    version: int
    is_deleted: bool


@dataclass(frozen=True, slots=True)
class StepRecord:
    id: UUID
    seq: int
    end_seq: int | None
    node_id: str
    node_type: str
    token_id: str
    status: str
    run_as: str
    actor_user_id: str
    output_json: Mapping[str, Any] | None
    error: str | None
    started_at: datetime
    completed_at: datetime | None
    resume_at: datetime | None
    waiting_for_event_key: str | None


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """The one that is open."""

    id: UUID
    transition: str
    actor_id: str
    reason: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class TriggerRecord:
    """One that is not done: on its way, or dead."""

    id: UUID
    event_type: str
    status: str
    attempts: int
    max_attempts: int
    due_at: datetime
    error: str | None


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """Of a step that is open."""

    step_execution_id: UUID
    effect_type: str
    endpoint: str | None
    status: str
    attempts: int
    max_attempts: int
    due_at: datetime
    error: str | None


@dataclass(frozen=True, slots=True)
class TurnRecord:
    created_at: datetime
    entry: str
    actor_id: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Record:
    """Steps are the last ones and those still open, by number; turns and triggers in the order of time."""

    instance: InstanceRecord
    document: DocumentRecord | None
    steps: Sequence[StepRecord]
    request: RequestRecord | None
    triggers: Sequence[TriggerRecord]
    effects: Sequence[EffectRecord]
    turns: Sequence[TurnRecord]
