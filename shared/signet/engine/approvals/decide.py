"""One decision about a request for approval, inside its transaction.

It locks the document, then the request, as a wave does: what it judges cannot change under it, and of two
votes for the last seat the second finds it taken. Tables are the authority; the wave, woken by a trigger,
goes on from what it finds there.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import get_args
from uuid import UUID

from signet.core.approvals.eligibility import Allowed, VotingContext, can_anyone_vote, choose_seat
from signet.core.approvals.policy import Stage, read_policy
from signet.core.approvals.seats import MAX_SEATS
from signet.core.approvals.votes import (
    NextAction,
    StageVerdict,
    count_votes,
    has_escalated,
    is_reason_missing,
    next_action,
    record_vote,
)
from signet.core.compiler.node_configurations import Vote
from signet.core.contracts.compiled_contract import CompiledContract, Denial
from signet.core.errors import Defect, FieldError, Rejected
from signet.core.tenants.caller import Caller
from signet.engine.documents.change import DocumentChange, audit_only_change, trigger_workflow
from signet.engine.documents.command_checks import check_reason
from signet.engine.documents.unit_of_work import DocumentCaches, DocumentUnitOfWork
from signet.ids import make_id
from signet.store.approvals.decisions import LockedRequest, RequestRow, add_decision, lock_request
from signet.store.documents.write import DocumentRow, lock_documents, parse_locked_documents
from signet.store.pipeline import PipelinedTransaction

EVENT = "approval_decided"
_VOTES = get_args(Vote)
# What ends a request, by what follows from its last stage.
_ENDS: dict[NextAction, str] = {NextAction.APPROVE: "approved", NextAction.REJECT: "rejected"}


@dataclass(frozen=True, slots=True)
class VoteResult:
    """What a vote was counted as. `stage_state` is open, approved, rejected or deadlocked."""

    request_id: UUID
    decision_id: UUID
    stage: int
    position: int
    vote: Vote
    on_behalf_of: str | None
    delegation_id: UUID | None
    stage_state: str
    request_status: str


class Deciding:
    """`decide` raises why not; then nothing is written."""

    def __init__(
        self,
        caches: DocumentCaches,
        pipeline: PipelinedTransaction,
        caller: Caller,
        request_id: UUID,
        document_id: UUID,
    ) -> None:
        connection, tenant_id = pipeline.connection, caller.principal.tenant_id
        opening = lock_documents([document_id], caller.principal.roles)
        rows, transaction = parse_locked_documents(
            connection.execute(opening.text, opening.values).fetchone()
        )
        if transaction is None:
            raise Rejected("TENANT_INACTIVE", "this tenant does not exist or is suspended")
        self._pipeline = pipeline
        self._caller = caller
        self._transaction = transaction
        self._opened = DocumentUnitOfWork(caches, connection, tenant_id, transaction, rows)
        self._row: DocumentRow = rows[document_id]
        self._contract: CompiledContract = self._opened.contract_of(self._row)
        self._asked = self._lock(request_id)

    @property
    def _person(self) -> str:
        return self._caller.principal.subject

    def _lock(self, request_id: UUID) -> LockedRequest:
        # Whom separation of duties may bar, and on each of the seats a holder and whoever stood in for him.
        barred = 3 + len(self._row.editor_ids)
        locked = lock_request(
            self._pipeline.connection,
            self._caller.principal.tenant_id,
            request_id,
            self._person,
            now=self._transaction.now,
            at_most=barred + 2 * MAX_SEATS + 1,
        )
        if locked is None:
            raise approval_not_found(request_id)
        return locked

    def decide(self, vote: Vote, reason: str | None) -> VoteResult:
        locked, request = self._asked, self._asked.request
        _check_open(request, self._row, self._transaction.now)
        policy = read_policy(request.policy, request.policy_hash)
        stage = policy.stage(request.stage)
        allowed = self._choose(stage)
        if is_reason_missing(stage, vote, reason):
            raise _reason_required(vote)
        seats = record_vote(
            stage,
            locked.seats,
            allowed.position,
            vote,
            decided_by=self._person,
            on_behalf_of=allowed.on_behalf_of,
        )
        verdict = count_votes(stage, seats, can_vote=can_anyone_vote(seats, self._standing()))
        follows = next_action(policy, request.stage, verdict, escalated=has_escalated(seats))
        status = _ENDS.get(follows.act)
        decided = VoteResult(
            request_id=request.id,
            decision_id=make_id(),
            stage=request.stage,
            position=allowed.position,
            vote=vote,
            on_behalf_of=allowed.on_behalf_of,
            delegation_id=allowed.delegation_id,
            stage_state=verdict.state,
            request_status=status or request.status,
        )
        self._write(decided, verdict, reason, status)
        return decided

    def _choose(self, stage: Stage) -> Allowed:
        # The wave has yet to begin the next stage, or to escalate this one.
        is_open = not count_votes(stage, self._asked.seats).is_decided
        choice = choose_seat(self._person, self._asked.seats, self._standing(), is_open=is_open)
        if isinstance(choice, Denial):
            raise Rejected(choice.code, choice.sentence)
        return choice

    def _standing(self) -> VotingContext:
        return VotingContext(
            entity_type=self._row.entity_type,
            now=self._transaction.now,
            roles=self._asked.people,
            delegations=self._asked.delegations,
            find_conflict=self._find_conflict,
        )

    def _find_conflict(self, person: str) -> Denial | None:
        row, requesters = self._row, [self._asked.request.requester_id]
        if row.requester_id is not None:
            # Who has asked since, while this was decided about.
            requesters.append(row.requester_id)
        return self._contract.find_conflict_of_duties(
            person, creator=row.creator_id, editors=row.editor_ids, requesters=requesters
        )

    def _write(
        self, decided: VoteResult, verdict: StageVerdict, reason: str | None, status: str | None
    ) -> None:
        request = self._asked.request
        decision = {
            "tenant_id": self._caller.principal.tenant_id,
            "id": decided.decision_id,
            "request_id": request.id,
            "stage": decided.stage,
            "position": decided.position,
            "decision": decided.vote,
            "reason": reason,
            "decided_by": self._person,
            "on_behalf_of": decided.on_behalf_of,
            "delegation_id": decided.delegation_id,
            "document_version": request.document_version,
            "snapshot_hash": request.snapshot_hash,
            "definition_hash": request.definition_hash,
            "policy_hash": request.policy_hash,
            "trace_id": self._caller.trace_id,
            "now": self._transaction.now,
        }
        self._opened.apply(self._make_change(decided, verdict, reason))
        self._opened.write(self._pipeline)
        add_decision(self._pipeline, decision, closes_stage=verdict.is_decided, status=status)

    def _make_change(self, decided: VoteResult, verdict: StageVerdict, reason: str | None) -> DocumentChange:
        """The document stays as it is; its audit trail has the decision, its workflow what follows."""
        request = self._asked.request
        context = self._opened.facts_of(self._caller, self._contract, self._row)
        change = audit_only_change(context, self._row, f"decide:{decided.vote}", reason)
        change.on_behalf_of = decided.on_behalf_of
        change.audit_detail = {
            "approval": {
                "request_id": str(request.id),
                "decision_id": str(decided.decision_id),
                "node": request.node_id,
                "stage": decided.stage,
                "seat": decided.position,
                "delegation_id": str(decided.delegation_id) if decided.delegation_id else None,
                "stage_state": decided.stage_state,
                "request_status": decided.request_status,
                "document_version": request.document_version,
                "snapshot_hash": request.snapshot_hash,
                "definition_hash": request.definition_hash,
                "policy_hash": request.policy_hash,
            }
        }
        if verdict.state != "open":
            payload = {"request_id": str(request.id), "stage": decided.stage, "state": verdict.state}
            trigger_workflow(change, self._row, EVENT, payload)
        return change


def check_ballot(vote: str, reason: str | None) -> None:
    if vote not in _VOTES:
        sentence = f"wants one of {', '.join(_VOTES)}"
        mistake = FieldError("/vote", "FIELD_INVALID", sentence)
        raise Rejected("FIELDS_INVALID", f"vote {sentence}", fields=(mistake,))
    rejected = check_reason(reason)
    if rejected is not None:
        raise rejected


def _check_open(request: RequestRow, row: DocumentRow, now: datetime) -> None:
    if request.status != "open":
        raise Rejected("APPROVAL_CLOSED", f"this approval is {request.status}")
    if row.version != request.document_version:
        # Its workflow will void it; until then the edit speaks for itself.
        raise Rejected(
            "APPROVAL_STALE",
            f"asked about version {request.document_version}; the document is at version {row.version}",
            remedy="Read it again: what is still wanted will be asked anew.",
            details={"current_version": row.version, "request_version": request.document_version},
        )
    if row.snapshot_hash != request.snapshot_hash:
        raise Defect(
            "APPROVAL_SNAPSHOT_ALTERED", "the snapshot is not the one that the approval was pinned to"
        )
    if request.expire_at is not None and request.expire_at <= now:
        raise Rejected("APPROVAL_CLOSED", "the time to decide is over")
    if row.instance_id != request.instance_id:
        raise Rejected("APPROVAL_CLOSED", "the workflow that asked has ended")


def approval_not_found(request_id: UUID) -> Rejected:
    return Rejected("APPROVAL_NOT_FOUND", f"there is no approval {request_id}")


def _reason_required(vote: str) -> Rejected:
    mistake = FieldError("/reason", "REASON_REQUIRED", "wants a reason")
    return Rejected("FIELDS_INVALID", f"to say '{vote}' wants a reason", fields=(mistake,))
