"""Permissions and conditions of voters, asked of the person who votes."""

from dataclasses import replace
from typing import Any

import pytest

from signet.core.approvals.eligibility import Seat
from signet.core.approvals.entitlement import Entitlement, check_all, has_without_condition
from signet.core.contracts.compiled_contract import Denial
from signet.core.tenants.eligibility_changes import EligibilityChange
from tests.unit.core.approvals import test_additions as additions
from tests.unit.core.contracts.test_compiled_contract import load

CHECK = replace(additions.CHECK, roles={"dora": ("clerk",), "ben": ("cfo",)})

CFO = Seat(1, 1, holder_user_id="ben", needed_role="cfo")


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


def test_a_vote_for_another_lapses_with_either() -> None:
    assert CHECK.find_lapse("dora", "ben", None) is None
    for gone in ("dora", "ben"):
        left = replace(CHECK, roles={name: roles for name, roles in CHECK.roles.items() if name != gone})
        lapse = left.find_lapse("dora", "ben", None)
        assert lapse == Denial("VOTE_NO_LONGER_VALID", f"{gone} is no active member any more")


def test_the_holder_of_a_seat_that_needs_a_role_keeps_it() -> None:
    """Dora votes for ben: ben must hold the role, and dora need not."""
    assert CHECK.find_lapse("dora", "ben", CFO) is None
    lapse = CHECK.find_lapse("dora", None, CFO)
    assert lapse is not None and lapse.sentence == "dora does not hold the role 'cfo' any more"


def test_a_vote_lapses_with_a_part_a_permission_or_a_gift() -> None:
    part = replace(CHECK, requesters=frozenset({"ben"})).find_lapse("dora", "ben", None)
    assert part is not None and part.code == "SEPARATION_OF_DUTIES"
    lacking = replace(CHECK, needed_permissions=("invoice:post",)).find_lapse("dora", "ben", None)
    assert lacking is not None and lacking.sentence.startswith("dora needs the permission")
    gift = EligibilityChange("role_given", CHECK.now, "rita", ("rita",), "ben", "approver")
    given = replace(CHECK, changes=(gift,)).find_lapse("dora", "ben", None)
    assert given is not None and given.code == "VOTE_BARRED_BY_GRANT"
    cleared = EligibilityChange("role_taken", CHECK.now, "rita", ("rita",), "zoe", "approver")
    assert replace(CHECK, changes=(cleared,)).find_lapse("dora", "ben", None) is None


def test_the_first_denial_counts() -> None:
    def no(code: str) -> Any:
        return lambda person: Denial(code, "no") if person == "ann" else None

    check = check_all(no("FIRST"), no("SECOND"))
    assert (denial := check("ann")) is not None and denial.code == "FIRST"
    assert check("ben") is None


def test_a_vote_from_a_seat_that_the_workflow_has_not_drawn_is_unproven() -> None:
    added = Seat(1, 3, holder_user_id="dora")
    check = replace(CHECK, seats=(*CHECK.seats, added))
    denied = check.choose("dora")
    assert isinstance(denied, Denial) and denied.code == "APPROVAL_UNPROVEN"
    assert denied.sentence == "the policy draws no such seat as 3 of stage 1"
    stranger = check.choose("eve")
    assert isinstance(stranger, Denial) and stranger.code == "APPROVAL_NOT_YOURS"


def test_who_changed_what_the_document_reads_of_others_is_told_where() -> None:
    values = {"iban": "DE", "city": "Bonn"}
    pin = {"entity_type": "vendor", "document_id": "1", "version": 2, "values": values}
    check = replace(CHECK, pins={"vendor": {**pin, "responsible": ["dora"]}, "payer": pin})
    denied = check.make_conflict_check()("dora")
    assert denied is not None and denied.sentence == (
        "dora stands behind what this document reads of others (vendor: vendor.city, vendor.iban)"
        " and may not decide about it"
    )
    assert check.make_conflict_check()("ben") is None
