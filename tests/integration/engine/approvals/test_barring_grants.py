"""Scenes of people who grant while an approval is open: a vote that rests on it is refused, others count."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from signet.core.errors import Rejected
from signet.core.tenants.caller import Caller
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.delegations import Delegations
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members
from signet.engine.tenants.org_chart import OrgChart
from signet.engine.tenants.roles import Roles
from tests.support.approval_requests import Asking

# Carl wrote the document and is in no role that is asked. The stage asks anna and the role finance.
AUTHOR, HOLDER, ROLE = "carl", "anna", "finance"


@pytest.fixture
def request_id(asking: Asking) -> UUID:
    return ask(asking)


def ask(asking: Asking, *more: str) -> UUID:
    """Ask anna, and three times the role, so that several may vote."""
    return asking.ask(HOLDER, *[f"@{ROLE}"] * 3, *more)


def act(asking: Asking, by: str) -> Caller:
    return asking.company.caller(by, "admin")


def save(asking: Asking, by: str, user_id: str, *roles: str, status: Any = "active") -> None:
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    Members(asking.company.database).save(act(asking, by), member, status, succession=Succession())


def delegate(asking: Asking, by: str, user_id: str, delegate_id: str) -> None:
    terms: dict[str, Any] = {
        "from_time": datetime.now(UTC),
        "to_time": datetime.now(UTC) + timedelta(days=1),
    }
    Delegations(asking.company.database).delegate(act(asking, by), user_id, delegate_id, **terms)


def vote(asking: Asking, request_id: UUID, voter: str) -> str | None:
    """Vote, and return why the vote is barred; None if it counts."""
    try:
        asking.decide(request_id, voter)
    except Rejected as rejected:
        assert rejected.code == "VOTE_BARRED_BY_GRANT", rejected
        return rejected.message
    return None


def is_barred(asking: Asking, request_id: UUID, voter: str, beginning: str) -> bool:
    sentence = vote(asking, request_id, voter)
    assert sentence is None or sentence.startswith(beginning), sentence
    return sentence is not None


def test_a_role_that_the_author_gives_the_voter(asking: Asking, request_id: UUID) -> None:
    save(asking, AUTHOR, "dora", ROLE)
    assert is_barred(asking, request_id, "dora", "carl gave dora the role 'finance' at ")
    assert vote(asking, request_id, "cleo") is None, "who had it before may vote"
    save(asking, "emil", "dina", ROLE)
    assert vote(asking, request_id, "dina") is None, "a third person may give it"
    assert vote(asking, ask(asking), "dora") is None, "it was given before this one was asked"


def test_clearing_the_bench(asking: Asking) -> None:
    """Let hana of the wider circle disable an approver, so that she may decide, and enable them again."""
    save(asking, "emil", "hana", "approver")
    wider = {"after": "P1D", "to": {"by": "role", "role": "approver"}}
    request_id = asking.ask(HOLDER, *[f"@{ROLE}"] * 3, escalate=wider)
    asking.seat(request_id, "@approver", origin="escalated")
    save(asking, "hana", "cleo", ROLE, status="disabled")
    save(asking, "hana", "cleo", ROLE)
    assert is_barred(asking, request_id, "hana", "hana disabled cleo at ")
    save(asking, AUTHOR, HOLDER, "approver", status="disabled")
    assert is_barred(asking, request_id, "cleo", "carl disabled anna at "), "the author has cleared it too"
    assert vote(asking, ask(asking), "cleo") is None


def test_a_bench_that_a_third_person_clears_bars_nobody_else(asking: Asking, request_id: UUID) -> None:
    save(asking, "emil", HOLDER, "approver", status="disabled")
    save(asking, "emil", "cleo")
    assert vote(asking, request_id, "ben") is None


@pytest.mark.parametrize("taken", ["role", "permissions"])
def test_taking_the_role_from_the_others(asking: Asking, request_id: UUID, taken: str) -> None:
    if taken == "role":
        save(asking, AUTHOR, "cleo")
    else:
        Roles(asking.company.database).save(act(asking, AUTHOR), ROLE, ["invoice:approve"])
    assert vote(asking, request_id, "ben") is not None
    assert vote(asking, request_id, HOLDER) is not None, "the whole stage"
    assert vote(asking, ask(asking), "ben") is None


def test_permissions_that_the_author_adds_to_a_role(asking: Asking, request_id: UUID) -> None:
    """A vote needs no permission here, so nobody votes by them. The stage loses nobody by it."""
    roles = Roles(asking.company.database)
    roles.save(act(asking, AUTHOR), ROLE, ["*:approve", "invoice:pay"])
    assert vote(asking, request_id, "ben") is None
    assert vote(asking, request_id, HOLDER) is None
    # A role that no seat asks.
    request_id = ask(asking)
    roles.save(act(asking, AUTHOR), "approver", ["*:approve", "invoice:pay"])
    assert vote(asking, request_id, HOLDER) is None
    assert vote(asking, request_id, "cleo") is None


def test_a_puppet_that_the_author_makes_a_member(asking: Asking) -> None:
    request_id = ask(asking, "pia", "paul")
    save(asking, AUTHOR, "pia")
    assert is_barred(asking, request_id, "pia", "carl made pia an active member at ")
    save(asking, "emil", "paul")
    assert vote(asking, request_id, "paul") is None


def test_a_reporting_line_that_the_author_sets(asking: Asking, request_id: UUID) -> None:
    """Ben has a seat by a role. It does not matter who reports to ben."""
    chart = OrgChart(asking.company.database)
    chart.set_manager(act(asking, AUTHOR), "emil", "ben")
    assert vote(asking, request_id, "ben") is None
    chart.set_manager(act(asking, "dora"), "emil", "cleo")
    chart.set_manager(act(asking, AUTHOR), HOLDER, "emil")
    assert vote(asking, request_id, "cleo") is None
    assert vote(asking, request_id, HOLDER) is None, "a vote rests on no line above the voter"


def test_a_delegation_that_the_author_gives_from_one_to_another(asking: Asking, request_id: UUID) -> None:
    delegate(asking, AUTHOR, HOLDER, "dora")
    assert is_barred(asking, request_id, "dora", "carl gave ")
    delegate(asking, HOLDER, HOLDER, "emil")
    assert vote(asking, request_id, "emil") is None, "their own voice is theirs to give"
    delegate(asking, "emil", "cleo", "dora")
    assert vote(asking, request_id, "dora") is None, "a third person may give it from one to another"


def test_a_key_of_the_author_is_the_author(asking: Asking, request_id: UUID) -> None:
    key = act(asking, "key:hr")
    key = replace(key, principal=replace(key.principal, behind=frozenset({AUTHOR})))
    member = Member(user_id="dora", display_name="dora", roles=(ROLE,))
    Members(asking.company.database).save(key, member, "active")
    assert is_barred(asking, request_id, "dora", "key:hr gave dora the role 'finance' at ")
