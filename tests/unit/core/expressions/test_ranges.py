"""Gaps and overlaps: the known cases by hand, and all small cases against plain counting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.expressions import (
    BOOL,
    INT,
    STRING,
    Expression,
    RangeFinding,
    RangeFindingKind,
    Scope,
    compile_expression,
    enum_of,
    find_gaps_and_overlaps,
    object_of,
)
from signet.core.expressions.ranges import MAX_CONDITIONS, MAX_FINDINGS
from signet.core.expressions.syntax_tree import ORDERINGS, Comparison, ListLiteral, Literal, Name, Not
from tests.support.generated.expressions import QUICK, join, parse

FIELDS = {"n": INT, "m": INT, "s": enum_of("a", "b", "c"), "b": BOOL, "t": STRING, "e": enum_of()}
SCOPE = Scope({"entity": object_of(FIELDS)})


def find(*texts: str) -> list[tuple[str, object, object, object, tuple[int, ...]]]:
    found = find_gaps_and_overlaps([parse(text) for text in texts], SCOPE)
    return [(f.kind.value, f.example, f.low, f.high, f.conditions) for f in found]


CASES = [
    (["entity.n <= 500", "entity.n > 10000"], [("gap", 501, 501, 10_000, ())]),
    (["entity.n < 500", "entity.n >= 500"], []),
    (["entity.n <= 500", "500 <= entity.n"], [("overlap", 500, 500, 500, (0, 1))]),
    (["entity.n > 5"], [("gap", 5, None, 5, ())]),
    (["entity.n < 5"], [("gap", 5, 5, None, ())]),
    (["entity.n > 5 && entity.n < 3"], [("gap", 0, None, None, ())]),
    (["entity.n == 5"], [("gap", 4, None, 4, ()), ("gap", 6, 6, None, ())]),
    (["entity.n != 5", "entity.n == 5"], []),
    (["entity.n != 5"], [("gap", 5, 5, 5, ())]),
    (["entity.n in [1, 2, 3]", "!(entity.n in [1, 2])"], [("overlap", 3, 3, 3, (0, 1))]),
    (["entity.n > 0 || entity.n <= 0"], []),
    (["!(entity.n > 0)", "entity.n > 0"], []),
    (["true", "entity.n > 7"], [("overlap", 8, 8, None, (0, 1))]),
    (["entity.n >= 0", "entity.n < 0", "false"], []),
    (
        ["entity.s == 'a'", "entity.s in ['b', 'a']"],
        [("gap", "c", "c", "c", ()), ("overlap", "a", "a", "a", (0, 1))],
    ),
    (["entity.s != 'a'"], [("gap", "a", "a", "a", ())]),
    (["entity.s == 'b'"], [("gap", "a", "a", "a", ()), ("gap", "c", "c", "c", ())]),
    (
        ["entity.s == null"],
        [("gap", "a", "a", "a", ()), ("gap", "b", "b", "b", ()), ("gap", "c", "c", "c", ())],
    ),
    (["entity.b", "!entity.b"], []),
    (["entity.b"], [("gap", False, False, False, ())]),
    (
        ["entity.b == true", "false != entity.b"],
        [("gap", False, False, False, ()), ("overlap", True, True, True, (0, 1))],
    ),
    (["entity.e != null"], []),
]


@pytest.mark.parametrize(("conditions", "expected"), CASES)
def test_cases(conditions: list[str], expected: list[object]) -> None:
    assert find(*conditions) == expected


@pytest.mark.parametrize(
    "conditions",
    [
        [],
        ["true"],
        ["entity.n > 5", "entity.m > 5"],
        ["entity.t == 'x'"],
        ["entity.zzz == 1"],
        ["entity.n == 'x'"],
        ["entity.n == true"],
        ["entity.b == 1"],
        ["entity.s == 'zzz'"],
        ["entity.s < 'b'"],
        ["entity.n > 'x'"],
        ["entity.n"],
        ["entity.n == entity.n"],
        ["entity.n in entity.n"],
        ["entity.n contains 5"],
        ["5 in entity.n"],
        ["1 == 1", "entity.n > 5"],
        ["(entity.b == true) == true"],
        ["[] && entity.b"],
        [f"entity.n == {n}" for n in range(MAX_CONDITIONS + 1)],
    ],
)
def test_what_cannot_be_told(conditions: list[str]) -> None:
    assert find(*conditions) == []


def test_a_missing_value_is_not_asked_about() -> None:
    assert find("entity.b == true", "entity.b == false") == []
    assert find("entity.b != true", "entity.b != false") == []


def test_findings_are_bounded() -> None:
    assert len(find(*["entity.n > 5"] * MAX_CONDITIONS)) == MAX_FINDINGS


def test_a_finding() -> None:
    assert find_gaps_and_overlaps([parse("entity.n < 5")], SCOPE) == (
        RangeFinding(RangeFindingKind.GAP, "entity.n", 5, 5, None, ()),
    )


_numbers = st.integers(-3, 3)
_n = Name(("entity", "n"))
_conditions: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(
        st.builds(
            lambda op, v: Comparison(op, _n, Literal(v)), st.sampled_from(("==", "!=", *ORDERINGS)), _numbers
        ),
        st.builds(
            lambda op, v: Comparison(op, Literal(v), _n), st.sampled_from(("==", "!=", *ORDERINGS)), _numbers
        ),
        st.lists(_numbers, max_size=3).map(
            lambda found: Comparison("in", _n, ListLiteral(tuple(Literal(value) for value in found)))
        ),
        st.sampled_from([Comparison("==", _n, Literal(None)), Comparison("!=", _n, Literal(None))]),
    ),
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(join, st.sampled_from(["&&", "||"]), st.lists(inner, min_size=2, max_size=3)),
    ),
    max_leaves=5,
)


@QUICK
@given(st.lists(_conditions, min_size=1, max_size=3))
def test_equal_to_counting(conditions: list[Expression]) -> None:
    # Every bound is within ±4, so a result at ±5 holds for all values beyond.
    tests = [compile_expression(condition).value for condition in conditions]
    found = find_gaps_and_overlaps(conditions, SCOPE)
    for value in range(-5, 6):
        true = [index for index, test in enumerate(tests) if test({"entity": {"n": value}})]
        here = [finding for finding in found if holds(finding, value)]
        assert any(f.kind is RangeFindingKind.GAP for f in here) is (not true)
        pairs = {(a, b) for a in true for b in true if a < b}
        assert {f.conditions for f in here if f.kind is RangeFindingKind.OVERLAP} == pairs
    assert all(holds(finding, finding.example) for finding in found)


def holds(finding: RangeFinding, value: object) -> bool:
    assert isinstance(value, int) and not isinstance(finding.low, str) and not isinstance(finding.high, str)
    above = finding.low is None or finding.low <= value
    return above and (finding.high is None or value <= finding.high)
