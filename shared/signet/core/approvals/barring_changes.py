"""Changes of eligibility that bar a vote: nobody votes by what they gave, or the document's people gave.

A vote rests on roles, membership, a reporting line, a delegation or a seat. It is barred where the voter, or
a person who is responsible for the document, gave that after the approval was asked for. It does not rest on
what the person would have the seat and the permission without: so nobody is barred by a gift. It is barred
too where one of them took the eligibility of others that the stage asks: clearing the bench. They may take
the seat, or by any role the permission that votes need. Giving it to others bars nobody but those others. A
delegation of one's own voice is the lawful way, and bars nothing. A vote rests on the one delegation that it
is given by: that others have given the same once more bars nobody.

Two givings bar the whole stage like a taking, because they may take a vote. One is a role, where a condition
on the voter reads roles. The other is a line that a seat of the stage came by. That is each one that was
climbed to its holder, or that led to nobody.

A request that decides has no bench, and nobody was asked before it. So it is barred by what was given since
its document was made, and by no taking.

What was given to a person stays given. What was taken bars until a person gives it back who is not concerned
themselves. So does what a role gained, until such a person takes it away. To take back what a person of the
document gave meanwhile bars nothing: by that giving nobody could vote.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from signet.core.approvals.eligibility import Delegation
from signet.core.contracts.compiled_contract import Denial
from signet.core.tenants.eligibility_changes import EligibilityChange, EligibilityKind

CODE = "VOTE_BARRED_BY_GRANT"
REQUEST_CODE = "REQUEST_BARRED_BY_GRANT"
# With more of them nobody can tell if one bars the vote.
MAX_CHANGES = 1_000
_TAKING = frozenset({"role_taken", "member_disabled", "role_permissions_changed", "role_deleted"})
# What undoes each change: for its member, or for all who hold the role.
_SET_AGAIN: frozenset[EligibilityKind] = frozenset({"role_permissions_changed", "role_widened"})
_UNDOING: Mapping[EligibilityKind, frozenset[EligibilityKind]] = {
    "role_taken": frozenset({"role_given"}),
    "member_disabled": frozenset({"member_enabled"}),
    "role_permissions_changed": _SET_AGAIN,
    "role_deleted": _SET_AGAIN,
    "role_widened": frozenset({"role_permissions_changed"}),
    # Where it bars the whole stage.
    "role_given": frozenset({"role_taken"}),
}
_SENTENCES: Mapping[str, str] = {
    "role_given": "{actor} gave {user} the role '{role}'",
    "role_taken": "{actor} took the role '{role}' from {user}",
    "member_enabled": "{actor} made {user} an active member",
    "member_disabled": "{actor} disabled {user}",
    "manager_set": "{actor} changed who manages {other}",
    "seat_given": "{actor} gave {user} a seat",
    "role_permissions_changed": "{actor} changed the role '{role}'",
    "role_widened": "{actor} added permissions to the role '{role}'",
    "role_deleted": "{actor} deleted the role '{role}'",
}
_GIVE_BACK = "a person without a part in the document gives it back, and takes it again if they agree with it"
_TAKE_AWAY = "a person without a part in the document takes it away, and gives it again if they agree with it"
_SET_LINE = "a person without a part in the document sets the manager again"
_GIVE_OWN_VOICE = "{user} votes themselves, or gives their voice by a delegation of their own"


@dataclass(frozen=True, slots=True)
class VoteBasis:
    """Everything that a vote rests on; `represented` is the person that a delegate votes for."""

    voter: str
    represented: str | None
    # The roles that these two have now.
    roles: Mapping[str, Collection[str]]
    # The roles by which the seat is filled. It may have come by a reporting line. Or people have given it, by
    # break-glass or in place of another.
    own_seat_roles: Collection[str]
    is_by_line: bool
    is_seated: bool
    # The people and roles that hold the seats of the stage. Then those holders who came by a reporting line,
    # where their seats do not tell which.
    holder_ids: Collection[str]
    seat_roles: Collection[str]
    line_holders: Collection[str]
    # The people who are responsible for the document.
    responsible: Collection[str]
    # The permissions that a vote needs beside a seat.
    needed_permissions: Collection[str]
    # A condition on the voter reads their roles: each may matter then.
    reads_roles: bool
    # The document was first asked about then, on its present way.
    asked_since: datetime
    # What was taken from others is judged at the vote alone.
    judges_takings: bool = True
    # The people whose reporting lines led to the seat, and to any seat of the stage.
    own_lines: Collection[str] = ()
    lines: Collection[str] = ()
    # The delegation that a delegate votes by.
    delegation: Delegation | None = None
    # The code of the refusal, and what was done at the moment from which changes count.
    code: str = CODE
    asked: str = "this approval was asked for"

    @property
    def voting_people(self) -> frozenset[str]:
        return frozenset({self.voter, self.represented or self.voter})

    @property
    def holder(self) -> str:
        """The person whose seat it is."""
        return self.represented or self.voter

    @property
    def concerned(self) -> frozenset[str]:
        """The people who may have given nothing."""
        return self.voting_people.union(self.responsible)


def find_barring_change(basis: VoteBasis, changes: Collection[EligibilityChange]) -> Denial | None:
    """Return why the vote is barred: its delegation, or the first change that bars it in the order of time.

    More changes than can be judged bar it too. Else a person could hide one behind many others.
    """
    barred = _find_barring_delegation(basis)
    if barred is not None:
        return barred
    for change in sorted(changes, key=lambda change: change.changed_at):
        if change.changed_at < basis.asked_since or not _bars(basis, change, changes):
            continue
        if not _is_undone(basis, change, changes) and not _takes_back(basis, change):
            return Denial(basis.code, _describe(basis, change))
    if len(changes) > MAX_CHANGES:
        return Denial(
            basis.code, f"more than {MAX_CHANGES} changes to people and roles may bar this decision"
        )
    return None


def make_request_basis(
    person: str,
    roles: Collection[str],
    responsible: Collection[str],
    *,
    permission: str,
    reads_roles: bool,
    made_at: datetime,
) -> VoteBasis:
    """Return what a request that decides rests on: the permission of its transition, and no seat."""
    return VoteBasis(
        voter=person,
        represented=None,
        roles={person: roles},
        own_seat_roles=(),
        is_by_line=False,
        is_seated=False,
        holder_ids=(),
        seat_roles=(),
        line_holders=(),
        responsible=responsible,
        needed_permissions=(permission,),
        reads_roles=reads_roles,
        asked_since=made_at,
        judges_takings=False,
        code=REQUEST_CODE,
        asked="the document was made",
    )


def _find_barring_delegation(basis: VoteBasis) -> Denial | None:
    """Return that the delegation was given after the asking, by a person who may not have done it.

    The delegator may give their own voice. The delegate and the document's people may not.
    """
    given = basis.delegation
    if given is None or given.given_at is None or given.given_at < basis.asked_since:
        return None
    if (basis.concerned - {basis.represented}).isdisjoint(given.given_by):
        return None
    act = f"{given.created_by} gave {given.delegate_id} a delegation of {given.user_id}"
    return Denial(
        CODE, f"{_say_when(basis, act, given.given_at)}: {_GIVE_OWN_VOICE.format(user=given.user_id)}"
    )


def _bars(basis: VoteBasis, change: EligibilityChange, changes: Collection[EligibilityChange]) -> bool:
    if basis.concerned.isdisjoint(change.persons):
        return False
    return _rests_on(basis, change, changes) or (basis.judges_takings and _clears_bench(basis, change))


def _clears_bench(basis: VoteBasis, change: EligibilityChange) -> bool:
    """Return whether the change may have taken a vote from others that the stage asks."""
    if change.kind == "manager_set":
        is_led = change.other_user_id in basis.lines or change.user_id in basis.line_holders
        # Who gives up the line by which they are asked takes a vote from nobody else.
        is_own = change.is_given_up and not frozenset(basis.holder_ids).isdisjoint(change.persons)
        return is_led and not is_own and not _is_given_by_others(basis, change)
    if change.kind == "member_disabled" and change.user_id in basis.holder_ids:
        return True
    return change.takes_permission or (change.kind in _TAKING and change.role in basis.seat_roles)


def _rests_on(basis: VoteBasis, change: EligibilityChange, changes: Collection[EligibilityChange]) -> bool:
    """Return whether the voter, or the person they vote for, has a seat or a permission by the change."""
    match change.kind:
        case "role_given":
            return change.user_id in basis.voting_people and _rests_on_role(basis, change, changes)
        case "role_permissions_changed" | "role_widened":
            holding = [person for person in basis.voting_people if change.role in basis.roles.get(person, ())]
            return any(_rests_on_grant(basis, person, change, changes) for person in holding)
        case "manager_set":
            is_own = change.other_user_id in basis.own_lines
            # A seat of an older release tells its holder alone.
            is_own = is_own or (change.user_id == basis.holder and not basis.own_lines)
            return basis.is_by_line and is_own and not _is_given_by_others(basis, change)
        case "seat_given":
            return basis.is_seated and change.user_id == basis.holder
        case "member_enabled":
            return change.user_id in basis.voting_people
        case _:
            return False


def _rests_on_role(
    basis: VoteBasis, given: EligibilityChange, changes: Collection[EligibilityChange]
) -> bool:
    person = given.user_id or ""
    if person == basis.holder and given.role in basis.own_seat_roles:
        return True
    if basis.reads_roles and not _is_given_by_others(basis, given):
        return True
    return _rests_on_grant(basis, person, given, changes)


def _rests_on_grant(
    basis: VoteBasis, person: str, change: EligibilityChange, changes: Collection[EligibilityChange]
) -> bool:
    """Return whether the role of the change grants a needed permission that the person has by no other way.

    A role counts by what it grants now: what it granted meanwhile, nobody votes by.
    """
    return any(
        change.role in change.granting.get(needed, ())
        and not _has_otherwise(basis, person, needed, change.granting[needed], changes)
        for needed in basis.needed_permissions
    )


def _has_otherwise(
    basis: VoteBasis,
    person: str,
    needed: str,
    granting: Collection[str],
    changes: Collection[EligibilityChange],
) -> bool:
    """Return whether the person has the permission by a role for which nobody concerned has done anything."""
    spoilt = {
        change.role
        for change in changes
        if change.changed_at >= basis.asked_since
        and not basis.concerned.isdisjoint(change.persons)
        and (
            (change.kind == "role_given" and change.user_id == person)
            or (
                change.kind in _SET_AGAIN
                and needed not in change.gave
                and not _is_undone(basis, change, changes)
            )
        )
    }
    return any(role in granting and role not in spoilt for role in basis.roles.get(person, ()))


def _is_given_by_others(basis: VoteBasis, change: EligibilityChange) -> bool:
    """Return whether what stands now was given by a person who is not concerned."""
    return change.given_by is not None and basis.concerned.isdisjoint(change.given_by)


def _is_undone(basis: VoteBasis, done: EligibilityChange, changes: Collection[EligibilityChange]) -> bool:
    """Return whether a person who is not concerned has undone it since.

    Most of what was undone is not even read. It is where many votes are judged at once, and the person is
    concerned with one of them.
    """
    if done.kind == "role_given" and not done.takes_permission:
        return False
    kinds = _UNDOING.get(done.kind, frozenset())
    return any(
        change.kind in kinds
        and change.changed_at > done.changed_at
        and change.user_id == done.user_id
        and (done.kind == "member_disabled" or change.role == done.role)
        and basis.concerned.isdisjoint(change.persons)
        for change in changes
    )


def _takes_back(basis: VoteBasis, change: EligibilityChange) -> bool:
    """Return whether it takes back what a person of the document gave after the approval was asked for.

    Who was given it so could not vote. So no vote is lost when it is taken from them. The last giving counts.
    By those of other people, and by the voter's own, others may vote.
    """
    if change.kind not in _TAKING or change.given_by is None:
        return False
    return not frozenset(basis.responsible).isdisjoint(change.given_by)


def _describe(basis: VoteBasis, change: EligibilityChange) -> str:
    act = _SENTENCES[change.kind].format(
        actor=change.actor_id, user=change.user_id, role=change.role, other=change.other_user_id
    )
    sentence = _say_when(basis, act, change.changed_at)
    if change.kind == "manager_set":
        return f"{sentence}: {_SET_LINE}"
    if change.kind not in _UNDOING or (change.kind == "role_given" and not change.takes_permission):
        return sentence
    return f"{sentence}: {_GIVE_BACK if change.kind in _TAKING else _TAKE_AWAY}"


def _say_when(basis: VoteBasis, act: str, moment: datetime) -> str:
    return f"{act} at {moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC, after {basis.asked}"
