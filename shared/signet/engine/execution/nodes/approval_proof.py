"""The check of a gate before it uses approvals: the votes on record prove them, and may still be given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from signet.core.approvals.eligibility import parse_delegation
from signet.core.approvals.entitlement import VoteCheck
from signet.core.approvals.proof import (
    LapsedVote,
    PinnedSubject,
    RecordedVote,
    RequestProof,
    find_repeated,
    find_seat,
    find_unproven,
    list_lapsed,
)
from signet.core.contracts.compiled_contract import Denial
from signet.core.errors import Defect
from signet.core.runtime.execution import Blocked
from signet.core.tenants.eligibility_changes import EligibilityChange, parse_change
from signet.engine.approvals.request_rows import parse_policy_of
from signet.engine.execution.nodes.context import InstanceContext
from signet.store.approvals.requests import LiveRequest, VoteRow


@dataclass(frozen=True, slots=True)
class _Voter:
    roles: Sequence[str]
    permissions: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The people of the votes as they are now, and by vote the changes that may bar it."""

    voters: Mapping[str, _Voter]
    changes: Mapping[str, Sequence[EligibilityChange]]


def check_approvals(
    context: InstanceContext, requests: Sequence[LiveRequest]
) -> Blocked | Mapping[UUID, Sequence[LapsedVote]]:
    """Return why the approvals prove nothing, or their votes that may not be used any more, by request."""
    votes = context.approvals.read_votes(context.row.id)
    proofs = [_make_proof(request, votes) for request in requests]
    for proof in proofs:
        reason = find_unproven(proof)
        if reason is not None:
            return Blocked(f"APPROVAL_UNPROVEN: {reason}", {"request": proof.id})
    repeated = find_repeated(proofs)
    if repeated is not None:
        return Blocked(f"APPROVAL_SAME_PERSON: {repeated} has approved twice where different people must")
    changes = {vote.id: [parse_change(change) for change in vote.changes or ()] for vote in votes}
    voters = {
        voter["user_id"]: _Voter(voter["roles"], voter["permissions"])
        for vote in votes
        for voter in vote.voters or ()
    }
    evidence = _Evidence(voters, changes)
    by_id = {str(request.id): request for request in requests}
    lapsed: dict[UUID, list[LapsedVote]] = {}

    def find_denial(proof: RequestProof, vote: RecordedVote) -> Denial | None:
        return _find_lapse(context, by_id[proof.id], proof, vote, evidence)

    for proof, lapse in list_lapsed(proofs, find_denial):
        lapsed.setdefault(by_id[proof.id].id, []).append(lapse)
    return lapsed


def find_absent_requester(context: InstanceContext) -> str | None:
    """Find who asked for what was approved and is no active member any more; of a key, its owner.

    Nobody asked for a document that was created in the status that the approval leads out of.
    """
    left = {
        vote.request_id for vote in context.approvals.read_votes(context.row.id) if vote.has_requester_left
    }
    unused = context.approvals.list_unused(context.row.id)
    return next((request.requester_id for request in unused if request.id in left), None)


def _make_proof(request: LiveRequest, votes: Sequence[VoteRow]) -> RequestProof:
    subject = PinnedSubject(
        request.document_version,
        request.snapshot_hash,
        request.definition_hash,
        request.policy_hash,
        request.pins_hash,
    )
    own = [_make_vote(vote) for vote in votes if vote.request_id == request.id]
    return RequestProof(str(request.id), parse_policy_of(request), subject, request.seats, own)


def _make_vote(vote: VoteRow) -> RecordedVote:
    subject = PinnedSubject(
        vote.document_version, vote.snapshot_hash, vote.definition_hash, vote.policy_hash, vote.pins_hash
    )
    return RecordedVote(
        vote.id,
        vote.stage,
        vote.position,
        vote.decision,
        vote.decided_by,
        vote.on_behalf_of,
        subject,
        vote.audited,
        parse_delegation(vote.delegation) if vote.delegation is not None else None,
    )


def _find_lapse(
    context: InstanceContext,
    request: LiveRequest,
    proof: RequestProof,
    vote: RecordedVote,
    evidence: _Evidence,
) -> Denial | None:
    """Return why its people may not give this vote now, by the roles that they have now."""
    check, seat = _make_check(context, request, proof, vote, evidence), find_seat(proof, vote)
    return check.find_lapse(vote.decided_by, vote.on_behalf_of, seat, vote.delegation)


def _make_check(
    context: InstanceContext,
    request: LiveRequest,
    proof: RequestProof,
    vote: RecordedVote,
    evidence: _Evidence,
) -> VoteCheck:
    document = context.document
    if document is None:
        raise Defect("DOCUMENT_ABSENT", "approvals of an instance without a document")
    pins = request.pins or {}
    check = VoteCheck(
        contract=context.documents.contract_of(document),
        document=document,
        requesters=request.responsible,
        asked_since=request.asked_since,
        pins=pins,
        needed_permissions=request.voter_permissions or (),
        approved_elsewhere=(),
        stage=proof.policy.stage(vote.stage),
        seats=request.seats,
        now=context.now,
        make_env=partial(context.make_voter_env, pins),
    )
    return check.with_people(evidence.voters, changes=evidence.changes[vote.id])
