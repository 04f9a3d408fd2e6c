"""Ids of members that a reader would take for one another: new ones are refused, older ones are listed.

Separation of duties compares ids. Two ids of one person, such as `ann` and `Ann`, would be two people to it,
and an approver would not see the difference.
"""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from signet.core.errors import FieldError, Rejected
from signet.core.tenants.skeleton import list_readings, write_skeleton
from signet.core.tenants.user_id import find_id_problem
from signet.store.database import Connection, Database
from signet.store.tenants import look_alikes as store

PAGE = 1_000


def require_clear_ids(connection: Connection, tenant_id: UUID, user_ids: Sequence[str]) -> None:
    """Refuse new ids that look like a member's. Call it under the lock of the tenant's roles.

    Members who are there keep their ids, also those who look alike.
    """
    new = store.list_new(connection, tenant_id, list(user_ids))
    if not new:
        return
    for user_id in new:
        problem = find_id_problem(user_id)
        if problem is not None:
            mistake = FieldError("/user_id", "FIELD_TEXT_INVALID", problem)
            raise Rejected("FIELDS_INVALID", f"the id '{user_id}' {problem}", fields=(mistake,))
    _fill_skeletons(connection, tenant_id)
    found = store.find_look_alike(connection, tenant_id, {name: list_readings(name) for name in new})
    if found is not None:
        raise Rejected(
            "MEMBER_ID_LOOKS_ALIKE",
            f"the id '{found[0]}' looks like the one of the member '{found[1]}'",
            remedy="Use the id of the member who is there, or one that differs to the eye.",
        )


def _fill_skeletons(connection: Connection, tenant_id: UUID) -> None:
    """Write the skeletons of members from before they were kept; of two alike the older one has it."""
    first: dict[str, str] = {}
    for user_id in store.list_without_skeleton(connection, tenant_id):
        first.setdefault(write_skeleton(user_id), user_id)
    if first:
        skeletons = {user_id: skeleton for skeleton, user_id in first.items()}
        store.write_skeletons(connection, tenant_id, skeletons)


def list_look_alikes(database: Database, tenant_id: UUID) -> list[Sequence[str]]:
    """List the groups of members whose ids look alike."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    after = ""
    with database.snapshot(tenant_id) as connection:
        while page := store.list_user_ids(connection, tenant_id, after, PAGE):
            after = page[-1]
            for user_id in page:
                groups[write_skeleton(user_id)].append(user_id)
    return [group for group in groups.values() if len(group) > 1]
