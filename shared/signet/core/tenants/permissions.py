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
