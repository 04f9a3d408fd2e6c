"""Seats of a stage, made of its approvers once, when the stage begins.

A seat belongs to a person, or to a role and so to each of its holders at the time of deciding. All that is
known of people comes in as `ApproverData`. No approver is left out in silence: each that gave no seat is
reported. Where everybody must approve, such a gap leaves the stage without seats, and a wider circle decides.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from signet.core.approvals.eligibility import Origin, Seat
from signet.core.approvals.policy import Stage
from signet.core.compiler.node_configurations import (
    Approver,
    ByExpression,
    ByManager,
    ByRole,
    ByUser,
    Escalation,
)

# Of one stage, however long the lists are that its expressions give.
MAX_SEATS = 100
MAX_USER_ID_CHARACTERS = 200
# The people whose manager was asked for, from the lowest on.
Lines = tuple[str, ...]


class UnseatedReason(StrEnum):
    """The reason that an approver, or a person that an expression names, gave no seat."""

    NO_MANAGER = "no_manager"
    NO_MEMBER = "no_member"
    NOT_A_USER = "not_a_user"
    NOT_OF_ROLE = "not_of_role"
    TWICE = "twice"  # the person has a seat already: nothing is missing
    TOO_MANY = "too_many"


_GAPS: Mapping[UnseatedReason, str] = {
    UnseatedReason.NO_MANAGER: "the organisation names no such manager of {who}",
    UnseatedReason.NO_MEMBER: "nobody who may decide holds the role {who}",
    UnseatedReason.NOT_A_USER: "{who} gives no user",
    UnseatedReason.NOT_OF_ROLE: "{who} is no member with the role that is needed",
    UnseatedReason.TWICE: "{who} has a seat already and counts once",
    UnseatedReason.TOO_MANY: "{who} gives more people than a stage has seats (" + str(MAX_SEATS) + ")",
}


@dataclass(frozen=True, slots=True)
class UnseatedApprover:
    approver: int
    gap: UnseatedReason
    who: str
    # The lines that led to no seat of their own.
    lines: Lines = ()

    @property
    def sentence(self) -> str:
        return _GAPS[self.gap].format(who=self.who)


class Deadlock(StrEnum):
    """The reason that no vote can decide a stage any more; stable, because instances pause with it."""

    NOBODY_FOUND = "APPROVAL_NOBODY_FOUND"
    APPROVER_MISSING = "APPROVAL_APPROVER_MISSING"
    TOO_MANY_SEATS = "APPROVAL_TOO_MANY_SEATS"
    QUORUM_UNREACHABLE = "APPROVAL_QUORUM_UNREACHABLE"
    ALL_ABSTAINED = "APPROVAL_ALL_ABSTAINED"
    NOBODY_ELIGIBLE = "APPROVAL_NOBODY_ELIGIBLE"

    @property
    def sentence(self) -> str:
        return _DEADLOCKS[self]


_DEADLOCKS: Mapping[Deadlock, str] = {
    Deadlock.NOBODY_FOUND: "no approver was found",
    Deadlock.APPROVER_MISSING: "everybody asked must approve, and not all of them were found",
    Deadlock.TOO_MANY_SEATS: f"more people would be asked than a stage has seats ({MAX_SEATS})",
    Deadlock.QUORUM_UNREACHABLE: "fewer people can be asked than must approve",
    Deadlock.ALL_ABSTAINED: "everybody asked abstained",
    Deadlock.NOBODY_ELIGIBLE: "nobody is left who may decide",
}


@dataclass(frozen=True, slots=True)
class ApproverQueries:
    """The values to look up before approvers become seats."""

    # Texts of expressions to evaluate.
    expressions: tuple[str, ...]
    # The expressions whose value is a person, with the number of managers to climb.
    managers_of: Mapping[str, int]
    # Roles whose members take turns.
    turns: tuple[str, ...]
    # The expressions whose people must hold a role.
    filtered: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApproverData:
    # By the text of an expression.
    values: Mapping[str, Any] = field(default_factory=dict)
    # The manager of each person, up to the level that was asked for.
    managers: Mapping[str, str] = field(default_factory=dict)
    # By role, the people who take turns and the number of the turn, which is counted round.
    members: Mapping[str, Collection[str]] = field(default_factory=dict)
    turns: Mapping[str, int] = field(default_factory=dict)
    # By person, the roles of active members that an expression with a role names.
    roles: Mapping[str, Collection[str]] = field(default_factory=dict)
    # People barred by separation of duties; they are never given a turn.
    barred: Collection[str] = ()
    # Of a key that expressions name, the member whose reporting line it has.
    owners: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SeatAssignment:
    """The seats of a stage, or the deadlock: then there are no seats, and nobody is asked in vain."""

    seats: tuple[Seat, ...]
    missing: tuple[UnseatedApprover, ...]
    deadlock: Deadlock | None

    @property
    def in_vain(self) -> Lines:
        return tuple(line for unseated in self.missing for line in unseated.lines)


def list_needs(approvers: Sequence[Approver]) -> ApproverQueries:
    texts: dict[str, None] = {}
    managers_of: dict[str, int] = {}
    turns: dict[str, None] = {}
    filtered: dict[str, None] = {}
    for approver in approvers:
        match approver:
            case ByExpression():
                texts[approver.expression] = None
                filtered.update({approver.expression: None} if approver.who is not None else {})
            case ByManager():
                texts[approver.of] = None
                managers_of[approver.of] = max(approver.levels, managers_of.get(approver.of, 0))
            case ByRole(pick="round_robin"):
                turns[approver.role] = None
            case _:
                continue
    return ApproverQueries(tuple(texts), managers_of, tuple(turns), tuple(filtered))


def seat_stage(number: int, stage: Stage, approver_data: ApproverData) -> SeatAssignment:
    seats, missing = _make_seats(number, stage.approvers, approver_data, "resolved", ())
    deadlock = _find_deadlock(stage, len(seats), missing)
    return SeatAssignment(() if deadlock else seats, missing, deadlock)


def seat_escalation(
    number: int,
    escalation: Escalation,
    approver_data: ApproverData,
    seats: Sequence[Seat],
    in_vain: Lines = (),
) -> SeatAssignment:
    """Make the seats to add to those of the stage; any one of them decides it.

    `in_vain` are the lines that led to no seat of a stage which could not begin.
    """
    added, missing = _make_seats(number, (escalation.to,), approver_data, "escalated", seats, in_vain)
    if any(unseated.gap is UnseatedReason.TOO_MANY for unseated in missing):
        return SeatAssignment((), missing, Deadlock.TOO_MANY_SEATS)
    return SeatAssignment(added, missing, None if added else Deadlock.NOBODY_FOUND)


def _find_deadlock(stage: Stage, count: int, missing: Sequence[UnseatedApprover]) -> Deadlock | None:
    gaps = {unseated.gap for unseated in missing} - {UnseatedReason.TWICE}
    if UnseatedReason.TOO_MANY in gaps:
        return Deadlock.TOO_MANY_SEATS
    if count == 0:
        return Deadlock.NOBODY_FOUND
    if stage.quorum == "all" and gaps:
        # Asking only the rest would let fewer people approve than the policy wants.
        return Deadlock.APPROVER_MISSING
    if isinstance(stage.quorum, int) and count < stage.quorum:
        return Deadlock.QUORUM_UNREACHABLE
    return None


@dataclass(frozen=True, slots=True)
class _Holder:
    """The holder of a seat to be: a person, who may need a role, or a role."""

    user_id: str | None = None
    role: str | None = None
    needed_role: str | None = None
    lines: Lines = ()


def _make_seats(
    number: int,
    approvers: Sequence[Approver],
    approver_data: ApproverData,
    origin: Origin,
    existing: Sequence[Seat],
    in_vain: Lines = (),
) -> tuple[tuple[Seat, ...], tuple[UnseatedApprover, ...]]:
    seated = {seat.holder_user_id for seat in existing if seat.holder_user_id is not None}
    holders, missing = _resolve_holders(approvers, approver_data, seated)
    first = max((seat.position for seat in existing), default=0) + 1
    in_vain += tuple(line for unseated in missing for line in unseated.lines)
    seats = (
        Seat(
            number,
            position,
            holder.user_id,
            holder.role,
            origin,
            needed_role=holder.needed_role,
            lines=tuple(dict.fromkeys((*holder.lines, *in_vain))),
        )
        for position, holder in enumerate(holders, first)
    )
    return tuple(seats), tuple(missing)


def _resolve_holders(
    approvers: Sequence[Approver], approver_data: ApproverData, seated: Collection[str]
) -> tuple[list[_Holder], list[UnseatedApprover]]:
    """Return the holders in their order, each person once, and what gave none.

    `seated` are the people who have a seat of the stage already.
    """
    holders: list[_Holder] = []
    missing: dict[UnseatedApprover, None] = {}
    people: set[str] = set()
    for index, approver in enumerate(approvers):
        for holder in _resolve(index, approver, approver_data, people.union(seated)):
            if isinstance(holder, UnseatedApprover):
                missing[holder] = None
            elif holder.user_id in people:
                missing[UnseatedApprover(index, UnseatedReason.TWICE, str(holder.user_id), holder.lines)] = (
                    None
                )
            elif len(holders) >= MAX_SEATS:
                missing[UnseatedApprover(index, UnseatedReason.TOO_MANY, f"approver {index + 1}")] = None
                break
            else:
                holders.append(holder)
                people.update([holder.user_id] if holder.user_id is not None else [])
    return holders, list(missing)


def _resolve(
    index: int, approver: Approver, approver_data: ApproverData, busy: Collection[str]
) -> Iterator[_Holder | UnseatedApprover]:
    match approver:
        case ByUser():
            yield _Holder(user_id=approver.user)
        case ByRole(pick="first_available"):
            yield _Holder(role=approver.role)
        case ByRole():
            yield _take_turn(index, approver.role, approver_data, busy)
        case ByManager():
            yield _climb(index, approver, approver_data)
        case _:
            yield from _read_people(index, approver, approver_data)


def _take_turn(
    index: int, role: str, approver_data: ApproverData, busy: Collection[str]
) -> _Holder | UnseatedApprover:
    """Return the member whose turn it is. One with a seat already is passed over while there are others."""
    members = sorted(set(approver_data.members[role]) - set(approver_data.barred))
    if not members:
        return UnseatedApprover(index, UnseatedReason.NO_MEMBER, role)
    turn = approver_data.turns[role] % len(members)
    in_turn = members[turn:] + members[:turn]
    taken = next((member for member in in_turn if member not in busy), in_turn[0])
    return _Holder(user_id=taken, needed_role=role)


def _climb(index: int, approver: ByManager, approver_data: ApproverData) -> _Holder | UnseatedApprover:
    person = approver_data.values[approver.of]
    if not _is_user_id(person):
        return UnseatedApprover(index, UnseatedReason.NOT_A_USER, approver.of)
    manager: str | None = person
    lines: list[str] = []
    for _ in range(approver.levels):
        if manager is not None:
            lines.append(approver_data.owners.get(manager, manager))
            manager = approver_data.managers.get(manager)
    if manager is None:
        return UnseatedApprover(index, UnseatedReason.NO_MANAGER, person, tuple(lines))
    return _Holder(user_id=manager, lines=tuple(lines))


def _read_people(
    index: int, approver: ByExpression, approver_data: ApproverData
) -> Iterator[_Holder | UnseatedApprover]:
    people = list_named_people(approver_data.values[approver.expression])
    unnamed = UnseatedApprover(index, UnseatedReason.NOT_A_USER, approver.expression)
    if not people:
        yield unnamed
    for person in people:
        if not _is_user_id(person):
            yield unnamed
        elif approver.who is None or approver.who in approver_data.roles.get(person, ()):
            yield _Holder(user_id=person, needed_role=approver.who)
        else:
            yield UnseatedApprover(index, UnseatedReason.NOT_OF_ROLE, person)


def list_named_people(value: Any) -> list[Any]:
    """List what an expression names; not all of it need be people."""
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_user_id(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_USER_ID_CHARACTERS
