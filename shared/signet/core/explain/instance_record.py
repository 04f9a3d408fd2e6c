"""The record of one instance as it was read: an explanation looks at nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from signet.core.approvals.eligibility import Delegation, Seat
from signet.core.integrations.effect_acts import HoldingCode
from signet.core.tenants.machine_label import MachineLabel

# Steps that only pass a token on: no explanation names them.
PASSED_BY = frozenset({"slot_in", "slot_out"})
InstanceStatus = Literal["running", "paused", "completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedInstance:
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
    # The persons behind the actor.
    responsible: Sequence[str] = ()
    # What its steps read of other documents as it was approved.
    pins: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExplainedDocument:
    contract_version: int
    status: str
    version: int
    is_deleted: bool
    creator_responsible: Sequence[str] = ()
    editor_responsible: Sequence[str] = ()
    # The document that it amends, and the one that has replaced it.
    amends: UUID | None = None
    amended_by: UUID | None = None


@dataclass(frozen=True, slots=True)
class OpenAmendment:
    """The open amendment of the document, with its live instance, where it has one."""

    document_id: UUID
    status: str
    version: int
    instance_id: UUID | None
    is_paused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedStep:
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
    # The version of the document when the step began.
    entity_version: int
    # What an acting node was given.
    input_json: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ExplainedTransitionRequest:
    """The open transition request of the document."""

    id: UUID
    transition: str
    actor_id: str
    reason: str | None
    created_at: datetime
    # The persons behind the requester.
    responsible: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TriggerRecord:
    """A trigger that is not done: due, being tried, or dead."""

    id: UUID
    event_type: str
    status: str
    attempts: int
    max_attempts: int
    due_at: datetime
    error: str | None
    # It was made for a later moment.
    is_scheduled: bool = False
    # How often outages gave it back without an attempt, since when, and why the last time.
    given_back: int = 0
    given_back_since: datetime | None = None
    given_back_code: str | None = None


@dataclass(frozen=True, slots=True)
class EffectRecord:
    """An effect of an open step."""

    step_execution_id: UUID
    effect_type: str
    endpoint: str | None
    status: str
    attempts: int
    max_attempts: int
    due_at: datetime
    error: str | None
    id: UUID | None = None
    # Why its endpoint holds what is for it: it is switched off, or missing.
    held_by: HoldingCode | None = None
    may_have_left: bool = False


@dataclass(frozen=True, slots=True)
class LeftRecord:
    """An effect that was withdrawn, and that has left or may have left before."""

    node_id: str
    effect_type: str
    endpoint: str | None
    status: str
    withdrawn_at: datetime
    completed_at: datetime | None


@dataclass(frozen=True, slots=True)
class TurnRecord:
    created_at: datetime
    entry: str
    actor_id: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision, with the delegation that allowed it as it is now."""

    id: UUID
    stage: int
    position: int
    decision: str
    reason: str | None
    decided_by: str
    on_behalf_of: str | None
    created_at: datetime
    delegation: Delegation | None = None


@dataclass(frozen=True, slots=True)
class VoterRecord:
    """A person that an open seat was for when this was read; `obstacle` says why they may not approve.

    `code` is the answer that their approval would get. A person who may not approve may still reject.
    """

    person: str
    on_behalf_of: str | None = None
    delegation_id: UUID | None = None
    obstacle: str | None = None
    code: str | None = None
    may_reject: bool = False


@dataclass(frozen=True, slots=True)
class LapsedVoteRecord:
    """A vote that a gate could not use; `reason` is why its people may not give it now, if that is known."""

    stage: int
    position: int
    decided_by: str
    on_behalf_of: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StuckStageRecord:
    """A stage that nobody may decide: of an open request, or one that could not begin.

    `voters` are those of a stage that could not begin. `additions` lack the asked roles or their permission,
    and nothing else.
    """

    node_id: str
    stage: int
    request_id: UUID | None
    # The roles that are asked, and the permissions that a voter needs.
    roles: Sequence[str]
    permissions: Sequence[str]
    chain_name: str | None
    voters: Sequence[VoterRecord] = ()
    additions: Sequence[str] = ()
    # Why the instance could not move to another policy, in words; only where the stage could not begin.
    immovable: str | None = None
    # Members who could be added, and are the only ones of a later stage.
    needed_later: Sequence[str] = ()
    # Members who could decide from a seat by break-glass.
    seatable: Sequence[str] = ()
    # Why approvers gave no seat, in words.
    unseated: Sequence[str] = ()
    # Whether the same person is what keeps anybody, and those who may still reject.
    lacks_another_person: bool = False
    # The change that bars every vote of the stage, also of new members, in words.
    bar: str | None = None
    # Members without a part in the document who may change members.
    helpers: Sequence[str] = ()
    rejecters: Sequence[str] = ()
    # What lets the people decide who are asked by name, in words.
    named_remedies: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AddedSeatRecord:
    """A seat that two operators added, and why."""

    stage: int
    position: int
    proposed_by: str
    consented_by: str
    reason: str


@dataclass(frozen=True, slots=True)
class ApprovalRecord:
    id: UUID
    step_execution_id: UUID
    node_id: str
    document_version: int
    snapshot_hash: str
    definition_hash: str
    policy_hash: str
    chain_name: str | None
    chain_version: int | None
    requester_id: str
    responsible: Sequence[str]
    pins: Mapping[str, Any] | None
    stage: int
    status: str
    outcome: str | None
    applied: bool | None
    escalate_at: datetime | None
    expire_at: datetime | None
    created_at: datetime
    ended_at: datetime | None
    seats: Sequence[Seat] = ()
    decisions: Sequence[DecisionRecord] = ()
    voter_permissions: Sequence[str] | None = None
    allows_same_person: bool = False
    # Set for an open request: who may vote, or why nobody may.
    voters: Sequence[VoterRecord] = ()
    refusal: str | None = None
    # What the document refers to has changed: the next vote is refused, and asks people again.
    is_stale: bool = False
    lapsed: Sequence[LapsedVoteRecord] = ()
    # The seats from which the same content was rejected before.
    rejected_seats: Sequence[Seat] = ()
    added_seats: Sequence[AddedSeatRecord] = ()
    # When it reminds next, and how often it has in its stage.
    remind_at: datetime | None = None
    reminders: int = 0


@dataclass(frozen=True, slots=True)
class EditRecord:
    """A version of the document, and the person who made it."""

    version: int
    actor_id: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RejectionRecord:
    """A change of the document that a rule has stopped, and what the rule read."""

    rule: str
    rule_version: int
    operation: str
    actor_id: str
    evidence: Mapping[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class AcceptedAct:
    """An act that the server would accept now, with its permission.

    `targets` are those of `go_to`. `then` is what may follow an end, where that must be said.
    """

    name: str
    permission: str
    targets: Sequence[str] = ()
    then: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PermittedRole:
    """A role that has a permission, with its first active holders and the number of all."""

    role: str
    people: Sequence[str]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRecord:
    """An open incident, with the acts that would be accepted when this was read."""

    id: UUID
    code: str
    kind: str
    message: str
    token: str | None
    node: str | None
    endpoint: str | None
    attempts: int
    opened_at: datetime
    acknowledged_by: str | None
    assignee: str | None
    acts: Sequence[AcceptedAct] = ()
    # Where a permission was denied: the first roles that have it.
    permitted: Sequence[PermittedRole] | None = None


@dataclass(frozen=True, slots=True)
class InstanceRecords:
    """The records of one instance: the last steps and those still open, and the rest by time.

    Edits are the versions that came after the oldest of the approvals.
    """

    instance: ExplainedInstance
    document: ExplainedDocument | None
    steps: Sequence[ExplainedStep]
    request: ExplainedTransitionRequest | None
    triggers: Sequence[TriggerRecord]
    effects: Sequence[EffectRecord]
    turns: Sequence[TurnRecord]
    approvals: Sequence[ApprovalRecord] = ()
    edits: Sequence[EditRecord] = ()
    stuck_stages: Sequence[StuckStageRecord] = ()
    # Open incidents, the oldest first.
    incidents: Sequence[IncidentRecord] = ()
    # What was withdrawn, and has left or may have left, the oldest first.
    left: Sequence[LeftRecord] = ()
    # The newest changes that rules have stopped, the newest first.
    rejections: Sequence[RejectionRecord] = ()
    tenant_id: UUID | None = None
    amendment: OpenAmendment | None = None
    # How many steps have ended in all, also those that are not among these.
    ended_steps: int = 0
    # Labels of keys and service accounts, by their subjects.
    machines: Mapping[str, MachineLabel] = field(default_factory=dict)
