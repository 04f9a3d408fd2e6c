"""The bench measures what it says: the hand-written reference decides as the expression does."""

import itertools

from bench import expressions
from signet.core.expressions import compile_expression
from tests.support.generated.expressions import parse


def test_the_reference_decides_the_same() -> None:
    compiled = compile_expression(parse(expressions.CONDITION))
    choices = itertools.product([None, 5, 25_000], [None, [], ["finance_manager"]], [None, "EUR", "USD"])
    for total, roles, currency in choices:
        env = {"entity": {"grand_total": total, "currency": currency}, "actor": {"roles": roles}}
        assert compiled.value(env) is expressions.decide_by_hand(env)
    assert compiled.value({}) is expressions.decide_by_hand({}) is False


def test_the_lines() -> None:
    lines = expressions.measure(rounds=1, calls=1)
    assert len(lines) == 3 and "× by hand (at most 2.5)" in lines[1]
