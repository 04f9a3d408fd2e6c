"""The place of an instance in its workflow: its live tokens, where each stands, and what holds it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class TokenState(StrEnum):
    # Its node is to be executed.
    READY = "ready"
    # Its step is open: it waits for a person, the clock or the world.
    WAITING = "waiting"
    # It waits at a split while its branches run.
    PARTED = "parted"
    # It has reached its join.
    JOINED = "joined"
    # Its step has failed, and no edge takes the error: it stays at its node until a person acts.
    FAILED = "failed"


# A token in one of these stands at a node; a parted one is represented by its branches.
STANDING = (TokenState.READY, TokenState.WAITING, TokenState.FAILED)
# The code that a reason begins with.
_CODE = re.compile(r"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?::|$)")


@dataclass(frozen=True, slots=True)
class Hold:
    """The reason why a token stays at its node until a person acts; an open incident says it to people."""

    # The number of the step that holds it.
    seq: int
    reason: str
    # What people and figures count it by, where something more is known than the type of its node.
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Token:
    id: str
    node: str
    state: TokenState
    # The document version when it entered its node: part of the step's key, never recomputed (WF-02).
    version: int
    # It was rejected on the way and has not been approved since.
    rejected: bool = False
    parent: str | None = None
    split: str | None = None
    # A parted token has the number of the split's step here: the epoch of the join.
    epoch: int = 0
    hold: Hold | None = None

    def to_json(self) -> dict[str, object]:
        stored: dict[str, object] = {
            "id": self.id,
            "node": self.node,
            "state": self.state.value,
            "version": self.version,
            "rejected": self.rejected,
            "parent": self.parent,
            "split": self.split,
            "epoch": self.epoch,
        }
        if self.hold is not None:
            stored["hold"] = {"seq": self.hold.seq, "reason": self.hold.reason, "code": self.hold.code}
        return stored


@dataclass(slots=True)
class Position:
    """The place of an instance in its workflow: its live tokens by id, in order of birth."""

    tokens: dict[str, Token] = field(default_factory=dict)

    @property
    def is_held(self) -> bool:
        """Return whether a token is held, and none can go on by itself."""
        has_hold = False
        for token in self.tokens.values():
            if token.hold is not None:
                has_hold = True
            elif token.state in (TokenState.READY, TokenState.WAITING):
                return False
        return has_hold

    def ready(self) -> list[Token]:
        return [t for t in self.tokens.values() if t.state is TokenState.READY and t.hold is None]

    def held(self) -> list[Token]:
        return [token for token in self.tokens.values() if token.hold is not None]

    def at_work(self) -> list[Token]:
        """Return the tokens that stand at a node."""
        return [token for token in self.tokens.values() if token.state in STANDING]

    def current_nodes(self) -> list[str]:
        return sorted({token.node for token in self.at_work()})


def parse_position(stored: Iterable[Mapping[str, Any]]) -> Position:
    """Parse tokens as a row keeps them."""
    return Position({token.id: token for token in map(_parse_token, stored)})


def find_code(reason: str, evidence: Mapping[str, Any]) -> str | None:
    """Find the code that the evidence names, else the one that the reason begins with."""
    named = evidence.get("code")
    if isinstance(named, str) and named:
        return named
    found = _CODE.match(reason)
    return found[1] if found is not None else None


def _parse_hold(stored: Mapping[str, Any]) -> Hold:
    """Parse a hold; one of an older release says its code in its reason alone."""
    return Hold(stored["seq"], stored["reason"], find_code(stored["reason"], stored))


def _parse_token(stored: Mapping[str, Any]) -> Token:
    hold = _parse_hold(stored["hold"]) if "hold" in stored else None
    return Token(**{**stored, "state": TokenState(stored["state"]), "hold": hold})
