"""Changes of eligibility that bar a vote: nobody votes by what they gave, or the document's people gave.

A vote rests on roles, membership, a reporting line, a delegation or a seat. It is barred where the voter, or
a person who is responsible for the document, gave that after the approval was asked for. It is barred too
where one of them took the eligibility of others that the stage asks: clearing the bench. They may take the
seat, or by any role the permission that votes need. Giving it to others bars nobody but those others. A role
that has nothing to do with the vote bars nobody. A delegation of one's own voice is the lawful way, and bars
nothing.

What was given to a person stays given. What was taken bars until a person gives it back who is not concerned
themselves. So does what a role gained, until such a person takes it away. To take back what a person of the
document gave meanwhile bars nothing: by that giving nobody could vote.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from signet.core.contracts.compiled_contract import Denial
from signet.core.tenants.eligibility_changes import EligibilityChange, EligibilityKind
from signet.core.tenants.permissions import grants

CODE = "VOTE_BARRED_BY_GRANT"
# With more of them nobody can tell if one bars the vote.
MAX_CHANGES = 1_000
_TAKING = frozenset({"role_taken", "member_disabled", "role_permissions_changed", "role_deleted"})
_GIVING = frozenset({"role_given", "member_enabled", "manager_set", "seat_given"})
# What undoes each change: for its member, or for all who hold the role.
_SET_AGAIN: frozenset[EligibilityKind] = frozenset({"role_permissions_changed", "role_widened"})
_UNDOING: Mapping[EligibilityKind, frozenset[EligibilityKind]] = {
    "role_taken": frozenset({"role_given"}),
    "member_disabled": frozenset({"member_enabled"}),
    "role_permissions_changed": _SET_AGAIN,
    "role_deleted": _SET_AGAIN,
    "role_widened": frozenset({"role_permissions_changed"}),
}
# What a person was given before, where no vote is lost when it is taken from them.
_TAKING_BACK: Mapping[EligibilityKind, frozenset[EligibilityKind]] = {
    "role_taken": frozenset({"role_given"}),
    "member_disabled": frozenset({"role_given", "member_enabled"}),
}
_SENTENCES: Mapping[str, str] = {
    "role_given": "{actor} gave {user} the role '{role}'",
    "role_taken": "{actor} took the role '{role}' from {user}",
    "member_enabled": "{actor} made {user} an active member",
    "member_disabled": "{actor} disabled {user}",
    "manager_set": "{actor} changed who manages {other}",
    "delegation_given": "{actor} gave {user} a delegation",
    "seat_given": "{actor} gave {user} a seat",
    "role_permissions_changed": "{actor} changed the role '{role}'",
    "role_widened": "{actor} added permissions to the role '{role}'",
    "role_deleted": "{actor} deleted the role '{role}'",
}
_GIVE_BACK = "a person without a part in the document gives it back, and takes it again if they agree with it"
_TAKE_AWAY = "a person without a part in the document takes it away, and gives it again if they agree with it"


@dataclass(frozen=True, slots=True)
class VoteBasis:
    """Everything that a vote rests on; `represented` is the person that a delegate votes for."""

    voter: str
    represented: str | None
    # The roles that these two have now.
    own_roles: Collection[str]
    # The people and roles that hold the seats of the stage.
    holder_ids: Collection[str]
    seat_roles: Collection[str]
    # The people who are responsible for the document.
    responsible: Collection[str]
    # The roles that the stage asks, and the permissions that a vote needs beside a seat.
    asked_roles: Collection[str]
    needed_permissions: Collection[str]
    # A condition on the voter reads their roles: each may matter then.
    reads_roles: bool
    # The document was first asked about then, on its present way.
    asked_since: datetime
    # What was taken from others is judged at the vote alone.
    judges_takings: bool = True

    @property
    def voting_people(self) -> frozenset[str]:
        return frozenset({self.voter, self.represented or self.voter})

    @property
    def concerned(self) -> frozenset[str]:
        """The people who may have given nothing."""
        return self.voting_people.union(self.responsible)


def find_barring_change(basis: VoteBasis, changes: Collection[EligibilityChange]) -> Denial | None:
    """Return why the vote is barred: the first change that bars it, in the order of time.

    More changes than can be judged bar it too. Else a person could hide one behind many others.
    """
    for change in sorted(changes, key=lambda change: change.changed_at):
        if change.changed_at < basis.asked_since or not _bars(basis, change):
            continue
        if not _is_undone(basis, change, changes) and not _takes_back(basis, change, changes):
            return Denial(CODE, _describe(change))
    if len(changes) > MAX_CHANGES:
        return Denial(CODE, f"more than {MAX_CHANGES} changes to people and roles may bar this vote")
    return None


def _bars(basis: VoteBasis, change: EligibilityChange) -> bool:
    if change.kind == "delegation_given":
        # The delegator may give their own voice: the delegate and the document's people may not have done it.
        givers = basis.concerned - {basis.represented}
        sides = {change.user_id, change.other_user_id}
        return sides == {basis.voter, basis.represented} and not givers.isdisjoint(change.persons)
    if basis.concerned.isdisjoint(change.persons):
        return False
    if change.kind in _GIVING:
        return change.user_id in basis.voting_people and _rests_on(basis, change)
    if change.kind in _SET_AGAIN and change.role in basis.own_roles and _rests_on(basis, change):
        return True
    if change.kind not in _TAKING or not basis.judges_takings:
        return False
    is_disabled = change.kind == "member_disabled" and change.user_id in basis.holder_ids
    return is_disabled or change.takes_permission or change.role in basis.seat_roles


def _rests_on(basis: VoteBasis, change: EligibilityChange) -> bool:
    """Return whether a vote may rest on the role that was given. What else is given, it may always rest on.

    A role counts by what it grants now: what it granted meanwhile, nobody votes by.
    """
    if change.kind not in ("role_given", *_SET_AGAIN):
        return True
    granted = change.role_permissions or ()
    return (
        basis.reads_roles
        or change.role in basis.asked_roles
        or any(grants(granted, needed) for needed in basis.needed_permissions)
    )


def _is_undone(basis: VoteBasis, done: EligibilityChange, changes: Collection[EligibilityChange]) -> bool:
    """Return whether a person who is not concerned has undone it since.

    Most of what was undone is not even read. It is where many votes are judged at once, and the person is
    concerned with one of them.
    """
    kinds = _UNDOING.get(done.kind, frozenset())
    return any(
        change.kind in kinds
        and change.changed_at > done.changed_at
        and change.user_id == done.user_id
        and (done.kind == "member_disabled" or change.role == done.role)
        and basis.concerned.isdisjoint(change.persons)
        for change in changes
    )


def _takes_back(basis: VoteBasis, taken: EligibilityChange, changes: Collection[EligibilityChange]) -> bool:
    """Return whether a person of the document gave it after the approval was asked for.

    Who was given it so could not vote. So no vote is lost when it is taken from them. The voter's own givings
    do not count here: others may vote by those.
    """
    kinds = _TAKING_BACK.get(taken.kind, frozenset())
    givings = [
        change
        for change in changes
        if change.kind in kinds
        and change.user_id == taken.user_id
        and change.role == taken.role
        and basis.asked_since <= change.changed_at < taken.changed_at
    ]
    newest = max(givings, key=lambda change: change.changed_at, default=None)
    return newest is not None and not frozenset(basis.responsible).isdisjoint(newest.persons)


def _describe(change: EligibilityChange) -> str:
    act = _SENTENCES[change.kind].format(
        actor=change.actor_id, user=change.user_id, role=change.role, other=change.other_user_id
    )
    at = change.changed_at.astimezone(UTC)
    sentence = f"{act} at {at:%Y-%m-%d %H:%M:%S} UTC, after this approval was asked for"
    if change.kind not in _UNDOING:
        return sentence
    return f"{sentence}: {_GIVE_BACK if change.kind in _TAKING else _TAKE_AWAY}"
