"""One decision about a request for approval, inside its transaction.

It locks the document, then the request, as a wave does. So nothing that it judges can change meanwhile, and
of two votes for the last seat the second finds it taken. The tables are the authority: a trigger wakes the
wave, which goes on from what it finds there.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import (
    NOT_ASKED,
    Allowed,
    Seat,
    can_anyone_vote,
    find_earlier_vote,
    find_people_behind,
    is_asked,
)
from signet.core.approvals.entitlement import (
    UNPROVEN,
    MakeVoterEnvironment,
    VoteCheck,
    VotedDocument,
    find_foreign_request,
)
from signet.core.approvals.policy import Policy, Stage, parse_policy
from signet.core.approvals.seats.assignment import MAX_SEATS
from signet.core.approvals.votes import (
    NextAction,
    count_votes,
    has_escalated,
    is_reason_missing,
    list_approved_stages,
    next_action,
    record_vote,
)
from signet.core.contracts.compiled_contract import CompiledContract, Denial
from signet.core.errors import Defect, Rejected, SignetError
from signet.core.expressions import Environment
from signet.core.tenants.caller import Caller
from signet.core.tenants.principal import Principal
from signet.core.tenants.responsible import MAX_PERSONS
from signet.engine.approvals.ballots import (
    READ_AGAIN,
    ReferencesChanged,
    StandingDocument,
    Voters,
    approval_not_found,
    reason_required,
)
from signet.engine.approvals.ballots import Ballot as Ballot
from signet.engine.approvals.ballots import VoteResult as VoteResult
from signet.engine.documents.change import DocumentChange, audit_only_change, trigger_workflow
from signet.engine.documents.unit_of_work import DocumentCaches, DocumentUnitOfWork
from signet.ids import make_id
from signet.store.approvals.decisions import LockedRequest, RequestRow, add_decision, lock_request
from signet.store.documents.write import DocumentRow, lock_documents
from signet.store.pipeline import PipelinedTransaction

EVENT = "approval_decided"
TELL_AN_OPERATOR = "Tell an operator: something has written past the workflow."
# The status of a request that ends, by the action that follows from its last stage.
_ENDS: dict[NextAction, str] = {NextAction.APPROVE: "approved", NextAction.REJECT: "rejected"}


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

    def make_check(self, policy: Policy) -> VoteCheck:
        """Make the check of votes on the present stage."""
        locked = self.locked
        return make_check(
            self.request,
            self.document,
            self.contract,
            policy.stage(self.request.stage),
            locked.seats,
            Voters(locked.people, locked.delegations, locked.changes),
            now=self.now,
            make_env=self._make_env,
        )

    def _make_env(self, person: str, roles: Collection[str]) -> Environment:
        """Make the environment of a condition on the voter, with their roles of the member tables."""
        principal = Principal(self.caller.principal.tenant_id, person, tuple(roles))
        context = self.documents.make_context(
            replace(self.caller, principal=principal), self.contract, self.document
        )
        return context.env(context.data, status=self.document.status, version=self.document.version)


def decide(
    caches: DocumentCaches, pipeline: PipelinedTransaction, caller: Caller, ballot: Ballot
) -> VoteResult:
    """Count a vote, or raise why it does not count; then nothing is written.

    The transaction begins with `document_statement`, which names the document to lock.
    """
    subject = _lock(caches, pipeline, caller, ballot.request_id)
    _require_asked(subject)
    policy = _require_open(subject)
    _require_explained(caches, pipeline, subject, policy)
    check = subject.make_check(policy)
    seat = _choose_seat(subject, check, ballot)
    return _record(subject, pipeline, policy, check, seat, ballot)


def find_refusal(request: RequestRow, document: StandingDocument, now: datetime) -> SignetError | None:
    """Return why the request takes no vote: it has ended, or people were asked about something else."""
    if request.status != "open":
        return Rejected("APPROVAL_CLOSED", f"this approval is {request.status}")
    if document.version != request.document_version:
        # The workflow will void the request. Until then the version alone shows the edit.
        return _describe_edit(request.document_version, document.version)
    if document.snapshot_hash != request.snapshot_hash:
        sentence = "the snapshot is not the one that the approval was pinned to"
        return Defect("APPROVAL_SNAPSHOT_ALTERED", sentence)
    if request.expire_at is not None and request.expire_at <= now:
        return Rejected("APPROVAL_CLOSED", "the time to decide is over")
    if document.instance_id != request.instance_id:
        return Rejected("APPROVAL_CLOSED", "the workflow that asked has ended")
    return _find_changed_references(request)


def make_check(
    request: RequestRow,
    document: VotedDocument,
    contract: CompiledContract,
    stage: Stage,
    seats: Sequence[Seat],
    voters: Voters,
    *,
    now: datetime,
    make_env: MakeVoterEnvironment,
) -> VoteCheck:
    """Make the check of votes on the present stage of a request."""
    check = VoteCheck(
        contract=contract,
        document=document,
        requesters=request.requesters,
        asked_since=request.asked_since,
        pins=request.pins or {},
        needed_permissions=request.voter_permissions or (),
        approved_elsewhere=request.approved_elsewhere,
        stage=stage,
        seats=seats,
        now=now,
        make_env=make_env,
    )
    return check.with_people(voters.people, voters.delegations, voters.changes)


def explain_denial(denial: Denial, person: str, other_seats: Sequence[Seat]) -> Denial:
    """Say that a person has voted in another stage, where they are not asked in the present one."""
    earlier = find_earlier_vote(person, other_seats) if denial.code == NOT_ASKED else None
    return earlier or denial


def _find_changed_references(request: RequestRow) -> ReferencesChanged | None:
    if request.voter_permissions is None or request.pins is None:
        sentence = "the approval is of an older release, and is asked again"
        return ReferencesChanged(request.instance_id, sentence)
    if request.changed_pins:
        sentence = f"what the document refers to has changed: {', '.join(request.changed_pins)}"
        return ReferencesChanged(request.instance_id, sentence, request.changed_pins)
    if request.changed_variables:
        sentence = f"variables of the workflow have changed: {', '.join(request.changed_variables)}"
        return ReferencesChanged(request.instance_id, sentence, request.changed_variables)
    if request.erased_fields:
        sentence = f"personal values were erased since people were asked: {', '.join(request.erased_fields)}"
        return ReferencesChanged(request.instance_id, sentence, request.erased_fields)
    return None


def _describe_edit(asked: int, current: int) -> Rejected:
    return Rejected(
        "APPROVAL_STALE",
        f"the approval is about version {asked}; the document is at version {current}",
        remedy=READ_AGAIN,
        details={"current_version": current, "request_version": asked},
    )


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
    # The people behind the request itself are not known yet.
    behind = find_people_behind(document, (), None).everyone
    # At most everyone who took part, the request's persons, and for each seat a holder and a delegate. The
    # statement adds the persons of the request's pins.
    barred = len(behind) + MAX_PERSONS
    locked = lock_request(
        connection,
        tenant_id,
        request_id,
        caller.principal.subject,
        now=opened.transaction.now,
        at_most=barred + 2 * MAX_SEATS + 1,
        responsible=behind,
        by_roles=contract.permissions_by_roles,
    )
    if locked is None:
        raise approval_not_found(request_id)
    return _LockedSubject(caller, opened.transaction.now, documents, document, contract, locked)


def _require_asked(subject: _LockedSubject) -> None:
    """Refuse strangers before all else: the other answers tell what only those who are asked may know."""
    locked, person = subject.locked, subject.person
    roles = {user_id: known.roles for user_id, known in locked.people.items()}
    if not is_asked(person, (*locked.seats, *locked.other_seats), roles, locked.delegations):
        raise Rejected("APPROVAL_NOT_YOURS", f"{person} is not asked to decide about this")


def _require_open(subject: _LockedSubject) -> Policy:
    """Return the policy that the request is pinned to, or raise why the request takes no vote."""
    refusal = find_refusal(subject.request, subject.document, subject.now)
    if refusal is not None:
        raise refusal
    return parse_policy(subject.request.policy, subject.request.policy_hash)


def _require_explained(
    caches: DocumentCaches, pipeline: PipelinedTransaction, subject: _LockedSubject, policy: Policy
) -> None:
    """Refuse a request that the definition of its instance does not ask."""
    asks = (subject.request.origin or {}).get("definition")
    key = (subject.caller.principal.tenant_id, UUID(asks["id"]), asks["version"]) if asks else None
    workflow = caches.compiled.read(pipeline.connection, *key) if key else None
    reason = find_foreign_request(subject.request, policy, workflow)
    if reason is not None:
        raise Rejected(UNPROVEN, reason, remedy=TELL_AN_OPERATOR)


def _choose_seat(subject: _LockedSubject, check: VoteCheck, ballot: Ballot) -> Allowed:
    choice = check.choose(subject.person, ballot.vote)
    if isinstance(choice, Denial):
        denial = explain_denial(choice, subject.person, subject.locked.other_seats)
        raise Rejected(denial.code, denial.sentence)
    if is_reason_missing(check.stage, ballot.vote, ballot.reason):
        raise reason_required(ballot.vote)
    return choice


def _record(
    subject: _LockedSubject,
    pipeline: PipelinedTransaction,
    policy: Policy,
    check: VoteCheck,
    seat: Allowed,
    ballot: Ballot,
) -> VoteResult:
    request = subject.request
    seats = record_vote(
        check.stage,
        subject.locked.seats,
        seat.position,
        ballot.vote,
        decided_by=subject.person,
        on_behalf_of=seat.on_behalf_of,
    )
    can_vote = can_anyone_vote(seats, check.make_context())
    verdict = count_votes(check.stage, seats, can_vote=can_vote)
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
    decision = _decision_row(
        subject, result, ballot.reason, subject.documents.batch.audit_id_of(change.document_id)
    )
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
    if result.stage_state != "open" or request.has_changed_people:
        payload = {"request_id": str(request.id), "stage": result.stage, "state": result.stage_state}
        trigger_workflow(change, document, EVENT, payload)
    return change


def _describe_entitlement(subject: _LockedSubject, result: VoteResult) -> dict[str, Any]:
    """Describe the seat, the roles and the permissions by which the vote counted."""
    seat = next(seat for seat in subject.locked.seats if seat.position == result.position)
    voices = [subject.person] if result.on_behalf_of is None else [subject.person, result.on_behalf_of]
    needed = {} if seat.needed_role is None else {"needed_role": seat.needed_role}
    return {
        "holder_user_id": seat.holder_user_id,
        "holder_role": seat.holder_role,
        **needed,
        "origin": seat.origin,
        "permissions": list(subject.request.voter_permissions or ()),
        "roles": {voice: sorted(subject.locked.people[voice].roles) for voice in voices},
    }
