"""The arithmetic of docs/cost.md is that of its counts and prices."""

import pytest

from tests.cost.counts import Counts, price_front, price_moving, read_counts, write_counts
from tests.cost.others import durable_function, step_functions
from tests.cost.page import PAGE, renew
from tests.cost.prices import PRICES, UNDATED, UNDATED_COPY

COUNTS = Counts(
    api_requests=3_000,
    api_calls=3_000,
    api_milliseconds=10_000,
    node_execution_calls=2_000,
    node_execution_milliseconds=20_000,
    side_effect_io_calls=1_000,
    side_effect_io_milliseconds=10_000,
    sends=4_000,
    receives=3_000,
    deletes=3_000,
    log_bytes=1_000,
)


def test_the_tables_follow_from_the_counts() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert renew(page) == page, "run `make cost` and read the difference"


def test_another_count_is_another_price() -> None:
    page = PAGE.read_text(encoding="utf-8")
    alone, _ = read_counts(page)
    assert renew(page.replace(f"| {alone.sends:,} |", "| 999,999 |", 1)) != page


def test_counts_come_back_from_their_table() -> None:
    other = Counts(*range(11))
    assert read_counts("\n".join(write_counts(COUNTS, other))) == (COUNTS, other)


def test_prices_by_hand() -> None:
    # The counts are 3,000 requests, 3,000 calls, 10 GB-s; 10,000 requests to SQS, 3,000 calls, 25 GB-s.
    assert price_front(COUNTS) == pytest.approx(0.003 + 0.0006 + 0.000133334)
    assert price_moving(COUNTS) == pytest.approx(0.004 + 0.0006 + 0.000333335)
    assert step_functions(10).dollars == pytest.approx(0.25 + 0.001)
    written = 0.005452
    assert durable_function(10).dollars == pytest.approx(0.08 + written * (0.25 + 0.07) + 0.0004)


def test_the_example_of_aws_for_durable_functions() -> None:
    """A million executions of four operations, 104 GB, kept 7 days and 14: $32.00, $26.00 and $10.92."""
    by_name = {price.what: price for price in PRICES}
    assert by_name["durable functions, an operation"].of(4_000_000) == pytest.approx(32)
    assert by_name["durable functions, written"].of(104e9) == pytest.approx(26)
    assert by_name["durable functions, kept a month"].of(104e9 * 21 / 30) == pytest.approx(10.92)


def test_every_price_says_where_and_when() -> None:
    for price in PRICES:
        assert price.page.startswith("aws.amazon.com/"), price.what
        assert price.read in (UNDATED, UNDATED_COPY) or price.read.startswith("202"), price.what
        assert price.unit.startswith("$")
