"""People who could be added to a stage that nobody may decide, and who could add them.

They lack a seat or its permission and nothing else. To give it to them is the tenant's own act.
"""

from collections.abc import Collection, Iterable, Mapping

from signet.core.approvals.eligibility import list_counted
from signet.core.approvals.entitlement import VoteCheck
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


def list_helpers(check: VoteCheck, permissions: Mapping[str, Collection[str]], needed: str) -> list[str]:
    """List the members, with their permissions, who have the needed one and no part in the document."""
    behind = check.find_people_behind().everyone
    return [
        person
        for person in sorted(permissions)
        if person not in behind and grants(permissions[person], needed)
    ]


def _fulfils_conditions(check: VoteCheck, person: str, roles: Collection[str]) -> bool:
    conditions = check.contract.conditions
    return all(
        conditions[permission].value(check.make_voter_env(person, roles)) is True
        for permission in check.needed_permissions
        if permission in conditions
    )
