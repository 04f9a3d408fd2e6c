"""Changes of eligibility that bar a vote: nobody votes by what they gave, or the document's people gave.

A vote rests on roles, membership, a reporting line, a delegation or a seat. It is barred where the voter, or
a person who is responsible for the document, gave that after the approval was asked for. It is barred too
where one of them took the eligibility of others that the stage asks: clearing the bench. Giving it to others
bars nobody but those others. A delegation of one's own voice is the lawful way, and bars nothing.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from signet.core.contracts.compiled_contract import Denial
from signet.core.tenants.eligibility_changes import EligibilityChange

CODE = "VOTE_BARRED_BY_GRANT"
# With more of them nobody can tell if one bars the vote.
MAX_CHANGES = 1_000
_TAKING = frozenset({"role_taken", "member_disabled", "role_permissions_changed", "role_deleted"})
_GIVING = frozenset({"role_given", "member_enabled", "manager_set", "seat_given"})
_SENTENCES: Mapping[str, str] = {
    "role_given": "{actor} gave {user} the role '{role}'",
    "role_taken": "{actor} took the role '{role}' from {user}",
    "member_enabled": "{actor} made {user} an active member",
    "member_disabled": "{actor} disabled {user}",
    "manager_set": "{actor} changed who manages {other}",
    "delegation_given": "{actor} gave {user} a delegation",
    "seat_given": "{actor} gave {user} a seat",
    "role_permissions_changed": "{actor} changed the role '{role}'",
    "role_deleted": "{actor} deleted the role '{role}'",
}


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
    # The document was first asked about then, on its present way; and then about this request.
    asked_since: datetime
    opened_at: datetime

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
        if change.changed_at >= basis.asked_since and _bars(basis, change):
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
        return change.user_id in basis.voting_people
    if change.kind not in _TAKING:
        return False
    if basis.voting_people.isdisjoint(change.persons) and change.changed_at < basis.opened_at:
        # The document's people took it, and it was asked again since: of those who are left.
        return False
    if change.kind == "role_permissions_changed" and change.role in basis.own_roles:
        return True
    return change.role in basis.seat_roles or change.user_id in basis.holder_ids


def _describe(change: EligibilityChange) -> str:
    act = _SENTENCES[change.kind].format(
        actor=change.actor_id, user=change.user_id, role=change.role, other=change.other_user_id
    )
    at = change.changed_at.astimezone(UTC)
    return f"{act} at {at:%Y-%m-%d %H:%M:%S} UTC, after this approval was asked for"
