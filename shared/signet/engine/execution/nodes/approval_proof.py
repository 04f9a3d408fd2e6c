"""The check of a gate before it uses approvals: the votes on record prove them, and may still be given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from signet.core.approvals.barring_changes import VoteBasis, find_barring_change
from signet.core.approvals.eligibility import ConflictCheck, find_people_behind, separation_conflict
from signet.core.approvals.entitlement import Entitlement, check_all
from signet.core.approvals.proof import (
    LapsedVote,
    PinnedSubject,
    RecordedVote,
    RequestProof,
    find_lost_role,
    find_repeated,
    find_unproven,
    list_lapsed,
)
from signet.core.contracts.compiled_contract import Denial
from signet.core.runtime.execution import Blocked
from signet.core.tenants.eligibility_changes import EligibilityChange, parse_change
from signet.engine.approvals.requests import parse_policy_of
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
        return _deny(context, by_id[proof.id], proof, vote, evidence)

    for proof, lapse in list_lapsed(proofs, voters.__contains__, find_denial):
        lapsed.setdefault(by_id[proof.id].id, []).append(lapse)
    return lapsed


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
    )


def _deny(
    context: InstanceContext,
    request: LiveRequest,
    proof: RequestProof,
    vote: RecordedVote,
    evidence: _Evidence,
) -> Denial | None:
    """Return why its people may not give this vote now, by the roles that they have now."""
    held = {user_id: voter.roles for user_id, voter in evidence.voters.items()}
    may_give = check_all(*_list_checks(context, request, evidence.voters))
    denials = [
        find_lost_role(proof, vote, held),
        *map(may_give, vote.represented_people),
        _find_barring_change(context, request, vote, evidence),
    ]
    return next((denial for denial in denials if denial is not None), None)


def _find_barring_change(
    context: InstanceContext, request: LiveRequest, vote: RecordedVote, evidence: _Evidence
) -> Denial | None:
    """Return what was given to the voters by their own people, before or after they voted.

    To take the role from others after the vote helps it in nothing, and before the vote it was refused.
    """
    basis = VoteBasis(
        voter=vote.decided_by,
        represented=vote.on_behalf_of,
        own_roles={role for person in vote.represented_people for role in evidence.voters[person].roles},
        holder_ids=(),
        seat_roles=(),
        responsible=find_people_behind(context.document, request.responsible, request.pins).everyone,
        asked_since=request.asked_since,
    )
    return find_barring_change(basis, evidence.changes[vote.id])


def _list_checks(
    context: InstanceContext, request: LiveRequest, voters: Mapping[str, _Voter]
) -> Sequence[ConflictCheck]:
    document = context.document
    if document is None:
        return ()
    contract = context.documents.contract_of(document)
    pins = request.pins or {}
    entitlement = Entitlement(
        contract,
        request.voter_permissions or (),
        {user_id: voter.permissions for user_id, voter in voters.items()},
        lambda voter: context.make_voter_env(pins, voter, voters[voter].roles),
    )
    behind = find_people_behind(document, request.responsible, request.pins)
    separation = separation_conflict(contract, behind)
    return separation, entitlement.find_denial
