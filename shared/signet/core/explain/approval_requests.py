"""The approvals of an instance in sentences: votes, causes that used them up or voided them, open seats."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from signet.core.approvals.eligibility import Delegation, Seat
from signet.core.explain.controls import EDITED, find_act, name_control
from signet.core.explain.instance_record import (
    ApprovalRecord,
    DecisionRecord,
    ExplainedStep,
    InstanceRecords,
    VoterRecord,
)
from signet.core.explain.outline import Outline
from signet.core.explain.phrases import (
    begin_sentence,
    describe_node,
    describe_time,
    end_sentence,
)
from signet.core.explain.vocabulary import describe_list, describe_name, escape
from signet.core.explain.voters import (
    LapsedVoteExplanation,
    describe_given_seats,
    describe_open,
    describe_terms,
    explain_lapsed,
)
from signet.core.runtime.projection import CONTROL


@dataclass(frozen=True)
class Vote:
    """A vote; `delegation` allowed it if it was given for another person."""

    decision_id: UUID
    stage: int
    seat: int
    vote: str
    by: str
    on_behalf_of: str | None
    delegation: Delegation | None
    reason: str | None
    at: datetime
    text: str


@dataclass(frozen=True)
class Overtaken:
    """The cause that voided a request and its decisions; `step` is the number of the step that did."""

    because: str
    by: tuple[str, ...]
    version: int | None
    step: int | None
    at: datetime | None
    text: str


@dataclass(frozen=True)
class Used:
    """The gate that used an approval up, and the number of its step."""

    gate: str
    step: int
    at: datetime | None


@dataclass(frozen=True)
class RequestExplanation:
    request_id: UUID
    node: str
    status: str
    outcome: str | None
    requester: str
    at: datetime
    document_version: int
    snapshot_hash: str
    definition_hash: str
    policy_hash: str
    chain_name: str | None
    chain_version: int | None
    stage: int
    votes: tuple[Vote, ...]
    # The votes that a gate could not use; their seats are asked again.
    lapsed: tuple[LapsedVoteExplanation, ...]
    open_seats: tuple[Seat, ...]
    voters: tuple[VoterRecord, ...]
    used_by: Used | None
    overtaken: Overtaken | None
    text: tuple[str, ...]


def explain_requests(
    last: Outline, record: InstanceRecords, by_hash: Mapping[str, Outline] = MappingProxyType({})
) -> Iterator[RequestExplanation]:
    """Explain each request in the words of the definition that it is pinned to and ended under."""
    for request in record.approvals:
        outline = by_hash.get(request.definition_hash, last)
        votes = tuple(_explain_vote(outline, decision) for decision in request.decisions)
        used = _find_gate(record, request) if request.applied else None
        overtaken = _explain_overtaken(outline, record, request) if request.status == "voided" else None
        open_seats = tuple(seat for seat in request.seats if seat.status == "open")
        sentences = [_describe_standing(outline, request, used), _describe_about(outline, request)]
        sentences += describe_terms(outline, request)
        sentences += [vote.text for vote in votes]
        sentences += describe_given_seats(request)
        lapsed = tuple(explain_lapsed(request))
        sentences += [vote.text for vote in lapsed]
        if overtaken is not None:
            sentences.append(overtaken.text)
        if request.status == "open":
            sentences += describe_open(record, request, open_seats)
        yield RequestExplanation(
            request_id=request.id,
            node=request.node_id,
            status=request.status,
            outcome=request.outcome,
            requester=request.requester_id,
            at=request.created_at,
            document_version=request.document_version,
            snapshot_hash=request.snapshot_hash,
            definition_hash=request.definition_hash,
            policy_hash=request.policy_hash,
            chain_name=request.chain_name,
            chain_version=request.chain_version,
            stage=request.stage,
            votes=votes,
            lapsed=lapsed,
            open_seats=open_seats,
            voters=tuple(request.voters),
            used_by=used,
            overtaken=overtaken,
            text=tuple(sentences),
        )


def _describe_standing(outline: Outline, request: ApprovalRecord, used: Used | None) -> str:
    about = f"{begin_sentence(describe_node(outline, request.node_id))}, request {request.id}"
    match request.status:
        case "open":
            return f"{about}: open, in stage {request.stage}."
        case "voided":
            return f"{about}: void."
        case "approved" if used is not None:
            return (
                f"{about}: approved, and used up by {describe_node(outline, used.gate)} (step {used.step})."
            )
        case "approved":
            has_been = "used up by a gate" if request.applied else "used by no gate yet"
            return f"{about}: approved, {has_been}."
        case status:
            return f"{about}: {status}."


def _describe_about(outline: Outline, request: ApprovalRecord) -> str:
    chain = ""
    if request.chain_name is not None:
        chain = f", by version {request.chain_version} of the chain {escape(request.chain_name)}"
    requester = outline.words.describe_subject(request.requester_id)
    return (
        f"Requested by {requester} at {describe_time(request.created_at)}{chain}."
        f" It is about version {request.document_version} of the document (snapshot {request.snapshot_hash}),"
        f" under the definition {request.definition_hash} and the policy {request.policy_hash}."
    )


# --- who decided ---


def _explain_vote(outline: Outline, decision: DecisionRecord) -> Vote:
    return Vote(
        decision_id=decision.id,
        stage=decision.stage,
        seat=decision.position,
        vote=decision.decision,
        by=decision.decided_by,
        on_behalf_of=decision.on_behalf_of,
        delegation=decision.delegation,
        reason=decision.reason,
        at=decision.created_at,
        text=_describe_vote(outline, decision),
    )


def _describe_vote(outline: Outline, decision: DecisionRecord) -> str:
    for_person = f" for {escape(decision.on_behalf_of)}" if decision.on_behalf_of is not None else ""
    sentence = (
        f"{escape(decision.decided_by)} {decision.decision}{for_person}"
        f" at {describe_time(decision.created_at)} (stage {decision.stage}, seat {decision.position})"
    )
    if decision.delegation is not None:
        sentence += f", under {_describe_delegation(decision.delegation)}"
    return end_sentence(f'{sentence}: "{escape(decision.reason)}"' if decision.reason else sentence)


def _describe_delegation(delegation: Delegation) -> str:
    scope = "all documents"
    if delegation.entity_type is not None:
        scope = f'documents of the type "{describe_name(delegation.entity_type)}"'
    revoked = "; it has been revoked since" if delegation.is_revoked else ""
    return (
        f"the delegation {delegation.id} from {escape(delegation.user_id)}"
        f" to {escape(delegation.delegate_id)} about {scope},"
        f" from {describe_time(delegation.from_time)} to {describe_time(delegation.to_time)}{revoked}"
    )


# --- what used it up, and what voided it ---


def _find_gate(record: InstanceRecords, request: ApprovalRecord) -> Used | None:
    """Return the first gate that was passed since: it uses up every approval there is."""
    asked = _find_step(record, request)
    for step in _list_later(record, asked, asked.end_seq if asked is not None else None):
        if step.node_type == "lifecycle_gate" and _outcome_of(step) == "passed":
            return Used(step.node_id, step.seq, step.completed_at)
    return None


def _explain_overtaken(outline: Outline, record: InstanceRecords, request: ApprovalRecord) -> Overtaken:
    asked = _find_step(record, request)
    cause = next(_find_causes(outline, record, request, asked), None)
    if cause is None:
        because = request.outcome or "it was withdrawn"
        cause = Overtaken(
            because="unknown", by=(), version=None, step=None, at=None, text=begin_sentence(escape(because))
        )
    return replace(cause, text=f"{cause.text}: {_describe_void(request)}")


def _describe_void(request: ApprovalRecord) -> str:
    people = dict.fromkeys(decision.decided_by for decision in request.decisions)
    if not people:
        return "the request no longer counts."
    return f"nothing that {describe_list(map(escape, people))} decided counts any longer."


def _find_causes(
    outline: Outline, record: InstanceRecords, request: ApprovalRecord, asked: ExplainedStep | None
) -> Iterator[Overtaken]:
    """Yield the causes in their order. An edit comes in the history right before the step it withdraws."""
    if asked is None or asked.end_seq is None:
        return
    was_withdrawn = asked.status == "cancelled"
    for step in _list_later(record, asked, asked.end_seq - 1 if was_withdrawn else asked.end_seq):
        if step.node_id.startswith(CONTROL):
            yield from _read_control(outline, record, request, step)
        elif was_withdrawn and step.end_seq == asked.end_seq and step.status == "completed":
            yield _make_cause(step, because="withdrawn", text=_describe_passing(outline, step))
        elif not was_withdrawn and step.node_type == "lifecycle_gate":
            yield _make_cause(step, because="another_way", text=_describe_passing(outline, step))


def _read_control(
    outline: Outline, record: InstanceRecords, request: ApprovalRecord, step: ExplainedStep
) -> Iterator[Overtaken]:
    data = step.output_json or {}
    if name_control(step) == EDITED:
        if data["seen"] <= request.document_version < data["found"]:
            yield _read_edit(outline, record, step, data["seen"], data["found"])
        return
    act = find_act(outline, step)
    if act is not None:
        subject = data["actor"]["id"] if "actor" in data else step.actor_user_id
        actor, shown = escape(subject), outline.words.describe_subject(subject)
        text = f"{shown} {act.text}{_describe_when(step, act.version)}"
        yield _make_cause(step, because=act.because, by=(actor,), text=text, version=act.version)


def _read_edit(
    outline: Outline, record: InstanceRecords, step: ExplainedStep, seen: int, found: int
) -> Overtaken:
    edits = [edit for edit in record.edits if seen < edit.version <= found]
    people = tuple(dict.fromkeys(escape(edit.actor_id) for edit in edits))
    shown = dict.fromkeys(outline.words.describe_subject(edit.actor_id) for edit in edits)
    who = f"{describe_list(shown)} edited the document" if shown else "The document was edited"
    at = edits[-1].created_at if edits else step.completed_at
    when = f" at {describe_time(at)}" if at is not None else ""
    return Overtaken(
        because=EDITED,
        by=people,
        version=found,
        step=step.seq,
        at=at,
        text=f"{who} (version {found}{when})",
    )


def _make_cause(
    step: ExplainedStep, *, because: str, text: str, by: tuple[str, ...] = (), version: int | None = None
) -> Overtaken:
    return Overtaken(because=because, by=by, version=version, step=step.seq, at=step.completed_at, text=text)


def _describe_when(step: ExplainedStep, version: int | None) -> str:
    parts = [f"version {version}"] if version is not None else []
    parts += [f"at {describe_time(step.completed_at)}"] if step.completed_at is not None else []
    return f" ({' '.join(parts)})" if parts else ""


def _describe_passing(outline: Outline, step: ExplainedStep) -> str:
    outcome = _outcome_of(step)
    return (
        f"{begin_sentence(describe_node(outline, step.node_id))} ended{f' as {outcome}' if outcome else ''}"
    )


def _outcome_of(step: ExplainedStep) -> str | None:
    outcome = (step.output_json or {}).get("outcome")
    return None if outcome is None else str(outcome)


def _find_step(record: InstanceRecords, request: ApprovalRecord) -> ExplainedStep | None:
    """Return the request's step, or None if it is older than the steps that were read."""
    return next((step for step in record.steps if step.id == request.step_execution_id), None)


def _list_later(
    record: InstanceRecords, asked: ExplainedStep | None, since: int | None
) -> list[ExplainedStep]:
    """Return the steps that have ended since, in the order of their ends."""
    if asked is None or since is None:
        return []
    later = [
        (step.end_seq, step.seq, step)
        for step in record.steps
        if step.id != asked.id and step.end_seq is not None and step.end_seq >= since
    ]
    return [step for _, _, step in sorted(later, key=lambda ended: ended[:2])]
