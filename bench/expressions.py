"""Expressions: a compiled three-term condition beside the same condition written by hand in Python."""

from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

from signet.core.expressions import ExpressionError, compile_expression, parse_expression

CONDITION = "entity.grand_total > 10000 && actor.roles contains 'finance_manager' && entity.currency == 'EUR'"
ENVIRONMENT: dict[str, Any] = {
    "entity": {"grand_total": 25_000, "currency": "EUR", "status": "draft"},
    "actor": {"user_id": "u1", "roles": ["admin", "finance_manager"]},
    "now": "2026-01-31T12:00:00Z",
}
CALLS = 20_000
ROUNDS = 30
MAX_VALUE_RATIO = 2.5
MAX_EVALUATE_RATIO = 6.0


def decide_by_hand(env: dict[str, Any]) -> bool:
    """Return the same answer as the expression, with the same safety against null and missing values."""
    entity, actor = env.get("entity") or {}, env.get("actor") or {}
    total, roles = entity.get("grand_total"), actor.get("roles")
    return (
        total is not None
        and total > 10_000
        and roles is not None
        and "finance_manager" in roles
        and entity.get("currency") == "EUR"
    )


def measure(rounds: int = ROUNDS, calls: int = CALLS) -> list[str]:
    expression = parse_expression(CONDITION)
    assert not isinstance(expression, ExpressionError)
    compiled = compile_expression(expression)
    functions = {"by hand": decide_by_hand, "value": compiled.value, "evaluate": compiled.evaluate}
    best = time_interleaved(functions, rounds, calls)
    hand = best["by hand"]
    return [
        f"expression by hand       {hand:6.0f} ns   {1_000 / hand:5.2f} million/s",
        *(
            f"expression {name:<12}  {best[name]:6.0f} ns   {1_000 / best[name]:5.2f} million/s   "
            f"{best[name] / hand:4.2f} × by hand (at most {limit})"
            for name, limit in (("value", MAX_VALUE_RATIO), ("evaluate", MAX_EVALUATE_RATIO))
        ),
    ]


def time_interleaved(
    functions: dict[str, Callable[[dict[str, Any]], object]], rounds: int, calls: int
) -> dict[str, float]:
    """Return the best nanoseconds per call of many rounds.

    The functions are called in turn, so that a busy machine hurts all alike.
    """
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            best[name] = min(best[name], _time_calls(function, calls))
    return best


def _time_calls(function: Callable[[dict[str, Any]], object], calls: int) -> float:
    env = ENVIRONMENT
    started = perf_counter_ns()
    for _ in range(calls):
        function(env)
    return (perf_counter_ns() - started) / calls
