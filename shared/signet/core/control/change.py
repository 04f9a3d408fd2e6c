"""Changes of the control that wait for another person: their hash, and what differs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from signet.core.canonical_json import canonical_bytes, hash_bytes

KEPT_DAYS = 14
MAX_OPEN_CHANGES = 100
# So that one person cannot keep all others from proposing.
MAX_OPEN_CHANGES_OF_PERSON = 20
# Everything that one person proposes and another confirms, where the tenant wants two people. Contracts,
# patches, automations and new versions of chains are drafts: one person writes them, another publishes.
ControlKind = Literal[
    "approval_chain",
    "calendar",
    "definition",
    "endpoint",
    "inbound_endpoint",
    "role",
    "rule",
    "service_account",
    "tenant_settings",
]
CONTROL_KINDS: tuple[ControlKind, ...] = get_args(ControlKind)
ChangeStatus = Literal["proposed", "confirmed", "rejected", "withdrawn", "expired", "superseded"]


@dataclass(frozen=True, slots=True)
class ControlDifference:
    """A value that would change, by its JSON pointer; null is also said of a value that is not there."""

    pointer: str
    before: Any
    after: Any


def hash_change(kind: str, name: str, act: str, base_version: int, body: str) -> str:
    """Return the hash of everything that a confirmation confirms; `body` is canonical JSON."""
    content = {
        "kind": kind,
        "name": name,
        "act": act,
        "base_version": base_version,
        "body_hash": hash_bytes(body.encode()),
    }
    return hash_bytes(canonical_bytes(content))


def list_differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[ControlDifference]:
    """List what differs, in the order of the pointers; lists are compared as a whole.

    Values are compared as JSON has them: 1 and true differ.
    """
    return sorted(_find_differences("", before, after), key=lambda difference: difference.pointer)


def _find_differences(pointer: str, before: Any, after: Any) -> Iterator[ControlDifference]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in {*before, *after}:
            place = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
            yield from _find_differences(place, before.get(name), after.get(name))
    elif not _is_same(before, after):
        yield ControlDifference(pointer, before, after)


def _is_same(before: Any, after: Any) -> bool:
    """Compare as JSON does. Python takes true for 1 and false for 0, at any depth."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        return before.keys() == after.keys() and all(_is_same(before[name], after[name]) for name in before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_is_same, before, after))
    return isinstance(before, bool) == isinstance(after, bool) and bool(before == after)
