"""Permissions and conditions of voters, asked of the person who votes."""

from typing import Any

import pytest

from signet.core.approvals.entitlement import Entitlement, check_all, has_without_condition
from signet.core.contracts.compiled_contract import Denial
from tests.unit.core.contracts.test_compiled_contract import load


def entitlement(*needed: str, **permissions: list[str]) -> Entitlement:
    loaded = load(conditions={"invoice:submit": "actor.user_id != 'ann'"})
    return Entitlement(
        loaded, needed, permissions, lambda person: {"actor": {"user_id": person, "roles": []}}
    )


@pytest.mark.parametrize(
    ("person", "code"),
    [
        ("ben", None),
        ("ann", "PERMISSION_CONDITION"),
        ("carl", "PERMISSION_DENIED"),
        ("eve", "PERMISSION_DENIED"),
    ],
)
def test_the_condition_is_about_the_voter(person: str, code: str | None) -> None:
    every = entitlement("invoice:submit", ben=["invoice:submit"], ann=["invoice:*"], carl=["invoice:read"])
    denial = every.find_denial(person)
    assert (denial and denial.code) == code


def test_each_permission_is_needed() -> None:
    both = entitlement("invoice:submit", "invoice:post", ben=["invoice:submit"], dora=["invoice:*"])
    assert (denial := both.find_denial("ben")) is not None and "invoice:post" in denial.sentence
    assert both.find_denial("dora") is None
    assert entitlement().find_denial("eve") is None


def test_a_condition_makes_a_voter_uncertain() -> None:
    contract = load(conditions={"invoice:submit": "actor.user_id != 'ann'"})
    assert has_without_condition(contract, ("invoice:post",), ["invoice:*"])
    assert not has_without_condition(contract, ("invoice:post",), ["invoice:read"])
    assert not has_without_condition(contract, ("invoice:post", "invoice:submit"), ["invoice:*"])


def test_the_first_denial_counts() -> None:
    def no(code: str) -> Any:
        return lambda person: Denial(code, "no") if person == "ann" else None

    check = check_all(no("FIRST"), no("SECOND"))
    assert (denial := check("ann")) is not None and denial.code == "FIRST"
    assert check("ben") is None
