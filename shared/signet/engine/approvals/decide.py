"""One decision about a request for approval, inside its transaction.

It locks the document, then the request, as a wave does. So nothing that it judges can change meanwhile, and
of two votes for the last seat the second finds it taken. The tables are the authority: a trigger wakes the
wave, which goes on from what it finds there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, get_args
from uuid import UUID

from signet.core.approvals.barring_changes import VoteBasis, find_barring_change
from signet.core.approvals.eligibility import (
    Allowed,
    VotingContext,
    can_anyone_vote,
    choose_seat,
    separation_conflict,
)
from signet.core.approvals.entitlement import Entitlement, check_all
from signet.core.approvals.pins import list_pinned_persons, read_pinned
from signet.core.approvals.policy import Policy, Stage, parse_policy
from signet.core.approvals.seats import MAX_SEATS
from signet.core.approvals.votes import (
    NextAction,
    count_votes,
    has_escalated,
    is_reason_missing,
    list_approved_stages,
    next_action,
    record_vote,
)
from signet.core.compiler.node_configurations import Vote
from signet.core.contracts.compiled_contract import CompiledContract, Denial
from signet.core.errors import Defect, FieldError, Rejected
from signet.core.expressions import Environment
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.responsible import MAX_PERSONS
from signet.engine.documents.change import DocumentChange, audit_only_change, trigger_workflow
from signet.engine.documents.command_checks import check_reason
from signet.engine.documents.unit_of_work import DocumentCaches, DocumentUnitOfWork
from signet.ids import make_id
from signet.store.approvals.decisions import LockedRequest, RequestRow, add_decision, lock_request
from signet.store.documents.write import DocumentRow, lock_documents
from signet.store.pipeline import PipelinedTransaction

EVENT = "approval_decided"
_VOTES = get_args(Vote)
# The status of a request that ends, by the action that follows from its last stage.
_ENDS: dict[NextAction, str] = {NextAction.APPROVE: "approved", NextAction.REJECT: "rejected"}


@dataclass(frozen=True, slots=True)
class VoteResult:
    """The effect of a counted vote. `stage_state` is open, approved, rejected or deadlocked."""

    request_id: UUID
    decision_id: UUID
    stage: int
    position: int
    vote: Vote
    on_behalf_of: str | None
    delegation_id: UUID | None
    stage_state: str
    request_status: str


@dataclass(frozen=True, slots=True)
class Ballot:
    """One person's vote about a request."""

    request_id: UUID
    vote: Vote
    reason: str | None = None


class ReferencesChanged(Rejected):
    """A vote about documents that say something else now: its workflow must ask again."""

    def __init__(self, instance_id: UUID, sentence: str, changed: Sequence[str] = ()) -> None:
        super().__init__(
            "APPROVAL_STALE",
            sentence,
            remedy="Read it again: the workflow asks again for the approvals that it still needs.",
            details={"changed": list(changed)},
        )
        self.instance_id = instance_id


@dataclass(frozen=True, slots=True)
class _LockedSubject:
    """The document and the request that are decided about, both locked until the transaction ends."""

    caller: Caller
    now: datetime
    documents: DocumentUnitOfWork
    document: DocumentRow
    contract: CompiledContract
    locked: LockedRequest

    @property
    def request(self) -> RequestRow:
        return self.locked.request

    @property
    def person(self) -> str:
        return self.caller.principal.subject

    def voting_context(self) -> VotingContext:
        requesters = self.request.requesters | self.document.requester_responsible
        separation = separation_conflict(self.contract, self.document, requesters, self.request.pins or {})
        people = self.locked.people
        entitlement = Entitlement(
            self.contract,
            self.request.voter_permissions or (),
            {user_id: person.permissions for user_id, person in people.items()},
            self._make_env,
        )
        return VotingContext(
            entity_type=self.document.entity_type,
            now=self.now,
            roles={user_id: person.roles for user_id, person in people.items()},
            delegations=self.locked.delegations,
            find_conflict=check_all(separation, entitlement.find_denial),
            approved_elsewhere=self.request.approved_elsewhere,
            find_barring_grant=self._find_barring_grant,
        )

    def _find_barring_grant(self, voter: str, represented: str | None) -> Denial | None:
        """Return why the vote rests on what its own people granted or took since the request was opened."""
        seats, people = self.locked.seats, self.locked.people
        voices = [voter] if represented is None else [voter, represented]
        responsible = self.document.responsible | self.request.requesters
        basis = VoteBasis(
            voter=voter,
            represented=represented,
            own_roles={role for voice in voices if voice in people for role in people[voice].roles},
            holder_ids={seat.holder_user_id for seat in seats if seat.holder_user_id is not None},
            seat_roles={seat.holder_role for seat in seats if seat.holder_role is not None},
            responsible=responsible | list_pinned_persons(self.request.pins or {}),
            opened_at=self.request.created_at,
        )
        return find_barring_change(basis, self.locked.changes)

    def _make_env(self, person: str) -> Environment:
        """Make the environment of a condition on the voter, with their roles of the member tables."""
        held = self.locked.people.get(person)
        principal = Principal(self.caller.principal.tenant_id, person, tuple(held.roles if held else ()))
        voter = replace(self.caller, principal=principal)
        context = self.documents.make_context(voter, self.contract, self.document)
        env = context.env(context.data, status=self.document.status, version=self.document.version)
        return {**env, "refs": read_pinned(self.request.pins or {})}


def decide(
    caches: DocumentCaches, pipeline: PipelinedTransaction, caller: Caller, ballot: Ballot
) -> VoteResult:
    """Count a vote, or raise why it does not count; then nothing is written.

    The transaction begins with `document_statement`, which names the document to lock.
    """
    subject = _lock(caches, pipeline, caller, ballot.request_id)
    policy = _require_open(subject)
    seat = _choose_seat(subject, policy.stage(subject.request.stage), ballot)
    return _record(subject, pipeline, policy, seat, ballot)


def require_ballot(vote: str, reason: str | None) -> None:
    if vote not in _VOTES:
        sentence = f"wants one of {', '.join(_VOTES)}"
        mistake = FieldError("/vote", "FIELD_INVALID", sentence)
        raise Rejected("FIELDS_INVALID", f"vote {sentence}", fields=(mistake,))
    rejected = check_reason(reason)
    if rejected is not None:
        raise rejected


def approval_not_found(request_id: UUID) -> Rejected:
    return Rejected("APPROVAL_NOT_FOUND", f"there is no approval {request_id}")


def _lock(
    caches: DocumentCaches, pipeline: PipelinedTransaction, caller: Caller, request_id: UUID
) -> _LockedSubject:
    """Lock the document, then the request, as a wave does."""
    if pipeline.first_row is None:
        raise approval_not_found(request_id)
    connection, document_id = pipeline.connection, pipeline.first_row[0]
    tenant_id = caller.principal.tenant_id
    opened = lock_documents(connection, [document_id], caller.principal.roles)
    documents = DocumentUnitOfWork(caches, connection, tenant_id, opened.transaction, opened.rows)
    document: DocumentRow = opened.rows[document_id]
    contract = documents.contract_of(document)
    # At most everyone who took part, the request's persons, and for each seat a holder and a delegate.
    barred = len(document.responsible) + MAX_PERSONS
    locked = lock_request(
        connection,
        tenant_id,
        request_id,
        caller.principal.subject,
        now=opened.transaction.now,
        at_most=barred + 2 * MAX_SEATS + 1,
        responsible=document.responsible,
    )
    if locked is None:
        raise approval_not_found(request_id)
    return _LockedSubject(caller, opened.transaction.now, documents, document, contract, locked)


def _require_open(subject: _LockedSubject) -> Policy:
    """Return the policy that the request is pinned to, or raise why the request takes no vote."""
    request, document = subject.request, subject.document
    if request.status != "open":
        raise Rejected("APPROVAL_CLOSED", f"this approval is {request.status}")
    if document.version != request.document_version:
        # The workflow will void the request. Until then the version alone shows the edit.
        raise Rejected(
            "APPROVAL_STALE",
            f"the approval is about version {request.document_version};"
            f" the document is at version {document.version}",
            remedy="Read it again: the workflow asks again for the approvals that it still needs.",
            details={"current_version": document.version, "request_version": request.document_version},
        )
    if document.snapshot_hash != request.snapshot_hash:
        raise Defect(
            "APPROVAL_SNAPSHOT_ALTERED", "the snapshot is not the one that the approval was pinned to"
        )
    if request.expire_at is not None and request.expire_at <= subject.now:
        raise Rejected("APPROVAL_CLOSED", "the time to decide is over")
    if document.instance_id != request.instance_id:
        raise Rejected("APPROVAL_CLOSED", "the workflow that asked has ended")
    if request.voter_permissions is None or request.pins is None:
        raise ReferencesChanged(
            request.instance_id, "the approval is of an older release, and is asked again"
        )
    if request.changed_pins:
        sentence = f"what the document refers to has changed: {', '.join(request.changed_pins)}"
        raise ReferencesChanged(request.instance_id, sentence, request.changed_pins)
    return parse_policy(request.policy, request.policy_hash)


def _choose_seat(subject: _LockedSubject, stage: Stage, ballot: Ballot) -> Allowed:
    seats = subject.locked.seats
    # A decided stage is closed, although the wave has yet to begin the next one or to escalate.
    is_open = not count_votes(stage, seats).is_decided
    voting = subject.voting_context()
    choice = choose_seat(subject.person, seats, voting, vote=ballot.vote, is_open=is_open)
    if isinstance(choice, Denial):
        raise Rejected(choice.code, choice.sentence)
    if is_reason_missing(stage, ballot.vote, ballot.reason):
        raise _reason_required(ballot.vote)
    return choice


def _record(
    subject: _LockedSubject, pipeline: PipelinedTransaction, policy: Policy, seat: Allowed, ballot: Ballot
) -> VoteResult:
    request = subject.request
    stage = policy.stage(request.stage)
    seats = record_vote(
        stage,
        subject.locked.seats,
        seat.position,
        ballot.vote,
        decided_by=subject.person,
        on_behalf_of=seat.on_behalf_of,
    )
    verdict = count_votes(stage, seats, can_vote=can_anyone_vote(seats, subject.voting_context()))
    follows = next_action(
        policy,
        request.stage,
        verdict,
        escalated=has_escalated(seats),
        approved=list_approved_stages(policy, subject.locked.other_seats),
    )
    status = _ENDS.get(follows.act)
    result = VoteResult(
        request_id=request.id,
        decision_id=make_id(),
        stage=request.stage,
        position=seat.position,
        vote=ballot.vote,
        on_behalf_of=seat.on_behalf_of,
        delegation_id=seat.delegation_id,
        stage_state=verdict.state,
        request_status=status or request.status,
    )
    change = _make_change(subject, result, ballot.reason)
    subject.documents.apply(change)
    subject.documents.write(pipeline)
    decision = _decision_row(subject, result, ballot.reason, subject.documents.audit_id_of(change))
    add_decision(pipeline, decision, closes_stage=verdict.is_decided, status=status)
    return result


def _decision_row(
    subject: _LockedSubject, result: VoteResult, reason: str | None, audit_id: str
) -> dict[str, Any]:
    request = subject.request
    return {
        "tenant_id": subject.caller.principal.tenant_id,
        "id": result.decision_id,
        "request_id": request.id,
        "stage": result.stage,
        "position": result.position,
        "decision": result.vote,
        "reason": reason,
        "decided_by": subject.person,
        "on_behalf_of": result.on_behalf_of,
        "delegation_id": result.delegation_id,
        "document_version": request.document_version,
        "snapshot_hash": request.snapshot_hash,
        "definition_hash": request.definition_hash,
        "policy_hash": request.policy_hash,
        "pins_hash": request.pins_hash,
        "audit_id": audit_id,
        "trace_id": subject.caller.trace_id,
        "now": subject.now,
    }


def _make_change(subject: _LockedSubject, result: VoteResult, reason: str | None) -> DocumentChange:
    """Make the entry in the audit trail, and the trigger of the workflow where the stage has ended."""
    request, document = subject.request, subject.document
    context = subject.documents.make_context(subject.caller, subject.contract, document)
    detail = {
        "approval": {
            "request_id": str(request.id),
            "decision_id": str(result.decision_id),
            "node": request.node_id,
            "stage": result.stage,
            "seat": result.position,
            "delegation_id": str(result.delegation_id) if result.delegation_id else None,
            "stage_state": result.stage_state,
            "request_status": result.request_status,
            "document_version": request.document_version,
            "snapshot_hash": request.snapshot_hash,
            "definition_hash": request.definition_hash,
            "policy_hash": request.policy_hash,
            "pins_hash": request.pins_hash,
            "entitled_by": _describe_entitlement(subject, result),
        }
    }
    change = audit_only_change(
        context,
        document,
        f"decide:{result.vote}",
        reason,
        on_behalf_of=result.on_behalf_of,
        detail=detail,
    )
    if result.stage_state != "open":
        payload = {"request_id": str(request.id), "stage": result.stage, "state": result.stage_state}
        trigger_workflow(change, document, EVENT, payload)
    return change


def _describe_entitlement(subject: _LockedSubject, result: VoteResult) -> dict[str, Any]:
    """Describe the seat, the roles and the permissions by which the vote counted."""
    seat = next(seat for seat in subject.locked.seats if seat.position == result.position)
    voices = [subject.person] if result.on_behalf_of is None else [subject.person, result.on_behalf_of]
    return {
        "holder_user_id": seat.holder_user_id,
        "holder_role": seat.holder_role,
        "origin": seat.origin,
        "permissions": list(subject.request.voter_permissions or ()),
        "roles": {voice: sorted(subject.locked.people[voice].roles) for voice in voices},
    }


def _reason_required(vote: str) -> Rejected:
    mistake = FieldError("/reason", "REASON_REQUIRED", "wants a reason")
    return Rejected("FIELDS_INVALID", f"the vote '{vote}' needs a reason", fields=(mistake,))
