"""Persons behind an act: joined, hashed, and never too many."""

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.principal import NO_TENANT, Principal, responsible_of
from signet.core.tenants.responsible import (
    MAX_PERSONS,
    find_overflow,
    hash_responsible,
    join_responsible,
)


def test_a_person_stands_for_themselves_and_a_machine_for_those_behind_it() -> None:
    behind = frozenset({"ann"})
    assert Principal(NO_TENANT, "mia", ()).responsible == {"mia"}
    assert Principal(NO_TENANT, "key:erp", (), behind=behind).responsible == {"ann"}
    assert responsible_of("signet:system", frozenset()) == frozenset()
    assert responsible_of("", behind) == behind
    assert responsible_of("mia", behind) == {"ann", "mia"}


def test_groups_are_joined_up_to_the_limit() -> None:
    many = [f"p{number}" for number in range(MAX_PERSONS)]
    assert len(join_responsible(many, many[:5])) == MAX_PERSONS
    assert find_overflow(frozenset(many)) is None
    with pytest.raises(Rejected) as refused:
        join_responsible(many, ["one more"])
    assert refused.value.code == "RESPONSIBLE_TOO_MANY"


def test_the_hash_is_that_of_the_sorted_ids() -> None:
    assert hash_responsible(frozenset({"b", "a"})) == hash_responsible(frozenset({"a", "b"}))
    assert hash_responsible(frozenset({"ab"})) != hash_responsible(frozenset({"a", "b"}))
