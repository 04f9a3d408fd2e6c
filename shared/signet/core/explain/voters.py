"""The people of an open request in sentences: the seats, who may fill them, and what keeps the others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from signet.core.approvals.eligibility import Origin, Seat
from signet.core.approvals.seats.abstentions import has_only_abstentions
from signet.core.approvals.seats.rejecters import find_rejecter
from signet.core.approvals.votes import has_escalated
from signet.core.explain.instance_record import ApprovalRecord, InstanceRecords, VoterRecord
from signet.core.explain.outline import Outline
from signet.core.explain.phrases import describe_time, end_sentence
from signet.core.explain.vocabulary import describe_count, describe_list, escape

MAX_SHOWN_PEOPLE = 20
_ORIGINS: Mapping[Origin, str] = {
    "resolved": "",
    "escalated": ", of the wider circle",
    "break_glass": ", seated by break-glass of two operators",
}


@dataclass(frozen=True)
class LapsedVoteExplanation:
    """A vote that a gate could not use any more; its seat is asked again."""

    stage: int
    seat: int
    by: str
    on_behalf_of: str | None
    reason: str | None
    text: str


def explain_lapsed(request: ApprovalRecord) -> Iterator[LapsedVoteExplanation]:
    for vote in request.lapsed:
        for_person = f" for {escape(vote.on_behalf_of)}" if vote.on_behalf_of is not None else ""
        reason = f" {end_sentence(f'Now: {vote.reason}')}" if vote.reason is not None else ""
        is_open = request.status == "open"
        has, asked = ("has lapsed", "is asked again") if is_open else ("lapsed", "was asked again")
        text = (
            f"The vote of {escape(vote.decided_by)}{for_person} in stage {vote.stage}, seat {vote.position},"
            f" {has} (VOTE_NO_LONGER_VALID): a gate could not use it, and the seat {asked}.{reason}"
        )
        yield LapsedVoteExplanation(
            vote.stage, vote.position, vote.decided_by, vote.on_behalf_of, vote.reason, text
        )


def describe_terms(outline: Outline, request: ApprovalRecord) -> Iterator[str]:
    """Describe what a vote needs beside a seat, and what the policy allows."""
    for permission in request.voter_permissions or ():
        condition = outline.contract.conditions.get(permission) if outline.contract is not None else None
        only = f", only if {outline.words.describe_condition(condition)}" if condition is not None else ""
        yield f"A voter needs the permission {escape(permission)}{only}."
    if request.allows_same_person:
        yield "One person may approve more than once here (same_person: allowed)."


def describe_given_seats(request: ApprovalRecord) -> Iterator[str]:
    """Describe the seats that people gave: operators, or an administrator who handed one over."""
    for added in request.added_seats:
        yield end_sentence(
            f"Seat {added.position} of stage {added.stage} came by break-glass: {escape(added.proposed_by)}"
            f" proposed it, and {escape(added.consented_by)} consented. The reason: {escape(added.reason)}"
        )
    for seat in request.seats:
        if seat.handed_over_from is not None and seat.status != "open":
            yield (
                f"Seat {seat.position} of stage {seat.stage} was handed over from"
                f" {escape(seat.handed_over_from)} to {escape(seat.holder_user_id)}."
            )


def describe_open(record: InstanceRecords, request: ApprovalRecord, seats: Sequence[Seat]) -> Iterator[str]:
    if record.document is not None and record.document.version != request.document_version:
        yield (
            f"The document is at version {record.document.version} by now: nobody can decide about version"
            f" {request.document_version} any more."
        )
        return
    if not seats:
        coming = next((stuck for stuck in record.stuck_stages if stuck.request_id == request.id), None)
        if has_only_abstentions([seat for seat in request.seats if seat.stage == request.stage]):
            yield from _describe_abstentions(request)
        elif coming is None:
            yield "Nobody is asked any more: the workflow has not taken the decision yet."
        else:
            yield (
                f"Stage {request.stage} is decided, and stage {coming.stage} cannot begin: nobody may decide"
                " it. Nobody is asked now, and nobody can reject it."
            )
        return
    for seat in seats:
        yield f"Seat {seat.position} of stage {seat.stage} is open, for {_describe_holder(seat)}."
        yield from _describe_rejecter(request, seat)
    if request.refusal is not None:
        yield end_sentence(f"Nobody can vote now: {request.refusal}")
    else:
        yield _describe_voters([_name_voter(voter) for voter in request.voters if voter.obstacle is None])
        yield from describe_obstacles(request.voters)
    yield from _describe_reminders(request)
    if request.escalate_at is not None and not has_escalated(seats):
        yield f"If it is still undecided, it goes to a wider circle at {describe_time(request.escalate_at)}."
    if request.expire_at is not None:
        yield f"It expires at {describe_time(request.expire_at)}."


def _describe_reminders(request: ApprovalRecord) -> Iterator[str]:
    if request.reminders:
        yield f"Those who have not decided were reminded {describe_count(request.reminders, 'time')}."
    if request.remind_at is not None:
        yield f"Who has not decided is reminded at {describe_time(request.remind_at)}."


def _describe_rejecter(request: ApprovalRecord, seat: Seat) -> Iterator[str]:
    """Describe why one holder of a role is asked alone: their voice has rejected the same content."""
    rejected = {(one.stage, one.position): find_rejecter(one).person for one in request.rejected_seats}
    if seat.needed_role is not None and rejected.get((seat.stage, seat.position)) == seat.holder_user_id:
        who, role = escape(seat.holder_user_id), escape(seat.needed_role)
        yield (
            f"{who} alone is asked there, because they have rejected the same content."
            f" After an edit of the document, others with the role {role} are asked too."
        )


def _describe_abstentions(request: ApprovalRecord) -> Iterator[str]:
    """Describe a stage in which everybody has abstained, and what leads on."""
    yield f"Everybody who may decide stage {request.stage} has abstained. Nobody is asked now."
    asked = [seat for seat in request.seats if seat.stage == request.stage]
    roles = sorted({escape(seat.holder_role) for seat in asked if seat.holder_role is not None})
    if roles:
        named = describe_list(roles, "or")
        yield f"Give the role {named} to another person, and retry the instance: they are asked then."
    yield "Or send the token back to the state before (go_to): then the same people are asked again."
    yield "Or cancel the token (cancel_token) and retry the instance: it goes on as rejected."


def describe_obstacles(voters: Sequence[VoterRecord]) -> Iterator[str]:
    """Describe what keeps people from approving, one by one."""
    kept = [voter for voter in voters if voter.obstacle is not None]
    for voter in kept[:MAX_SHOWN_PEOPLE]:
        yield end_sentence(f"Not {escape(voter.person)}: {voter.obstacle}")
    if len(kept) > MAX_SHOWN_PEOPLE:
        yield f"Nor {len(kept) - MAX_SHOWN_PEOPLE} more."
    may_reject = [escape(voter.person) for voter in kept if voter.may_reject]
    if may_reject:
        yield f"{describe_shown(may_reject)} may still reject it."


def describe_shown(names: Sequence[str], last: str = "and") -> str:
    """List the first names, and say how many more there are."""
    shown = list(names[:MAX_SHOWN_PEOPLE])
    if len(names) > len(shown):
        shown.append(f"{len(names) - len(shown)} more")
    return describe_list(shown, last)


def _describe_holder(seat: Seat) -> str:
    holder = (
        escape(seat.holder_user_id) if seat.holder_role is None else f"the role {escape(seat.holder_role)}"
    )
    if seat.needed_role is not None:
        holder = f"{holder}, as long as they hold the role {escape(seat.needed_role)}"
    if seat.handed_over_from is not None:
        holder = f"{holder}, handed over from {escape(seat.handed_over_from)}"
    return f"{holder}{_ORIGINS[seat.origin]}"


def _name_voter(voter: VoterRecord) -> str:
    if voter.on_behalf_of is None:
        return escape(voter.person)
    return f"{escape(voter.person)} for {escape(voter.on_behalf_of)} (delegation {voter.delegation_id})"


def _describe_voters(names: Sequence[str]) -> str:
    if not names:
        return "Nobody may fill it now."
    return f"Who may decide now: {describe_shown(names)}."
