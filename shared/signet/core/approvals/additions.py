"""People who could be added to a stage that nobody may decide, and who could add them.

They lack a seat or its permission and nothing else. To give it to them is the tenant's own act.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from signet.core.approvals.eligibility import Allowed, Seat, list_counted
from signet.core.approvals.entitlement import VoteCheck
from signet.core.approvals.policy import Policy
from signet.core.compiler.node_configurations import ByRole
from signet.core.contracts.compiled_contract import Denial
from signet.core.tenants.permissions import grants

_NEWCOMER = ""


def list_additions(
    check: VoteCheck, members: Mapping[str, Collection[str]], new_roles: Iterable[str]
) -> list[str]:
    """List the members, with their roles, who could vote if they were given these roles.

    A member who holds them all already is kept by something else.
    """
    find_conflict, given = check.make_conflict_check(), frozenset(new_roles)
    spent = list_counted(check.seats).union(check.approved_elsewhere)
    return [
        person
        for person in sorted(members)
        if person not in spent
        and not given.issubset(members[person])
        and find_conflict(person) is None
        and check.find_bar(person, given.union(members[person])) is None
        and _fulfils_conditions(check, person, given.union(members[person]))
    ]


def find_bar_of_everybody(check: VoteCheck, new_roles: Collection[str]) -> Denial | None:
    """Return the change that bars every vote of the stage, also that of a new member with these roles."""
    return check.find_bar(_NEWCOMER, new_roles)


def list_helpers(
    check: VoteCheck, permissions: Mapping[str, Collection[str]], needed: Collection[str]
) -> list[str]:
    """List the members, with their permissions, who have all that is needed and no part in the document.

    Nobody gives a role that brings more than they have.
    """
    behind = check.find_people_behind().everyone
    return [
        person
        for person in sorted(permissions)
        if person not in behind and all(grants(permissions[person], each) for each in needed)
    ]


def list_given_by_others(people: Collection[str], helpers: Collection[str]) -> list[str]:
    """List the people who can be given a role by another person: nobody gives one to themselves."""
    return (
        [person for person in people if any(helper != person for helper in helpers)] if helpers else [*people]
    )


def list_needed_later(
    check: VoteCheck, policy: Policy, number: int, members: Mapping[str, Collection[str]]
) -> list[str]:
    """List members who are the only ones of a later stage, where each stage wants another person."""
    if policy.same_person is not None:
        return []
    find_conflict, needed = check.make_conflict_check(), set[str]()
    for stage in policy.stages[number:]:
        roles = {approver.role for approver in stage.approvers if isinstance(approver, ByRole)}
        able = {
            person
            for person, held in members.items()
            if find_conflict(person) is None
            and person not in check.approved_elsewhere
            and not roles.isdisjoint(held)
        }
        needed |= able if len(able) == 1 else set()
    return sorted(needed)


def choose_added_seat(check: VoteCheck, person: str) -> Allowed | Denial:
    """Return the seat that the person would fill if two operators gave them one, or why it is of no use."""
    first = check.seats[0] if check.seats else None
    position = 1 + max((seat.position for seat in check.seats), default=0)
    added = Seat(first.stage if first is not None else 1, position, person, origin="break_glass")
    return replace(check, seats=[*check.seats, added]).choose(person)


def list_seatable(check: VoteCheck) -> list[str]:
    """List the people of the check who could decide if two operators gave them a seat."""
    return [person for person in sorted(check.roles) if isinstance(choose_added_seat(check, person), Allowed)]


def _fulfils_conditions(check: VoteCheck, person: str, roles: Collection[str]) -> bool:
    conditions = check.contract.conditions
    return all(
        conditions[permission].value(check.make_voter_env(person, roles)) is True
        for permission in check.needed_permissions
        if permission in conditions
    )
