"""Permissions: `invoice:approve`, with `*` for either side.

A `*` in front stands for every entity type and never for Signet's own resources. Otherwise a clerk with
`*:edit` for documents could edit roles and members. `member:edit`, `member:*` and `*:*` reach them.
"""

from collections.abc import Iterable

# The first words of Signet's own permissions. No entity type has such a name.
OWN_RESOURCES = frozenset(
    {
        "api_key",
        "approval",
        "automation",
        "calendar",
        "contract",
        "definition",
        "endpoint",
        "inbound_endpoint",
        "inbound_event",
        "incident",
        "member",
        "operation",
        "org_chart",
        "quota",
        "role",
        "rule",
        "rule_execution",
        "secret",
        "service_account",
        "tenant",
        "workflow",
    }
)


def grants(permissions: Iterable[str], wanted: str) -> bool:
    """Return whether one of the permissions grants the wanted one; a `*` is granted by a `*` only."""
    accepted = list_granting(wanted)
    return any(permission in accepted for permission in permissions)


def list_granting(wanted: str) -> frozenset[str]:
    """List the permissions that grant this one.

    >>> sorted(list_granting("invoice:edit"))
    ['*:*', '*:edit', 'invoice:*', 'invoice:edit']
    >>> sorted(list_granting("member:edit"))
    ['*:*', 'member:*', 'member:edit']
    """
    entity, _, act = wanted.partition(":")
    granting = {wanted, f"{entity}:*", "*:*"}
    return frozenset(granting if entity in OWN_RESOURCES else granting | {f"*:{act}"})


def grants_some(permissions: Iterable[str], pattern: str) -> bool:
    """Return whether a permission grants anything of the pattern.

    A `*` in front of a pattern stands for some entity type, and one behind for some act.

    >>> grants_some(["invoice:create"], "*:create"), grants_some(["invoice:read"], "*:create")
    (True, False)
    """
    return any(_meets(permission, pattern) for permission in permissions)


def _meets(permission: str, pattern: str) -> bool:
    entity, _, act = permission.partition(":")
    wanted, _, wanted_act = pattern.partition(":")
    if permission == "*:*":
        return True
    is_of_documents = entity not in OWN_RESOURCES
    meets_entity = entity == wanted or (
        wanted not in OWN_RESOURCES and is_of_documents and "*" in (entity, wanted)
    )
    return meets_entity and (act == wanted_act or "*" in (act, wanted_act))
