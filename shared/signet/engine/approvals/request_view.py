"""One request as the people read it who decide: what it is about, who stands behind it, what a vote needs."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from signet.core.approvals.eligibility import PeopleBehind, Seat, find_people_behind
from signet.core.approvals.policy import Policy, parse_policy
from signet.core.contracts.contract import Contract
from signet.core.contracts.guarded_states import list_editable_behind
from signet.core.control.authorship import ControlAuthors
from signet.core.explain.vocabulary import Vocabulary
from signet.core.tenants.caller import Caller
from signet.core.tenants.permissions import grants
from signet.core.validation.unclear_text import list_unclear
from signet.engine.access.read import ReadTransaction, reading
from signet.engine.approvals.ballots import approval_not_found
from signet.engine.approvals.comparison import (
    LastApproved,
    LastAsked,
    ShownContent,
    compare_with_last_approved,
    compare_with_last_asked,
)
from signet.engine.approvals.moved_original import MovedOriginal, read_moved_original
from signet.engine.approvals.shown_names import NamedPerson as NamedPerson
from signet.engine.approvals.shown_names import read_names
from signet.engine.approvals.vote_reader import ReadRequest, VoteReader, VoteStanding
from signet.engine.cache import ContractCache
from signet.engine.control.authorship import list_seated_alone, read_control_of_request
from signet.engine.documents.change import make_org
from signet.engine.documents.read import resolve
from signet.engine.documents.unit_of_work import DocumentCaches
from signet.store.approvals import decisions as store
from signet.store.approvals.break_glass import BreakGlassProposal as BreakGlassProposal
from signet.store.approvals.break_glass import list_seated
from signet.store.approvals.decisions import ApprovalDecisionRecord as ApprovalDecisionRecord
from signet.store.approvals.decisions import RequestRecord, RequestStatus
from signet.store.approvals.failed_calls import FailedCall as FailedCall
from signet.store.approvals.failed_calls import list_failed_calls
from signet.store.approvals.voters import (
    AnswerRow,
    RejectionRow,
    list_answers_by_hand,
    list_pinned_variables,
    list_rejected_before,
)
from signet.store.approvals.voters import PinnedVariable as PinnedVariable
from signet.store.database import Connection, Database
from signet.store.definitions.older import RunDefinition, find_run_definition
from signet.store.documents.personal_values import list_erased_fields
from signet.store.tenants.people import list_absent

NamePerson = Callable[[str], NamedPerson]


@dataclass(frozen=True, slots=True)
class ResponsibleParts:
    """The persons who may not decide, by their part. A contract may let a part decide.

    `creator_label` is the key or service account that they created the document by.
    """

    creator_label: str | None
    creator: Sequence[NamedPerson]
    editors: Sequence[NamedPerson]
    requesters: Sequence[NamedPerson]


@dataclass(frozen=True, slots=True)
class PinnedReference:
    """The values that the definition reads of another document, as people are asked about them.

    The version is null where there is no such document. `read_from` is the document in force that was read,
    where an amendment has taken the place of the named one. `changed_by` stands behind these values, and
    counts as an editor. `is_changed` says that the other document says something else now: then nobody can
    vote, and people are asked again.
    """

    field: str
    document_id: UUID
    read_from: UUID | None
    entity_type: str
    version: int | None
    hash: str | None
    values: Mapping[str, Any]
    changed_by: Sequence[NamedPerson]
    is_changed: bool


@dataclass(frozen=True, slots=True)
class EarlierRejection:
    """A vote that rejected the document before, or one that it amends.

    `is_same_content` says that neither its data nor the pinned values have changed since. `is_look_alike`: it
    was about another document, which says the same under another number.
    """

    request_id: UUID
    document_id: UUID
    document_version: int
    stage: int
    rejected_by: NamedPerson
    on_behalf_of: NamedPerson | None
    reason: str | None
    at: datetime
    is_same_content: bool
    is_look_alike: bool


@dataclass(frozen=True, slots=True)
class AnswerByHand:
    """A wait that an operator ended, or a node that they skipped, with the variables that they entered."""

    node_id: str
    answered_by: NamedPerson
    # The person that a command line claimed to be.
    claimed: str | None
    reason: str
    variables: Mapping[str, Any]
    at: datetime


@dataclass(frozen=True, slots=True)
class VoterNeed:
    """A permission that voters need beside a seat, and its condition, which is about the voter."""

    permission: str
    condition: str | None
    # The condition in words.
    text: str | None


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A request for approval of one version of a document, pinned with its definition and policy."""

    id: UUID
    status: RequestStatus
    outcome: str | None
    # Whether a gate has used the approval.
    applied: bool | None
    stage: int
    entity_type: str
    document_id: UUID
    document_version: int
    current_version: int
    instance_id: UUID
    node_id: str
    requester_id: str
    # The reason of the last request for a transition.
    request_reason: str | None
    # The key that requested it, with its owner; null where a person did.
    requester_label: str | None
    requester_owner: NamedPerson | None
    # The requester, or the owner of the key, is no active member any more: no gate uses the approval.
    requester_has_left: bool
    # The persons who stand behind the document and the request.
    responsible: ResponsibleParts
    chain_name: str | None
    chain_version: int | None
    snapshot_hash: str
    definition_hash: str
    policy_hash: str
    escalate_at: datetime | None
    expire_at: datetime | None
    created_at: datetime
    ended_at: datetime | None
    policy: Policy
    # The document as it was pinned, with personal values as they are now.
    document: Mapping[str, Any]
    # The fields of other documents that the definition reads: steps behind the gate use these values.
    pins: Sequence[PinnedReference]
    # The variables of the workflow that steps behind the gate read.
    variables: Sequence[PinnedVariable]
    # The fields of the document that personal values were erased from, at any time.
    erased_fields: Sequence[str]
    # The votes that rejected the document before, or one that it amends; the newest first.
    rejected_before: Sequence[EarlierRejection]
    # The waits that operators ended by hand, with what they entered, the newest first.
    answered_by_hand: Sequence[AnswerByHand]
    # The calls that failed, so that the document went on by an edge for errors; the newest first.
    failed_calls: Sequence[FailedCall]
    # The permissions that a voter needs beside a seat.
    voters_need: Sequence[VoterNeed]
    # The states behind the approval where people may edit the document, and nobody is asked again.
    editable_behind: Sequence[str]
    # Whether the caller may decide now.
    standing: VoteStanding
    seats: Sequence[Seat]
    decisions: Sequence[ApprovalDecisionRecord]
    # The seats that two operators have added, each with both names and the reason.
    break_glass: Sequence[BreakGlassProposal]
    # The authors of the definition, the contract and the chain that it is pinned to.
    control: ControlAuthors
    # The people who changed a part of these alone, and have a seat here themselves.
    seated_authors: Sequence[str]
    definition: RunDefinition | None
    # Why an amendment cannot settle now, also where people approve it; null where it can.
    original_moved: MovedOriginal | None
    # The paths of texts with hidden characters, or with letters of two scripts in one word.
    unclear: Sequence[str] = ()
    # What has changed since a gate used an approval.
    last_approved: LastApproved | None = None
    # What has changed since the caller was asked before, and why they are asked again.
    last_asked: LastAsked | None = None


def read_approval_request(
    database: Database, caches: DocumentCaches, caller: Caller, request_id: UUID
) -> ApprovalRequest:
    """Read a request as a person asked, its requester or a reader of its type; others get 404."""
    tenant_id = caller.principal.tenant_id
    with reading(database, caller.principal) as read:
        record = store.read_request(read.connection, tenant_id, request_id)
        if record is None:
            raise approval_not_found(request_id)
        seats = store.read_seats(read.connection, tenant_id, request_id)
        if not _may_read(read, record, seats):
            raise approval_not_found(request_id)
        view = _read_view(read, caches.contracts, record, seats)
    pinned = {pin.field: pin.values for pin in view.pins}
    shown = ShownContent(view.document["data"], pinned)
    last = compare_with_last_approved(database, tenant_id, view.document_id, view.id, shown)
    about = view.id, shown, caller.principal.subject, view.entity_type
    asked = compare_with_last_asked(database, tenant_id, *about)
    unclear = list_unclear({**view.document["data"], **pinned})
    return replace(view, unclear=unclear, last_approved=last, last_asked=asked)


def _read_view(
    read: ReadTransaction, contracts: ContractCache, record: RequestRecord, seats: Sequence[Seat]
) -> ApprovalRequest:
    connection, tenant_id, person = read.connection, read.principal.tenant_id, read.principal.subject
    org = make_org(tenant_id, read.transaction)
    reader = VoteReader(connection, tenant_id, contracts, org, read.transaction.now)
    found = reader.read([record.id], [person])[record.id]
    rejected = list_rejected_before(connection, tenant_id, record.id)
    answers = list_answers_by_hand(connection, tenant_id, record.id)
    people = {*_list_people(found, rejected), *(answer.answered_by for answer in answers)}
    requester_id, creator_id = record.requester_id, found.document.creator_id
    names = read_names(connection, tenant_id, people, (requester_id, creator_id))
    snapshot, control = json.loads(record.snapshot), _read_control(connection, tenant_id, record)
    contract = _read_contract(reader, found)
    return ApprovalRequest(
        id=record.id,
        status=record.status,
        outcome=record.outcome,
        applied=record.applied,
        stage=record.stage,
        entity_type=record.entity_type,
        document_id=record.document_id,
        document_version=record.document_version,
        current_version=record.current_version,
        instance_id=record.instance_id,
        node_id=record.node_id,
        requester_id=record.requester_id,
        request_reason=record.request_reason,
        chain_name=record.chain_name,
        chain_version=record.chain_version,
        snapshot_hash=record.snapshot_hash,
        definition_hash=record.definition_hash,
        policy_hash=record.policy_hash,
        escalate_at=record.escalate_at,
        expire_at=record.expire_at,
        created_at=record.created_at,
        ended_at=record.ended_at,
        policy=parse_policy(record.policy, record.policy_hash),
        document={**snapshot, "data": resolve(connection, tenant_id, snapshot["data"])},
        seats=seats,
        decisions=store.read_decisions(connection, tenant_id, record.id),
        break_glass=list_seated(connection, tenant_id, record.id),
        control=control,
        seated_authors=list_seated_alone(connection, tenant_id, record.entity_type, seats, control),
        definition=find_run_definition(connection, tenant_id, record.instance_id),
        requester_label=names.label_of(requester_id),
        requester_owner=names.owner_of(requester_id),
        requester_has_left=bool(list_absent(connection, tenant_id, [record.requester_id])),
        responsible=_show_responsible(found, names.name, names.label_of(creator_id)),
        pins=_show_pins(found, names.name),
        variables=list_pinned_variables(connection, tenant_id, record.id),
        erased_fields=list_erased_fields(connection, tenant_id, record.document_id),
        rejected_before=[_show_rejection(row, names.name) for row in rejected],
        answered_by_hand=[_show_answer(row, names.name) for row in answers],
        failed_calls=list_failed_calls(connection, tenant_id, record.document_id, until=record.ended_at),
        voters_need=_list_needs(contract, found),
        editable_behind=list_editable_behind(contract, record.node_id.split(":")[1]) if contract else [],
        standing=found.stand(person),
        original_moved=read_moved_original(connection, tenant_id, contracts, record.document_id),
    )


def _list_people(found: ReadRequest, rejected: Collection[RejectionRow]) -> Iterator[str]:
    yield from _find_people_behind(found).everyone
    for row in rejected:
        yield row.decided_by
        if row.on_behalf_of is not None:
            yield row.on_behalf_of


def _find_people_behind(found: ReadRequest) -> PeopleBehind:
    return find_people_behind(found.document, found.request.requesters, found.request.pins)


def _show_responsible(found: ReadRequest, name: NamePerson, label: str | None) -> ResponsibleParts:
    """Show those of the document and of the request; each pin shows its own."""
    asking, of = _find_people_behind(found).requesters, found.document
    parts = of.creator_responsible, of.editor_responsible, asking
    return ResponsibleParts(label, *([name(person) for person in sorted(part)] for part in parts))


def _show_pins(found: ReadRequest, name: NamePerson) -> list[PinnedReference]:
    changed = frozenset(found.request.changed_pins)
    return [
        PinnedReference(
            field=field,
            document_id=UUID(pin["document_id"]),
            read_from=UUID(pin["read_from"]) if "read_from" in pin else None,
            entity_type=pin["entity_type"],
            version=pin["version"],
            hash=pin["hash"],
            values=pin["values"],
            changed_by=[name(person) for person in pin.get("responsible", ())],
            is_changed=field in changed,
        )
        for field, pin in sorted((found.request.pins or {}).items())
    ]


def _show_rejection(row: RejectionRow, name: NamePerson) -> EarlierRejection:
    return EarlierRejection(
        request_id=row.request_id,
        document_id=row.document_id,
        document_version=row.document_version,
        stage=row.stage,
        rejected_by=name(row.decided_by),
        on_behalf_of=None if row.on_behalf_of is None else name(row.on_behalf_of),
        reason=row.reason,
        at=row.created_at,
        is_same_content=row.is_same_content,
        is_look_alike=row.is_look_alike,
    )


def _show_answer(row: AnswerRow, name: NamePerson) -> AnswerByHand:
    return AnswerByHand(
        node_id=row.node_id,
        answered_by=name(row.answered_by),
        claimed=row.claimed,
        reason=row.reason,
        variables=row.variables,
        at=row.at,
    )


def _read_contract(reader: VoteReader, found: ReadRequest) -> Contract | None:
    document, read = found.document, reader.contracts.read
    contract = read(reader.connection, reader.tenant_id, document.entity_type, document.contract_version)
    return contract.contract if contract is not None else None


def _list_needs(declared: Contract | None, found: ReadRequest) -> list[VoterNeed]:
    words, needs = Vocabulary(found.document.entity_type, declared), []
    for permission in found.request.voter_permissions or ():
        condition = declared.conditions.get(permission) if declared is not None else None
        needs.append(VoterNeed(permission, condition, condition and words.describe_condition(condition)))
    return needs


def _may_read(read: ReadTransaction, record: RequestRecord, seats: Sequence[Seat]) -> bool:
    person, tenant_id = read.principal.subject, read.principal.tenant_id
    if person == record.requester_id or grants(read.permissions, f"{record.entity_type}:read"):
        return True
    if any(person in (seat.decided_by, seat.on_behalf_of) for seat in seats):
        return True
    counted_people = store.read_represented_people(read.connection, tenant_id, person, record.entity_type)
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
