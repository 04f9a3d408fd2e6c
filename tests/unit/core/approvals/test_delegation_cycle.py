"""A delegation that would lead back to its giver, at any moment and for any entity type, is refused."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from signet.core.approvals.eligibility import Delegation, find_delegation_cycle

START = datetime(2026, 1, 1, tzinfo=UTC)


def delegate(user: str, to: str, begin: int = 0, end: int = 9, scope: str | None = None) -> Delegation:
    days = timedelta(days=1)
    return Delegation(UUID(int=1), user, to, scope, START + begin * days, START + end * days)


@pytest.mark.parametrize(
    ("new", "existing", "cycle"),
    [
        (delegate("a", "b"), [], None),
        (delegate("a", "b"), [delegate("a", "b"), delegate("b", "c")], None),
        (delegate("a", "a"), [], ("a", "a")),
        (delegate("a", "b"), [delegate("b", "a")], ("a", "b", "a")),
        (delegate("a", "b"), [delegate("c", "a"), delegate("b", "c")], ("a", "b", "c", "a")),
        # The shorter of two ways back is named.
        (
            delegate("a", "b"),
            [delegate("b", "c"), delegate("c", "a"), delegate("b", "a")],
            ("a", "b", "a"),
        ),
        # A cycle without the new delegation is not its fault.
        (delegate("a", "b"), [delegate("b", "c"), delegate("c", "b")], None),
        # The end of a delegation's time is no part of it.
        (delegate("a", "b", 0, 5), [delegate("b", "a", 5, 9)], None),
        (delegate("a", "b", 5, 9), [delegate("b", "a", 0, 5)], None),
        (delegate("a", "b", 0, 5), [delegate("b", "a", 4, 9)], ("a", "b", "a")),
        (delegate("a", "b", 4, 9), [delegate("b", "a", 0, 5)], ("a", "b", "a")),
        # Each of the others overlaps with the new one, but never both at once.
        (delegate("a", "b"), [delegate("b", "c", 0, 4), delegate("c", "a", 4, 9)], None),
        (delegate("a", "b"), [delegate("b", "c", 0, 5), delegate("c", "a", 4, 9)], ("a", "b", "c", "a")),
        # Delegations are compared by scope.
        (delegate("a", "b", scope="x"), [delegate("b", "a", scope="y")], None),
        (delegate("a", "b", scope="x"), [delegate("b", "a", scope="x")], ("a", "b", "a")),
        (delegate("a", "b", scope="x"), [delegate("b", "a")], ("a", "b", "a")),
        (delegate("a", "b"), [delegate("b", "a", scope="x")], ("a", "b", "a")),
        (delegate("a", "b"), [delegate("b", "c", scope="x"), delegate("c", "a", scope="y")], None),
    ],
)
def test_cycles(new: Delegation, existing: list[Delegation], cycle: tuple[str, ...] | None) -> None:
    assert find_delegation_cycle(new, existing) == cycle


def test_a_revoked_delegation_leads_nowhere() -> None:
    back = Delegation(UUID(int=2), "b", "a", None, START, START + timedelta(days=9), is_revoked=True)
    assert find_delegation_cycle(delegate("a", "b"), [back]) is None


def is_circle(edges: Sequence[Delegation], day: int, scope: str) -> bool:
    """Return whether these delegations, in this order, lead from a person back to them on that day."""
    moment = START + timedelta(days=day)
    heads = [each.user_id for each in edges]
    return [each.delegate_id for each in edges] == [*heads[1:], heads[0]] and all(
        each.from_time <= moment < each.to_time and each.entity_type in (None, scope) for each in edges
    )


DELEGATIONS = st.builds(
    lambda user, to, begin, length, scope: delegate(user, to, begin, begin + length, scope),
    st.sampled_from("abc"),
    st.sampled_from("abc"),
    st.integers(0, 4),
    st.integers(1, 4),
    st.sampled_from([None, "x", "y"]),
)


@given(DELEGATIONS, st.lists(DELEGATIONS, max_size=4))
def test_exactly_the_circles_through_the_new_one_are_found(
    new: Delegation, existing: list[Delegation]
) -> None:
    expected = any(
        is_circle((new, *others), day, scope)
        for size in range(3)
        for others in permutations(existing, size)
        for day in range(9)
        for scope in ("x", "y", "other")
    )
    found = find_delegation_cycle(new, existing)
    assert (found is not None) == expected
    if found is not None:
        assert (found[0], found[1], found[-1]) == (new.user_id, new.delegate_id, new.user_id)
