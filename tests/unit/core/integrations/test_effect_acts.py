"""The acts that an effect takes: in every status, on its way, with an endpoint that is switched off."""

import pytest

from signet.core.integrations.effect_acts import (
    EffectState,
    HoldingCode,
    check_discard,
    check_try_now,
    check_withdraw,
    foresee_withdrawal,
    list_effect_acts,
)


def state(status: str, *, is_withdrawn: bool = False, held_by: HoldingCode | None = None) -> EffectState:
    return EffectState(status, is_withdrawn, "erp", held_by)


@pytest.mark.parametrize(
    ("given", "acts"),
    [
        (state("pending"), ["try_now", "withdraw"]),
        (state("failed"), ["try_now", "withdraw"]),
        (state("processing"), ["withdraw"]),
        (state("processing", is_withdrawn=True), []),
        (state("dead_letter"), ["discard"]),
        (state("completed"), []),
        (state("withdrawn", is_withdrawn=True), []),
        (state("discarded"), []),
        (state("pending", held_by="ENDPOINT_DISABLED"), ["withdraw"]),
        (state("pending", held_by="ENDPOINT_UNKNOWN"), ["withdraw"]),
        (state("dead_letter", held_by="ENDPOINT_DISABLED"), ["discard"]),
    ],
)
def test_the_acts_of_each_status(given: EffectState, acts: list[str]) -> None:
    assert list_effect_acts(given) == acts


def test_each_refusal_says_what_to_do_instead() -> None:
    held = check_try_now(state("failed", held_by="ENDPOINT_DISABLED"))
    assert held is not None and held.code == "ENDPOINT_DISABLED" and "on" in held.remedy
    missing = check_try_now(state("pending", held_by="ENDPOINT_UNKNOWN"))
    assert missing is not None and missing.code == "ENDPOINT_UNKNOWN" and "Make" in missing.remedy
    dead = check_try_now(state("dead_letter"))
    assert dead is not None and (dead.code, dead.remedy) == ("EFFECT_ACT_NOT_POSSIBLE", "Requeue it.")
    withdrawn = check_withdraw(state("dead_letter"))
    assert withdrawn is not None and withdrawn.remedy == "Discard it."
    pending, done = check_discard(state("pending")), check_discard(state("completed"))
    assert pending is not None and pending.remedy == "Withdraw it."
    assert done is not None and done.remedy == "Read the effects again."


def test_the_consequence_for_the_step() -> None:
    cases = [None, ("delivered", "error"), ("delivered",)]
    assert [foresee_withdrawal(outcomes) for outcomes in cases] == ["nothing", "error_edge", "incident"]
