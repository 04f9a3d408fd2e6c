"""The meaning of expressions: every operator with every sort of value, checked by a slow evaluator."""

import itertools
from typing import Any

import pytest
from hypothesis import given

from signet.core.expressions import Evaluation, Expression, compile_expression, to_text
from signet.core.expressions.syntax_tree import (
    COMPARISONS,
    Comparison,
    Junction,
    ListLiteral,
    Literal,
    Name,
    Not,
)
from tests.support.generated.expressions import QUICK, environments, expressions, parse

DEEP: Any = []
for _ in range(5_000):
    DEEP = [DEEP]
ABSENT = object()
EARLY, LATER = "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.500000Z"
VALUES: list[Any] = [
    ABSENT, None, True, False, 0, 1, 2, -1, 1.0, 1.5, 2**53, 10**400, "", "1", "a", "ab", "true",
    "2026-01-31", EARLY, LATER, [], ["a"], ["ab", 1], [True], [None], [[1]], [["a"]], {}, {"a": 1},
    {"a": True}, {"b": {"a": 1}},
]  # fmt: skip
LITERALS = [
    "null", "true", "false", "0", "1", "2", "-1", "''", "'a'", "'1'", "'2026-01-31'",
    f"'{EARLY}'", f"'{LATER}'", "[]", "['a', 'b']", "[0]", "[1, 2]", "[2, 3]", "[true]",
    "[null]", "['a', 2, false]",
]  # fmt: skip


def evaluate(text: str, env: dict[str, Any]) -> Any:
    return compile_expression(parse(text)).value(env)


# The reference is as plain as can be, and written without a look at the package.


def type_name(value: Any) -> str:
    return "number" if type(value) in (int, float) else type(value).__name__


def same(a: Any, b: Any) -> bool:
    if type_name(a) != type_name(b):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    return bool(a == b)


def instant(value: Any) -> Any:
    """Return a timestamp as text that sorts a fraction after none."""
    is_timestamp = (
        isinstance(value, str) and len(value) in (20, 27) and value[10] == "T" and value.endswith("Z")
    )
    return value[:-1] if is_timestamp else value


def compare(operator: str, a: Any, b: Any) -> bool:
    if operator in ("==", "!="):
        return same(a, b) is (operator == "==")
    if operator == "contains":
        return (isinstance(a, str) and isinstance(b, str) and b in a) or compare("in", b, a)
    if operator == "in":
        return isinstance(b, list) and any(same(a, item) for item in b)
    if type_name(a) != type_name(b) or type_name(a) not in ("number", "str"):
        return False
    a, b = instant(a), instant(b)
    return bool({">": a > b, ">=": a >= b, "<": a < b, "<=": a <= b}[operator])


def look_up(path: tuple[str, ...], env: Any) -> Any:
    value = env
    for step, name in enumerate(path):
        if step == 2 and path[0] == "entity" and isinstance(value, str):
            value = look_up(("refs", path[1]), env)
        value = value.get(name) if isinstance(value, dict) else None
    return value


def refer(node: Expression, env: Any) -> Any:
    match node:
        case Literal():
            return node.value
        case ListLiteral():
            return [item.value for item in node.items]
        case Name():
            return look_up(node.path, env)
        case Not():
            return refer(node.operand, env) is not True
        case Comparison():
            return compare(node.operator, refer(node.left, env), refer(node.right, env))
        case Junction():
            found = [refer(term, env) is True for term in node.terms]
            return all(found) if node.operator == "&&" else any(found)


@pytest.mark.parametrize("operator", COMPARISONS)
def test_every_operator_with_every_value(operator: str) -> None:
    for value, literal in itertools.product(VALUES, LITERALS):
        entity = {} if value is ABSENT else {"x": value}
        for text in (
            f"entity.x {operator} {literal}",
            f"{literal} {operator} entity.x",
            f"item {operator} {literal}",
        ):
            expression = parse(text)
            env = {"entity": entity, "item": entity.get("x")}
            found = compile_expression(expression).value(env)
            assert found is refer(expression, env), (text, value)
    for left, right in itertools.product(VALUES[1:], VALUES[1:]):
        env = {"entity": {"x": left, "y": right}}
        assert evaluate(f"entity.x {operator} entity.y", env) is compare(operator, left, right), (left, right)


@QUICK
@given(expressions, environments)
def test_closures_equal_the_reference(expression: Expression, env: dict[str, Any]) -> None:
    compiled = compile_expression(expression)
    value = compiled.value(env)
    expected = refer(expression, env)
    assert same(value, expected)
    evaluation = compiled.evaluate(env)
    assert isinstance(evaluation, Evaluation) and same(evaluation.value, expected)
    assert evaluation.evidence["expression"] == compiled.text == to_text(expression)
    assert same(evaluation.evidence["result"], expected)
    read = evaluation.evidence["variables"]
    assert tuple(read) == compiled.variables
    assert all(same(found, look_up(tuple(name.split(".")), env)) for name, found in read.items())


TABLE = [
    ("null == null", True),
    ("entity.missing == null", True),
    ("entity.missing != null", False),
    ("entity.missing != 1", True),
    ("entity.missing < 1", False),
    ("entity.missing >= 1", False),
    ("null <= null", False),
    ("!(entity.missing < 1)", True),
    ("entity.missing contains 'a'", False),
    ("'a' in entity.missing", False),
    ("null in [null]", True),
    ("true == 1", False),
    ("1 in [true]", False),
    ("entity.one == true", False),
    ("entity.yes == 1", False),
    ("entity.yes > 0", False),
    ("entity.yes in [1]", False),
    ("'1' == 1", False),
    ("'1' < 2", False),
    ("'abc' contains 'b'", True),
    ("'b' in 'abc'", False),
    ("entity.object contains 'key'", False),
    ("!null", True),
    ("!1", True),
    ("!'x'", True),
    ("!true", False),
    ("1 && true", False),
    ("entity.one || entity.yes", True),
    ("'x' || 1", False),
    ("true", True),
    ("5", 5),
    ("['a', 1]", ["a", 1]),
    ("entity.missing", None),
    ("entity.object", {"key": 1}),
    ("entity.object.key == 1", True),
    ("entity.day < now", True),
    ("entity.day < '2026-02-01T00:00:00Z'", True),
    ("now < entity.later", True),
    ("entity.customer == 'c1'", True),
    ("entity.customer.credit > 5", True),
    ("entity.customer.address.city == 'Bonn'", True),
    ("entity.unloaded.credit == null", True),
    ("context.a.b == 3", True),
    ("entity.yes && entity.yes && entity.yes && entity.yes", True),
    ("entity.yes && entity.yes && entity.yes && entity.one", False),
    ("entity.one || entity.one || entity.yes", True),
    ("entity.one || entity.one || entity.one", False),
]
ENV: dict[str, Any] = {
    "entity": {
        "one": 1, "yes": True, "object": {"key": 1}, "customer": "c1", "unloaded": "c2",
        "day": "2026-01-31", "later": LATER,
    },
    "refs": {"customer": {"credit": 9, "address": {"city": "Bonn"}}},
    "context": {"a": {"b": 3}},
    "now": EARLY,
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), TABLE)
def test_meaning(text: str, expected: Any) -> None:
    found = evaluate(text, ENV)
    assert found == expected and type(found) is type(expected)


JUNK: list[Any] = [None, 1, "x", [], {}]
SPARSE: list[dict[str, Any]] = [{}, *({root: junk} for root in ("entity", "refs") for junk in JUNK)]


@pytest.mark.parametrize("env", SPARSE)
def test_environments_without_what_is_needed(env: dict[str, Any]) -> None:
    for operator, literal in itertools.product(COMPARISONS, LITERALS):
        for name in ("entity.x", "entity.x.y", "entity.x.y.z", "context.a.b", "now"):
            expression = parse(f"{name} {operator} {literal}")
            assert compile_expression(expression).value(env) is refer(expression, env)
    assert compile_expression(parse("entity.x == 1")).evaluate(env).evidence["variables"] == {
        "entity.x": None
    }


def test_values_deeper_than_the_stack() -> None:
    env = {"entity": {"x": DEEP, "y": [DEEP[0]]}}
    assert evaluate("entity.x == entity.y && entity.x != null && !(entity.x in [1])", env) is True
    assert (
        evaluate("entity.x contains 'a' || 'a' in entity.x || entity.x > 1 || entity.x in ['a']", env)
        is False
    )


def test_evidence() -> None:
    text = "entity.grand_total > 10000&&actor.roles contains 'finance' && entity.no != 1"
    env = {"entity": {"grand_total": 25_000, "secret": 1}, "actor": {"roles": ["finance"]}}
    assert compile_expression(parse(text)).evaluate(env) == (
        True,
        {
            "expression": "entity.grand_total > 10000 && actor.roles contains 'finance' && entity.no != 1",
            "variables": {
                "entity.grand_total": 25_000,
                "actor.roles": ["finance"],
                "entity.no": None,
            },
            "result": True,
        },
    )


def test_a_list_given_out_is_new_each_time() -> None:
    compiled = compile_expression(parse("['a']"))
    compiled.value({}).append("b")
    assert compiled.value({}) == ["a"]


class Refusing(dict[str, Any]):
    def __missing__(self, key: str) -> Any:
        raise AssertionError(f"{key} was read")

    def get(self, key: str, default: Any = None) -> Any:
        return self[key]


@pytest.mark.parametrize(
    "text",
    [
        "false && item",
        "true || item",
        "entity.a == 2 && entity.a == 3 && item",
        "entity.a == 1 || entity.b == 1 || item",
        "entity.a == 1 && entity.a == 1 && entity.a == 2 && item",
    ],
)
def test_junctions_stop_as_soon_as_they_know(text: str) -> None:
    assert evaluate(text, Refusing(entity={"a": 1})) in (True, False)


OMITTED = {"omitted": "more than 4096 bytes"}


@pytest.mark.parametrize(
    ("value", "is_shown"),
    [
        ("x" * 4_094, True),
        ("x" * 4_095, False),
        ("é" * 2_047, True),
        ("é" * 2_048, False),
        ([1] * 2_047, True),
        ([1] * 2_048, False),
    ],
)
@pytest.mark.parametrize("name", ["entity.a", "entity.a.b", "entity"])
def test_evidence_shows_no_large_value(name: str, value: Any, is_shown: bool) -> None:
    roots = {"entity": value, "entity.a": {"a": value}, "entity.a.b": {"a": {"b": value}}}
    evaluation = compile_expression(parse(name)).evaluate({"entity": roots[name]})
    shown = value if is_shown else OMITTED
    assert evaluation.value == value
    assert evaluation.evidence == {"expression": name, "variables": {name: shown}, "result": shown}
