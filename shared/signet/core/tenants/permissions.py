"""Permissions: `invoice:approve`, with `*` for either side."""

from collections.abc import Iterable


def grants(permissions: Iterable[str], wanted: str) -> bool:
    """Return whether one of the permissions grants the wanted one; a `*` is granted by a `*` only."""
    accepted = list_granting(wanted)
    return any(permission in accepted for permission in permissions)


def list_granting(wanted: str) -> frozenset[str]:
    entity, _, act = wanted.partition(":")
    return frozenset((wanted, f"{entity}:*", f"*:{act}", "*:*"))
