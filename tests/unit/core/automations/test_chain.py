"""The chain: it travels with what steps cause, and a person begins a new one."""

from signet.core.automations.chain import Link, describe_chain, find_chain, parse_chain, write_chain

FIRST, SECOND = Link("chase", "D-1"), Link("monthly", None)


def test_it_is_stored_and_read() -> None:
    assert write_chain((FIRST, SECOND)) == [["chase", "D-1"], ["monthly", None]]
    assert parse_chain(write_chain((FIRST, SECOND))) == (FIRST, SECOND)
    assert parse_chain(None) == ()
    assert describe_chain((FIRST, SECOND)) == "chase (D-1) → monthly (no document)"


def test_the_last_change_says_it() -> None:
    caused = {"chain": write_chain((FIRST,))}
    assert find_chain([("mutation", caused)], ()) == (FIRST,)
    assert find_chain([("mutation", caused), ("transition_requested", {})], (SECOND,)) == ()
    assert find_chain([("mutation", {}), ("mutation", caused)], ()) == (FIRST,)


def test_time_and_answers_go_on_with_it() -> None:
    assert find_chain([("continue", {}), ("effect_ended", {})], (FIRST,)) == (FIRST,)
    assert find_chain([], (FIRST,)) == (FIRST,)
