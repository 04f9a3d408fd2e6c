"""The items of a list that `each: keep` has done, and that a retry of the same round leaves alone.

A round is one coming of a token to the node, with its retries. What another round did does not count: another
decision, another instance, or another way through a loop. An item is known by what it says, or by what the
action is given for it, and never by its place. So a corrected list repeats nothing, and leaves nothing out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from signet.core.canonical_json import content_hash
from signet.core.runtime.tokens import origin_of

_KEPT = "#done"


def name_kept(node_id: str) -> str:
    """Name the variable that keeps what is done; no expression can read it."""
    return f"{node_id}{_KEPT}"


def is_kept(name: str) -> bool:
    """Return whether a variable keeps what a list has done, and holds nothing that an author reads."""
    return name.endswith(_KEPT)


def name_round(instance: str, token_id: str) -> str:
    """Name the round of a token: a retried one goes on for its origin."""
    return f"{instance}:{origin_of(token_id) or token_id}"


@dataclass(frozen=True, slots=True)
class KeptItem:
    """An item that is done: hashes of what it said and of what the action was given, and what that gave."""

    item: str
    given: str
    output: Any


class KeptItems:
    """The items of a list, each with what has done it before in this round. Of equal ones each is done."""

    def __init__(self, stored: Mapping[str, Any] | None, name: str, items: Sequence[Any]) -> None:
        self._name = name
        is_same = stored is not None and stored.get("round") == name
        records = [KeptItem(**record) for record in stored["items"]] if stored and is_same else []
        self._failed = int(stored["failed"]) if stored and is_same else 0
        self._marks = [content_hash(item) for item in items]
        self._left = records
        self._done: dict[int, KeptItem] = {}
        for index, mark in enumerate(self._marks):
            same = next((record for record in self._left if record.item == mark), None)
            if same is not None:
                self._take(index, same)

    @property
    def has_left(self) -> bool:
        """Return whether something was done that no item of the list says any more."""
        return bool(self._left)

    @property
    def repeats(self) -> bool:
        """Return whether more is done again than had failed, where something is gone from the list."""
        new = len(self._marks) - len(self._done) - self._failed
        return self.has_left and new > 0

    def find(self, index: int) -> KeptItem | None:
        return self._done.get(index)

    def find_given(self, index: int, payload: Any) -> KeptItem | None:
        """Find what was done for an item that is gone, and that the action was given the same for."""
        given = content_hash(payload)
        same = next((record for record in self._left if record.given == given), None)
        if same is not None:
            self._take(index, same)
        return same

    def add(self, index: int, payload: Any, output: Any) -> None:
        self._done[index] = KeptItem(self._marks[index], content_hash(payload), output)

    def outputs(self) -> list[Any]:
        """Return what the items gave, in the order of the list; all of them are done."""
        return [self._done[index].output for index in range(len(self._marks))]

    def to_json(self) -> dict[str, Any]:
        """Return the value of the variable: what is done, also for items that are gone, and the failures."""
        done = [self._done[index] for index in sorted(self._done)]
        failed = len(self._marks) - len(done)
        kept = [asdict(record) for record in (*done, *self._left)]
        return {"round": self._name, "failed": failed, "items": kept}

    def _take(self, index: int, record: KeptItem) -> None:
        self._left.remove(record)
        self._done[index] = record
