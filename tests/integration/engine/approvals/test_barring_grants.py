"""Scenes of people who grant while an approval is open: whether the records bar the vote that rests on it.

The acts go through the use cases, and the records are read as a vote reads them.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from signet.core.approvals.barring_changes import VoteBasis, find_barring_change
from signet.core.tenants.caller import Caller
from signet.core.tenants.tenant_file import Member
from signet.engine.approvals.delegations import Delegations
from signet.engine.tenants.dependents import Succession
from signet.engine.tenants.members import Members
from signet.engine.tenants.org_chart import OrgChart
from signet.engine.tenants.roles import Roles
from signet.store.tenants.eligibility import read_eligibility_changes
from tests.support.approval_requests import Asking

# Carl wrote the document and is in no role that is asked. The stage asks anna and the role finance.
AUTHOR, HOLDER, ROLE = "carl", "anna", "finance"


@pytest.fixture
def request_id(asking: Asking) -> UUID:
    return asking.ask(HOLDER, f"@{ROLE}")


def act(asking: Asking, by: str) -> Caller:
    return asking.company.caller(by, "admin")


def save(asking: Asking, by: str, user_id: str, *roles: str, status: Any = "active") -> None:
    member = Member(user_id=user_id, display_name=user_id, roles=roles)
    Members(asking.company.database).save(act(asking, by), member, status, succession=Succession())


def delegate(asking: Asking, by: str, user_id: str, delegate_id: str) -> None:
    terms: dict[str, Any] = {"from_time": datetime.now(UTC), "to_time": datetime.now(UTC) + timedelta(days=1)}
    Delegations(asking.company.database).delegate(act(asking, by), user_id, delegate_id, **terms)


def judge(asking: Asking, request_id: UUID, voter: str, represented: str | None = None) -> str | None:
    """Return why the vote is barred, or None."""
    ((opened_at,),) = asking.rows("SELECT created_at FROM approval_requests WHERE id = %s", request_id)
    people: Sequence[str] = [voter, *([represented] if represented else [])]
    rows = asking.rows("SELECT role FROM member_roles WHERE user_id = ANY (%s)", list(people))
    own_roles = [role for (role,) in rows]
    basis = VoteBasis(voter, represented, own_roles, (HOLDER,), (ROLE,), (AUTHOR,), opened_at)
    with asking.company.database.transaction(asking.tenant_id) as connection:
        changes = read_eligibility_changes(
            connection,
            since=opened_at,
            user_ids={*people, HOLDER},
            roles={ROLE, *own_roles},
            concerned=basis.concerned,
        )
    denial = find_barring_change(basis, changes)
    return None if denial is None else denial.sentence


def test_a_role_that_the_author_gives_the_voter(asking: Asking, request_id: UUID) -> None:
    save(asking, AUTHOR, "dora", "finance")
    sentence = judge(asking, request_id, "dora")
    assert sentence is not None and sentence.startswith("carl gave dora the role 'finance' at ")
    assert judge(asking, request_id, "cleo") is None, "who had it before may vote"
    save(asking, "emil", "dina", "finance")
    assert judge(asking, request_id, "dina") is None, "a third person may give it"
    assert judge(asking, asking.ask("@finance"), "dora") is None, "it was given before this one was asked"


def test_clearing_the_bench(asking: Asking, request_id: UUID) -> None:
    """Let hana disable the approvers, so that she may decide in their place."""
    save(asking, "emil", "hana", "approver")
    save(asking, "hana", "cleo", "finance", status="disabled")
    save(asking, "hana", "cleo", "finance")
    sentence = judge(asking, request_id, "hana")
    assert sentence is not None and sentence.startswith("hana disabled cleo at ")
    assert judge(asking, request_id, "ben") is None, "hana has no part in the document"
    save(asking, AUTHOR, HOLDER, "approver", status="disabled")
    assert judge(asking, request_id, "ben") is not None, "nobody votes on a bench that the author cleared"


@pytest.mark.parametrize("taken", ["role", "permissions"])
def test_taking_the_role_from_the_others(asking: Asking, request_id: UUID, taken: str) -> None:
    if taken == "role":
        save(asking, AUTHOR, "cleo")
    else:
        Roles(asking.company.database).save(act(asking, AUTHOR), ROLE, ["invoice:approve"])
    assert judge(asking, request_id, "ben") is not None
    assert judge(asking, asking.ask(f"@{ROLE}"), "ben") is None


def test_a_puppet_that_the_author_makes_a_member(asking: Asking, request_id: UUID) -> None:
    save(asking, AUTHOR, "pia")
    sentence = judge(asking, request_id, "pia")
    assert sentence is not None and sentence.startswith("carl made pia an active member at ")
    save(asking, "emil", "paul")
    assert judge(asking, request_id, "paul") is None


def test_a_reporting_line_that_the_author_sets(asking: Asking, request_id: UUID) -> None:
    chart = OrgChart(asking.company.database)
    chart.set_manager(act(asking, AUTHOR), "rita", "ben")
    sentence = judge(asking, request_id, "ben")
    assert sentence is not None and sentence.startswith("carl changed who manages rita at ")
    chart.set_manager(act(asking, "emil"), "rita", "cleo")
    assert judge(asking, request_id, "cleo") is None
    assert judge(asking, request_id, "rita") is None, "a vote rests on no line above the voter"


def test_a_delegation_that_the_author_gives_from_one_to_another(asking: Asking, request_id: UUID) -> None:
    delegate(asking, AUTHOR, HOLDER, "dora")
    sentence = judge(asking, request_id, "dora", HOLDER)
    assert sentence is not None and sentence.startswith("carl gave ")
    assert judge(asking, request_id, HOLDER) is None
    delegate(asking, HOLDER, HOLDER, "emil")
    assert judge(asking, request_id, "emil", HOLDER) is None, "their own voice is theirs to give"
    delegate(asking, "emil", "cleo", "dora")
    assert judge(asking, request_id, "dora", "cleo") is None
