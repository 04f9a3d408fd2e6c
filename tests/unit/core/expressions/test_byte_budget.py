"""The bytes of a value are counted as JSON has them, and no more is looked at than the budget allows."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.expressions.byte_budget import BudgetSpent, ByteBudget, count_bytes, fits
from tests.support.generated.expressions import QUICK, values

texts = st.text(st.characters(codec="utf-8"))
floats = st.floats(allow_nan=False, allow_infinity=False)


def size_of(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def is_json(value: Any) -> bool:
    """Return whether a store takes the value: JSON has no infinity."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


@QUICK
@given(
    st.one_of(
        values.filter(is_json),
        texts,
        st.dictionaries(texts, st.lists(texts)),
        st.floats(allow_nan=False, allow_infinity=False),
    )
)
def test_a_value_takes_what_its_json_takes(value: Any) -> None:
    size = size_of(value)
    assert count_bytes(value) == size
    assert fits(value, size) and not fits(value, size - 1)


@pytest.mark.parametrize(
    "value", [True, False, None, 0, -(2**63), 1.5, "", 'é"\\\n\x01', [], {}, [[]], {"é": 1}]
)
def test_each_kind_of_value(value: Any) -> None:
    assert count_bytes(value) == size_of(value)


@pytest.mark.parametrize("exponent", [65, 1_000, 50_000])
def test_a_number_that_is_too_long_to_write_is_not_counted_for_less(exponent: int) -> None:
    assert count_bytes(10**exponent) > exponent


def test_half_of_a_pair_of_surrogates_has_a_size() -> None:
    assert count_bytes("\ud800x") == 6


def test_what_is_no_json_takes_nothing() -> None:
    assert count_bytes({1, 2}) == 0


def test_a_text_that_is_longer_than_the_budget_is_not_read() -> None:
    class UnreadText(str):
        def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
            raise AssertionError("the text was written")

        def __iter__(self) -> Any:
            raise AssertionError("the text was read")

    budget = ByteBudget(9)
    with pytest.raises(BudgetSpent):
        budget.take_text(UnreadText("x" * 10))
    assert budget.left == 9


def test_a_list_that_is_longer_than_the_budget_is_not_gone_through() -> None:
    class UnreadList(list[Any]):
        def __iter__(self) -> Any:
            raise AssertionError("the list was gone through")

    with pytest.raises(BudgetSpent):
        ByteBudget(9).take_value(UnreadList([1] * 10))


def test_a_value_may_be_deeper_than_the_stack() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert count_bytes(deep) == 200_002
    while deep:
        deep = deep.pop()
