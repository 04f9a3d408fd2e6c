"""Requests with who may vote on them, read for views: a constant number of statements for a page.

The check is that of a vote. Nothing is locked: what changes meanwhile, the vote itself finds.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from signet.core.approvals.deciding_roles import list_roles_of_approval
from signet.core.approvals.eligibility import Allowed, Seat, find_people_behind, list_approving_voices
from signet.core.approvals.entitlement import MakeVoterEnvironment, VoteCheck
from signet.core.approvals.policy import parse_policy
from signet.core.approvals.seats.bench import NO_BENCH, find_bench
from signet.core.contracts.compiled_contract import CompiledContract, Denial
from signet.core.documents.personal_data import resolve_personal
from signet.core.errors import SignetError
from signet.core.expressions import Environment
from signet.engine.approvals.ballots import ASKED_BY_NEXT_VOTE, ReferencesChanged, Voters
from signet.engine.approvals.decide import explain_denial, find_refusal, make_check
from signet.engine.cache import ContractCache
from signet.engine.documents.change import describe_entity, make_environment
from signet.store.approvals.decisions import RequestRow, read_requests
from signet.store.approvals.voters import (
    VotedContent,
    VotedDocumentRow,
    list_delegations,
    list_seats,
    read_contents,
    read_documents,
    read_people,
)
from signet.store.database import Connection
from signet.store.tenants.eligibility import ChangeQuery, read_changes_of_requests

UNKNOWN_TYPE = "ENTITY_TYPE_UNKNOWN"


@dataclass(frozen=True, slots=True)
class VoteStanding:
    """The answer that a person's vote would get now. `why_not` says why their approval would not count.

    A person who has approved before may still reject: then only `may_reject` is true.
    """

    may_decide: bool
    may_reject: bool
    why_not: Denial | None
    on_behalf_of: str | None = None


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """A request as it was read: the check of its votes, or why it takes none of anybody."""

    request: RequestRow
    document: VotedDocumentRow
    # Of all stages.
    seats: Sequence[Seat]
    check: VoteCheck | None
    refusal: Denial | None

    def stand(self, person: str) -> VoteStanding:
        """Return whether the person's vote would count, by the check that refuses votes."""
        if self.check is None or self.refusal is not None:
            return VoteStanding(False, False, self.refusal)
        approval = self.check.choose(person)
        if isinstance(approval, Allowed):
            return VoteStanding(True, True, None, approval.on_behalf_of)
        rejection = self.check.choose(person, "rejected")
        if isinstance(rejection, Allowed):
            return VoteStanding(False, True, approval, rejection.on_behalf_of)
        return VoteStanding(False, False, explain_denial(approval, person, self.seats))


@dataclass(frozen=True, slots=True)
class NextStage:
    """A stage of a request that has not begun, with the seats that it would have."""

    number: int
    seats: Sequence[Seat]


@dataclass(frozen=True, slots=True)
class _Subject:
    """A request with its document and its seats, before anything of its voters is read."""

    request: RequestRow
    document: VotedDocumentRow
    contract: CompiledContract | None
    seats: Sequence[Seat]
    # Judged in place of the present stage.
    next_stage: NextStage | None = None

    @property
    def stage_number(self) -> int:
        return self.request.stage if self.next_stage is None else self.next_stage.number

    @property
    def stage_seats(self) -> Sequence[Seat]:
        if self.next_stage is not None:
            return self.next_stage.seats
        return [seat for seat in self.seats if seat.stage == self.request.stage]

    @property
    def has_condition(self) -> bool:
        """Return whether a condition on voters reads the document's content."""
        if self.contract is None:
            return False
        return any(needed in self.contract.conditions for needed in self.request.voter_permissions or ())


@dataclass(slots=True)
class VoteReader:
    """Reads in one transaction; `org` is what conditions read of the tenant."""

    connection: Connection
    tenant_id: UUID
    contracts: ContractCache
    org: Mapping[str, Any]
    now: datetime
    _contents: dict[UUID, VotedContent] = field(default_factory=dict)

    def read(
        self,
        request_ids: Collection[UUID],
        people: Collection[str],
        next_stages: Mapping[UUID, NextStage] = MappingProxyType({}),
    ) -> dict[UUID, ReadRequest]:
        """Read requests and what these people may vote on them, for themselves and as delegates."""
        subjects = self._read_subjects(request_ids, next_stages)
        if not subjects:
            return {}
        voters = self.read_voters(people)
        roles = {role for member in voters.people.values() for role in member.roles}
        named = voters.people.keys() | people
        changes = read_changes_of_requests(
            self.connection, self.tenant_id, [_make_query(subject, named, roles) for subject in subjects]
        )
        self.read_contents([subject.document for subject in subjects if subject.has_condition])
        return {
            subject.request.id: self._make(
                subject, replace(voters, changes=changes.get(subject.request.id, ()))
            )
            for subject in subjects
        }

    def read_voters(self, people: Collection[str]) -> Voters:
        """Read people and those they stand in for, without the changes that may bar a vote."""
        delegations = list_delegations(self.connection, self.tenant_id, people, self.now)
        named = {*people, *(delegation.user_id for delegation in delegations)}
        return Voters(read_people(self.connection, self.tenant_id, named), delegations, ())

    def read_contents(self, documents: Iterable[VotedDocumentRow]) -> None:
        """Read the content of documents that is not known yet, in one statement."""
        unread = {document.id for document in documents} - self._contents.keys()
        if unread:
            self._contents |= read_contents(self.connection, self.tenant_id, unread)

    def content_of(self, document: VotedDocumentRow) -> VotedContent:
        """Return the content of a document that was read before."""
        return self._contents[document.id]

    def make_voter_env(self, document: VotedDocumentRow) -> MakeVoterEnvironment:
        """Return the maker of a condition's environment; the content of the document must have been read."""

        def make_env(person: str, roles: Collection[str]) -> Environment:
            content = self.content_of(document)
            data = resolve_personal(content.data, content.personal)
            entity = describe_entity(document, data, status=document.status, version=document.version)
            return make_environment(entity, person, roles, org=self.org, now=self.now)

        return make_env

    def _read_subjects(
        self, request_ids: Collection[UUID], next_stages: Mapping[UUID, NextStage]
    ) -> list[_Subject]:
        requests = read_requests(self.connection, self.tenant_id, request_ids) if request_ids else []
        if not requests:
            return []
        documents = read_documents(
            self.connection, self.tenant_id, {request.document_id for request in requests}
        )
        seats = list_seats(self.connection, self.tenant_id, request_ids)
        return [
            _Subject(
                request,
                document,
                self.contracts.read(
                    self.connection, self.tenant_id, document.entity_type, document.contract_version
                ),
                seats[request.id],
                next_stages.get(request.id),
            )
            for request in requests
            if (document := documents.get(request.document_id)) is not None
        ]

    def _make(self, subject: _Subject, voters: Voters) -> ReadRequest:
        request, document, seats = subject.request, subject.document, subject.seats
        refusal = find_refusal(request, document, self.now)
        if refusal is not None:
            return ReadRequest(request, document, seats, None, _describe_refusal(refusal))
        if subject.contract is None:
            sentence = f"there is no published contract of '{document.entity_type}'"
            return ReadRequest(request, document, seats, None, Denial(UNKNOWN_TYPE, sentence))
        try:
            policy = parse_policy(request.policy, request.policy_hash)
        except SignetError as altered:
            return ReadRequest(request, document, seats, None, Denial(altered.code, altered.message))
        check = make_check(
            request,
            document,
            subject.contract,
            policy.stage(subject.stage_number),
            subject.stage_seats,
            voters,
            now=self.now,
            make_env=self.make_voter_env(document),
        )
        if subject.next_stage is not None and policy.same_person is None:
            # The present stage has ended by then.
            before = list_approving_voices(seats)
            check = replace(check, approved_elsewhere={*check.approved_elsewhere, *before})
        return ReadRequest(request, document, seats, check, None)


def _describe_refusal(refusal: SignetError) -> Denial:
    """Describe why a request takes no vote, and what asks people again where its references have changed."""
    sentence = refusal.message
    if isinstance(refusal, ReferencesChanged):
        sentence = f"{sentence}. {ASKED_BY_NEXT_VOTE}"
    return Denial(refusal.code, sentence)


def _make_query(subject: _Subject, people: Collection[str], roles: Collection[str]) -> ChangeQuery:
    """Ask for the changes that may bar a vote of any of these people."""
    request, seats = subject.request, subject.stage_seats
    stage = json.loads(request.policy)["stages"][subject.stage_number - 1]
    seated = {role for seat in seats for role in (seat.holder_role, seat.needed_role) if role is not None}
    seated |= {
        approver[key] for approver in stage["approvers"] for key in ("role", "who") if approver.get(key)
    }
    bench = NO_BENCH
    if subject.contract is not None:
        bench = find_bench(subject.contract, request.voter_permissions or (), seats, seated)
    behind = find_people_behind(subject.document, request.requesters, request.pins).everyone
    return ChangeQuery(
        request.id,
        request.asked_since,
        user_ids={*bench.holder_ids, *people},
        roles=seated.union(roles, list_roles_of_approval(stage)),
        concerned=behind.union(people),
        bench=bench,
    )
