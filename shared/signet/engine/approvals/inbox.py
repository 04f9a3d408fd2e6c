"""Requests for approval as people use them: decide, list those that wait for a person, read one."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import Seat, separation_conflict
from signet.core.approvals.policy import Policy, parse_policy
from signet.core.compiler.node_configurations import Vote
from signet.core.contracts.compiled_contract import Denial
from signet.core.control.authorship import ControlAuthors, list_seated_authors
from signet.core.errors import Rejected, Transient
from signet.core.tenants.caller import Caller
from signet.core.tenants.machine_label import MachineLabel
from signet.core.tenants.permissions import grants
from signet.engine.approvals.decide import (
    Ballot,
    ReferencesChanged,
    VoteResult,
    approval_not_found,
    decide,
    require_ballot,
)
from signet.engine.control.authorship import read_control_of_request
from signet.engine.documents.read import resolve
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.store.approvals import decisions as store
from signet.store.approvals.break_glass import BreakGlassProposal as BreakGlassProposal
from signet.store.approvals.break_glass import list_seated
from signet.store.approvals.decisions import ApprovalDecisionRecord as ApprovalDecisionRecord
from signet.store.approvals.decisions import RequestRecord
from signet.store.database import Connection, Database
from signet.store.documents.write import TransactionContext, lock_statement, parse_locked_documents
from signet.store.outbox.queue import insert_triggers, make_trigger
from signet.store.tenants.machine_labels import read_machine_labels

MAX_DECISIONS = 100
MAX_PAGE = 200
FIRST = UUID(int=0)


@dataclass(frozen=True, slots=True)
class InboxItem:
    """A request that waits for a person; `barred` is set if separation of duties bars them.

    `requester_label` names a key with its owner, where a key requested it.
    """

    request_id: UUID
    document_id: UUID
    entity_type: str
    document_version: int
    node_id: str
    stage: int
    requester_id: str
    requester_label: str | None
    since: datetime
    expire_at: datetime | None
    on_behalf_of: str | None
    barred: Denial | None


@dataclass(frozen=True, slots=True)
class PinnedRequest:
    """A request with its document as it was pinned; personal values are read as they are now.

    `control` names the authors of what it is pinned to. `seated_authors` changed a part of that alone, and
    have a seat themselves.
    """

    record: RequestRecord
    policy: Policy
    document: dict[str, Any]
    seats: Sequence[Seat]
    decisions: Sequence[ApprovalDecisionRecord]
    # The seats that two operators have added.
    break_glass: Sequence[BreakGlassProposal]
    control: ControlAuthors
    seated_authors: Sequence[str]
    # The key that requested it, with its owner.
    requester_label: str | None


class Approvals:
    """The use case with its caches, one in each process."""

    def __init__(self, database: Database, caches: DocumentCaches) -> None:
        self._database = database
        self._caches = caches

    def decide(self, caller: Caller, request_id: UUID, vote: Vote, reason: str | None = None) -> VoteResult:
        """Count a vote, or raise why it does not count; then nothing was written."""
        require_ballot(vote, reason)
        tenant_id = caller.principal.tenant_id
        opening = store.document_statement(tenant_id, request_id)
        try:
            with self._database.pipelined(tenant_id, opening) as pipeline:
                return decide(self._caches, pipeline, caller, Ballot(request_id, vote, reason))
        except ReferencesChanged as stale:
            with self._database.transaction(tenant_id) as connection:
                insert_triggers(connection, tenant_id, [make_trigger(stale.instance_id, "continue", {})])
            raise

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

    def inbox(self, caller: Caller, *, limit: int = 50, after: UUID | None = None) -> list[InboxItem]:
        """List requests that wait for the person, their roles or their delegators, the oldest first."""
        tenant_id, person = caller.principal.tenant_id, caller.principal.subject
        limit = max(1, min(limit, MAX_PAGE + 1))
        with self._database.transaction(tenant_id) as connection:
            rows = store.list_inbox(connection, tenant_id, person, after=after or FIRST, limit=limit)
            labels = read_machine_labels(connection, tenant_id, (row.requester_id for row in rows))
            return [
                self._make_item(connection, tenant_id, person, row, labels.get(row.requester_id))
                for row in rows
            ]

    def _make_item(
        self,
        connection: Connection,
        tenant_id: UUID,
        person: str,
        row: store.InboxRow,
        label: MachineLabel | None,
    ) -> InboxItem:
        contract = self._caches.contracts.read(connection, tenant_id, row.entity_type, row.contract_version)
        voters = [person] if row.on_behalf_of is None else [person, row.on_behalf_of]
        denials: list[Denial | None] = []
        if contract is not None:
            find_conflict = separation_conflict(contract, row, row.requesters, row.pins or {})
            denials = [find_conflict(voter) for voter in voters]
        return InboxItem(
            request_id=row.request_id,
            document_id=row.document_id,
            entity_type=row.entity_type,
            document_version=row.document_version,
            node_id=row.node_id,
            stage=row.stage,
            requester_id=row.requester_id,
            requester_label=None if label is None else label.describe(),
            since=row.created_at,
            expire_at=row.expire_at,
            on_behalf_of=row.on_behalf_of,
            barred=next((denial for denial in denials if denial is not None), None),
        )

    def read_request(self, caller: Caller, request_id: UUID) -> PinnedRequest:
        """Read a request as a person asked, its requester or a reader of its type; others get 404."""
        tenant_id = caller.principal.tenant_id
        opening = lock_statement([], caller.principal.roles)
        with self._database.pipelined(tenant_id, opening) as pipeline:
            connection = pipeline.connection
            _, transaction = parse_locked_documents(pipeline.first_row)
            record = store.read_request(connection, tenant_id, request_id)
            if transaction is None or record is None:
                raise approval_not_found(request_id)
            seats = store.read_seats(connection, tenant_id, request_id)
            if not _may_read(connection, caller, transaction, record, seats):
                raise approval_not_found(request_id)
            control = _read_control(connection, tenant_id, record)
            labels = read_machine_labels(connection, tenant_id, [record.requester_id])
            label = labels.get(record.requester_id)
            return PinnedRequest(
                record,
                parse_policy(record.policy, record.policy_hash),
                _read_snapshot(connection, tenant_id, record.snapshot),
                seats,
                store.read_decisions(connection, tenant_id, request_id),
                list_seated(connection, tenant_id, request_id),
                control,
                _list_seated_authors(connection, tenant_id, record, seats, control),
                None if label is None else label.describe(),
            )


def _may_read(
    connection: Connection,
    caller: Caller,
    transaction: TransactionContext,
    record: RequestRecord,
    seats: Sequence[Seat],
) -> bool:
    person, tenant_id = caller.principal.subject, caller.principal.tenant_id
    permissions = transaction.permissions_of(caller.principal.roles)
    if person == record.requester_id or grants(permissions, f"{record.entity_type}:read"):
        return True
    if any(person in (seat.decided_by, seat.on_behalf_of) for seat in seats):
        return True
    counted_people = store.read_represented_people(connection, tenant_id, person, record.entity_type)
    return any(seat.belongs_to(counted, roles) for seat in seats for counted, roles in counted_people.items())


def _read_control(connection: Connection, tenant_id: UUID, record: RequestRecord) -> ControlAuthors:
    return read_control_of_request(
        connection,
        tenant_id,
        entity_type=record.entity_type,
        contract_version=record.contract_version,
        definition_hash=record.definition_hash,
        instance_id=record.instance_id,
        chains={} if record.chain_name is None else {record.chain_name: record.chain_version},
    )


def _list_seated_authors(
    connection: Connection,
    tenant_id: UUID,
    record: RequestRecord,
    seats: Sequence[Seat],
    control: ControlAuthors,
) -> list[str]:
    """List the people who changed the control alone and may fill a seat, have filled one, or stand in."""
    seated = set()
    for author in control.list_alone():
        people = store.read_represented_people(connection, tenant_id, author, record.entity_type)
        if any(
            author in (seat.decided_by, seat.on_behalf_of)
            or any(seat.belongs_to(person, roles) for person, roles in people.items())
            for seat in seats
        ):
            seated.add(author)
    return list_seated_authors(control, seated)


def _read_snapshot(connection: Connection, tenant_id: UUID, snapshot: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(snapshot)
    document["data"] = resolve(connection, tenant_id, document["data"])
    return document
