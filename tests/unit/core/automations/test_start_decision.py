"""Decisions about a start, by their table."""

from datetime import UTC, datetime, timedelta

import pytest

from signet.core.automations.chain import MAX_DEPTH, Link
from signet.core.automations.start_decision import (
    TENANT_OPEN_INSTANCES,
    TENANT_STARTS_PER_MINUTE,
    OpenCounts,
    StartMeter,
    StartRefusal,
    StartSwitches,
    check_chain,
    check_open,
    check_rates,
    check_switches,
    name_overlap_key,
)
from signet.core.automations.trigger import Overlap, StartLimits

NOW = datetime(2026, 3, 1, 12, 30, 20, tzinfo=UTC)
LINK = Link("chase", "D-1")


def code_of(refusal: StartRefusal | None) -> tuple[str, str] | None:
    return None if refusal is None else (refusal.verdict, refusal.code)


@pytest.mark.parametrize(
    ("switches", "code"),
    [
        (StartSwitches(None, False, None), None),
        (StartSwitches(None, False, "moves"), "AUTOMATION_PAUSED"),
        (StartSwitches(None, True, "moves"), "AUTOMATION_ARCHIVED"),
        (StartSwitches("a storm", True, "moves"), "AUTOMATIONS_STOPPED"),
    ],
)
def test_the_switches_of_people(switches: StartSwitches, code: str | None) -> None:
    assert code_of(check_switches(switches)) == (code and ("not_started", code))


def test_the_same_pair_twice_is_stopped() -> None:
    others = (Link("chase", "D-2"), Link("other", "D-1"))
    assert check_chain({}, LINK, others) is None
    assert code_of(check_chain({}, LINK, (*others, LINK))) == ("not_started", "AUTOMATION_LOOP")
    assert code_of(check_chain({"repeat": "ignore"}, LINK, (LINK,))) == ("ignored", "AUTOMATION_LOOP")
    assert check_chain({"repeat": "allow"}, LINK, (LINK,)) is None


def test_a_chain_has_an_end() -> None:
    others = tuple(Link("chase", f"D-{number}") for number in range(2, MAX_DEPTH + 2))
    assert check_chain({}, LINK, others[1:]) is None
    refusal = check_chain({}, LINK, others)
    assert code_of(refusal) == ("too_deep", "AUTOMATION_TOO_DEEP")
    assert refusal is not None and refusal.sentence.count(" → ") == MAX_DEPTH


def test_starts_over_the_minute_are_delayed_to_the_next() -> None:
    limits, nothing = StartLimits(starts_per_minute=2), StartMeter(None, 0)
    full = nothing.add(NOW).add(NOW + timedelta(seconds=30))
    assert check_rates(limits, nothing.add(NOW), nothing, NOW) is None
    refusal = check_rates(limits, full, nothing, NOW)
    assert code_of(refusal) == ("delayed", "STARTS_OVER_LIMIT")
    assert refusal is not None and refusal.delay_seconds == 40.0
    assert check_rates(limits, full, nothing, NOW + timedelta(minutes=1)) is None
    everybody = StartMeter(full.minute, TENANT_STARTS_PER_MINUTE)
    assert code_of(check_rates(limits, nothing, everybody, NOW)) == ("delayed", "STARTS_OVER_LIMIT")


@pytest.mark.parametrize(
    ("overlap", "counts", "decided"),
    [
        (Overlap(), OpenCounts(5, 5, 0, 0), None),
        (Overlap(), OpenCounts(9, 9, 0, 0), ("delayed", "OPEN_OVER_LIMIT")),
        (Overlap(), OpenCounts(TENANT_OPEN_INSTANCES, 0, 0, 0), ("delayed", "OPEN_OVER_LIMIT")),
        (Overlap(mode="skip"), OpenCounts(1, 1, 0, 0), None),
        (Overlap(mode="skip"), OpenCounts(1, 1, 1, 0), ("not_started", "OVERLAP_SKIPPED")),
        (Overlap(mode="replace"), OpenCounts(9, 9, 1, 0), ("replaces", "OVERLAP_REPLACES")),
        (Overlap(mode="queue", at_most=2), OpenCounts(1, 1, 1, 1), ("queued", "OVERLAP_QUEUED")),
        (Overlap(mode="queue", at_most=2), OpenCounts(1, 1, 1, 2), ("not_started", "OVERLAP_QUEUE_FULL")),
    ],
)
def test_what_is_open(overlap: Overlap, counts: OpenCounts, decided: tuple[str, str] | None) -> None:
    assert code_of(check_open(overlap, StartLimits(open_instances=9), counts)) == decided


def test_a_sentence_says_what_counts_together() -> None:
    for per, words in (("automation", "of the automation is"), ("document", "for this document is")):
        refusal = check_open(
            Overlap.model_validate({"mode": "skip", "per": per}), StartLimits(), OpenCounts(1, 1, 1, 0)
        )
        assert refusal is not None and words in refusal.sentence


def test_keys() -> None:
    assert name_overlap_key(Overlap(), "A", "D", "I") == "A/I"
    assert name_overlap_key(Overlap(mode="skip"), "A", "D", "I") == "A/"
    assert name_overlap_key(Overlap(mode="skip", per="document"), "A", "D", "I") == "A/D"
    assert name_overlap_key(Overlap(mode="skip", per="document"), "A", None, "I") == "A/"
