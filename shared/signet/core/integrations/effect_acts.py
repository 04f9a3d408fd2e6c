"""The acts of an operator on an effect: to try it now, to withdraw it, to discard a dead letter.

Each is refused with what to do instead. The same checks list the acts that are possible.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from signet.core.errors import Rejected

# What becomes of the step that waits for an effect which is withdrawn.
Consequence = Literal["error_edge", "incident", "nothing"]
HoldingCode = Literal["ENDPOINT_DISABLED", "ENDPOINT_UNKNOWN"]
# What is with the endpoint, and what to do about it.
_HELD: Mapping[HoldingCode, tuple[str, str]] = MappingProxyType(
    {
        "ENDPOINT_DISABLED": ("is switched off", "Switch the endpoint on"),
        "ENDPOINT_UNKNOWN": ("does not exist", "Make an endpoint of that name"),
    }
)
# Statuses of a row that a worker may still claim.
_WAITING = frozenset({"pending", "failed"})


@dataclass(frozen=True, slots=True)
class EffectState:
    """An effect as its row says, with why its endpoint holds it."""

    status: str
    # A person or a step has withdrawn it while it was on its way.
    is_withdrawn: bool
    endpoint: str | None
    # The code of why its endpoint holds it: it is switched off, or missing.
    held_by: HoldingCode | None
    # A person has paused its instance, which sends nothing meanwhile.
    is_paused_by_person: bool = False


def check_try_now(state: EffectState) -> Rejected | None:
    """Refuse to try what is not waiting, and what its endpoint or a pause would only hold again."""
    if state.is_paused_by_person and state.status in _WAITING:
        sentence = "a person has paused the instance, and what it sends waits"
        remedy = "Resume the instance: what waits goes on by itself. Or withdraw the effect."
        return Rejected("INSTANCE_PAUSED_BY_PERSON", sentence, remedy=remedy)
    if state.held_by is not None and state.status in _WAITING:
        what, act = _HELD[state.held_by]
        sentence = f"the endpoint '{state.endpoint}' {what}, and what is for it is held"
        remedy = f"{act}: what is held goes on by itself. Or withdraw the effect."
        return Rejected(state.held_by, sentence, remedy=remedy)
    if state.status in _WAITING:
        return None
    return _refuse(state, "tried now", "Requeue it." if state.status == "dead_letter" else "")


def check_withdraw(state: EffectState) -> Rejected | None:
    """Refuse to withdraw what has ended, or is withdrawn already."""
    if state.is_withdrawn:
        return _refuse(state, "withdrawn again", "If it is on its way, wait until it ends.")
    if state.status in _WAITING or state.status == "processing":
        return None
    return _refuse(state, "withdrawn", "Discard it." if state.status == "dead_letter" else "")


def check_discard(state: EffectState) -> Rejected | None:
    """Refuse to discard what is no dead letter."""
    if state.status == "dead_letter":
        return None
    return _refuse(state, "discarded", "Withdraw it." if check_withdraw(state) is None else "")


_CHECKS: Mapping[str, Callable[[EffectState], Rejected | None]] = MappingProxyType(
    {"try_now": check_try_now, "withdraw": check_withdraw, "discard": check_discard}
)


def list_effect_acts(state: EffectState) -> list[str]:
    """List the acts that the checks would accept now."""
    return [act for act, check in _CHECKS.items() if check(state) is None]


def foresee_withdrawal(outcomes: Collection[str] | None) -> Consequence:
    """Foresee what becomes of a step that waits for a withdrawn effect, by the outcomes with an edge.

    None says that no step waits.
    """
    if outcomes is None:
        return "nothing"
    return "error_edge" if "error" in outcomes else "incident"


def _refuse(state: EffectState, act: str, remedy: str) -> Rejected:
    sentence = f"the effect is {state.status}: it cannot be {act}"
    return Rejected("EFFECT_ACT_NOT_POSSIBLE", sentence, remedy=remedy or "Read the effects again.")
