"""Trees as JSON and as text: round trips, one canonical form, and no way in for junk."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.errors import Defect
from signet.core.expressions import (
    Expression,
    MalformedTree,
    expression_from_json,
    expression_to_json,
    to_text,
)
from signet.core.expressions.syntax_tree import Comparison, ListLiteral, Literal
from signet.core.expressions.text import MAX_LIST_ITEMS, find_excess
from tests.support.generated.expressions import QUICK, expressions, parse, values


def test_the_form() -> None:
    text = "!(entity.a in ['x', 1, null]) && (now > '2026-01-31' || vars.b contains false)"
    assert expression_to_json(parse(text)) == {
        "&&": [
            {"!": {"in": [{"name": "entity.a"}, {"literal": ["x", 1, None]}]}},
            {
                "||": [
                    {">": [{"name": "now"}, {"literal": "2026-01-31"}]},
                    {"contains": [{"name": "context.b"}, {"literal": False}]},
                ]
            },
        ]
    }


@QUICK
@given(expressions)
def test_round_trips(expression: Expression) -> None:
    stored = json.dumps(expression_to_json(expression))
    assert expression_from_json(json.loads(stored)) == expression
    assert json.dumps(expression_to_json(parse(to_text(expression)))) == stored
    assert to_text(parse(to_text(expression))) == to_text(expression)


NOW: dict[str, Any] = {"name": "now"}


def nest(depth: int) -> dict[str, Any]:
    node = NOW
    for _ in range(depth):
        node = {"!": node}
    return node


JUNK: list[Any] = [
    None,
    [],
    "now",
    {},
    {"name": "now", "literal": 1},
    {1: NOW},
    {"name": 1},
    {"name": "vars.a"},
    {"name": "entity."},
    {"name": "entity.a\n"},
    {"name": "entity." + "x" * 500},
    {"name": "other.a"},
    {"literal": 1.0},
    {"literal": 2**53},
    {"literal": {}},
    {"literal": [[1]]},
    {"literal": [1] * 101},
    {"literal": "\x00"},
    {"literal": "\r"},
    {"literal": "\udfff"},
    {"literal": "x" * 501},
    {"literal": "x" * 500},
    {"+": [NOW, NOW]},
    {"==": NOW},
    {"==": [NOW]},
    {"==": [NOW, NOW, NOW]},
    {"==": [NOW, 1]},
    {"&&": [NOW]},
    {"&&": [NOW] * 501},
    {"&&": [NOW, {"&&": [NOW, NOW]}]},
    {"||": [{"||": [NOW, NOW]}, NOW]},
    {"==": [{"name": "entity" + ".a" * 10}, {"name": "entity" + ".a" * 11}]},
    nest(10),
    nest(5_000),
]


@pytest.mark.parametrize("junk", JUNK, ids=range(len(JUNK)))
def test_junk_is_refused(junk: object) -> None:
    with pytest.raises(MalformedTree) as caught:
        expression_from_json(junk, "/edges/0")
    assert isinstance(caught.value, Defect) and caught.value.code == "EXPRESSION_TREE_MALFORMED"
    assert str(caught.value.details["pointer"]).startswith("/edges/0")


def test_the_limits_hold_for_trees_made_by_hand() -> None:
    excess = find_excess(Comparison("in", Literal(1), ListLiteral((Literal(1),) * (MAX_LIST_ITEMS + 1))))
    assert excess is not None and excess.code == "LIST_TOO_LONG"


def test_the_deepest_tree() -> None:
    assert expression_to_json(expression_from_json(nest(9))) == nest(9)


@QUICK
@given(
    st.one_of(
        values, st.dictionaries(st.sampled_from(["literal", "name", "!", "==", "&&"]), values, max_size=1)
    )
)
def test_any_json_is_a_tree_or_refused(value: object) -> None:
    try:
        expression = expression_from_json(value)
    except MalformedTree:
        return
    assert expression_to_json(expression) == value
