"""The bench of a stage: the people that it asks, and what their votes need."""

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.seats.bench import Bench, find_bench
from tests.unit.core.contracts.test_compiled_contract import load

SEATS = (Seat(1, 0, holder_user_id="dina", status="approved"), Seat(1, 1, holder_role="finance"))


def test_the_bench_of_a_stage() -> None:
    """It names the conditions that read the roles of the voter."""
    conditions = {
        "purchase_order:approve": "'senior' in actor.roles",
        "purchase_order:cancel": "actor.user_id == 'x'",
    }
    bench = find_bench(load(conditions=conditions), ["purchase_order:approve"], SEATS, {"finance"})
    permissions = {"purchase_order:approve"}
    assert bench == Bench({"dina"}, {"finance"}, [*permissions], permissions, set(), set())


def test_a_bench_has_the_lines_of_its_seats() -> None:
    seats = [
        Seat(1, 1, "ben", lines=("mia", "pia")),
        Seat(1, 2, holder_role="finance", lines=("otto",)),
        Seat(1, 3, "lena", lines=None),
        Seat(1, 4, holder_role="audit", lines=None),
    ]
    bench = find_bench(load(), (), seats, ())
    assert bench.lines == {"mia", "pia", "otto"}
    assert bench.line_holders == {"lena"}, "of an older release"
