"""Amendments of settled documents: the original stays in force, and may change meanwhile."""

from dataclasses import dataclass

from signet.core.contracts.contract import Contract

ORIGINAL_MOVED_ON = "ORIGINAL_MOVED_ON"
_REMEDY = "Send the amendment back and edit it, so that it stands for the original as it is now."
_GIVE_UP = "Give the amendment up: cancel it."


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


def find_movement(contract: Contract, made_of: OriginalState, now: OriginalState) -> str | None:
    """Return why an amendment cannot take the place of its original; None where it can.

    `contract` is that of the original. What says that the original ended names another remedy than an edit.
    """
    if now.is_deleted:
        return f"{ORIGINAL_MOVED_ON}: the original is deleted. {_GIVE_UP}"
    if now.has_other_amendment:
        return f"{ORIGINAL_MOVED_ON}: another amendment of the original is open or settled. {_GIVE_UP}"
    if not settles(contract, now.status):
        return f"{ORIGINAL_MOVED_ON}: the original is {now.status}, which is not settled. {_GIVE_UP}"
    if (made_of.version, made_of.status) == (now.version, now.status):
        return None
    was, stands = f"version {made_of.version} ({made_of.status})", f"version {now.version} ({now.status})"
    return f"{ORIGINAL_MOVED_ON}: the amendment was made of {was}, and the original is at {stands}. {_REMEDY}"
