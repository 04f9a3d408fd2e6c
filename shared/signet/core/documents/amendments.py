"""Amendments of settled documents: the original stays in force, and may change meanwhile."""

from dataclasses import dataclass

from signet.core.contracts.contract import Contract
from signet.core.errors import Rejected

ORIGINAL_MOVED_ON = "ORIGINAL_MOVED_ON"
# The original takes no other place any more: nothing that is done to the amendment changes that.
ORIGINAL_GONE = "ORIGINAL_GONE"
MOVEMENTS = (ORIGINAL_MOVED_ON, ORIGINAL_GONE)
_REMEDY = "Send the amendment back and edit it, so that it stands for the original as it is now."
_GIVE_UP = "Give the amendment up for good: withdraw it."


@dataclass(frozen=True, slots=True)
class OriginalState:
    """An original at one moment."""

    version: int
    status: str
    is_deleted: bool = False
    # Another amendment of it is open, or has taken its place.
    has_other_amendment: bool = False


def keeps_original(contract: Contract, status: str) -> bool:
    """Return whether an original in this status stays in force until its amendment settles.

    One that is not settled yet ends at once. So does any where new documents begin settled.
    """
    state = contract.states.get(status)
    return state is not None and state.settled and not contract.states[contract.initial_state].settled


def settles(contract: Contract, status: str) -> bool:
    state = contract.states.get(status)
    return state is not None and state.settled


def find_movement(contract: Contract, made_of: OriginalState, now: OriginalState) -> Rejected | None:
    """Return why an amendment cannot take the place of its original; None where it can.

    `contract` is that of the original. What says that the original is gone names another remedy than an edit.
    """
    if now.is_deleted:
        return _reject(ORIGINAL_GONE, f"the original is deleted. {_GIVE_UP}")
    if now.has_other_amendment:
        return _reject(ORIGINAL_GONE, f"another amendment of the original is open or settled. {_GIVE_UP}")
    state = contract.states.get(now.status)
    if state is None or state.final:
        return _reject(ORIGINAL_GONE, f"the original is {now.status}, which is final. {_GIVE_UP}")
    if not state.settled:
        sentence = f"the original is {now.status}, which is not settled. Settle it first, then: {_REMEDY}"
        return _reject(ORIGINAL_MOVED_ON, sentence)
    if (made_of.version, made_of.status) == (now.version, now.status):
        return None
    was, stands = f"version {made_of.version} ({made_of.status})", f"version {now.version} ({now.status})"
    sentence = f"the amendment was made of {was}, and the original is at {stands}. {_REMEDY}"
    return _reject(ORIGINAL_MOVED_ON, sentence)


def _reject(code: str, sentence: str) -> Rejected:
    return Rejected(code, f"{code}: {sentence}")
