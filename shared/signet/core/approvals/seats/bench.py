"""The bench of a stage: who takes its people, or what their votes need, clears it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from signet.core.approvals.eligibility import Seat
from signet.core.contracts.compiled_contract import CompiledContract


@dataclass(frozen=True, slots=True)
class Bench:
    """The people that a stage asks, and what their votes need."""

    holder_ids: Collection[str] = ()
    seat_roles: Collection[str] = ()
    needed: Collection[str] = ()
    # The permissions whose condition reads the roles of the voter.
    by_roles: Collection[str] = ()
    # The people whose manager was asked for, and the named holders of seats that do not tell it.
    lines: Collection[str] = ()
    line_holders: Collection[str] = ()


NO_BENCH = Bench()


def find_bench(
    contract: CompiledContract, needed: Collection[str], seats: Sequence[Seat], seat_roles: Collection[str]
) -> Bench:
    """Return the bench of a stage that asks these roles and has these seats."""
    holders = {seat.holder_user_id for seat in seats if seat.holder_user_id is not None}
    lines = {line for seat in seats for line in seat.lines or ()}
    untold = {seat.holder_user_id for seat in seats if seat.holder_user_id is not None and seat.lines is None}
    return Bench(holders, seat_roles, needed, contract.permissions_by_roles, lines, untold)
