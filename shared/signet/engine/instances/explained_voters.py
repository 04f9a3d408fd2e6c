"""The people that an instance waits for, for its explanation: who may vote, and what keeps the others.

They are judged by the check that refuses votes. Where nobody may decide, the record says who could be added.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from signet.core.approvals.additions import (
    find_bar_of_everybody,
    list_additions,
    list_given_by_others,
    list_helpers,
    list_needed_later,
    list_seatable,
)
from signet.core.approvals.eligibility import NOT_ASKED, Allowed, Seat, list_approving_voices
from signet.core.approvals.entitlement import VoteCheck
from signet.core.approvals.named_seats import list_gap_remedies, list_named_remedies
from signet.core.approvals.policy import Policy, Stage, parse_policy
from signet.core.approvals.seats.assignment import Deadlock, UnseatedApprover
from signet.core.approvals.seats.rejecters import ask_rejecters_again, join_rejected_seats
from signet.core.compiler.artifact import Artifact
from signet.core.contracts.compiled_contract import CompiledContract
from signet.core.explain.instance_record import (
    ApprovalRecord,
    InstanceRecords,
    LapsedVoteRecord,
    StuckStageRecord,
    VoterRecord,
)
from signet.core.expressions import Environment
from signet.core.runtime.position import Token, TokenState, parse_position
from signet.core.runtime.workflow import Workflow
from signet.core.tenants.responsible import ResponsiblePersons
from signet.engine.approvals.approver_lookup import read_policy
from signet.engine.approvals.ballots import Voters
from signet.engine.approvals.coming_stage import (
    UnopenedApproval,
    add_changes,
    find_next_stage,
    make_unopened_check,
    read_changes,
    read_pins,
    seat_coming_stage,
)
from signet.engine.approvals.rejecters import find_rejected, read_rejecter_standing
from signet.engine.approvals.vote_reader import NextStage, ReadRequest, VoteReader
from signet.store.approvals.decisions import PersonRow
from signet.store.approvals.requests import list_earlier_requesters, read_holders, read_last_requester
from signet.store.approvals.voters import (
    VotedDocumentRow,
    list_active_members,
    read_documents,
    read_people,
)
from signet.store.control.changes import read_four_eyes
from signet.store.tenants.people import find_roles

EDIT_MEMBERS = "member:edit"
SAME_PERSON, STALE = "APPROVAL_SAME_PERSON", "APPROVAL_STALE"
_DEADLOCKS = frozenset(deadlock.value for deadlock in Deadlock)


def add_voters(
    reader: VoteReader, artifact: Artifact, contract: CompiledContract, record: InstanceRecords
) -> InstanceRecords:
    """Add who may vote on the open requests, and the stages that nobody may decide."""
    document_id = record.instance.entity_id
    if document_id is None or not _concerns_people(record):
        return record
    workflow = Workflow(artifact)
    document = read_documents(reader.connection, reader.tenant_id, [document_id])[document_id]
    reader.read_contents([document])
    explainer = _VoterExplainer(reader, workflow, contract, document, record)
    requests = explainer.read_requests()
    approvals = [explainer.explain(request, requests.get(request.id)) for request in record.approvals]
    stuck = [explainer.find_stuck(request, requests.get(request.id)) for request in approvals]
    stuck += [explainer.find_unopened_stuck(node_id) for node_id in _find_unopened(record, workflow)]
    return replace(record, approvals=approvals, stuck_stages=[stage for stage in stuck if stage is not None])


def _concerns_people(record: InstanceRecords) -> bool:
    """Return whether anybody is asked, a vote has lapsed, or nobody could be asked."""
    held = parse_position(record.instance.active_tokens).held()
    return any(_is_deadlocked(token) for token in held) or any(
        request.status == "open" or any(seat.status == "lapsed" for seat in request.seats)
        for request in record.approvals
    )


def _is_deadlocked(token: Token) -> bool:
    return token.hold is not None and token.hold.code in _DEADLOCKS


@dataclass(frozen=True, slots=True)
class _VoterExplainer:
    """The reads about one instance; the content of its document has been read."""

    reader: VoteReader
    workflow: Workflow
    contract: CompiledContract
    document: VotedDocumentRow
    record: InstanceRecords

    def read_requests(self) -> Mapping[UUID, ReadRequest]:
        version = self.document.version
        asking = [r for r in self.record.approvals if r.status == "open" and r.document_version == version]
        seats = [seat for request in asking for seat in request.seats]
        people = self._find_holders(seats) if asking else set()
        people |= {voice for seat in seats if seat.status == "lapsed" for voice in _list_voices(seat)}
        return self.reader.read([request.id for request in asking], people)

    def explain(self, request: ApprovalRecord, found: ReadRequest | None) -> ApprovalRecord:
        """Add who may vote, and the seats from which the same content was rejected."""
        explained = _explain_request(request, found)
        if found is None:
            return explained
        connection, tenant_id = self.reader.connection, self.reader.tenant_id
        data = self.reader.content_of(self.document).data
        rejected = find_rejected(connection, tenant_id, self.document, data, request.node_id)
        return replace(explained, rejected_seats=join_rejected_seats(rejected))

    def find_stuck(self, request: ApprovalRecord, found: ReadRequest | None) -> StuckStageRecord | None:
        """Return the stage of an open request that nobody may decide: its present one, or the next."""
        if found is None or found.check is None or _has_voter(request.voters):
            return None
        number = find_next_stage(found)
        if number is not None:
            return self._find_stuck_next(request, found.check, number)
        if all(seat.status != "open" for seat in found.check.seats):
            return None
        # The request itself says what keeps each person who is asked.
        policy = parse_policy(found.request.policy, found.request.policy_hash)
        stuck = self._make_stuck(request.node_id, found.check, request.voters, request, policy, request.stage)
        rejecters = [voter.person for voter in request.voters if voter.may_reject]
        return replace(stuck, voters=(), rejecters=rejecters, seatable=self._list_seatable(found.check))

    def _list_seatable(self, check: VoteCheck) -> list[str]:
        """List the members who could decide from a seat by break-glass, in the present stage alone."""
        people = self._read_members()
        members = {user_id: person.roles for user_id, person in people.items()}
        check = check.with_people(people, check.delegations)
        return list_seatable(read_changes(self.reader, check, members))

    def _read_members(self) -> Mapping[str, PersonRow]:
        connection, tenant_id = self.reader.connection, self.reader.tenant_id
        return read_people(connection, tenant_id, list_active_members(connection, tenant_id))

    def _find_stuck_next(
        self, request: ApprovalRecord, present: VoteCheck, number: int
    ) -> StuckStageRecord | None:
        found = self.reader.read([request.id], ())[request.id].request
        policy = parse_policy(found.policy, found.policy_hash)
        stage = policy.stage(number)
        env = present.make_voter_env(self.record.instance.actor_id, ())
        assignment = seat_coming_stage(self.reader, number, stage, env)
        seats = self._ask_rejecters_again(request, present, stage, assignment.seats)
        people, coming = self._find_holders(seats), NextStage(number, seats)
        check = self.reader.read([request.id], people, {request.id: coming})[request.id].check
        voters = [] if check is None else _list_voters(check)
        if check is None or _has_voter(voters):
            return None
        # What has not begun takes no vote, and no rejection either.
        voters = [replace(voter, may_reject=False) for voter in voters]
        stuck = self._make_stuck(request.node_id, check, voters, request, policy, number)
        return _add_gaps(stuck, stage, assignment.missing)

    def _ask_rejecters_again(
        self, request: ApprovalRecord, present: VoteCheck, stage: Stage, seats: Sequence[Seat]
    ) -> Sequence[Seat]:
        rejected = self._find_rejected_seats(request.node_id)
        before = () if request.allows_same_person else list_approving_voices(request.seats)
        standing = read_rejecter_standing(
            self.reader.connection,
            self.reader.tenant_id,
            self.document.id,
            seats,
            rejected,
            approved_elsewhere={*present.approved_elsewhere, *before},
            behind=present.find_people_behind().everyone,
        )
        return ask_rejecters_again(stage, seats, rejected, standing)

    def find_unopened_stuck(self, node_id: str) -> StuckStageRecord | None:
        """Return the first stage of an approval that could ask nobody."""
        node = self.workflow.nodes[node_id]
        policy, _, _ = read_policy(self.reader.connection, self.reader.tenant_id, node)
        if policy is None:
            return None
        approval = UnopenedApproval(
            node,
            policy,
            self.document,
            self.contract,
            read_pins(self.reader, self.workflow, self.document, self.contract),
            self._find_requesters(),
            self._list_approved_elsewhere(policy),
            self._find_rejected_seats(node_id),
        )
        check, assignment = make_unopened_check(self.reader, self.workflow, approval, self._make_env())
        check = _let_vote(check, self.reader.read_voters(self._find_holders(check.seats)))
        check = add_changes(self.reader, self.document, check)
        voters = _list_voters(check)
        if _has_voter(voters):
            return None
        voters = [replace(voter, may_reject=False) for voter in voters]
        stuck = self._make_stuck(node_id, check, voters, None, policy, 1)
        stuck = _add_gaps(stuck, check.stage, assignment.missing)
        return replace(stuck, chain_name=node.config["chain"], immovable=self._find_immovable())

    def _find_immovable(self) -> str | None:
        """Return why a move to a definition with another policy would be blocked."""
        if any(request.status == "approved" and not request.applied for request in self.record.approvals):
            return "an approval is given and not used yet"
        if read_four_eyes(self.reader.connection, self.reader.tenant_id):
            return "one person may not choose who approves"
        return None

    def _find_rejected_seats(self, node_id: str) -> Sequence[Seat]:
        """Find the seats from which the same content was rejected before."""
        reader, data = self.reader, self.reader.content_of(self.document).data
        return join_rejected_seats(
            find_rejected(reader.connection, reader.tenant_id, self.document, data, node_id)
        )

    def _make_stuck(
        self,
        node_id: str,
        check: VoteCheck,
        voters: Sequence[VoterRecord],
        request: ApprovalRecord | None,
        policy: Policy,
        number: int,
    ) -> StuckStageRecord:
        asked = [seat for seat in check.seats if seat.status == "open"]
        roles = sorted({seat.holder_role for seat in asked if seat.holder_role is not None})
        people = self._read_members()
        members = {user_id: person.roles for user_id, person in people.items()}
        check = read_changes(self.reader, check, members)
        permissions = {name: person.permissions for name, person in people.items()}
        helpers = list_helpers(check, permissions, self._list_needed_to_give(roles))
        later = list_needed_later(check, policy, number, members)
        additions = list_given_by_others(list_additions(check, members, roles) if roles else (), helpers)
        return StuckStageRecord(
            node_id=node_id,
            stage=number,
            request_id=request.id if request is not None else None,
            roles=roles,
            permissions=check.needed_permissions,
            chain_name=request.chain_name if request is not None else None,
            voters=voters,
            additions=[person for person in additions if person not in later],
            needed_later=[person for person in additions if person in later],
            lacks_another_person=any(voter.code == SAME_PERSON for voter in voters),
            bar=bar.sentence if (bar := find_bar_of_everybody(check, roles)) is not None else None,
            named_remedies=list_named_remedies(check, self._list_rejecters(node_id)),
            helpers=helpers,
        )

    def _list_needed_to_give(self, roles: Sequence[str]) -> set[str]:
        """List the permissions that a person needs to give these roles: nobody gives more than they have."""
        given = find_roles(self.reader.connection, self.reader.tenant_id, roles)
        return {EDIT_MEMBERS, *(permission for role in given for permission in role.permissions)}

    def _list_rejecters(self, node_id: str) -> set[str]:
        rejected = self._find_rejected_seats(node_id)
        return {seat.on_behalf_of or seat.decided_by or "" for seat in rejected if seat.status == "rejected"}

    def _make_env(self) -> Environment:
        return self.reader.make_voter_env(self.document)(self.record.instance.actor_id, ())

    def _find_holders(self, seats: Iterable[Seat]) -> set[str]:
        """Find the people who hold the seats, by themselves or by a role, with their delegates."""
        listed, reader = list(seats), self.reader
        users = {seat.holder_user_id for seat in listed if seat.holder_user_id is not None}
        roles = {seat.holder_role for seat in listed if seat.holder_role is not None}
        return set(read_holders(reader.connection, reader.tenant_id, users, roles, reader.now))

    def _find_requesters(self) -> ResponsiblePersons:
        """Find the persons behind the request in progress and those before it for the same.

        Without one these are the persons behind the request performed last.
        """
        instance = self.record.instance
        if instance.request_id is not None:
            earlier = list_earlier_requesters(self.reader.connection, self.document.id)
            return frozenset(instance.responsible) | earlier
        last = read_last_requester(self.reader.connection, self.reader.tenant_id, self.document.id)
        return frozenset(instance.responsible) if last is None else last[1]

    def _list_approved_elsewhere(self, policy: Policy) -> frozenset[str]:
        """List those whose approvals the same gate will use, where the policy wants another person."""
        return frozenset(
            voice
            for request in self.record.approvals
            if request.status in ("open", "approved")
            and not request.applied
            and request.document_version == self.document.version
            and not (policy.same_person and request.allows_same_person)
            for voice in list_approving_voices(request.seats)
        )


def _find_unopened(record: InstanceRecords, workflow: Workflow) -> Iterator[str]:
    """Yield the approvals that are held because they could ask nobody."""
    for token in parse_position(record.instance.active_tokens).held():
        node = workflow.nodes.get(token.node)
        if token.state is TokenState.READY and _is_deadlocked(token) and node is not None:
            yield node.id


def _explain_request(request: ApprovalRecord, found: ReadRequest | None) -> ApprovalRecord:
    lapsed = [
        LapsedVoteRecord(
            seat.stage, seat.position, seat.decided_by, seat.on_behalf_of, _find_lapse(request, seat, found)
        )
        for seat in request.seats
        if seat.status == "lapsed" and seat.decided_by is not None
    ]
    request = replace(request, lapsed=lapsed)
    if found is None:
        return request
    if found.check is None:
        if found.refusal is None:
            return request
        return replace(request, refusal=found.refusal.sentence, is_stale=found.refusal.code == STALE)
    return replace(request, voters=_list_voters(found.check))


def _find_lapse(request: ApprovalRecord, seat: Seat, found: ReadRequest | None) -> str | None:
    """Return why the people of a lapsed vote may not give it now, where that is known."""
    if found is None or found.check is None or seat.decided_by is None:
        return None
    place = seat.stage, seat.position
    delegation = next((d.delegation for d in request.decisions if (d.stage, d.position) == place), None)
    lapse = found.check.find_lapse(seat.decided_by, seat.on_behalf_of, seat, delegation)
    return lapse.sentence if lapse is not None else None


def _let_vote(check: VoteCheck, voters: Voters) -> VoteCheck:
    """Return the check with these people in it."""
    return check.with_people(voters.people, voters.delegations, check.changes)


def _list_voices(seat: Seat) -> list[str]:
    return [voice for voice in (seat.decided_by, seat.on_behalf_of) if voice is not None]


def _list_voters(check: VoteCheck) -> list[VoterRecord]:
    """List the people who may fill an open seat now, and those who may not with what keeps them."""
    voters = []
    for person in sorted(check.roles):
        choice = check.choose(person)
        if isinstance(choice, Allowed):
            voters.append(VoterRecord(person, choice.on_behalf_of, choice.delegation_id, may_reject=True))
        elif choice.code != NOT_ASKED:
            may_reject = isinstance(check.choose(person, "rejected"), Allowed)
            voters.append(VoterRecord(person, None, None, choice.sentence, choice.code, may_reject))
    return voters


def _has_voter(voters: Iterable[VoterRecord]) -> bool:
    return any(voter.obstacle is None for voter in voters)


def _add_gaps(stuck: StuckStageRecord, stage: Stage, missing: Sequence[UnseatedApprover]) -> StuckStageRecord:
    """Add why approvers have no seat, and what gives them one."""
    remedies = [*list_gap_remedies(stage, missing), *stuck.named_remedies]
    return replace(stuck, unseated=[gap.sentence for gap in missing], named_remedies=remedies)
