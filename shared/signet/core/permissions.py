"""Permission strings: `invoice:approve`, with `*` for either side."""

from collections.abc import Iterable


def grants(permissions: Iterable[str], wanted: str) -> bool:
    entity, _, act = wanted.partition(":")
    accepted = {wanted, f"{entity}:*", f"*:{act}", "*:*"}
    return any(permission in accepted for permission in permissions)
