"""Requests for approval as people use them: decide, list those that wait for a person, read one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import get_args
from uuid import UUID

from signet.core.compiler.node_configurations import Vote
from signet.core.contracts.compiled_contract import Denial
from signet.core.documents.summary import DocumentSummary, ShownAmount
from signet.core.errors import FieldError, Rejected, Transient
from signet.core.tenants.caller import Caller
from signet.core.tenants.machine_label import MachineLabel
from signet.engine.access.read import reading
from signet.engine.approvals.ballots import Ballot, ReferencesChanged, VoteResult
from signet.engine.approvals.decide import decide
from signet.engine.approvals.request_view import ApprovalRequest as ApprovalRequest
from signet.engine.approvals.request_view import read_approval_request
from signet.engine.approvals.summaries import read_summaries
from signet.engine.approvals.vote_reader import VoteReader, VoteStanding
from signet.engine.documents.change import make_org
from signet.engine.documents.command_checks import check_reason
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.store.approvals import decisions as store
from signet.store.approvals.decisions import RequestStatus
from signet.store.approvals.inbox import (
    EVERYTHING,
    DecidedRow,
    InboxRow,
    list_decided,
    list_inbox,
    read_decided_fields,
    read_shown_fields,
)
from signet.store.approvals.inbox import InboxFilter as InboxFilter
from signet.store.database import Database
from signet.store.outbox.queue import insert_triggers, make_trigger
from signet.store.tenants.machine_labels import read_machine_labels
from signet.store.tenants.people import list_absent

MAX_DECISIONS = 100
_VOTES = get_args(Vote)
MAX_PAGE = 200
FIRST, LAST = UUID(int=0), UUID(int=2**128 - 1)


@dataclass(frozen=True, slots=True)
class InboxItem:
    """A request that asks a person: they, a role of theirs or a delegator has an open seat.

    `may_decide` says whether their approval would count now, and `why_not` why it would not. A person who has
    approved before may still reject (`may_reject`). `requester_label` names a key with its owner, where a key
    requested it.
    """

    request_id: UUID
    document_id: UUID
    entity_type: str
    document_version: int
    node_id: str
    stage: int
    requester_id: str
    requester_label: str | None
    # The requester, or the owner of the key, is no active member any more: no gate uses the approval.
    requester_has_left: bool
    since: datetime
    expire_at: datetime | None
    on_behalf_of: str | None
    may_decide: bool
    may_reject: bool
    why_not: Denial | None
    # The document in a line, as its contract declares it.
    title: str | None
    amount: ShownAmount | None


@dataclass(frozen=True, slots=True)
class DecidedApproval:
    """A vote that a person gave. Title and amount are those of the version that they decided about.

    `request_status` and `document_status` are those of now.
    """

    id: UUID
    request_id: UUID
    document_id: UUID
    entity_type: str
    document_version: int
    node_id: str
    stage: int
    requester_id: str
    requester_label: str | None
    vote: Vote
    reason: str | None
    on_behalf_of: str | None
    decided_at: datetime
    request_status: RequestStatus
    document_status: str
    title: str | None
    amount: ShownAmount | None


class Approvals:
    """The use case with its caches, one in each process."""

    def __init__(self, database: Database, caches: DocumentCaches) -> None:
        self._database = database
        self._caches = caches

    def decide(self, caller: Caller, request_id: UUID, vote: Vote, reason: str | None = None) -> VoteResult:
        """Count a vote, or raise why it does not count; then nothing was written."""
        _require_ballot(vote, reason)
        tenant_id = caller.principal.tenant_id
        opening = store.document_statement(tenant_id, request_id)
        try:
            with self._database.pipelined(tenant_id, opening) as pipeline:
                return decide(self._caches, pipeline, caller, Ballot(request_id, vote, reason))
        except ReferencesChanged as stale:
            self._database.run_last(partial(self._ask_again, tenant_id, stale.instance_id))
            raise

    def _ask_again(self, tenant_id: UUID, instance_id: UUID) -> None:
        """Wake an instance that asks about what has changed: it asks again."""
        with self._database.transaction(tenant_id) as connection:
            insert_triggers(connection, tenant_id, [make_trigger(instance_id, "continue", {})])

    def decide_many(
        self, caller: Caller, ballots: Sequence[Ballot]
    ) -> list[VoteResult | Rejected | Transient]:
        """Decide each ballot in a transaction of its own, in this order. A refusal stops no other ballot."""
        if len(ballots) > MAX_DECISIONS:
            sentence = f"at most {MAX_DECISIONS} decisions at a time, not {len(ballots)}"
            raise Rejected("BATCH_TOO_LARGE", sentence)
        return [self._try_to_decide(caller, ballot) for ballot in ballots]

    def _try_to_decide(self, caller: Caller, ballot: Ballot) -> VoteResult | Rejected | Transient:
        try:
            return self.decide(caller, ballot.request_id, ballot.vote, ballot.reason)
        except (Rejected, Transient) as error:
            return error

    def inbox(
        self,
        caller: Caller,
        *,
        limit: int = 50,
        after: UUID | None = None,
        wanted: InboxFilter = EVERYTHING,
    ) -> list[InboxItem]:
        """List requests that wait for the person, their roles or their delegators, the oldest first.

        Whether they may decide is worked out for these alone, in as many statements for one as for all.
        """
        tenant_id, person = caller.principal.tenant_id, caller.principal.subject
        limit = max(1, min(limit, MAX_PAGE + 1))
        with reading(self._database, caller.principal) as read:
            connection, context = read.connection, read.transaction
            rows = list_inbox(connection, tenant_id, person, after=after or FIRST, limit=limit, wanted=wanted)
            if not rows:
                return []
            requesters = {row.requester_id for row in rows}
            labels = read_machine_labels(connection, tenant_id, requesters)
            absent = list_absent(connection, tenant_id, requesters)
            org = make_org(tenant_id, context)
            reader = VoteReader(connection, tenant_id, self._caches.contracts, org, context.now)
            requests = reader.read([row.request_id for row in rows], [person])
            documents = (request.document for request in requests.values())
            contract_of = {one.id: (one.entity_type, one.contract_version) for one in documents}
            summaries = read_summaries(
                connection, tenant_id, self._caches.contracts, contract_of, read_shown_fields
            )
            return [
                _make_item(
                    row,
                    requests[row.request_id].stand(person),
                    labels.get(row.requester_id),
                    absent,
                    summaries[row.document_id],
                )
                for row in rows
                if row.request_id in requests
            ]

    def list_decided(
        self,
        caller: Caller,
        *,
        limit: int = 50,
        before: UUID | None = None,
        wanted: InboxFilter = EVERYTHING,
    ) -> list[DecidedApproval]:
        """List the votes that the person gave, the newest first."""
        tenant_id, person = caller.principal.tenant_id, caller.principal.subject
        limit = max(1, min(limit, MAX_PAGE + 1))
        with reading(self._database, caller.principal) as read:
            connection = read.connection
            rows = list_decided(
                connection, tenant_id, person, before=before or LAST, limit=limit, wanted=wanted
            )
            labels = read_machine_labels(connection, tenant_id, {row.requester_id for row in rows})
            contract_of = {row.snapshot_version_id: (row.entity_type, row.contract_version) for row in rows}
            summaries = read_summaries(
                connection, tenant_id, self._caches.contracts, contract_of, read_decided_fields
            )
        return [
            _show_decided(row, labels.get(row.requester_id), summaries[row.snapshot_version_id])
            for row in rows
        ]

    def read_request(self, caller: Caller, request_id: UUID) -> ApprovalRequest:
        """Read a request as a person asked, its requester or a reader of its type; others get 404."""
        return read_approval_request(self._database, self._caches, caller, request_id)


def _make_item(
    row: InboxRow,
    standing: VoteStanding,
    label: MachineLabel | None,
    absent: Collection[str],
    summary: DocumentSummary,
) -> InboxItem:
    return InboxItem(
        request_id=row.request_id,
        document_id=row.document_id,
        entity_type=row.entity_type,
        document_version=row.document_version,
        node_id=row.node_id,
        stage=row.stage,
        requester_id=row.requester_id,
        requester_label=None if label is None else label.describe(),
        requester_has_left=row.requester_id in absent,
        since=row.created_at,
        expire_at=row.expire_at,
        on_behalf_of=standing.on_behalf_of if standing.may_reject else row.on_behalf_of,
        may_decide=standing.may_decide,
        may_reject=standing.may_reject,
        why_not=standing.why_not,
        title=summary.title,
        amount=summary.amount,
    )


def _show_decided(row: DecidedRow, label: MachineLabel | None, summary: DocumentSummary) -> DecidedApproval:
    return DecidedApproval(
        id=row.id,
        request_id=row.request_id,
        document_id=row.document_id,
        entity_type=row.entity_type,
        document_version=row.document_version,
        node_id=row.node_id,
        stage=row.stage,
        requester_id=row.requester_id,
        requester_label=None if label is None else label.describe(),
        vote=row.vote,
        reason=row.reason,
        on_behalf_of=row.on_behalf_of,
        decided_at=row.decided_at,
        request_status=row.request_status,
        document_status=row.document_status,
        title=summary.title,
        amount=summary.amount,
    )


def _require_ballot(vote: str, reason: str | None) -> None:
    if vote not in _VOTES:
        sentence = f"wants one of {', '.join(_VOTES)}"
        mistake = FieldError("/vote", "FIELD_INVALID", sentence)
        raise Rejected("FIELDS_INVALID", f"vote {sentence}", fields=(mistake,))
    rejected = check_reason(reason)
    if rejected is not None:
        raise rejected
