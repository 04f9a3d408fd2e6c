"""People who could be added to a stage that nobody may decide.

They lack a seat or its permission and nothing else. To give it to them is the tenant's own act.
"""

from collections.abc import Collection, Iterable, Mapping

from signet.core.approvals.eligibility import list_counted
from signet.core.approvals.entitlement import VoteCheck


def list_additions(
    check: VoteCheck, members: Mapping[str, Collection[str]], new_roles: Iterable[str]
) -> list[str]:
    """List the members, with their roles, who could vote if they were given these roles."""
    find_conflict, given = check.make_conflict_check(), frozenset(new_roles)
    spent = list_counted(check.seats).union(check.approved_elsewhere)
    return [
        person
        for person in sorted(members)
        if person not in spent
        and find_conflict(person) is None
        and _fulfils_conditions(check, person, given.union(members[person]))
    ]


def _fulfils_conditions(check: VoteCheck, person: str, roles: Collection[str]) -> bool:
    conditions = check.contract.conditions
    return all(
        conditions[permission].value(check.make_voter_env(person, roles)) is True
        for permission in check.needed_permissions
        if permission in conditions
    )
